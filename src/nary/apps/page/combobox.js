/** A field for one element of a fact that completes names during typing. */

import { search, UnreachableError } from "./api.js";
import { button, h } from "./dom.js";
import { debounced, latest } from "./latest.js";
import { kindOf } from "./fact.js";
import { labelAndId } from "./names.js";
import { Options } from "./options.js";

const MAX_OPTIONS = 12;
let numCreated = 0;

export class Combobox {
  #role;
  #onChange;
  #run = latest();
  #value;
  #options;
  #shown = ""; // the text of the current value
  #later = debounced(() => this.#complete(), 120);

  /** `caption` names the field to screen readers; `onChange` is called after each new value. */
  constructor(role, caption, onChange) {
    this.#role = role;
    this.#onChange = onChange;
    this.input = h("input", {
      type: "text",
      "aria-label": caption,
      oninput: () => this.#later(),
      onclick: () => this.#options.isOpen || this.#complete(),
      onkeydown: (event) => this.#key(event),
      onblur: () => this.#leave(),
    });
    const id = `combobox-${++numCreated}`;
    this.#options = new Options(this.input, id, `${caption}: names`, (option) => this.#accept(option));
    const askButton = button(
      { class: "ask", title: `Predict the ${role}`, "aria-label": `Predict the ${caption}` },
      "?",
    );
    askButton.addEventListener("click", () => this.#accept(null));
    this.element = h("div", { class: `combobox ${role}` }, this.input, askButton, this.#options.element);
  }

  /** The value {name, label}, null for a gap, undefined before one is given. */
  get value() {
    return this.#value;
  }

  /** Show a value. Text that is being typed is kept if the value has not changed. */
  show(value) {
    this.element.classList.remove("invalid");
    const same = this.#value !== undefined && value?.name === this.#value?.name && value?.label === this.#value?.label;
    if (!same) this.#set(value);
  }

  /** Mark the text as an unknown name. */
  markInvalid() {
    this.element.classList.add("invalid");
  }

  #set(value) {
    this.#value = value;
    this.#shown = value?.label ?? "";
    this.input.value = this.#shown;
    this.input.placeholder = value === null ? "?" : "";
    this.input.title = value && value.name !== value.label ? `${value.label} (${value.name})` : this.#shown;
    this.element.classList.toggle("gap", value === null);
    this.#close();
  }

  #accept(value) {
    this.#set(value);
    this.#onChange();
  }

  /** Accept the typed text: a gap if empty or a question mark, otherwise a name for the server to resolve. */
  #acceptText() {
    const text = this.input.value.trim();
    if (text === this.#shown.trim()) return this.#close();
    if (text === "" || text === "?") return this.#accept(null);
    const listed = this.#options.find(({ name, label }) => name === text || label === text);
    return this.#accept(listed ?? { name: text, label: text });
  }

  #leave() {
    this.#acceptText();
    this.input.value = this.#shown;
  }

  #key(event) {
    const open = this.#options.isOpen;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (open) this.#options.move(event.key === "ArrowDown" ? 1 : -1);
      else this.#complete();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (this.#options.active) this.#accept(this.#options.active);
      else this.#acceptText();
    } else if (event.key === "Escape" && open) {
      event.preventDefault();
      this.#close();
    } else if (event.key === "Escape") {
      this.input.value = this.#shown;
    }
  }

  async #complete() {
    const typed = this.input.value.trim();
    const text = typed === this.#shown || typed === "?" ? "" : typed;
    try {
      const { matches } = await this.#run((signal) => search(text, kindOf(this.#role), MAX_OPTIONS, signal));
      if (document.activeElement === this.input) this.#options.show(matches, labelAndId);
    } catch (error) {
      this.#close();
      if (!(error instanceof UnreachableError)) throw error;
    }
  }

  #close() {
    this.#later.cancel();
    this.#run(async () => null);
    this.#options.close();
  }
}
