/** A server that does not answer: a banner says so, asks again by itself, and goes away when the server is back. */

import { h } from "./dom.js";

const EVERY = 1500; // milliseconds between attempts
const banner = document.getElementById("banner");
const listeners = [];
let waiting = false;

/** The server did not answer. */
export class Unreachable extends Error {}

/** Call `action` whenever the server is back. */
export function onReturn(action) {
  listeners.push(action);
}

/** Say that the server is gone, and ask until it answers. */
export async function lost() {
  if (waiting) return;
  waiting = true;
  banner.replaceChildren(h("strong", {}, "The server does not answer."), " Trying again until it is back.");
  banner.hidden = false;
  do await new Promise((done) => setTimeout(done, EVERY));
  while (!(await answers()));
  waiting = false;
  banner.hidden = true;
  for (const action of listeners) action();
}

async function answers() {
  try {
    return (await fetch("health", { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}
