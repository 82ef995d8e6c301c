/** All relations, the most frequent first. */

import { bar } from "./answers.js";
import * as api from "./api.js";
import { h } from "./dom.js";
import { several } from "./format.js";
import { labelAndId, pageLink } from "./names.js";
import { moreButton } from "./pages.js";
import { Panel } from "./panel.js";

const SHOWN = 50;
const panel = new Panel("relations");

/** Show the relations. */
export function show() {
  panel.show((signal) => api.relations(SHOWN, 0, signal), all);
}

function all({ relations, total }) {
  const highest = Math.max(1, ...relations.map(({ facts }) => facts));
  const list = (some) =>
    h(
      "ul",
      { class: "rows wide" },
      some.map((one) => row(one, highest)),
    );
  const more = async (offset) => {
    const page = await api.relations(SHOWN, offset);
    return { items: page.relations.length, elements: [list(page.relations)] };
  };
  return [
    h("p", { class: "quiet" }, "With the number of their facts, and of the qualifiers they are the attribute of."),
    list(relations),
    moreButton(relations.length, total, more),
  ];
}

function row(one, highest) {
  const numbers = [
    one.facts > 0 && several(one.facts, "fact"),
    one.as_attribute > 0 && several(one.as_attribute, "qualifier"),
  ];
  return h(
    "li",
    {},
    h("span", { class: "label" }, pageLink("relation", one), labelAndId(one).slice(1)),
    h("span", { class: "number quiet" }, numbers.filter(Boolean).join(" · ")),
    bar(one.facts / highest),
  );
}
