/** A section of the page that shows a result of the server: busy while it waits, with errors shown in place. */

import { UnreachableError } from "./api.js";
import { errorBox } from "./errors.js";
import { latest } from "./latest.js";

export class Panel {
  #section;
  #run = latest();

  constructor(id) {
    this.#section = document.getElementById(id);
    this.body = this.#section.querySelector(".body");
  }

  set title(text) {
    this.#section.querySelector("h2").textContent = text;
  }

  /**
   * Show the result of `task` with `render`, or its error with `renderError`. Until then, the old content is dimmed.
   */
  async show(task, render, renderError = errorBox) {
    this.#section.hidden = false;
    this.#section.setAttribute("aria-busy", "true");
    try {
      this.#fill(render(await this.#run(task)));
    } catch (error) {
      // A banner reports a server that does not respond; the fact is opened again when it is back.
      const retry = () => this.show(task, render, renderError);
      if (!(error instanceof UnreachableError)) this.#fill(renderError(error, retry));
    }
    this.#section.removeAttribute("aria-busy");
  }

  /** Dim the content, which is about to change, or hide the section if nothing will come. */
  expect(something) {
    if (!something) return this.hide();
    this.#run(async () => null);
    return this.#section.setAttribute("aria-busy", "true");
  }

  /** Hide the section and abort its task. */
  hide() {
    this.#run(async () => null);
    if (this.body.contains(document.activeElement)) document.getElementById("answers").focus();
    this.#section.hidden = true;
    this.#section.removeAttribute("aria-busy");
    this.body.replaceChildren();
  }

  /** Replace the content; the focus stays on the same control (data-keep), or else moves to the section. */
  #fill(content) {
    const focused = this.body.contains(document.activeElement) ? document.activeElement : null;
    this.body.replaceChildren(...[content].flat(Infinity).filter(Boolean));
    if (!focused) return;
    const { keep } = focused.dataset;
    const kept = [...this.body.querySelectorAll("[data-keep]")].find((control) => control.dataset.keep === keep);
    (kept ?? this.#section).focus({ preventScroll: true });
  }
}
