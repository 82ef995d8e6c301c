/** The explorer: which fact is on the page, how it changes, and how it is kept in the URL. */

import * as api from "./api.js";
import { Composer, TextField } from "./composer.js";
import { body, button, h } from "./dom.js";
import { clearFactError, showFactError, unknownName } from "./errors.js";
import { asText, at, gaps, kindOf, moved, PRIMARY, put, qualifiers, withQualifier } from "./fact.js";
import { count } from "./format.js";
import { GraphView } from "./graph.js";
import { latest } from "./latest.js";
import { Panel } from "./panel.js";
import { Results } from "./results.js";

const KNOWN = ["first", "hide", "only"];
let state = { fact: null, vertices: [], why: null, known: "first" };
let onceReconnected = followUrl;
const newest = latest();
const newestModel = latest();
const columns = document.getElementById("columns");
const examples = new Panel("examples");
const composer = new Composer(document.getElementById("fields"), open);
const textField = new TextField(document.getElementById("line"), {
  onInput: (text) => text.trim() && open(text, { preview: true }),
  onChange: (text) => (text.trim() ? open(text) : showStart()),
});
const graph = new GraphView(body("graph"), ask);
const results = new Results(graph, {
  open,
  ask,
  reject,
  choose: (answer) => fill(gaps(state.vertices)[0].position, answer.name),
  replace: (position, name) => open(asText(put(state.vertices, position, name))),
  add: (attribute, value) => open(withQualifier(state.vertices, attribute, value)),
  explain: (position) => open(state.fact, { why: position }),
  filter: (known) => open(state.fact, { known }),
});

/**
 * Show a fact, given as text. `why` is the position to explain, or {position, name} for an element that was just put
 * into the fact shown before. A preview, of text that is still being typed, neither changes the URL nor shows errors;
 * `quiet` does not change the URL, either.
 */
async function open(text, options = {}) {
  const { why = null, known = state.known, preview = false, quiet = preview, replace = false } = options;
  onceReconnected = () => open(text, options);
  const before = state.vertices;
  try {
    const response = await newest((signal) => api.graph(text, signal));
    const { fact, vertices } = response;
    onceReconnected = followUrl;
    if (vertices.length === 3 && gaps(vertices).length === 3) return showStart({ quiet });
    const position = why?.name === undefined ? why : moved(before, why.position, why.name, vertices);
    state = { fact, vertices, why: position, known };
    clearFactError();
    composer.show(vertices);
    textField.show(fact, { evenIfFocused: !preview });
    if (!quiet) writeUrl(state, { replace });
    examples.hide();
    columns.hidden = false;
    graph.show(response);
    results.show(state, { preview });
  } catch (error) {
    if (error instanceof api.UnreachableError) return;
    onceReconnected = followUrl;
    if (!preview) showFactError(error);
  }
}

/** Turn the element at `position` into a gap. */
function ask(position) {
  open(asText(put(state.vertices, position, null)));
}

/** Put an answer into the gap at `position`, and explain it. */
function fill(position, name) {
  open(asText(put(state.vertices, position, name)), { why: { position, name } });
}

/** The server rejected the fact: show the error, mark the field, and offer the nearest names. */
function reject(error) {
  const unknown = unknownName(error);
  if (unknown) composer.markInvalid(unknown.text);
  showFactError(error, (wrong, right) => {
    const kind = /entity/.test(error.message) ? "entity" : "relation";
    const corrected = state.vertices.map((vertex) =>
      vertex.name === wrong && kindOf(vertex.role) === kind ? { ...vertex, name: right } : vertex,
    );
    open(asText(corrected));
  });
}

/** Show empty fields and the examples. */
function showStart({ quiet = false } = {}) {
  newest(async () => null);
  onceReconnected = followUrl;
  state = { ...state, fact: null, vertices: [], why: null };
  composer.clear();
  textField.show("", { evenIfFocused: true });
  clearFactError();
  columns.hidden = true;
  if (!quiet && location.hash) history.pushState(null, "", location.pathname);
  examples.show(api.examples, exampleList);
}

function exampleList({ examples: list }) {
  const chip = ({ role, name, label }) => h("span", { class: `chip ${role}${name === null ? " gap" : ""}` }, label);
  const item = ({ fact, elements }) =>
    h(
      "li",
      {},
      button(
        { class: "example", onclick: () => open(fact) },
        PRIMARY.map((role) => chip(at(elements, role))),
        qualifiers(elements).map((pair) => h("span", { class: "pair" }, pair.map(chip))),
      ),
    );
  return h("ul", { class: "examples" }, list.map(item));
}

/** Show in one line which model is served; if the server cannot tell, leave it empty. */
async function describeModel() {
  const host = document.getElementById("model");
  try {
    const { name, dataset, counts } = await newestModel(api.model);
    const sizes = `${count(counts.entities)} entities · ${count(counts.relations)} relations`;
    host.textContent = `${name} on ${dataset} · ${sizes}`;
  } catch {
    host.textContent = "";
  }
}

// The URL holds the state, so that links and the back and forward buttons restore it.

/** Show what the URL describes: the fact as text, the position to explain, and which answers to show. */
function followUrl() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const [fact, why, known] = ["fact", "why", "known"].map((name) => parameters.get(name));
  if (fact) open(fact, { why, known: KNOWN.includes(known) ? known : "first", quiet: true });
  else showStart({ quiet: true });
}

/** Put the state into the URL: as a new history entry if it differs, or in place of the current one. */
function writeUrl({ fact, why, known }, { replace }) {
  const parameters = new URLSearchParams({ fact });
  if (why) parameters.set("why", why);
  if (known !== "first") parameters.set("known", known);
  const hash = `#${parameters}`;
  if (replace) history.replaceState(null, "", hash);
  else if (hash !== location.hash) history.pushState(null, "", hash);
}

/** Run `action` when a link is clicked: following it would replace the fact in the URL. */
function onLinkClick(selector, action) {
  document.querySelector(selector).addEventListener("click", (event) => {
    event.preventDefault();
    action();
  });
}

addEventListener("popstate", followUrl);
onLinkClick(".brand", () => showStart());
onLinkClick(".skip", () => document.getElementById("answers").focus());
api.onReconnect(() => {
  describeModel();
  onceReconnected();
});
describeModel();
followUrl();
