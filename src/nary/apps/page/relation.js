/** The page of a relation: how often it is used and with what, how well it is predicted, rules, and its facts. */

import { bar } from "./answers.js";
import * as api from "./api.js";
import { h } from "./dom.js";
import { errorBox } from "./errors.js";
import { triple } from "./fact.js";
import { factList } from "./facts.js";
import { count, percent, several } from "./format.js";
import { metricsTable } from "./metrics.js";
import { idsOf, labelAndId, pageLink, starButton } from "./names.js";
import { moreButton } from "./pages.js";
import { Panel } from "./panel.js";
import { factHref, pageHref } from "./route.js";
import { isStarred, toggleStar, visit } from "./visits.js";

const NUM_NAMES = 8; // in each slot
const NUM_RULES = 3; // for each role
const RULE_ROLES = ["object", "subject", "value", "relation"];
const NUM_FACTS = 10;

const title = document.querySelector("#view-relation .title");
const panels = {
  use: new Panel("relation-use"),
  metrics: new Panel("relation-metrics"),
  rules: new Panel("relation-rules"),
  facts: new Panel("relation-facts"),
};

/** Show the relation called `name`. */
export function show({ name }) {
  const rest = [panels.metrics, panels.rules, panels.facts];
  for (const panel of rest) panel.expect(true);
  title.replaceChildren(h("h1", {}, name));
  panels.use.show(
    (signal) => api.relation(name, NUM_NAMES, signal),
    (profile) => {
      showTitle(profile);
      showRest(profile);
      return use(profile);
    },
    (error, retry) => {
      for (const panel of rest) panel.hide();
      return errorBox(error, error.status === 400 ? null : retry);
    },
  );
}

const total = ({ facts }) => Object.values(facts).reduce((sum, number) => sum + number, 0);

const pattern = (name) => triple(null, name, null);

function showTitle(profile) {
  const hash = pageHref("relation", profile.name);
  visit(hash, profile.label);
  const attribute = profile.as_attribute > 0 && ` · attribute of ${several(profile.as_attribute, "qualifier")}`;
  title.replaceChildren(
    h("h1", {}, labelAndId(profile)),
    h("p", { class: "quiet" }, `relation · ${several(total(profile), "fact")}`, attribute),
    h(
      "div",
      { class: "actions" },
      total(profile) > 0 && h("a", { class: "small button", href: factHref(pattern(profile.name)) }, "Ask with it"),
      starButton(
        () => isStarred(hash),
        () => toggleStar(hash, profile.label),
      ),
    ),
  );
}

function showRest({ name, metrics }) {
  panels.metrics.show(async () => metrics, quality);
  panels.rules.show(
    (signal) => fetchRules(name, signal),
    rules,
    (error, retry) =>
      error.status === 400 ? h("p", { class: "quiet" }, "This model has no rules.") : errorBox(error, retry),
  );
  panels.facts.show(
    (signal) => api.findFacts(pattern(name), NUM_FACTS, 0, signal),
    (page) => stored(name, page),
  );
}

// Use

function use(profile) {
  const facts = total(profile);
  return [
    facts > 0 && [
      h("h3", {}, "Facts"),
      h("p", {}, figures(profile.facts)),
      h("p", { class: "quiet" }, `by arity: ${figures(profile.arities)}`),
      slot("Subjects", "entity", profile.subjects, facts),
      slot("Objects", "entity", profile.objects, facts),
      slot("Attributes", "relation", profile.attributes, facts),
    ],
    profile.as_attribute > 0 && slot("Values as an attribute", "entity", profile.values, profile.as_attribute),
  ];
}

const figures = (counts) =>
  Object.entries(counts)
    .map(([name, number]) => `${name}: ${count(number)}`)
    .join(" · ");

/** The most frequent names of a slot; the bars are shares of `whole`. */
function slot(caption, kind, { distinct, names }, whole) {
  if (!distinct) return null;
  const idOf = idsOf(names);
  return [
    h("h3", {}, caption, h("span", { class: "quiet" }, ` ${count(distinct)} different`)),
    h(
      "ul",
      { class: "rows" },
      names.map((one) =>
        h(
          "li",
          {},
          h("span", { class: "label" }, pageLink(kind, one), idOf(one)),
          h("span", { class: "number quiet" }, count(one.count)),
          bar(Math.min(1, one.count / whole)),
        ),
      ),
    ),
  ];
}

// Metrics, rules, facts

function quality(metrics) {
  const splits = Object.entries(metrics);
  if (!splits.length)
    return h(
      "p",
      { class: "quiet" },
      "Not recorded. ",
      h("code", {}, "nary evaluate RUN --by relation"),
      " records it.",
    );
  return splits.map(([split, groups]) => [h("h3", {}, split), metricsTable(groups)]);
}

async function fetchRules(name, signal) {
  const lists = await Promise.all(RULE_ROLES.map((role) => api.rules(name, role, NUM_RULES, signal)));
  return lists.map(({ rules: list }, index) => [RULE_ROLES[index], list]).filter(([, list]) => list.length);
}

function rules(byRole) {
  if (!byRole.length) return h("p", { class: "quiet" }, "None.");
  return byRole.map(([role, list]) => [h("h3", {}, `for the ${role}`), ruleList(list)]);
}

function ruleList(list) {
  return h(
    "ul",
    { class: "rules" },
    list.map(({ target, body, answer, support, cases, confidence, example }) =>
      h(
        "li",
        {},
        h("p", {}, h("strong", {}, target, answer && ` = ${answer}`), ` if ${body}`),
        h(
          "p",
          { class: "quiet" },
          `holds in ${count(support)} of ${count(cases)} cases · confidence ${percent(confidence)}`,
        ),
        example && h("p", {}, "for example ", h("a", { href: factHref(example.fact.fact) }, example.fact.label)),
      ),
    ),
  );
}

function stored(name, { facts, total: number }) {
  if (!number) return h("p", { class: "quiet" }, "It is used as an attribute only.");
  const more = async (offset) => {
    const page = await api.findFacts(pattern(name), 2 * NUM_FACTS, offset);
    return { items: page.facts.length, elements: [factList(page.facts, { role: "relation" })] };
  };
  return [factList(facts, { role: "relation" }), moreButton(facts.length, number, more)];
}
