/** Stored facts as a list of links; of what all of them have in common, nothing is repeated. */

import { h } from "./dom.js";
import { percent } from "./format.js";
import { factHref } from "./route.js";

const QUOTED = String.raw`"(?:\\.|[^"\\])*"`;
const PART = new RegExp(String.raw`((?:${QUOTED}|[^|:"]*)\s*:\s*${QUOTED}|${QUOTED}[^|]*|[^|]*)(?:\||$)`, "gs");

/** The parts of the text form of a fact: subject, relation, object, then a text for each qualifier. */
export function parts(text) {
  return [...text.matchAll(PART)].map(([, part]) => part.trim()).filter(Boolean);
}

/** What to read of a fact in a group: `role` is that of the name the group is about. */
export function reading(label, role = null) {
  const [subject, relation, object, ...qualifiers] = parts(label);
  const main = { subject: [object], object: [subject], relation: [subject, object] }[role] ?? [
    subject,
    relation,
    object,
  ];
  return [
    h("span", { class: "main-part" }, main.map(unquoted).join(" · ")),
    qualifiers.length > 0 && h("span", { class: "quiet" }, qualifiers.join(" · ")),
  ];
}

/** A list of links to stored facts {fact, label, split}; `extra` may add something to each. */
export function factList(facts, { role = null, extra = () => null } = {}) {
  return h(
    "ul",
    { class: "fact-list" },
    facts.map((one) =>
      h(
        "li",
        {},
        h("a", { href: factHref(one.fact), title: one.label }, reading(one.label, role)),
        one.split && one.split !== "train" && h("span", { class: "badge plain" }, one.split),
        extra(one),
      ),
    ),
  );
}

/** How plausible a fact is, as a colored number. */
export function plausibilityBadge(share) {
  return h("span", { class: `badge ${share < 0.5 ? "worst" : ""}` }, `${percent(share)} plausible`);
}

function unquoted(part) {
  try {
    return part.startsWith('"') ? JSON.parse(part) : part;
  } catch {
    return part;
  }
}
