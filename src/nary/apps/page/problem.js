/** Errors, shown where they happened, with what to do about them. */

import { button, h } from "./dom.js";

/** The message and hint of an error; `again`, if given, is offered as a button. */
export function problem(error, again) {
  return h(
    "div",
    { class: "problem" },
    h("p", {}, h("strong", {}, sentence(error.message))),
    error.hint && h("p", {}, error.hint),
    again && button({ class: "small", onclick: again }, "Try again"),
  );
}

/** The name that an error complains about and the nearest known ones, told from its words; null for other errors. */
export function unknownName(error) {
  const wrong = /^unknown \w+ (['"])(.*)\1$/.exec(error.message);
  const near = /^Did you mean (.*)\?$/.exec(error.hint ?? "");
  return wrong && { text: wrong[2], nearest: near ? near[1].split(" or ") : [] };
}

function sentence(text) {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}
