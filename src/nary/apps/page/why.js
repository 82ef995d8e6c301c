/** The explanation of an answer: contributions of the other elements, and similar training facts. */

import { bar, notes } from "./answers.js";
import { button, h } from "./dom.js";
import { percent, signed } from "./format.js";

const MAX_FACTS = 5;

/** The parts of an explanation; `onOpen` is called with the text of a chosen fact. */
export function why(explanation, onOpen) {
  return [
    h(
      "p",
      {},
      h("strong", {}, explanation.label),
      ` as ${explanation.position}: ${percent(explanation.probability)}, rank ${explanation.rank}.`,
    ),
    notes(explanation),
    h("h3", {}, "Contribution of each element"),
    contributions(explanation.contributions),
    explanation.supporting.length > 0 && [
      h("h3", {}, "Similar training facts"),
      h(
        "ul",
        { class: "facts" },
        explanation.supporting.slice(0, MAX_FACTS).map(({ fact, label, similarity }) =>
          h(
            "li",
            {},
            button({ class: "fact", onclick: () => onOpen(fact) }, label),
            h("span", { class: "quiet number" }, similarity.toFixed(2)),
          ),
        ),
      ),
    ],
  ];
}

function contributions(list) {
  const largest = Math.max(...list.map(({ contribution }) => Math.abs(contribution)), 1e-9);
  return h(
    "ul",
    { class: "contributions" },
    list.map(({ position, label, contribution, probability_without: without }) =>
      h(
        "li",
        { title: `Without it, the probability would be ${percent(without)}.` },
        h("span", { class: "label" }, h("span", { class: `chip ${position.split(" ")[0]}` }, position), label),
        h("span", { class: "number" }, signed(contribution)),
        h(
          "span",
          { class: "two-sided", "aria-hidden": "true" },
          bar(Math.max(0, -contribution) / largest, "against"),
          bar(Math.max(0, contribution) / largest, "for"),
        ),
      ),
    ),
  );
}
