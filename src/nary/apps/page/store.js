/** What the browser remembers. Where it may not (storage is blocked or full), it is remembered until the page closes. */

const memory = new Map();

/** The text stored under `key`, or null. `area` is "localStorage" or "sessionStorage" (until the tab is closed). */
export function recall(key, area = "localStorage") {
  try {
    return window[area].getItem(key) ?? memory.get(key) ?? null;
  } catch {
    return memory.get(key) ?? null;
  }
}

/** Store a text. */
export function remember(key, text, area = "localStorage") {
  memory.set(key, text);
  try {
    window[area].setItem(key, text);
  } catch {
    // blocked or full: the memory of this page has it
  }
}
