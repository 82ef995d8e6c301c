/**
 * A fact as the server describes it: a list of vertices {position, role, name, label}, name null for a gap. Qualifiers
 * come in the server's order, so that "value 2" means the same on both sides.
 */

/** Whether the candidates for a role are entities or relations. */
export function kindOf(role) {
  return role === "relation" || role === "attribute" ? "relation" : "entity";
}

/** The roles of the primary triple, in reading order. */
export const PRIMARY = ["subject", "relation", "object"];

/** The vertex at `position`. */
export function at(fact, position) {
  return fact.find((vertex) => vertex.position === position);
}

/** The gaps of a fact. */
export function gaps(fact) {
  return fact.filter((vertex) => vertex.name === null);
}

/** The same fact with `name` (null for a gap) at `position`. */
export function put(fact, position, name) {
  return fact.map((vertex) => (vertex.position === position ? { ...vertex, name, label: name } : vertex));
}

/** The [attribute, value] pairs of vertices. */
export function qualifiers(fact) {
  const attributes = fact.filter((vertex) => vertex.role === "attribute");
  return attributes.map((attribute) => [attribute, at(fact, partner(attribute.position))]);
}

/** The position of the other half of a qualifier. */
export function partner(position) {
  const [role, number] = position.split(" ");
  return `${role === "attribute" ? "value" : "attribute"} ${number}`;
}

/** The text of a fact for the server. Every name is quoted, so that special characters need no care. */
export function asText(fact) {
  const primary = PRIMARY.map((role) => quoted(at(fact, role).name));
  return [...primary, ...qualifiers(fact).map((pair) => pair.map(({ name }) => quoted(name)).join(": "))].join(" | ");
}

/** The text of a fact without qualifiers; null stands for a gap. */
export const triple = (...names) => names.map(quoted).join(" | ");

/** The text of the fact with one more qualifier. */
export function withQualifier(fact, attribute, value) {
  return `${asText(fact)} | ${quoted(attribute)}: ${quoted(value)}`;
}

function quoted(name) {
  return name === null ? "?" : JSON.stringify(name);
}

/** The position in `fact` of `name`, which was put at `position` of `before`: qualifiers may have been reordered. */
export function moved(before, position, name, fact) {
  const { role } = at(before, position);
  if (PRIMARY.includes(role)) return position;
  const other = at(before, partner(position)).name;
  const same = (vertex) => vertex.role === role && vertex.name === name;
  return fact.find((vertex) => same(vertex) && at(fact, partner(vertex.position)).name === other)?.position ?? null;
}
