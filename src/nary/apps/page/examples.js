/** Queries to start from. */

import { button, h } from "./dom.js";
import { at, PRIMARY, qualifiers } from "./fact.js";

/** The examples as buttons; `onOpen` is called with the line of the one that was chosen. */
export function exampleList({ examples }, onOpen) {
  return h(
    "ul",
    { class: "examples" },
    examples.map(({ fact, elements }) =>
      h(
        "li",
        {},
        button(
          { class: "example", onclick: () => onOpen(fact) },
          PRIMARY.map((role) => part(at(elements, role))),
          qualifiers(elements).map((pair) => h("span", { class: "pair" }, pair.map(part))),
        ),
      ),
    ),
  );
}

function part({ role, name, label }) {
  return h("span", { class: `chip ${role}${name === null ? " gap" : ""}` }, label);
}
