/** Numbers as text. */

/** A probability: 31.5%, 0.04% or <0.01%. */
export function percent(share) {
  if (share > 0 && share < 0.0001) return "<0.01%";
  return `${(100 * share).toFixed(share < 0.01 ? 2 : 1)}%`;
}

/** A difference, with its sign. */
export function signed(number) {
  return `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(2)}`;
}

/** A number of things: 1 fact, 2,636 facts. */
export function several(number, thing) {
  return `${count(number)} ${thing}${number === 1 ? "" : "s"}`;
}

/** A count: 2,636. */
export function count(number) {
  return number.toLocaleString("en");
}
