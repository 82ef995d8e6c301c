/** The fields of a fact: the primary triple, the qualifiers, and a row for one qualifier more. */

import { Combobox } from "./combobox.js";
import { button, h } from "./dom.js";
import { asText, at, PRIMARY, qualifiers } from "./fact.js";

export class Composer {
  #propose;
  #primary = new Map();
  #rows = []; // one a qualifier: {attribute, value, element}
  #list = h("div", { class: "qualifiers" });
  #draft = new Draft((attribute, value) => this.#proposed([attribute, value]));

  /** `propose` is called with the line of the new fact whenever a field has changed. */
  constructor(host, propose) {
    this.#propose = propose;
    for (const role of PRIMARY) this.#primary.set(role, new Combobox(role, role, () => this.#proposed()));
    this.clear();
    const fields = PRIMARY.map((role) => captioned(role, this.#primary.get(role)));
    host.append(h("div", { class: "primary" }, fields), this.#list, this.#draft.element);
  }

  /** Show a fact as the server describes it. */
  show(fact) {
    for (const [role, box] of this.#primary) box.show(given(at(fact, role)));
    const pairs = qualifiers(fact);
    while (this.#rows.length > pairs.length) this.#rows.pop().element.remove();
    while (this.#rows.length < pairs.length) this.#addRow();
    pairs.forEach(([attribute, value], index) => {
      this.#rows[index].attribute.show(given(attribute));
      this.#rows[index].value.show(given(value));
    });
  }

  /** Empty all fields. */
  clear() {
    this.show(PRIMARY.map((role) => ({ position: role, role, name: null })));
  }

  /** Mark the fields that hold `text`, which nobody knows. */
  refuse(text) {
    const boxes = [...this.#primary.values(), ...this.#rows.flatMap((row) => [row.attribute, row.value])];
    for (const box of boxes) if (box.value?.name === text) box.refuse();
  }

  #addRow() {
    const number = this.#rows.length + 1;
    const attribute = new Combobox("attribute", `attribute ${number}`, () => this.#proposed());
    const value = new Combobox("value", `value ${number}`, () => this.#proposed());
    const remove = button({ class: "plain remove", "aria-label": `Remove qualifier ${number}`, title: "Remove" }, "×");
    const row = { attribute, value, element: qualifierRow(attribute, value, remove) };
    remove.addEventListener("click", () => {
      this.#rows.splice(this.#rows.indexOf(row), 1);
      row.element.remove();
      this.#draft.element.querySelector("button").focus();
      this.#proposed();
    });
    this.#rows.push(row);
    this.#list.append(row.element);
  }

  #proposed(added = null) {
    const pairs = this.#rows.map((row) => [row.attribute.value, row.value.value]);
    if (added) pairs.push(added);
    const vertex = (role, value, number) => ({
      position: number ? `${role} ${number}` : role,
      role,
      name: value?.name ?? null,
    });
    this.#propose(
      asText([
        ...PRIMARY.map((role) => vertex(role, this.#primary.get(role).value)),
        ...pairs.flatMap(([attribute, value], index) => [
          vertex("attribute", attribute, index + 1),
          vertex("value", value, index + 1),
        ]),
      ]),
    );
  }
}

/** A qualifier that is being written. It joins the fact when both its halves are given, a question mark included. */
class Draft {
  #onDone;
  #add = button({ class: "plain add", onclick: () => this.#open() }, "+ Add a qualifier");

  constructor(onDone) {
    this.#onDone = onDone;
    this.element = h("div", { class: "draft" }, this.#add);
  }

  #open() {
    const attribute = new Combobox("attribute", "new attribute", () => this.#changed(attribute, value, value));
    const value = new Combobox("value", "new value", () => this.#changed(attribute, value, attribute));
    const remove = button(
      { class: "plain remove", "aria-label": "Remove the new qualifier", title: "Remove", onclick: () => this.close() },
      "×",
    );
    this.element.replaceChildren(qualifierRow(attribute, value, remove));
    attribute.input.focus();
  }

  #changed(attribute, value, other) {
    if (other.value === undefined) return other.input.focus();
    this.close();
    return this.#onDone(attribute.value, value.value);
  }

  /** Take the row away. */
  close() {
    this.element.replaceChildren(this.#add);
    this.#add.focus();
  }
}

function captioned(role, box) {
  const caption = h("span", { class: "caption", "aria-hidden": "true" }, role); // the field says it by itself
  return h("div", { class: `field ${role}` }, caption, box.element);
}

function qualifierRow(attribute, value, remove) {
  return h("div", { class: "row" }, captioned("attribute", attribute), captioned("value", value), remove);
}

function given(vertex) {
  return vertex.name === null ? null : vertex;
}
