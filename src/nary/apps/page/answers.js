/** What the model predicts: ranked answers for one gap, completions of several gaps, and suggested qualifiers. */

import { button, h } from "./dom.js";
import { percent } from "./format.js";

const FILTERS = { mark: "all", hide: "new only", only: "known only" };

/** The answers of a prediction; `onChoose` is called with the one that was chosen. */
export function answers(prediction, onChoose) {
  const highest = Math.max(...prediction.answers.map((answer) => answer.probability), 1e-9);
  const rows = prediction.answers.map((answer) => {
    const label = answer.elements ? completed(answer.elements) : [answer.label];
    return h(
      "li",
      {},
      button(
        { class: "answer", onclick: () => onChoose(answer) },
        h("span", { class: "label" }, label, answer.known && h("span", { class: "badge" }, "known")),
        h("span", { class: "number" }, percent(answer.probability)),
        bar(answer.probability / highest),
      ),
    );
  });
  return [
    notes(prediction),
    rows.length ? h("ol", { class: "answers", onkeydown: moveFocus }, rows) : h("p", { class: "quiet" }, "No answers."),
  ];
}

/** A choice between all, new and known answers. */
export function filter(known, onChange) {
  return h(
    "fieldset",
    { class: "filter" },
    h("legend", { class: "visually-hidden" }, "Which answers to show"),
    Object.entries(FILTERS).map(([value, text]) =>
      h(
        "label",
        {},
        h("input", {
          type: "radio",
          name: "known",
          value,
          checked: value === known,
          "data-keep": `known ${value}`,
          onchange: () => onChange(value),
        }),
        h("span", {}, text),
      ),
    ),
  );
}

/** The suggestions as buttons; `onAdd` is called with the attribute and value that were chosen. */
export function suggestions(response, onAdd) {
  const chips = response.suggestions.map((suggestion) =>
    h(
      "li",
      {},
      button(
        { class: "suggestion", onclick: () => onAdd(suggestion.attribute, suggestion.value) },
        h("span", { class: "attribute" }, `+ ${suggestion.attribute_label}`),
        h("span", { class: "value" }, suggestion.value_label),
        h("span", { class: "quiet" }, percent(suggestion.probability)),
      ),
    ),
  );
  const list = h("ul", { class: "suggestions" }, chips);
  return [notes(response), chips.length ? list : h("p", { class: "quiet" }, "No suggestions.")];
}

/** Caveats about a result. */
export function notes({ notes: messages = [], calibrated = true, experimental = false }) {
  const lines = [...messages];
  if (experimental) lines.unshift("Filling several gaps at once is experimental.");
  if (!calibrated && !lines.some((line) => line.includes("calibrat")))
    lines.push("Probabilities are not calibrated; use them only to compare answers.");
  return lines.map((line) => h("p", { class: "note" }, line));
}

/** A bar that fills the given share of the width. */
export function bar(share, kind = "") {
  const inside = h("span", { class: "inside" });
  inside.style.width = `${(100 * share).toFixed(1)}%`;
  return h("span", { class: `bar ${kind}`, "aria-hidden": "true" }, inside);
}

function completed(elements) {
  return elements.map(({ position, label }) =>
    h("span", { class: "part" }, h("span", { class: `chip ${position.split(" ")[0]}` }, position), label),
  );
}

/** Move between answers with the arrow keys. */
function moveFocus(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const next = buttons[buttons.indexOf(document.activeElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
