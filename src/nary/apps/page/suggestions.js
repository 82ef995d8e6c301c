/** Qualifiers that a fact may lack, each one click away. */

import { notes } from "./answers.js";
import { button, h } from "./dom.js";
import { percent } from "./format.js";

/** The suggestions as buttons; `onAdd` is called with the attribute and value that were chosen. */
export function suggestions(found, onAdd) {
  const chips = found.suggestions.map((one) =>
    h(
      "li",
      {},
      button(
        { class: "suggestion", onclick: () => onAdd(one.attribute, one.value) },
        h("span", { class: "attribute" }, `+ ${one.attribute_label}`),
        h("span", { class: "value" }, one.value_label),
        h("span", { class: "quiet" }, percent(one.probability)),
      ),
    ),
  );
  return [notes(found), chips.length ? h("ul", { class: "suggestions" }, chips) : h("p", { class: "quiet" }, "None.")];
}
