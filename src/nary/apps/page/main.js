/** The explorer: which view the URL asks for, the search box, and the model in one line. */

import * as about from "./about.js";
import * as api from "./api.js";
import * as ask from "./ask.js";
import * as entity from "./entity.js";
import * as file from "./file.js";
import { count } from "./format.js";
import { latest } from "./latest.js";
import * as relation from "./relation.js";
import * as relations from "./relations.js";
import { parse } from "./route.js";
import { SearchBox } from "./search.js";

const VIEWS = { ask, entity, relation, relations, file, about };
const NAV = { ask: "#", relation: "#/relations", relations: "#/relations", file: "#/file", about: "#/about" };
const main = document.getElementById("main");
const newestModel = latest();
let current = null;

/** Show what the URL describes. */
function follow() {
  const route = parse(location.hash);
  const changed = current !== null && (current.view !== route.view || current.name !== route.name);
  current = route;
  for (const name of Object.keys(VIEWS)) document.getElementById(`view-${name}`).hidden = name !== route.view;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === NAV[route.view]) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = route.name ? `${route.name} – Nary explorer` : "Nary explorer";
  if (changed) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
  VIEWS[route.view].show(route);
}

/** Go to an address of the page. */
function go(hash) {
  if (hash !== location.hash) history.pushState(null, "", hash === "#" ? location.pathname : hash);
  follow();
}

/** Show in one line which model is served; if the server cannot tell, leave it empty. */
async function describeModel() {
  const host = document.getElementById("model");
  try {
    const { name, dataset, counts } = await newestModel(api.model);
    const sizes = `${count(counts.entities)} entities · ${count(counts.relations)} relations`;
    host.textContent = `${name} on ${dataset} · ${sizes}`;
  } catch {
    host.textContent = "";
  }
}

new SearchBox(document.getElementById("search"), go);
addEventListener("popstate", follow);
for (const link of document.querySelectorAll('.brand, nav a[href="#"]')) {
  link.addEventListener("click", (event) => {
    event.preventDefault(); // an address that ends in # would be another one
    go("#");
  });
}
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // following it would replace the fact in the URL
  main.focus();
});
api.onReconnect(() => {
  describeModel();
  if (current.view !== "ask" || !ask.resume()) follow();
});
describeModel();
follow();
