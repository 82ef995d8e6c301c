/** The one box at the top: finds entities and relations, and opens a fact or question in the one-line form. */

import { search, UnreachableError } from "./api.js";
import { h } from "./dom.js";
import { debounced, latest } from "./latest.js";
import { labelAndId } from "./names.js";
import { factHref, pageHref } from "./route.js";

const MAX_OPTIONS = 10;

export class SearchBox {
  #onOpen;
  #run = latest();
  #options = []; // {href, content, label}
  #active = -1;
  #later = debounced(() => this.#complete(), 120);

  /** `onOpen` is called with the address of what was chosen. */
  constructor(host, onOpen) {
    this.#onOpen = onOpen;
    this.list = h("ul", {
      class: "options",
      role: "listbox",
      id: "search-options",
      "aria-label": "Matches",
      hidden: true,
    });
    this.input = h("input", {
      type: "search",
      role: "combobox",
      id: "search-box",
      "aria-label": "Search, or write a question",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": "search-options",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      placeholder: "Search, or ask: Marie Curie | award received | ?",
      oninput: () => this.#later(),
      onkeydown: (event) => this.#key(event),
      onblur: () => this.#close(),
      onfocus: () => this.input.value.trim() && this.#complete(),
    });
    host.append(this.input, this.list);
    addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input, textarea, select");
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.input.focus();
      this.input.select();
    });
  }

  #key(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (this.#options.length) this.#move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.#enter();
    } else if (event.key === "Escape") {
      event.preventDefault();
      if (this.list.hidden) this.input.value = "";
      this.#close();
    }
  }

  /** Open what is marked, the fact that was written, or the only or exact match. */
  async #enter() {
    const marked = this.#options[this.#active];
    if (marked?.href) return this.#open(marked.href);
    const text = this.input.value.trim();
    if (!text) return null;
    if (text.includes("|")) return this.#open(factHref(text));
    const options = await this.#fetch(text);
    const exact = options.find(({ label, name }) =>
      [label, name].some((one) => one?.toLowerCase() === text.toLowerCase()),
    );
    const chosen = exact ?? (options.length === 1 ? options[0] : null);
    return chosen?.href ? this.#open(chosen.href) : this.#show(options);
  }

  #open(href) {
    this.#later.cancel();
    this.input.value = "";
    this.#close();
    this.input.blur();
    this.#onOpen(href);
  }

  async #complete() {
    const text = this.input.value.trim();
    if (!text) return this.#close();
    if (text.includes("|")) return this.#show([{ href: factHref(text), content: ["Ask: ", h("code", {}, text)] }]);
    try {
      const options = await this.#fetch(text);
      if (document.activeElement === this.input) this.#show(options);
    } catch (error) {
      this.#close();
      if (!(error instanceof UnreachableError)) throw error;
    }
    return null;
  }

  /** The matches; if there are none, names that may have been meant, or an option that says so and leads nowhere. */
  async #fetch(text) {
    const { matches, nearest } = await this.#run((signal) => search(text, null, MAX_OPTIONS, signal));
    const option = (one) => ({
      ...one,
      href: pageHref(one.kind, one.name),
      content: [
        labelAndId(one),
        h("span", { class: `chip ${one.kind === "entity" ? "subject" : "relation"}` }, one.kind),
      ],
    });
    if (matches.length) return matches.map(option);
    const none = { href: null, content: [nearest.length ? "No match. Did you mean:" : "No match."] };
    return [none, ...nearest.map(option)];
  }

  #show(options) {
    this.#options = options;
    this.list.replaceChildren(
      ...options.map(({ href, content }, index) =>
        h(
          "li",
          {
            role: "option",
            id: `search-option-${index}`,
            "aria-selected": "false",
            "aria-disabled": href === null ? "true" : null,
            onmousedown: (event) => event.preventDefault(), // keeps the focus in the field
            onclick: () => href && this.#open(href),
          },
          content,
        ),
      ),
    );
    this.list.hidden = options.length === 0;
    this.input.setAttribute("aria-expanded", String(!this.list.hidden));
    this.#active = -1;
    this.input.removeAttribute("aria-activedescendant");
  }

  #move(step) {
    const size = this.#options.length;
    this.list.children[this.#active]?.setAttribute("aria-selected", "false");
    this.#active = (this.#active < 0 && step < 0 ? size - 1 : this.#active + step + size) % size;
    const option = this.list.children[this.#active];
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", option.id);
  }

  #close() {
    this.#later.cancel();
    this.#run(async () => null);
    this.#show([]);
  }
}
