/** Answers for one gap, completions of several gaps, and suggested qualifiers: what is stored, and what is predicted. */

import { button, h } from "./dom.js";
import { count, percent, several } from "./format.js";
import { idsOf } from "./names.js";

const FILTERS = { first: "all", only: "stored", hide: "predicted" };

/** Stored answers and predictions in two groups; `onChoose` is called with the answer that was chosen. */
export function answers(prediction, onChoose) {
  const idOf = idsOf(prediction.answers.filter((answer) => answer.name));
  const list = (known) => {
    const rows = prediction.answers.filter((answer) => answer.known === known);
    return (
      rows.length > 0 &&
      h(
        "ol",
        { class: "answers" },
        rows.map((answer) => answerRow(answer, idOf, onChoose)),
      )
    );
  };
  const [stored, predicted] = [list(true), list(false)];
  return [
    notes(prediction),
    prediction.value && h("p", { class: "expected" }, "Expected value: ", h("strong", {}, prediction.value.label)),
    h(
      "div",
      { onkeydown: moveFocus },
      stored && [h("h3", {}, `In the data: ${several(prediction.matches, "fact")}`), stored],
      predicted && [h("h3", {}, "Predicted"), predicted],
    ),
    !stored && !predicted && h("p", { class: "quiet" }, "No answers."),
  ];
}

function answerRow(answer, idOf, onChoose) {
  return h(
    "li",
    {},
    button(
      { class: "answer", onclick: () => onChoose(answer) },
      h("span", { class: "label" }, answer.elements ? completed(answer.elements) : [answer.label, idOf(answer)]),
      answer.known
        ? [h("span", { class: "number quiet" }, `model: ${percent(answer.probability)}`), storedFact(answer)]
        : [h("span", { class: "number" }, percent(answer.probability)), bar(answer.probability)],
    ),
  );
}

/** The stored fact that something is known from. */
export function storedFact({ stored, matches }) {
  const more = matches > 1 && ` and ${count(matches - 1)} more`;
  return h("span", { class: "stored" }, h("span", { class: "badge" }, stored.split), stored.label, more);
}

/** A choice between all, stored and predicted answers. */
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

/** Stored and predicted qualifiers as buttons; `onAdd` is called with the attribute and value that were chosen. */
export function suggestions(response, onAdd) {
  const list = (known) => {
    const chips = response.suggestions.filter((suggestion) => suggestion.known === known);
    return (
      chips.length > 0 &&
      h(
        "ul",
        { class: "suggestions" },
        chips.map((chip) => suggestionChip(chip, onAdd)),
      )
    );
  };
  const [stored, predicted] = [list(true), list(false)];
  return [
    notes(response),
    stored && [h("h3", {}, "In the data"), stored],
    predicted && [stored && h("h3", {}, "Predicted"), predicted],
    !stored && !predicted && h("p", { class: "quiet" }, "No suggestions."),
  ];
}

function suggestionChip(suggestion, onAdd) {
  return h(
    "li",
    {},
    button(
      { class: "suggestion", onclick: () => onAdd(suggestion.attribute, suggestion.value) },
      h("span", { class: "attribute" }, `+ ${suggestion.attribute_label}`),
      h("span", { class: "value" }, suggestion.value_label),
      h("span", { class: "quiet" }, percent(suggestion.probability)),
      suggestion.known && storedFact(suggestion),
    ),
  );
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
