/** The token of a protected server: asked for once, kept until the tab is closed. */

import { button, h } from "./dom.js";

const KEY = "nary-token";
let asking = null;

/** The header that carries the token, if there is one. */
export function authorization() {
  const token = sessionStorage.getItem(KEY);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** Ask for the token; requests that are refused at the same time wait for the same answer. */
export function askForToken() {
  asking ??= ask().finally(() => (asking = null));
  return asking;
}

function ask() {
  const dialog = document.getElementById("token");
  const refused = sessionStorage.getItem(KEY) !== null;
  const input = h("input", { type: "password", name: "token", required: true, autocomplete: "off", id: "token-input" });
  const form = h(
    "form",
    // Headers hold no other characters, so a token that works has none.
    { method: "dialog", onsubmit: () => sessionStorage.setItem(KEY, input.value.replace(/[^\x21-\x7e]/g, "")) },
    h("h2", { id: "token-title" }, "This server asks for a token"),
    h("p", { class: "quiet" }, refused ? "The one given was not accepted." : "Whoever started the server knows it."),
    h("label", { for: "token-input" }, "Token"),
    input,
    button({ type: "submit", class: "main" }, "Continue"),
  );
  dialog.replaceChildren(form);
  dialog.showModal();
  return new Promise((done) => dialog.addEventListener("close", done, { once: true }));
}
