/** The view for asking: which fact is on the page, how it changes, and how it is kept in the URL. */

import * as api from "./api.js";
import { Composer, TextField } from "./composer.js";
import { body, button, h } from "./dom.js";
import { clearFactError, nameProblem, showFactError } from "./errors.js";
import { asText, at, gaps, kindOf, moved, PRIMARY, put, qualifiers, withQualifier } from "./fact.js";
import { GraphView } from "./graph.js";
import { latest } from "./latest.js";
import { starButton } from "./names.js";
import { Panel } from "./panel.js";
import { Results } from "./results.js";
import { factHref } from "./route.js";
import { showVisits } from "./start.js";
import { isStarred, toggleStar, visit } from "./visits.js";

const KNOWN = ["first", "hide", "only"];
let state = { fact: null, vertices: [], why: null, known: "first", unseen: false };
let afterReconnect = null;
const newest = latest();
const compose = document.getElementById("compose");
const start = document.getElementById("start");
const columns = document.getElementById("columns");
const summary = document.getElementById("summary");
const actions = compose.querySelector(".actions");
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
  answered: ({ fact, unseen, vertices }) => visit(factHref(fact, { unseen }), labeled(vertices)),
  choose: (answer) => fill(gaps(state.vertices)[0].position, answer.name),
  replace: (position, name) => open(asText(put(state.vertices, position, name))),
  add: (attribute, value) => open(withQualifier(state.vertices, attribute, value)),
  explain: (position) => open(state.fact, { why: position }),
  filter: (known) => open(state.fact, { known }),
});

/**
 * Show a fact, given as text. `why` is the position to explain, or {position, name} for an element that was just put
 * into the fact shown before. A preview, of text that is still being typed, neither changes the URL nor shows errors;
 * `quiet` does not change the URL, either. `unseen` treats unknown names as averages instead of refusing them.
 */
export async function open(text, options = {}) {
  const { why = null, known = state.known, unseen = state.unseen } = options;
  const { preview = false, quiet = preview, replace = false } = options;
  afterReconnect = () => open(text, options);
  const before = state.vertices;
  try {
    const response = await newest((signal) => api.graph(text, signal));
    const { fact, vertices } = response;
    afterReconnect = null;
    if (vertices.length === 3 && gaps(vertices).length === 3) return showStart({ quiet });
    const position = why?.name === undefined ? why : moved(before, why.position, why.name, vertices);
    state = { fact, vertices, why: position, known, unseen };
    clearFactError();
    composer.show(vertices);
    textField.show(fact, { evenIfFocused: !preview });
    if (!quiet) writeUrl(state, { replace });
    summarize();
    start.hidden = true;
    columns.hidden = false;
    graph.show(response);
    results.show(state, { preview });
  } catch (error) {
    if (error instanceof api.UnreachableError) return;
    afterReconnect = null;
    if (preview) return;
    textField.show(text, { evenIfFocused: true });
    if (state.fact === null) showBelow();
    showFactError(error);
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

/** The server rejected the fact: show the error, mark the field, and offer the names that may have been meant. */
function reject(error) {
  const problem = nameProblem(error);
  if (problem) composer.markInvalid(problem.text);
  const onCorrect = (wrong, right) => {
    const corrected = state.vertices.map((vertex) =>
      vertex.name === wrong && kindOf(vertex.role) === problem.kind ? { ...vertex, name: right } : vertex,
    );
    open(asText(corrected));
  };
  showFactError(error, { onCorrect, onAccept: () => open(state.fact, { unseen: true }) });
}

/** Show empty fields and the examples. */
export function showStart({ quiet = false } = {}) {
  newest(async () => null);
  afterReconnect = null;
  state = { ...state, fact: null, vertices: [], why: null, unseen: false };
  composer.clear();
  textField.show("", { evenIfFocused: true });
  clearFactError();
  summarize();
  if (!quiet && location.hash) history.pushState(null, "", location.pathname);
  showBelow();
}

/** Show examples and earlier questions below the fields, instead of results. */
function showBelow() {
  columns.hidden = true;
  start.hidden = false;
  showVisits();
  examples.show(api.examples, exampleList);
}

function exampleList({ examples: list }) {
  const item = ({ fact, elements }) =>
    h("li", {}, button({ class: "example", onclick: () => open(fact) }, chips(elements)));
  return h("ul", { class: "examples" }, list.map(item));
}

/** The fact in a line, for phones: there the fields open on demand, so that the answers come first. */
function summarize() {
  const asked = state.fact !== null;
  compose.classList.toggle("asked", asked);
  summary.hidden = !asked;
  summary.replaceChildren(...chips(state.vertices));
  actions.replaceChildren(...(asked ? [editButton(), star()] : []));
}

function chips(elements) {
  const chip = ({ role, name, label }) => h("span", { class: `chip ${role}${name === null ? " gap" : ""}` }, label);
  if (!elements.length) return [];
  return [
    ...PRIMARY.map((role) => chip(at(elements, role))),
    ...qualifiers(elements).map((pair) => h("span", { class: "pair" }, pair.map(chip))),
  ];
}

/** On phones, opens and closes the fields. */
function editButton() {
  const edit = button({ class: "small edit", "aria-controls": "fields", "aria-expanded": "false" }, "Edit");
  const isOpen = () => compose.classList.contains("editing");
  const show = () => edit.setAttribute("aria-expanded", String(isOpen()));
  edit.addEventListener("click", () => {
    compose.classList.toggle("editing");
    show();
  });
  show();
  return edit;
}

function star() {
  const { fact, unseen, vertices } = state;
  const hash = factHref(fact, { unseen });
  return starButton(
    () => isStarred(hash),
    () => toggleStar(hash, labeled(vertices)),
  );
}

/** The fact in its labels, to be read. */
function labeled(vertices) {
  const pairs = qualifiers(vertices).map((pair) => pair.map(({ label }) => label ?? "?").join(": "));
  return [...PRIMARY.map((role) => at(vertices, role).label ?? "?"), ...pairs].join(" | ");
}

/** Show what an address describes: the fact as text, the position to explain, and which answers to show. */
export function show({ fact, why, known, unseen }) {
  compose.classList.remove("editing");
  if (fact) open(fact, { why, known: KNOWN.includes(known) ? known : "first", unseen, quiet: true });
  else showStart({ quiet: true });
}

/** Ask again for what the server could not answer; false if there is nothing of the kind. */
export function resume() {
  if (!afterReconnect) return false;
  afterReconnect();
  return true;
}

/** Put the state into the URL: as a new history entry if it differs, or in place of the current one. */
function writeUrl({ fact, why, known, unseen }, { replace }) {
  const hash = factHref(fact, { why, known, unseen });
  if (replace) history.replaceState(null, "", hash);
  else if (hash !== location.hash) history.pushState(null, "", hash);
}
