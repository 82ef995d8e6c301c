/** Errors, shown where they happened, with what to do about them. */

import { button, h } from "./dom.js";

const factError = document.getElementById("fact-error");

/** The message and hint of an error; `retry`, if given, is offered as a button. */
export function errorBox(error, retry) {
  return h(
    "div",
    { class: "error" },
    h("p", {}, h("strong", {}, sentence(error.message))),
    error.hint && h("p", {}, error.hint),
    retry && button({ class: "small", onclick: retry }, "Try again"),
  );
}

/** Show an error below the fields of the fact. `onCorrect` is called with the unknown name and its replacement. */
export function showFactError(error, onCorrect) {
  const unknown = unknownName(error);
  if (!unknown?.nearest.length) return factError.replaceChildren(errorBox(error));
  const correction = (name) => button({ class: "small", onclick: () => onCorrect(unknown.text, name) }, name);
  return factError.replaceChildren(
    h(
      "div",
      { class: "error" },
      h("p", {}, h("strong", {}, `“${unknown.text}” is unknown. `), "Did you mean:"),
      h("div", { class: "chips" }, unknown.nearest.map(correction)),
    ),
  );
}

/** Remove the error below the fields of the fact. */
export function clearFactError() {
  factError.replaceChildren();
}

/** The unknown name that an error message is about and the nearest known names; null for other errors. */
export function unknownName(error) {
  const message = /^unknown \w+ (['"])(.*)\1$/.exec(error.message);
  const hint = /^Did you mean (.*)\?$/.exec(error.hint ?? "");
  return message && { text: message[2], nearest: hint ? hint[1].split(" or ") : [] };
}

function sentence(text) {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}
