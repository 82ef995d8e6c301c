/** Everything the model tells about the fact on the page, panel by panel. */

import { about, FACTS, knownAbout } from "./about.js";
import { answers, filter } from "./answers.js";
import * as api from "./api.js";
import { button, h } from "./dom.js";
import { gaps, kindOf } from "./fact.js";
import { percent } from "./format.js";
import { Panel } from "./panel.js";
import { oddPosition, plausibility } from "./plausibility.js";
import { problem } from "./problem.js";
import { suggestions } from "./suggestions.js";
import { why } from "./why.js";

const FIRST = 10; // answers at first
const MORE = 50;
const SUGGESTED = 8;

export class Results {
  #graph;
  #actions;
  #answers = new Panel("answers");
  #suggestions = new Panel("suggestions");
  #why = new Panel("why");
  #about = new Panel("about");

  /** `actions` are what a reader can do: open, ask, refuse, choose, replace, add, explain, filter. */
  constructor(graph, actions) {
    this.#graph = graph;
    this.#actions = actions;
  }

  /** Show all there is to tell about {fact, vertices, why, known}. */
  show(state, { preview }) {
    const whole = gaps(state.vertices).length === 0;
    this.#why.expect(whole && state.why);
    this.#suggestions.expect(whole);
    this.#about.expect(true);
    if (whole) this.#score(state, preview);
    else this.#predict(state, preview, FIRST);
  }

  #predict(state, preview, k) {
    const asked = gaps(state.vertices);
    this.#answers.title = asked.length > 1 ? "Completions" : `Which ${asked[0].position}?`;
    this.#main(
      state,
      preview,
      (signal) => api.predict(state.fact, k, state.known, signal),
      (found) => found.query,
      (found) => {
        const [best] = found.answers;
        announce(best ? `${found.answers.length} answers, the first: ${best.label ?? best.fact}` : "No answers");
        const more = k < MORE && found.answers.length === k;
        return [
          asked.length === 1 && filter(state.known, this.#actions.filter),
          answers(found, (answer) => (answer.fact ? this.#actions.open(answer.fact) : this.#actions.choose(answer))),
          more && button({ class: "plain", onclick: () => this.#predict(state, preview, MORE) }, "More answers"),
        ];
      },
    );
  }

  #score(state, preview) {
    this.#answers.title = "How plausible is it?";
    this.#main(
      state,
      preview,
      async (signal) => (await api.score(state.fact, signal)).facts[0],
      (scored) => scored.fact,
      (scored) => {
        announce(`${percent(scored.plausibility)} plausible`);
        this.#graph.mark(oddPosition(scored));
        this.#suggest(state);
        if (state.why) this.#explain(state);
        return plausibility(scored, { why: state.why, onAsk: this.#actions.ask, onWhy: this.#actions.explain });
      },
    );
  }

  /** The first question to the model, on which the others wait: it tells whether all names are known. */
  #main(state, preview, task, lineOf, render) {
    this.#answers.show(
      task,
      (found) => {
        const resolved = lineOf(found);
        if (resolved !== state.fact) {
          // Names were written in another way than the model's own: take the model's.
          this.#actions.open(resolved, { why: state.why, known: state.known, preview, replace: true });
          return [];
        }
        this.#tellAbout(state);
        return render(found);
      },
      (error, again) => {
        for (const panel of [this.#why, this.#suggestions, this.#about]) panel.hide();
        if (error.status !== 400) return problem(error, again);
        if (!preview) this.#actions.refuse(error);
        return h("p", { class: "quiet" }, "Nothing to show for this fact yet.");
      },
    );
  }

  #suggest(state) {
    this.#suggestions.show(
      (signal) => api.suggest(state.fact, SUGGESTED, signal),
      (found) => suggestions(found, this.#actions.add),
    );
  }

  #explain(state) {
    this.#why.show(
      (signal) => api.explain(state.fact, state.why, signal),
      (explanation) => {
        this.#graph.attend(explanation.attention);
        return why(explanation, this.#actions.open);
      },
    );
  }

  #tellAbout(state, chosen = null, limit = FACTS) {
    const entities = state.vertices.filter(({ role, name }) => name !== null && kindOf(role) === "entity");
    if (!entities.length) return this.#about.hide();
    const entity = chosen ?? entities.find(({ role }) => role === "subject") ?? entities[0];
    return this.#about.show(
      (signal) => knownAbout(entity.name, limit, signal),
      (found) =>
        about(found, {
          entities,
          chosen: entity,
          onEntity: (vertex) => this.#tellAbout(state, vertex),
          onOpen: this.#actions.open,
          onReplace: (name) => this.#actions.replace(entity.position, name),
          onMore: (more) => this.#tellAbout(state, entity, more),
        }),
    );
  }
}

/** Tell readers of the screen what came. */
function announce(text) {
  document.getElementById("status").textContent = text;
}
