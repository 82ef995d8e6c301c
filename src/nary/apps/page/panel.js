/** A section of the page that shows what the server answers: busy while it waits, with its errors in place. */

import { Unreachable } from "./connection.js";
import { latest } from "./latest.js";
import { problem } from "./problem.js";

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
   * Show what `render` makes of the result of `task`, or `renderError` of its error; what was there stays, dimmed,
   * until then.
   */
  async show(task, render, renderError = problem) {
    this.#section.hidden = false;
    this.#section.setAttribute("aria-busy", "true");
    try {
      this.#fill(render(await this.#run(task)));
    } catch (error) {
      // A server that is gone has its banner, and everything is asked again when it is back.
      if (!(error instanceof Unreachable)) this.#fill(renderError(error, () => this.show(task, render, renderError)));
    }
    this.#section.removeAttribute("aria-busy");
  }

  /** Dim what is there, for it is about to change, or take it away if nothing will come. */
  expect(something) {
    if (!something) return this.hide();
    this.#run(async () => null);
    return this.#section.setAttribute("aria-busy", "true");
  }

  /** Take the section away, and with it whatever it was waiting for. */
  hide() {
    this.#run(async () => null);
    if (this.body.contains(document.activeElement)) document.getElementById("answers").focus();
    this.#section.hidden = true;
    this.#section.removeAttribute("aria-busy");
    this.body.replaceChildren();
  }

  /** Put new content in; whoever was inside stays at the same control (data-keep), or else at the section. */
  #fill(content) {
    const focused = this.body.contains(document.activeElement) ? document.activeElement : null;
    this.body.replaceChildren(...[content].flat(Infinity).filter(Boolean));
    if (!focused) return;
    const { keep } = focused.dataset;
    const kept = [...this.body.querySelectorAll("[data-keep]")].find((one) => one.dataset.keep === keep);
    (kept ?? this.#section).focus({ preventScroll: true });
  }
}
