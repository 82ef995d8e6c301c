/** The explorer: which fact is on the page, how it gets there, and how it stands in the address. */

import { readAddress, writeAddress } from "./address.js";
import * as api from "./api.js";
import { Composer } from "./composer.js";
import { onReturn, Unreachable } from "./connection.js";
import { body } from "./dom.js";
import { exampleList } from "./examples.js";
import { asText, gaps, kindOf, moved, put, withQualifier } from "./fact.js";
import { GraphView } from "./graph.js";
import { latest } from "./latest.js";
import { Line } from "./line.js";
import { clearMistake, showMistake } from "./mistake.js";
import { describeModel } from "./model.js";
import { Panel } from "./panel.js";
import { unknownName } from "./problem.js";
import { Results } from "./results.js";

let state = { fact: null, vertices: [], why: null, known: "mark" };
let waiting = follow; // what to do when a server that was gone is back
const newest = latest();
const columns = document.getElementById("columns");
const examples = new Panel("examples");
const composer = new Composer(document.getElementById("fields"), open);
const line = new Line(document.getElementById("line"), {
  preview: (text) => text.trim() && open(text, { preview: true }),
  take: (text) => (text.trim() ? open(text) : blank()),
});
const graph = new GraphView(body("graph"), ask);
const results = new Results(graph, {
  open,
  ask,
  refuse,
  choose: (answer) => fill(gaps(state.vertices)[0].position, answer.name),
  replace: (position, name) => open(asText(put(state.vertices, position, name))),
  add: (attribute, value) => open(withQualifier(state.vertices, attribute, value)),
  explain: (position) => open(state.fact, { why: position }),
  filter: (known) => open(state.fact, { known }),
});

/**
 * Put a fact on the page, given as a line. `why` is the position to explain, or {position, name} for an element that
 * was just put into the fact before. A preview, of a line that is still being written, leaves the address alone and
 * keeps errors to itself; `quiet` leaves the address alone, too.
 */
async function open(text, options = {}) {
  const { why = null, known = state.known, preview = false, quiet = preview, replace = false } = options;
  waiting = () => open(text, options);
  const before = state.vertices;
  try {
    const found = await newest((signal) => api.graph(text, signal));
    waiting = follow;
    if (found.vertices.length === 3 && gaps(found.vertices).length === 3) return blank({ quiet });
    const position = why?.name === undefined ? why : moved(before, why.position, why.name, found.vertices);
    state = { fact: found.fact, vertices: found.vertices, why: position, known };
    clearMistake();
    composer.show(found.vertices);
    line.show(found.fact, { evenIfWriting: !preview });
    if (!quiet) writeAddress(state, { replace });
    examples.hide();
    columns.hidden = false;
    graph.show(found);
    results.show(state, { preview });
  } catch (error) {
    if (error instanceof Unreachable) return;
    waiting = follow;
    if (!preview) showMistake(error);
  }
}

/** Ask for the element at `position` instead of what stands there. */
function ask(position) {
  open(asText(put(state.vertices, position, null)));
}

/** Put an answer into the gap at `position`, and say why. */
function fill(position, name) {
  open(asText(put(state.vertices, position, name)), { why: { position, name } });
}

/** The server does not take the fact: say why, mark the field, and offer the nearest names. */
function refuse(error) {
  const unknown = unknownName(error);
  if (unknown) composer.refuse(unknown.text);
  showMistake(error, (wrong, right) => {
    const kind = /entity/.test(error.message) ? "entity" : "relation";
    const corrected = state.vertices.map((vertex) =>
      vertex.name === wrong && kindOf(vertex.role) === kind ? { ...vertex, name: right } : vertex,
    );
    open(asText(corrected));
  });
}

/** Nothing but empty fields and examples. */
function blank({ quiet = false } = {}) {
  newest(async () => null);
  waiting = follow;
  state = { ...state, fact: null, vertices: [], why: null };
  composer.clear();
  line.show("", { evenIfWriting: true });
  clearMistake();
  columns.hidden = true;
  if (!quiet && location.hash) history.pushState(null, "", location.pathname);
  examples.show(api.examples, (found) => exampleList(found, open));
}

/** Bring what the address says. */
function follow() {
  const { fact, why, known } = readAddress();
  if (fact) open(fact, { why, known, quiet: true });
  else blank({ quiet: true });
}

/** Links within the page do something: their addresses would take the place of the fact's. */
function onClick(selector, action) {
  document.querySelector(selector).addEventListener("click", (event) => {
    event.preventDefault();
    action();
  });
}

addEventListener("popstate", follow);
onClick(".brand", () => blank());
onClick(".skip", () => document.getElementById("answers").focus());
onReturn(() => {
  describeModel();
  waiting();
});
describeModel();
follow();
