/** Why an answer is given: what each element adds, and which known facts are alike. */

import { bar, notes } from "./answers.js";
import { button, h } from "./dom.js";
import { percent, signed } from "./format.js";

const FEW = 5;

/** The parts of an explanation; `onOpen` is called with the line of a fact that was chosen. */
export function why(explanation, onOpen) {
  return [
    h(
      "p",
      {},
      h("strong", {}, explanation.label),
      ` as ${explanation.position}: ${percent(explanation.probability)}, rank ${explanation.rank}.`,
    ),
    notes(explanation),
    h("h3", {}, "What speaks for it, and what against"),
    contributions(explanation.contributions),
    explanation.supporting.length > 0 && [
      h("h3", {}, "Similar facts it has learned from"),
      h(
        "ul",
        { class: "facts" },
        explanation.supporting.slice(0, FEW).map(({ fact, label, similarity }) =>
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
  const most = Math.max(...list.map((one) => Math.abs(one.contribution)), 1e-9);
  return h(
    "ul",
    { class: "contributions" },
    list.map(({ position, label, contribution, probability_without: without }) =>
      h(
        "li",
        { title: `Without it the answer would have ${percent(without)}.` },
        h("span", { class: "label" }, h("span", { class: `chip ${position.split(" ")[0]}` }, position), label),
        h("span", { class: "number" }, signed(contribution)),
        h(
          "span",
          { class: "two-sided", "aria-hidden": "true" },
          bar(Math.max(0, -contribution) / most, "against"),
          bar(Math.max(0, contribution) / most, "for"),
        ),
      ),
    ),
  );
}
