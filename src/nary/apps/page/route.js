/** Addresses: the part of the URL after # says which view to show, and of what. */

/**
 * The address of a fact or query, given as text; `why` is the position to explain, `known` which answers to show, and
 * `unseen` whether names may be unknown.
 */
export function factHref(fact, { why = null, known = "first", unseen = false } = {}) {
  const parameters = new URLSearchParams({ fact });
  if (why) parameters.set("why", why);
  if (known !== "first") parameters.set("known", known);
  if (unseen) parameters.set("unseen", "1");
  return `#${parameters}`;
}

/** The address of the page of an entity or relation. */
export const pageHref = (kind, name) => `#/${kind}/${encodeURIComponent(name)}`;

const VIEWS = ["relations", "file", "about"];

/** The view of an address: {view, name} for a page, {view: "ask", fact, why, known, unseen} for a fact or the start. */
export function parse(hash) {
  const [, view, name] = /^#\/(\w+)(?:\/(.+))?$/.exec(hash) ?? [];
  if (VIEWS.includes(view)) return { view };
  if ((view === "entity" || view === "relation") && name) return { view, name: decoded(name) };
  const parameters = new URLSearchParams(hash.slice(1));
  const [fact, why, known] = ["fact", "why", "known"].map((one) => parameters.get(one));
  return { view: "ask", fact, why, known, unseen: parameters.has("unseen") };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
