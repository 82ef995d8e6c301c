/** Metrics as a table: a row for each group of queries. */

import { h } from "./dom.js";
import { count } from "./format.js";

const COLUMNS = { mrr: "MRR", "hits@1": "Hits@1", "hits@3": "Hits@3", "hits@10": "Hits@10", count: "queries" };
const HIDDEN = /\[/; // parts of a group, which metrics.json has

/** A table of {group: {metric: figure}}. */
export function metricsTable(groups) {
  const rows = Object.entries(groups).filter(([group]) => !HIDDEN.test(group));
  const cell = (name, figure) => (figure === undefined ? "" : name === "count" ? count(figure) : figure.toFixed(3));
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Metrics" },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "missing"),
          Object.values(COLUMNS).map((one) => h("th", { scope: "col" }, one)),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map(([group, figures]) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, group),
            Object.keys(COLUMNS).map((name) => h("td", { class: "number" }, cell(name, figures[name]))),
          ),
        ),
      ),
    ),
  );
}
