/** The list under a field from which one option is chosen, by mouse or arrow keys (the ARIA combobox pattern). */

import { h } from "./dom.js";

export class Options {
  #input;
  #onChoose;
  #options = [];
  #active = -1;

  /** `onChoose` is called with the option that was clicked. */
  constructor(input, id, label, onChoose) {
    this.#input = input;
    this.#onChoose = onChoose;
    this.element = h("ul", { class: "options", role: "listbox", id, "aria-label": label, hidden: true });
    for (const [name, value] of Object.entries({
      role: "combobox",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": id,
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
    }))
      input.setAttribute(name, value);
  }

  /** Whether there is anything to choose from. */
  get isOpen() {
    return !this.element.hidden;
  }

  /** The option that the arrow keys have reached. */
  get active() {
    return this.#options[this.#active];
  }

  /** The first option that passes the test. */
  find(test) {
    return this.#options.find(test);
  }

  /** Offer `options`, written by `render`; those with `disabled` can be read, but not clicked. */
  show(options, render) {
    this.#options = options;
    this.element.replaceChildren(
      ...options.map((option, index) =>
        h(
          "li",
          {
            role: "option",
            id: `${this.element.id}-${index}`,
            "aria-selected": "false",
            "aria-disabled": option.disabled ? "true" : null,
            onmousedown: (event) => event.preventDefault(), // keeps the focus in the field
            onclick: () => option.disabled || this.#onChoose(option),
          },
          render(option),
        ),
      ),
    );
    this.element.hidden = options.length === 0;
    this.#input.setAttribute("aria-expanded", String(this.isOpen));
    this.#active = -1;
    this.#input.removeAttribute("aria-activedescendant");
  }

  /** Offer nothing. */
  close() {
    this.show([]);
  }

  /** Mark the next option, or with -1 the one before. */
  move(step) {
    const count = this.#options.length;
    if (!count) return;
    this.element.children[this.#active]?.setAttribute("aria-selected", "false");
    this.#active = (this.#active < 0 && step < 0 ? count - 1 : this.#active + step + count) % count;
    const option = this.element.children[this.#active];
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    this.#input.setAttribute("aria-activedescendant", option.id);
  }
}
