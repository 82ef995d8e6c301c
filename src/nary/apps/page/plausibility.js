/** The plausibility of a fact and of each of its elements. */

import { bar, notes, storedFact } from "./answers.js";
import { button, h } from "./dom.js";
import { percent } from "./format.js";

const LEGEND = "How well each element fits the others, the worst first. Click an element to predict it.";
const PLAUSIBLE = 0.5; // in a fact this plausible, no element is marked

/** The position of the element that fits worst, null if the whole fact is plausible. */
export function worstPosition({ plausibility: share, elements }) {
  return share < PLAUSIBLE ? elements[0].position : null;
}

/** How plausible a fact is, and its elements, the worst fit first; `onAsk` and `onWhy` are called with a position. */
export function plausibility(scored, { why, onAsk, onWhy }) {
  const worst = worstPosition(scored);
  return [
    h(
      "div",
      { class: "summary" },
      h("p", { class: "large" }, percent(scored.plausibility)),
      h("p", {}, scored.known ? "plausible to the model" : "plausible"),
    ),
    bar(scored.plausibility, "whole"),
    scored.known && h("p", {}, "Known fact: ", storedFact(scored)),
    notes(scored),
    h("p", { class: "quiet" }, LEGEND),
    h(
      "ul",
      { class: "elements" },
      scored.elements.map((element) => row(element, element.position === worst, why, onAsk, onWhy)),
    ),
  ];
}

function row(element, isWorst, why, onAsk, onWhy) {
  const { position, label, rank, fit } = element;
  return h(
    "li",
    { class: isWorst ? "worst" : null },
    button(
      { class: "answer", title: `Predict the ${position}`, onclick: () => onAsk(position) },
      h(
        "span",
        { class: "label" },
        h("span", { class: `chip ${position.split(" ")[0]}` }, position),
        label,
        isWorst && h("span", { class: "badge worst" }, "worst fit"),
      ),
      h("span", { class: "number" }, percent(fit), h("span", { class: "quiet" }, ` rank ${rank}`)),
      bar(fit),
    ),
    button(
      {
        class: "small why",
        "data-keep": `why ${position}`,
        "aria-pressed": String(why === position),
        "aria-label": `Explain ${label} as ${position}`,
        onclick: () => onWhy(position),
      },
      "Why?",
    ),
  );
}
