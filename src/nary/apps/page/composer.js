/** The input fields of a fact: the primary triple, the qualifiers, a row for a new qualifier, and the fact as text. */

import { Combobox } from "./combobox.js";
import { button, h } from "./dom.js";
import { asText, at, PRIMARY, qualifiers } from "./fact.js";
import { debounced } from "./latest.js";

export class Composer {
  #onChange;
  #primary = new Map();
  #rows = []; // one per qualifier: {attribute, value, element}
  #list = h("div", { class: "qualifiers" });
  #draft = new Draft((attribute, value) => this.#changed([attribute, value]));

  /** `onChange` is called with the text of the new fact whenever a field has changed. */
  constructor(host, onChange) {
    this.#onChange = onChange;
    for (const role of PRIMARY) this.#primary.set(role, new Combobox(role, role, () => this.#changed()));
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

  /** Mark the fields with the unknown name `text`. */
  markInvalid(text) {
    const boxes = [...this.#primary.values(), ...this.#rows.flatMap((row) => [row.attribute, row.value])];
    for (const box of boxes) if (box.value?.name === text) box.markInvalid();
  }

  #addRow() {
    const number = this.#rows.length + 1;
    const attribute = new Combobox("attribute", `attribute ${number}`, () => this.#changed());
    const value = new Combobox("value", `value ${number}`, () => this.#changed());
    const remove = button({ class: "plain remove", "aria-label": `Remove qualifier ${number}`, title: "Remove" }, "×");
    const row = { attribute, value, element: qualifierRow(attribute, value, remove) };
    remove.addEventListener("click", () => {
      this.#rows.splice(this.#rows.indexOf(row), 1);
      row.element.remove();
      this.#draft.element.querySelector("button").focus();
      this.#changed();
    });
    this.#rows.push(row);
    this.#list.append(row.element);
  }

  #changed(added = null) {
    const pairs = this.#rows.map((row) => [row.attribute.value, row.value.value]);
    if (added) pairs.push(added);
    const vertex = (role, value, number) => ({
      position: number ? `${role} ${number}` : role,
      role,
      name: value?.name ?? null,
    });
    this.#onChange(
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

/** A new qualifier. It is added to the fact once attribute and value are given; either may be a question mark. */
class Draft {
  #onComplete;
  #add = button({ class: "plain add", onclick: () => this.#open() }, "+ Add qualifier");

  constructor(onComplete) {
    this.#onComplete = onComplete;
    this.element = h("div", { class: "draft" }, this.#add);
  }

  #open() {
    const attribute = new Combobox("attribute", "new attribute", () => this.#changed(attribute, value, value));
    const value = new Combobox("value", "new value", () => this.#changed(attribute, value, attribute));
    const remove = button(
      { class: "plain remove", "aria-label": "Remove new qualifier", title: "Remove", onclick: () => this.close() },
      "×",
    );
    this.element.replaceChildren(qualifierRow(attribute, value, remove));
    attribute.input.focus();
  }

  #changed(attribute, value, other) {
    if (other.value === undefined) return other.input.focus();
    this.close();
    return this.#onComplete(attribute.value, value.value);
  }

  /** Remove the row. */
  close() {
    this.element.replaceChildren(this.#add);
    this.#add.focus();
  }
}

/** The whole fact as one line of text, kept in sync with the fields. */
export class TextField {
  #input;

  /** `onInput` is called with the text during typing, `onChange` when the text is complete. */
  constructor(host, { onInput, onChange }) {
    const preview = debounced(onInput, 300);
    this.#input = h("input", {
      type: "text",
      id: "one-line",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      placeholder: "Marie Curie | award received | ? | point in time: 1911",
      oninput: () => preview(this.#input.value),
      onchange: () => {
        preview.cancel();
        onChange(this.#input.value);
      },
    });
    const copy = button({ class: "small", onclick: () => copyLink(copy) }, "Copy link");
    host.append(h("label", { class: "caption", for: "one-line" }, "as text"), h("div", {}, this.#input, copy));
  }

  /** Show the text of a fact, but do not overwrite what is being typed. */
  show(text, { evenIfFocused = false } = {}) {
    if (evenIfFocused || document.activeElement !== this.#input) this.#input.value = text;
  }
}

function captioned(role, box) {
  const caption = h("span", { class: "caption", "aria-hidden": "true" }, role); // the field has its own label
  return h("div", { class: `field ${role}` }, caption, box.element);
}

function qualifierRow(attribute, value, remove) {
  return h("div", { class: "row" }, captioned("attribute", attribute), captioned("value", value), remove);
}

function given(vertex) {
  return vertex.name === null ? null : vertex;
}

async function copyLink(copy) {
  try {
    await navigator.clipboard.writeText(location.href);
    copy.textContent = "Copied";
  } catch {
    copy.textContent = "Copy the URL from the address bar"; // only secure pages may write to the clipboard
  }
  setTimeout(() => (copy.textContent = "Copy link"), 2000);
}
