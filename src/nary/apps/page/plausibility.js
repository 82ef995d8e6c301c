/** How plausible a whole fact is, element by element. */

import { bar } from "./answers.js";
import { button, h } from "./dom.js";
import { percent } from "./format.js";

const EXPLAINED = "The probability of each element given the others, least plausible first. Choose one to ask for it.";
const SURE = 0.99; // a fact this plausible has nothing odd about it

/** The position of the element that fits least, null if all of them fit. */
export function oddPosition({ plausibility: share, elements }) {
  return share < SURE ? elements[0].position : null;
}

/** The elements of a scored fact, least plausible first; `onAsk` and `onWhy` are called with a position. */
export function plausibility(scored, { why, onAsk, onWhy }) {
  const odd = oddPosition(scored);
  return [
    h(
      "div",
      { class: "summary" },
      h("p", { class: "large" }, percent(scored.plausibility)),
      h("p", {}, "plausible", scored.known && h("span", { class: "badge" }, "known fact")),
    ),
    bar(scored.plausibility, "whole"),
    h("p", { class: "quiet" }, EXPLAINED),
    h(
      "ul",
      { class: "elements" },
      scored.elements.map((element) => row(element, element.position === odd, why, onAsk, onWhy)),
    ),
  ];
}

function row(element, odd, why, onAsk, onWhy) {
  const { position, label, rank, probability } = element;
  return h(
    "li",
    { class: odd ? "odd" : null },
    button(
      { class: "answer", title: `Ask for the ${position}`, onclick: () => onAsk(position) },
      h(
        "span",
        { class: "label" },
        h("span", { class: `chip ${position.split(" ")[0]}` }, position),
        label,
        odd && h("span", { class: "badge odd" }, "fits least"),
      ),
      h("span", { class: "number" }, percent(probability), h("span", { class: "quiet" }, ` rank ${rank}`)),
      bar(probability),
    ),
    button(
      {
        class: "small why",
        "data-keep": `why ${position}`,
        "aria-pressed": String(why === position),
        "aria-label": `Why ${label} as ${position}`,
        onclick: () => onWhy(position),
      },
      "Why?",
    ),
  );
}
