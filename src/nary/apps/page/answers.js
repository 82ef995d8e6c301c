/** What the model would put into the gaps: ranked answers to one gap, or completions of several. */

import { button, h } from "./dom.js";
import { percent } from "./format.js";

const FILTERS = { mark: "all", hide: "only new", only: "only known" };

/** The answers of a prediction; `onChoose` is called with the one that was chosen. */
export function answers(prediction, onChoose) {
  const most = Math.max(...prediction.answers.map((answer) => answer.probability), 1e-9);
  const rows = prediction.answers.map((answer) => {
    const label = answer.elements ? completed(answer.elements) : [answer.label];
    return h(
      "li",
      {},
      button(
        { class: "answer", onclick: () => onChoose(answer) },
        h("span", { class: "label" }, label, answer.known && h("span", { class: "badge" }, "known")),
        h("span", { class: "number" }, percent(answer.probability)),
        bar(answer.probability / most),
      ),
    );
  });
  return [
    notes(prediction),
    rows.length ? h("ol", { class: "answers", onkeydown: stepping }, rows) : h("p", { class: "quiet" }, "No answers."),
  ];
}

/** A choice between all answers, only new and only known ones. */
export function filter(known, onChange) {
  return h(
    "fieldset",
    { class: "filter" },
    h("legend", { class: "unseen" }, "Which answers to show"),
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

/** What to know about a result before trusting it. */
export function notes({ notes: given = [], calibrated = true, experimental = false }) {
  const lines = [...given];
  if (experimental) lines.unshift("Several gaps are filled together. This is experimental.");
  if (!calibrated && !lines.some((line) => line.includes("calibrat")))
    lines.push("Probabilities are not calibrated: read them as an order.");
  return lines.map((line) => h("p", { class: "note" }, line));
}

/** A bar of the given share of the width. */
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

/** Arrow keys go from one answer to the next. */
function stepping(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const next = buttons[buttons.indexOf(document.activeElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
