/** The server: one function per endpoint, the token it may require, and a banner while it does not respond. */

import { button, h } from "./dom.js";
import { recall, remember } from "./store.js";

/** An error that the server reported: a message, and a hint on what to do about it. */
export class ApiError extends Error {
  constructor(status, { kind, message, hint }) {
    super(message);
    this.status = status;
    this.kind = kind;
    this.hint = hint;
  }
}

/** The server did not respond. */
export class UnreachableError extends Error {}

export const graph = (fact, signal) => post("graph", { fact }, signal);
export const predict = (fact, unseen, k, known, signal) => post("predict", { fact, unseen, k, known }, signal);
export const score = (fact, unseen, signal) => post("score", { fact, unseen }, signal);
export const suggest = (fact, unseen, k, signal) => post("suggest", { fact, unseen, k }, signal);
export const explain = (fact, unseen, position, signal) => post("explain", { fact, unseen, position }, signal);
export const search = (q, kind, limit, signal) => get("search", { q, kind, limit }, signal);
export const facts = (entity, limit, offset, signal) => get("facts", { entity, limit, offset }, signal);
export const groupFacts = (entity, role, relation, limit, offset, signal) =>
  get("facts", { entity, role, relation, limit, offset }, signal);
export const findFacts = (fact, limit, offset, signal) => post("facts", { fact, limit, offset }, signal);
export const entity = (name, limit, signal) => get("entity", { name, limit }, signal);
export const missing = (entity, k, signal) => get("missing", { entity, k }, signal);
export const doubtful = (entity, limit, offset, signal) => get("doubtful", { entity, limit, offset }, signal);
export const relations = (limit, offset, signal) => get("relations", { limit, offset }, signal);
export const relation = (name, limit, signal) => get("relation", { name, limit }, signal);
export const rules = (relation, role, limit, signal) => get("rules", { relation, role, limit }, signal);
export const lines = (lines, k, known, signal) => post("lines", { lines, k, known }, signal);
export const similar = (name, kind, k, signal) => get("similar", { name, kind, k }, signal);
export const examples = (signal) => get("examples", {}, signal);
export const model = (signal) => get("model", {}, signal);

function get(endpoint, parameters, signal) {
  const given = Object.entries(parameters).filter(([, value]) => value != null);
  return request(`api/${endpoint}?${new URLSearchParams(given)}`, { signal });
}

function post(endpoint, content, signal) {
  const headers = { "Content-Type": "application/json" };
  return request(`api/${endpoint}`, { method: "POST", body: JSON.stringify(content), headers, signal });
}

async function request(url, options) {
  const response = await send(url, options);
  if (response.status === 401) {
    await requestToken();
    return request(url, options);
  }
  if (response.ok) return response.json();
  const { error } = await response.json().catch(() => ({}));
  throw new ApiError(response.status, error ?? { message: `The server returned status ${response.status}.` });
}

async function send(url, options) {
  try {
    return await fetch(url, { ...options, headers: { ...options.headers, ...authorization() } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    waitForServer();
    throw new UnreachableError("The server is not responding.");
  }
}

// The connection

const RETRY_INTERVAL = 1500; // milliseconds
const banner = document.getElementById("banner");
const reconnectListeners = [];
let disconnected = false;

/** Call `action` whenever the server responds again. */
export function onReconnect(action) {
  reconnectListeners.push(action);
}

async function waitForServer() {
  if (disconnected) return;
  disconnected = true;
  banner.replaceChildren(h("strong", {}, "The server is not responding."), " Retrying until it is back…");
  banner.hidden = false;
  do await new Promise((done) => setTimeout(done, RETRY_INTERVAL));
  while (!(await isHealthy()));
  disconnected = false;
  banner.hidden = true;
  for (const action of reconnectListeners) action();
}

async function isHealthy() {
  try {
    return (await fetch("health", { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

// The token, kept until the tab is closed

const TOKEN_KEY = "nary-token";
let tokenDialog = null;

function authorization() {
  const token = recall(TOKEN_KEY, "sessionStorage");
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** Ask the user for the token; requests refused at the same time share one dialog. */
function requestToken() {
  tokenDialog ??= showTokenDialog().finally(() => (tokenDialog = null));
  return tokenDialog;
}

function showTokenDialog() {
  const dialog = document.getElementById("token");
  const refused = recall(TOKEN_KEY, "sessionStorage") !== null;
  const input = h("input", { type: "password", name: "token", required: true, autocomplete: "off", id: "token-input" });
  // HTTP headers are limited to these characters, so a valid token has no others.
  const save = () => remember(TOKEN_KEY, input.value.replace(/[^\x21-\x7e]/g, ""), "sessionStorage");
  const hint = refused ? "The token was not accepted." : "Ask the person who runs the server for it.";
  const form = h(
    "form",
    { method: "dialog", onsubmit: save },
    h("h2", { id: "token-title" }, "This server requires a token"),
    h("p", { class: "quiet" }, hint),
    h("label", { for: "token-input" }, "Token"),
    input,
    button({ type: "submit", class: "main" }, "Continue"),
  );
  dialog.replaceChildren(form);
  dialog.showModal();
  return new Promise((done) => dialog.addEventListener("close", done, { once: true }));
}
