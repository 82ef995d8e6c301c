/** The explanation of an answer: rules, parts of a blend, contributions of the other elements, similar training facts. */

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
    explanation.rules.length > 0 && [h("h3", {}, "Rules and known facts"), reasons(explanation.rules, onOpen)],
    explanation.parts.length > 0 && [h("h3", {}, "Parts of the blend"), votes(explanation.parts)],
    h("h3", {}, "Contribution of each element"),
    contributions(explanation.contributions),
    explanation.supporting.length > 0 && [
      h("h3", {}, "Similar training facts"),
      h(
        "ul",
        { class: "facts" },
        explanation.supporting
          .slice(0, MAX_FACTS)
          .map(({ fact, label, similarity }) =>
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

/** "because B | sibling | A is known; holds in 89% of 4,210 cases" */
function reasons(list, onOpen) {
  return h(
    "ul",
    { class: "rules" },
    list.map(({ rule, facts, support, cases }) =>
      h(
        "li",
        { title: rule },
        "because ",
        facts.map(({ fact, label }, i) => [
          i > 0 && " and ",
          button({ class: "fact", onclick: () => onOpen(fact) }, label),
        ]),
        ` ${facts.length === 1 ? "is" : "are"} known; holds in ${percent(support / cases)} of ${cases.toLocaleString("en")} cases`,
      ),
    ),
  );
}

function votes(list) {
  return h(
    "ul",
    { class: "votes" },
    list.map(({ model, weight, probability, rank }) =>
      h("li", {}, h("strong", {}, model), `: ${percent(probability)}, rank ${rank}, weight ${percent(weight)}`),
    ),
  );
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
