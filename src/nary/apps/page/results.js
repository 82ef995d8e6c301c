/** The panels with the model's results for the fact on the page. */

import { answers, filter, suggestions } from "./answers.js";
import * as api from "./api.js";
import { button, h } from "./dom.js";
import { errorBox } from "./errors.js";
import { gaps, kindOf } from "./fact.js";
import { percent } from "./format.js";
import { fetchKnown, known, NUM_FACTS } from "./known.js";
import { Panel } from "./panel.js";
import { plausibility, worstPosition } from "./plausibility.js";
import { why } from "./why.js";

const NUM_ANSWERS = 10; // at first
const MORE_ANSWERS = 50;
const NUM_SUGGESTIONS = 8;

export class Results {
  #graph;
  #actions;
  #answers = new Panel("answers");
  #suggestions = new Panel("suggestions");
  #why = new Panel("why");
  #known = new Panel("known");

  /** `actions` are what a user can do: open, ask, choose, replace, add, explain, filter; and `answered` and `reject`. */
  constructor(graph, actions) {
    this.#graph = graph;
    this.#actions = actions;
  }

  /** Show the results for {fact, vertices, why, known, unseen}. */
  show(state, { preview }) {
    const complete = gaps(state.vertices).length === 0;
    this.#why.expect(complete && state.why);
    this.#suggestions.expect(complete);
    this.#known.expect(true);
    if (complete) this.#score(state, preview);
    else this.#predict(state, preview, NUM_ANSWERS);
  }

  #predict(state, preview, k) {
    const missing = gaps(state.vertices);
    this.#answers.title = missing.length > 1 ? "Completions" : `Answers for the ${missing[0].position}`;
    this.#main(
      state,
      preview,
      (signal) => fetchAnswers(state, k, signal),
      (prediction) => prediction.query,
      (prediction) => {
        const [best] = prediction.answers;
        announce(best ? `${prediction.answers.length} answers, best: ${best.label ?? best.fact}` : "No answers");
        const showMore = () => this.#predict(state, preview, MORE_ANSWERS);
        const more = k < MORE_ANSWERS && prediction.answers.length >= k;
        return [
          missing.length === 1 && filter(state.known, this.#actions.filter),
          answers(prediction, (answer) =>
            answer.fact ? this.#actions.open(answer.fact) : this.#actions.choose(answer),
          ),
          more && button({ class: "plain", onclick: showMore }, "Show more answers"),
        ];
      },
    );
  }

  #score(state, preview) {
    this.#answers.title = "Plausibility";
    this.#main(
      state,
      preview,
      async (signal) => (await api.score(state.fact, state.unseen, signal)).facts[0],
      (scored) => scored.fact,
      (scored) => {
        announce(`${percent(scored.plausibility)} plausible`);
        this.#graph.markWorst(worstPosition(scored));
        this.#suggest(state);
        if (state.why) this.#explain(state);
        return plausibility(scored, { why: state.why, onAsk: this.#actions.ask, onWhy: this.#actions.explain });
      },
    );
  }

  /** The first request, which the others wait for: it tells whether all names are known. */
  #main(state, preview, task, textOf, render) {
    this.#answers.show(
      task,
      (result) => {
        const resolved = textOf(result);
        if (resolved !== state.fact) {
          // Some names were labels or in another case: use the names of the vocabulary.
          this.#actions.open(resolved, {
            why: state.why,
            known: state.known,
            unseen: state.unseen,
            preview,
            replace: true,
          });
          return [];
        }
        if (!preview) this.#actions.answered(state);
        this.#showKnown(state);
        return render(result);
      },
      (error, retry) => {
        for (const panel of [this.#why, this.#suggestions, this.#known]) panel.hide();
        if (error.status !== 400) return errorBox(error, retry);
        if (!preview) this.#actions.reject(error);
        return h("p", { class: "quiet" }, "No results for this fact.");
      },
    );
  }

  #suggest(state) {
    this.#suggestions.show(
      (signal) => api.suggest(state.fact, state.unseen, NUM_SUGGESTIONS, signal),
      (response) => suggestions(response, this.#actions.add),
    );
  }

  #explain(state) {
    this.#why.show(
      (signal) => api.explain(state.fact, state.unseen, state.why, signal),
      (explanation) => {
        this.#graph.showAttention(explanation.attention);
        return why(explanation, this.#actions.open);
      },
    );
  }

  #showKnown(state, chosen = null, limit = NUM_FACTS) {
    const entities = state.vertices.filter(({ role, name }) => name !== null && kindOf(role) === "entity");
    if (!entities.length) return this.#known.hide();
    const entity = chosen ?? entities.find(({ role }) => role === "subject") ?? entities[0];
    return this.#known.show(
      (signal) => fetchKnown(entity.name, limit, signal),
      (response) =>
        known(response, {
          entities,
          chosen: entity,
          onEntity: (vertex) => this.#showKnown(state, vertex),
          onReplace: (name) => this.#actions.replace(entity.position, name),
          onMore: (more) => this.#showKnown(state, entity, more),
        }),
      (error, retry) =>
        error.status === 400 ? h("p", { class: "quiet" }, `${entity.label} is unknown.`) : errorBox(error, retry),
    );
  }
}

/** As many stored answers and as many predictions, or only one of both. */
async function fetchAnswers({ fact, unseen, vertices, known }, k, signal) {
  const groups = known === "first" && gaps(vertices).length === 1 ? ["only", "hide"] : [known];
  const parts = await Promise.all(groups.map((group) => api.predict(fact, unseen, k, group, signal)));
  return { ...parts[0], answers: parts.flatMap((part) => part.answers) };
}

/** Tell screen readers about new results. */
function announce(text) {
  document.getElementById("status").textContent = text;
}
