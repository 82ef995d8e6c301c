/** The start of the view for asking: starred and recent pages. */

import { body, button, h } from "./dom.js";
import { reading } from "./facts.js";
import { clearRecent, recent, starred, toggleStar } from "./visits.js";

const SHOWN = 10;

/** Show the starred and the recent pages, if there are any. */
export function showVisits() {
  fill("starred", starred(), (entry) =>
    button(
      {
        class: "small",
        "aria-label": `Remove the star of ${entry.label}`,
        title: "Remove",
        onclick: () => {
          toggleStar(entry.hash, entry.label);
          showVisits();
        },
      },
      "★",
    ),
  );
  const last = recent().slice(0, SHOWN);
  fill("recent", last, () => null);
  if (last.length) body("recent").append(button({ class: "plain", onclick: forget }, "Clear"));
}

function fill(id, entries, action) {
  document.getElementById(id).hidden = entries.length === 0;
  body(id).replaceChildren(
    h(
      "ul",
      { class: "fact-list" },
      entries.map((entry) => h("li", {}, h("a", { href: entry.hash }, readable(entry)), action(entry))),
    ),
  );
}

/** The label of a page, or a fact. */
const readable = ({ hash, label }) => (hash.startsWith("#/") ? label : reading(label));

function forget() {
  clearRecent();
  showVisits();
  document.getElementById("examples").focus();
}
