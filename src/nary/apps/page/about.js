/** What the data says about an entity of the fact: facts that mention it, and similar entities. */

import * as api from "./api.js";
import { button, h } from "./dom.js";
import { count } from "./format.js";

/** The number of facts shown at first. */
export const NUM_FACTS = 5;
const NUM_NEIGHBORS = 6;

/** Fetch facts and neighbors of an entity; models without embeddings have no neighbors. */
export async function fetchAbout(name, limit, signal) {
  const [facts, neighbors] = await Promise.all([
    api.facts(name, limit, 0, signal),
    api.similar(name, "entity", NUM_NEIGHBORS, signal).catch((error) => {
      if (error.status === 400) return { neighbors: [] };
      throw error;
    }),
  ]);
  return { facts, neighbors: neighbors.neighbors };
}

/** `entities` are the vertices to choose from; the callbacks get a vertex, the text of a fact, a name, and a limit. */
export function about({ facts, neighbors }, { entities, chosen, onEntity, onOpen, onReplace, onMore }) {
  const remaining = facts.total - facts.facts.length;
  return [
    h(
      "div",
      { class: "chips", role: "group", "aria-label": "Choose an entity" },
      entities.map((vertex) =>
        button(
          {
            class: "small",
            "data-keep": `about ${vertex.position}`,
            "aria-pressed": String(vertex.position === chosen.position),
            onclick: () => onEntity(vertex),
          },
          vertex.label,
        ),
      ),
    ),
    h(
      "ul",
      { class: "facts" },
      facts.facts.map((known) =>
        h("li", {}, button({ class: "fact", onclick: () => onOpen(known.fact) }, known.label)),
      ),
    ),
    remaining > 0 &&
      button(
        { class: "plain", onclick: () => onMore(4 * facts.facts.length) },
        `Show more (${count(remaining)} left)`,
      ),
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
