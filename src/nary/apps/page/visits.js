/** Recent and starred questions and pages, kept in this browser: entries {hash, label}. */

import { recall, remember } from "./store.js";

const MAX_RECENT = 30;
const MAX_STARRED = 200;
const KEYS = { recent: "nary-recent", starred: "nary-starred" };

/** The recent pages, the last first. */
export const recent = () => entries("recent");

/** The starred pages, the last first. */
export const starred = () => entries("starred");

/** Remember that a page was visited. */
export function visit(hash, label) {
  save("recent", [{ hash, label }, ...others("recent", hash)].slice(0, MAX_RECENT));
}

/** Whether a page is starred. */
export const isStarred = (hash) => starred().some((entry) => entry.hash === hash);

/** Star a page, or remove its star. */
export function toggleStar(hash, label) {
  const rest = others("starred", hash);
  save("starred", isStarred(hash) ? rest : [{ hash, label }, ...rest].slice(0, MAX_STARRED));
}

/** Forget the recent pages. */
export const clearRecent = () => save("recent", []);

const others = (list, hash) => entries(list).filter((entry) => entry.hash !== hash);

/** What is stored; anything that is no entry, another program's for example, is passed over. */
function entries(list) {
  try {
    const stored = JSON.parse(recall(KEYS[list]) ?? "[]");
    return stored.filter(({ hash, label }) => typeof label === "string" && String(hash).startsWith("#"));
  } catch {
    return [];
  }
}

function save(list, content) {
  remember(KEYS[list], JSON.stringify(content));
}
