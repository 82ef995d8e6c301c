/** The one box at the top: finds entities and relations, and opens a fact or question in the one-line form. */

import { search, UnreachableError } from "./api.js";
import { h } from "./dom.js";
import { debounced, latest } from "./latest.js";
import { labelAndId } from "./names.js";
import { Options } from "./options.js";
import { factHref, pageHref } from "./route.js";

const MAX_OPTIONS = 10;

export class SearchBox {
  #onOpen;
  #run = latest();
  #options; // {href, content, label}
  #later = debounced(() => this.#complete(), 120);

  /** `onOpen` is called with the address of what was chosen. */
  constructor(host, onOpen) {
    this.#onOpen = onOpen;
    this.input = h("input", {
      type: "search",
      id: "search-box",
      "aria-label": "Search, or write a question",
      placeholder: "Search, or ask: Marie Curie | award received | ?",
      oninput: () => this.#later(),
      onkeydown: (event) => this.#key(event),
      onblur: () => this.#close(),
      onfocus: () => this.input.value.trim() && this.#complete(),
    });
    this.#options = new Options(this.input, "search-options", "Matches", ({ href }) => this.#open(href));
    host.append(this.input, this.#options.element);
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
      this.#options.move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.#enter();
    } else if (event.key === "Escape") {
      event.preventDefault();
      if (!this.#options.isOpen) this.input.value = "";
      this.#close();
    }
  }

  /** Open what is marked, the fact that was written, or the only or exact match. */
  async #enter() {
    const marked = this.#options.active;
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
    const none = { disabled: true, content: [nearest.length ? "No match. Did you mean:" : "No match."] };
    return [none, ...nearest.map(option)];
  }

  #show(options) {
    this.#options.show(options, ({ content }) => content);
  }

  #close() {
    this.#later.cancel();
    this.#run(async () => null);
    this.#options.close();
  }
}
