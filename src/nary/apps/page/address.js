/** The state of the page in its address, so that a link and the buttons back and forward bring it again. */

const KNOWN = ["mark", "hide", "only"];

/** What the address says: the fact as one line, the position to explain, and which answers to show. */
export function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const known = given.get("known");
  return { fact: given.get("fact"), why: given.get("why"), known: KNOWN.includes(known) ? known : "mark" };
}

/** Put the state into the address, as a new entry of the history if it differs, or in place of the one there is. */
export function writeAddress({ fact, why, known }, { replace = false } = {}) {
  const parts = new URLSearchParams({ fact });
  if (why) parts.set("why", why);
  if (known !== "mark") parts.set("known", known);
  const hash = `#${parts}`;
  if (replace) history.replaceState(null, "", hash);
  else if (hash !== location.hash) history.pushState(null, "", hash);
}
