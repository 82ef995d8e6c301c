/** What is wrong with the fact as it was written, below its fields, with the nearest known names to choose from. */

import { button, h } from "./dom.js";
import { problem, unknownName } from "./problem.js";

const host = document.getElementById("mistake");

/** Show an error; `onCorrect` is called with the wrong name and the one to put in its place. */
export function showMistake(error, onCorrect) {
  const unknown = unknownName(error);
  if (!unknown?.nearest.length) return host.replaceChildren(problem(error));
  const correct = (name) => button({ class: "small", onclick: () => onCorrect(unknown.text, name) }, name);
  return host.replaceChildren(
    h(
      "div",
      { class: "problem" },
      h("p", {}, h("strong", {}, `Nothing is known as “${unknown.text}”. `), "Did you mean:"),
      h("div", { class: "chips" }, unknown.nearest.map(correct)),
    ),
  );
}

/** Take the error away. */
export function clearMistake() {
  host.replaceChildren();
}
