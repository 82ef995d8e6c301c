/** The model: what it is, how well it predicts, and where it comes from. */

import * as api from "./api.js";
import { h } from "./dom.js";
import { count } from "./format.js";
import { metricsTable } from "./metrics.js";
import { Panel } from "./panel.js";

const panel = new Panel("about");

/** Show the model. */
export function show() {
  panel.show(api.model, about);
}

function about(model) {
  const { counts } = model;
  return [
    h("p", { class: "lead" }, h("strong", {}, model.name), ` on ${model.dataset}: ${model.description}.`),
    h("h2", {}, "Quality"),
    quality(model),
    h("h2", {}, "Data"),
    terms({
      dataset: model.dataset,
      facts: figures(counts.facts),
      "facts by arity": figures(counts.arities),
      entities: count(counts.entities),
      relations: h("a", { href: "#/relations" }, count(counts.relations)),
      fingerprint: h("code", {}, model.fingerprint),
    }),
    h("h2", {}, "Model"),
    terms({
      predicts: model.predicts.join(", "),
      parameters: count(model.parameters),
      source: model.reference,
      "weights (SHA-256)": model.weights && h("code", {}, model.weights),
      "added later": model.updates.length > 0 && model.updates.join("; "),
      "served by": `Nary ${model.version}`,
    }),
    h("details", {}, h("summary", {}, "Recipe"), h("pre", { tabindex: "0" }, model.recipe)),
  ];
}

function quality({ metrics, calibrated }) {
  return [
    metrics.length === 0 &&
      h("p", { class: "quiet" }, "Not evaluated yet. ", h("code", {}, "nary evaluate RUN"), " ranks the test split."),
    metrics.map(({ split, metrics: groups, notes }) => [
      h("h3", {}, `Rank of the missing element, ${split}`),
      metricsTable(groups),
      notes.map((note) => h("p", { class: "quiet" }, note)),
    ]),
    h(
      "p",
      { class: "quiet" },
      calibrated
        ? "Probabilities are calibrated on facts held out from training."
        : "Probabilities are not calibrated: no valid facts were held out from training.",
    ),
  ];
}

const figures = (numbers) =>
  Object.entries(numbers)
    .map(([name, number]) => `${name}: ${count(number)}`)
    .join(" · ");

/** A list of terms; those without a value are left out. */
function terms(values) {
  const given = Object.entries(values).filter(([, value]) => value);
  return h(
    "dl",
    { class: "terms" },
    given.map(([term, value]) => [h("dt", {}, term), h("dd", {}, value)]),
  );
}
