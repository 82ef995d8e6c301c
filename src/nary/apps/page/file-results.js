/** The results of a file: how many of each kind, a table of them, and buttons to download all. */

import { bar } from "./answers.js";
import { button, h } from "./dom.js";
import { count, percent, several } from "./format.js";
import { factHref } from "./route.js";

const SHOWN = 50; // rows at first
const ORDERS = { lines: "in order", doubtful: "least plausible first", errors: "errors" };

export class FileResults {
  #section = document.getElementById("file-results");
  #body = this.#section.querySelector(".body");
  #results = [];
  #order = "lines";
  #shown = SHOWN;
  #downloads = {};

  /** The number of results so far. */
  get total() {
    return this.#results.length;
  }

  /** Begin a new list; `downloads` save all results as CSV and JSON Lines. */
  start(downloads) {
    this.#results = [];
    this.#order = "lines";
    this.#shown = SHOWN;
    this.#downloads = downloads;
    this.#section.hidden = true;
  }

  /** Add results; the table shows the first of them at once. */
  add(some) {
    const full = this.#results.length >= this.#shown;
    this.#results.push(...some);
    if (!full) this.#draw();
  }

  /** All results are there. */
  end() {
    if (this.#results.length) this.#draw();
  }

  #draw() {
    const rows = this.#ordered();
    this.#section.hidden = false;
    this.#body.replaceChildren(
      h("p", {}, this.#summary()),
      h(
        "div",
        { class: "actions" },
        button({ class: "small", onclick: () => this.#downloads.csv(this.#results) }, "Download CSV"),
        button({ class: "small", onclick: () => this.#downloads.jsonLines(this.#results) }, "Download JSON Lines"),
        this.#orderChoice(),
      ),
      h("ol", { class: "results" }, rows.slice(0, this.#shown).map(row)),
    );
    if (!rows.length) this.#body.append(h("p", { class: "quiet" }, "None."));
    if (rows.length > this.#shown)
      this.#body.append(
        button(
          { class: "plain", onclick: () => this.#show(4 * this.#shown) },
          `Show more (${count(rows.length - this.#shown)} left)`,
        ),
      );
  }

  #show(number) {
    this.#shown = number;
    this.#draw();
  }

  #summary() {
    const numberOf = (test) => this.#results.filter(test).length;
    const facts = numberOf((one) => one.plausibility);
    const doubtful = numberOf((one) => one.plausibility?.plausibility < 0.5);
    return [
      facts > 0 && `${several(facts, "fact")} scored, ${count(doubtful)} below 50%`,
      `${several(
        numberOf((one) => one.prediction),
        "question",
      )} answered`,
      several(
        numberOf((one) => one.error),
        "error",
      ),
    ]
      .filter(Boolean)
      .join(" · ");
  }

  #orderChoice() {
    const choose = (event) => {
      this.#order = event.target.value;
      this.#shown = SHOWN;
      this.#draw();
      this.#body.querySelector("select").focus();
    };
    return h(
      "label",
      {},
      h("span", { class: "visually-hidden" }, "Which results to show"),
      h(
        "select",
        { onchange: choose },
        Object.entries(ORDERS).map(([value, text]) => h("option", { value, selected: value === this.#order }, text)),
      ),
    );
  }

  #ordered() {
    if (this.#order === "errors") return this.#results.filter((one) => one.error);
    if (this.#order === "lines") return this.#results;
    const facts = this.#results.filter((one) => one.plausibility);
    return facts.sort((a, b) => a.plausibility.plausibility - b.plausibility.plausibility);
  }
}

function row({ number, text, plausibility, prediction, error }) {
  const statement = plausibility?.fact ?? prediction?.query;
  return h(
    "li",
    {},
    h("span", { class: "quiet number" }, `line ${number}`),
    statement ? h("a", { href: factHref(statement) }, text) : h("span", {}, text),
    error && h("span", { class: "problem" }, [error.message, error.hint].filter(Boolean).join(". ")),
    plausibility && verdict(plausibility),
    prediction && best(prediction),
  );
}

function verdict({ plausibility, known, elements }) {
  return h(
    "span",
    { class: plausibility < 0.5 ? "verdict worst" : "verdict" },
    h("span", { class: "number" }, `${percent(plausibility)} plausible`),
    known && h("span", { class: "badge" }, "known"),
    plausibility < 0.5 && h("span", { class: "quiet" }, `worst fit: ${elements[0].position} ${elements[0].label}`),
    bar(plausibility),
  );
}

function best({ answers, value }) {
  const [first, ...others] = answers;
  if (!first) return h("span", { class: "quiet" }, "no answers");
  return h(
    "span",
    { class: "verdict" },
    value && h("span", {}, "expected ", h("strong", {}, value.label)),
    h("strong", {}, first.label ?? first.fact),
    first.known ? h("span", { class: "badge" }, "known") : h("span", { class: "number" }, percent(first.probability)),
    others.length > 0 &&
      h("span", { class: "quiet" }, `then ${others.map(({ label, fact }) => label ?? fact).join(", ")}`),
    !first.known && bar(first.probability),
  );
}
