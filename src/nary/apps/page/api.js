/** The server's answers, one function an endpoint. */

import { lost, Unreachable } from "./connection.js";
import { askForToken, authorization } from "./token.js";

/** What the server found wrong: a message, and a hint what to do about it. */
export class ApiError extends Error {
  constructor(status, { kind, message, hint }) {
    super(message);
    this.status = status;
    this.kind = kind;
    this.hint = hint;
  }
}

export const graph = (fact, signal) => post("graph", { fact }, signal);
export const predict = (fact, k, known, signal) => post("predict", { fact, k, known }, signal);
export const score = (fact, signal) => post("score", { fact }, signal);
export const suggest = (fact, k, signal) => post("suggest", { fact, k }, signal);
export const explain = (fact, position, signal) => post("explain", { fact, position }, signal);
export const search = (q, kind, limit, signal) => get("search", { q, kind, limit }, signal);
export const facts = (entity, limit, offset, signal) => get("facts", { entity, limit, offset }, signal);
export const similar = (name, kind, k, signal) => get("similar", { name, kind, k }, signal);
export const examples = (signal) => get("examples", {}, signal);
export const model = (signal) => get("model", {}, signal);

function get(endpoint, parameters, signal) {
  return request(`api/${endpoint}?${new URLSearchParams(parameters)}`, { signal });
}

function post(endpoint, content, signal) {
  const headers = { "Content-Type": "application/json" };
  return request(`api/${endpoint}`, { method: "POST", body: JSON.stringify(content), headers, signal });
}

async function request(address, options) {
  const answer = await sent(address, options);
  if (answer.status === 401) {
    await askForToken();
    return request(address, options);
  }
  if (answer.ok) return answer.json();
  const { error } = await answer.json().catch(() => ({}));
  throw new ApiError(answer.status, error ?? { message: `The server answered with status ${answer.status}.` });
}

async function sent(address, options) {
  try {
    return await fetch(address, { ...options, headers: { ...options.headers, ...authorization() } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    lost();
    throw new Unreachable("The server does not answer.");
  }
}
