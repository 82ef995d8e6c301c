/** Errors, shown where they happened, with what to do about them. */

import { search } from "./api.js";
import { button, h } from "./dom.js";
import { latest } from "./latest.js";
import { labelAndId } from "./names.js";

const factError = document.getElementById("fact-error");
const newest = latest();
const MAX_MEANT = 50;

/** The message and hint of an error; `retry`, if given, is offered as a button. */
export function errorBox(error, retry) {
  return h(
    "div",
    { class: "error" },
    h("p", {}, h("strong", {}, sentence(error.message))),
    error.hint && h("p", {}, error.hint),
    retry && button({ class: "small", onclick: retry }, "Try again"),
  );
}

/**
 * Show an error below the fields of the fact. If a name is unknown or means several, those that may be meant are
 * offered; `onCorrect` is called with the name and its replacement, `onAccept` to go on with an unknown name.
 */
export async function showFactError(error, { onCorrect, onAccept } = {}) {
  const problem = nameProblem(error);
  factError.replaceChildren(errorBox(error));
  if (!problem || !onCorrect) return;
  const { matches, nearest } = await newest((signal) => search(problem.text, problem.kind, MAX_MEANT, signal));
  const folded = problem.text.toLowerCase();
  const same = matches.filter(({ name, label }) => [name, label].some((one) => one.toLowerCase() === folded));
  const meant = problem.ambiguous ? same : [...matches.slice(0, 3), ...nearest];
  const choice = (one) => button({ class: "small", onclick: () => onCorrect(problem.text, one.name) }, labelAndId(one));
  const what = problem.ambiguous ? `“${problem.text}” has several meanings. ` : `“${problem.text}” is unknown. `;
  factError.replaceChildren(
    h(
      "div",
      { class: "error" },
      h("p", {}, h("strong", {}, what), meant.length ? "Did you mean:" : "No known name is close to it."),
      h(
        "div",
        { class: "chips" },
        meant.map(choice),
        !problem.ambiguous && button({ class: "plain", onclick: onAccept }, "Ask anyway, as something new"),
      ),
    ),
  );
}

/** Remove the error below the fields of the fact. */
export function clearFactError() {
  newest(async () => null);
  factError.replaceChildren();
}

/** The name that an error message is about, {text, kind, ambiguous}; null for other errors. */
export function nameProblem({ message }) {
  const unknown = /^unknown (entity|relation) (['"])(.*)\2$/s.exec(message);
  if (unknown) return { text: unknown[3], kind: unknown[1], ambiguous: false };
  const several = /^(['"])(.*)\1 may mean [\d,]+ (entit|relation)/s.exec(message);
  return several && { text: several[2], kind: several[3] === "entit" ? "entity" : "relation", ambiguous: true };
}

function sentence(text) {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}
