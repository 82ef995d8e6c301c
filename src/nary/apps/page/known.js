/** What is known about an entity of the fact: facts that mention it, and similar entities. */

import * as api from "./api.js";
import { button, h } from "./dom.js";
import { factList } from "./facts.js";
import { count } from "./format.js";
import { pageLink } from "./names.js";

/** The number of facts shown at first. */
export const NUM_FACTS = 5;
const NUM_NEIGHBORS = 6;

/** Fetch facts and neighbors of an entity; models without embeddings have no neighbors. */
export async function fetchKnown(name, limit, signal) {
  const [facts, neighbors] = await Promise.all([
    api.facts(name, limit, 0, signal),
    api.similar(name, "entity", NUM_NEIGHBORS, signal).catch((error) => {
      if (error.status === 400) return { neighbors: [] };
      throw error;
    }),
  ]);
  return { facts, neighbors: neighbors.neighbors };
}

/** `entities` are the vertices to choose from; the callbacks get a vertex, a name, and a limit. */
export function known({ facts, neighbors }, { entities, chosen, onEntity, onReplace, onMore }) {
  const remaining = facts.total - facts.facts.length;
  return [
    h(
      "div",
      { class: "chips", role: "group", "aria-label": "Choose an entity" },
      entities.map((vertex) =>
        button(
          {
            class: "small",
            "data-keep": `known ${vertex.position}`,
            "aria-pressed": String(vertex.position === chosen.position),
            onclick: () => onEntity(vertex),
          },
          vertex.label,
        ),
      ),
    ),
    factList(facts.facts),
    remaining > 0 &&
      button({ class: "plain", onclick: () => onMore(4 * facts.facts.length) }, `Show more (${count(remaining)} left)`),
    h("p", { class: "to-page" }, pageLink("entity", chosen, ": all facts, what is missing, what looks doubtful")),
    neighbors.length > 0 && [
      h("h3", {}, "Similar entities"),
      h(
        "div",
        { class: "chips" },
        neighbors.map(({ name, label, similarity }) =>
          button(
            {
              class: "small",
              title: `Similarity ${similarity.toFixed(2)}. Click to replace the entity`,
              onclick: () => onReplace(name),
            },
            label,
          ),
        ),
      ),
    ],
  ];
}
