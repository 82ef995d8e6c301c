/** Names as people read them: labels that lead to pages, with the name beside a label that is not unique. */

import { button, h } from "./dom.js";
import { pageHref } from "./route.js";

/** The page of an entity or relation, as a link. */
export function pageLink(kind, { name, label }, ...children) {
  return h("a", { href: pageHref(kind, name) }, label, ...children);
}

/** For a list of {name, label}: a function that returns the name of those whose label another one has, too. */
export function idsOf(list) {
  const counts = new Map();
  for (const { label } of list) counts.set(label, (counts.get(label) ?? 0) + 1);
  return ({ name, label }) => counts.get(label) > 1 && name !== label && h("span", { class: "id" }, name);
}

/** A label with its name beside it, if it has one of its own. */
export function labelAndId({ name, label }) {
  return [label, name !== label && h("span", { class: "id" }, name)];
}

/** A button that stars a page. */
export function starButton(isStarred, onToggle) {
  const star = button({ class: "small star" });
  const show = () => {
    const on = isStarred();
    star.setAttribute("aria-pressed", String(on));
    star.replaceChildren(on ? "★ Starred" : "☆ Star");
  };
  star.addEventListener("click", () => {
    onToggle();
    show();
  });
  show();
  return star;
}
