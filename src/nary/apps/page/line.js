/** The whole fact as one line of text, in step with the fields. */

import { button, h } from "./dom.js";
import { debounced } from "./latest.js";

export class Line {
  #input;

  /** `preview` is called with the text while one types, `take` when the line is done. */
  constructor(host, { preview, take }) {
    const later = debounced(preview, 300);
    this.#input = h("input", {
      type: "text",
      id: "one-line",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      placeholder: "Marie Curie | award received | ? | point in time: 1911",
      oninput: () => later(this.#input.value),
      onchange: () => {
        later.cancel();
        take(this.#input.value);
      },
    });
    const copy = button({ class: "small", onclick: () => copyLink(copy) }, "Copy link");
    host.append(h("label", { class: "caption", for: "one-line" }, "as one line"), h("div", {}, this.#input, copy));
  }

  /** Show the line of a fact, but leave what somebody is writing. */
  show(text, { evenIfWriting = false } = {}) {
    if (evenIfWriting || document.activeElement !== this.#input) this.#input.value = text;
  }
}

async function copyLink(copy) {
  try {
    await navigator.clipboard.writeText(location.href);
    copy.textContent = "Copied";
  } catch {
    copy.textContent = "Copy it from the address bar"; // a page that is not served securely may not write
  }
  setTimeout(() => (copy.textContent = "Copy link"), 2000);
}
