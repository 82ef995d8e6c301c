/** The page of an entity: its facts in groups, what is probably missing, what looks doubtful, and similar entities. */

import { bar, notes } from "./answers.js";
import * as api from "./api.js";
import { h } from "./dom.js";
import { errorBox } from "./errors.js";
import { triple } from "./fact.js";
import { factList, plausibilityBadge } from "./facts.js";
import { count, percent, several } from "./format.js";
import { idsOf, labelAndId, pageLink, starButton } from "./names.js";
import { moreButton } from "./pages.js";
import { Panel } from "./panel.js";
import { factHref, pageHref } from "./route.js";
import { isStarred, toggleStar, visit } from "./visits.js";

const IN_GROUP = 5; // facts at first
const NUM_MISSING = 6;
const NUM_CHECKED = 20; // facts at a time
const NUM_SIMILAR = 10;
const DOUBTFUL = 0.5;

const title = document.querySelector("#view-entity .title");
const panels = {
  facts: new Panel("entity-facts"),
  missing: new Panel("entity-missing"),
  doubtful: new Panel("entity-doubtful"),
  similar: new Panel("entity-similar"),
};

/** Show the entity called `name`. */
export function show({ name }) {
  const rest = [panels.missing, panels.doubtful, panels.similar];
  for (const panel of rest) panel.expect(true);
  title.replaceChildren(h("h1", {}, name));
  panels.facts.show(
    (signal) => api.entity(name, IN_GROUP, signal),
    (profile) => {
      showTitle(profile);
      showRest(profile.name);
      return groups(profile);
    },
    (error, retry) => {
      for (const panel of rest) panel.hide();
      return errorBox(error, error.status === 400 ? null : retry);
    },
  );
}

function showTitle(profile) {
  const hash = pageHref("entity", profile.name);
  visit(hash, profile.label);
  title.replaceChildren(
    h("h1", {}, labelAndId(profile)),
    h("p", { class: "quiet" }, ["entity", ...profile.types].join(" · "), ` · ${several(profile.total, "fact")}`),
    h(
      "div",
      { class: "actions" },
      h("a", { class: "small button", href: factHref(triple(profile.name, null, null)) }, "Ask about it"),
      starButton(
        () => isStarred(hash),
        () => toggleStar(hash, profile.label),
      ),
    ),
  );
}

function showRest(name) {
  panels.missing.show((signal) => api.missing(name, NUM_MISSING, signal), missing);
  panels.doubtful.show(
    (signal) => api.doubtful(name, NUM_CHECKED, 0, signal),
    (page) => doubtful(name, page),
  );
  panels.similar.show(
    (signal) => api.similar(name, "entity", NUM_SIMILAR, signal),
    similar,
    (error, retry) => (error.status === 400 ? h("p", { class: "quiet" }, error.message) : errorBox(error, retry)),
  );
}

// Facts

const PHRASES = { subject: "", object: "object of ", value: "value of " };

function groups({ name, groups: list, num_groups: total }) {
  if (!list.length) return h("p", { class: "quiet" }, "No stored fact mentions it.");
  return [
    list.map((group) => factGroup(name, group)),
    total > list.length && h("p", { class: "quiet" }, `${count(total - list.length)} smaller groups are not shown.`),
  ];
}

function factGroup(name, { role, relation, label, total, facts }) {
  const more = async (offset) => {
    const page = await api.groupFacts(name, role, relation, 4 * IN_GROUP, offset);
    return { items: page.facts.length, elements: [factList(page.facts, { role })] };
  };
  return h(
    "div",
    { class: "group" },
    h(
      "h3",
      {},
      PHRASES[role],
      pageLink("relation", { name: relation, label }),
      h("span", { class: "quiet number" }, ` ${count(total)}`),
    ),
    factList(facts, { role }),
    moreButton(facts.length, total, more),
  );
}

// Missing

function missing(result) {
  return [
    notes(result),
    result.slots.length === 0 && h("p", { class: "quiet" }, "Nothing that entities like it have is missing."),
    result.slots.map((slot) => missingSlot(result.name, slot)),
  ];
}

function missingSlot(name, { role, relation, label, known, share, compared, query, answers }) {
  const have = known
    ? `${percent(share)} of ${count(compared)} entities with ${count(known)} have more`
    : `${percent(share)} of ${count(compared)} similar entities have it`;
  const idOf = idsOf(answers);
  const filled = (answer) => (role === "subject" ? triple(name, relation, answer) : triple(answer, relation, name));
  return h(
    "div",
    { class: "group" },
    h(
      "h3",
      {},
      PHRASES[role],
      pageLink("relation", { name: relation, label }),
      h("span", { class: "quiet" }, ` ${have}`),
    ),
    h(
      "ul",
      { class: "rows" },
      answers.map((answer) =>
        h(
          "li",
          {},
          h("span", { class: "label" }, h("a", { href: factHref(filled(answer.name)) }, answer.label), idOf(answer)),
          h("span", { class: "number" }, percent(answer.probability)),
          bar(answer.probability),
        ),
      ),
    ),
    h("a", { class: "quiet-link", href: factHref(query) }, "All answers"),
  );
}

// Doubtful

function doubtful(name, { facts, total }) {
  const below = facts.filter((one) => one.plausibility < DOUBTFUL);
  const more = async (offset) => {
    const page = await api.doubtful(name, NUM_CHECKED, offset);
    const some = page.facts.filter((one) => one.plausibility < DOUBTFUL);
    const found = `${checked(page.checked)}: ${some.length || "none"} below 50%.`;
    return { items: page.checked, elements: [h("p", { class: "quiet" }, found), scoredList(some)] };
  };
  const shown = below.length ? below : facts.slice(0, 1);
  return [
    h(
      "p",
      { class: "quiet" },
      below.length
        ? `${checked(facts.length)}: ${below.length} below 50%, the least plausible first.`
        : `${checked(facts.length)}: all are plausible${facts.length ? ", this one the least" : ""}.`,
    ),
    scoredList(shown),
    moreButton(facts.length, total, more, "checks"),
  ];
}

const checked = (number) => `${several(number, "fact")} checked`;

function scoredList(scored) {
  const worst = ({ plausibility, elements }) =>
    plausibility < DOUBTFUL && h("span", { class: "quiet" }, `worst fit: ${elements[0].position}`);
  return factList(
    scored.map((one) => ({ ...one, label: one.stored?.label ?? one.fact })),
    { extra: (one) => h("span", { class: "verdict" }, plausibilityBadge(one.plausibility), worst(one)) },
  );
}

// Similar

function similar({ neighbors }) {
  const idOf = idsOf(neighbors);
  return h(
    "ul",
    { class: "rows" },
    neighbors.map((one) =>
      h(
        "li",
        {},
        h("span", { class: "label" }, pageLink("entity", one), idOf(one)),
        h("span", { class: "number quiet" }, one.similarity.toFixed(2)),
        bar(Math.max(0, one.similarity)),
      ),
    ),
  );
}
