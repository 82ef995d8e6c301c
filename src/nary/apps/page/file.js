/** The view for files: choose or paste lines, watch the progress, look at the results, download them. */

import { UnreachableError } from "./api.js";
import { body, button, h } from "./dom.js";
import { asCsv, asJsonLines, save } from "./download.js";
import { errorBox } from "./errors.js";
import { FileResults } from "./file-results.js";
import { count } from "./format.js";
import { answerLines, LIMITS, readLines } from "./lines.js";

const EXAMPLE = `Marie Curie | award received | ? | point in time: 1911
Marie Curie | born in | Warsaw`;
const results = new FileResults();
let running = null; // the AbortController of the file that is being answered

const input = h("input", { type: "file", id: "file-input", accept: ".txt,.jsonl,.ndjson,.json,text/plain" });
const pasted = h("textarea", { id: "file-text", rows: "5", spellcheck: "false", placeholder: EXAMPLE });
const answers = h("input", { type: "number", id: "file-k", min: "1", max: "100", value: "5" });
const run = button({ class: "main", onclick: start }, "Score and answer");
const cancel = button({ class: "small", hidden: true, onclick: () => running?.abort() }, "Stop");
const progress = h("progress", { max: "1", value: "0", "aria-label": "Progress" });
const status = h("p", { class: "quiet", role: "status" });
const problem = h("div", { role: "alert" });

body("file").append(
  h(
    "p",
    {},
    "One fact or question on each line, in the one-line form or as JSON Lines. Facts are scored, questions (with ",
    h("code", {}, "?"),
    ") are answered.",
  ),
  h(
    "p",
    { class: "quiet" },
    `At most ${count(LIMITS.lines)} lines and ${LIMITS.bytes / 1e6} MB. The file goes to this server only. ` +
      "A line that cannot be read is reported with its number; the others are answered all the same.",
  ),
  h("div", { class: "form" }, h("label", { class: "caption", for: "file-input" }, "file"), input),
  h("div", { class: "form" }, h("label", { class: "caption", for: "file-text" }, "or paste lines"), pasted),
  h(
    "div",
    { class: "form short" },
    h("label", { class: "caption", for: "file-k" }, "answers to each question"),
    answers,
  ),
  h("div", { class: "actions" }, run, cancel),
  problem,
  h("div", { class: "progress", hidden: true }, progress, status),
);
input.addEventListener("change", () => input.files.length && (pasted.value = ""));
pasted.addEventListener("input", () => (input.value = ""));

/** Show the form; results stay until the next file. */
export function show() {}

async function start() {
  problem.replaceChildren();
  try {
    const file = input.files[0];
    const lines = readLines(await textOf(file));
    check(lines);
    await answer(lines, file?.name ?? "lines");
  } catch (error) {
    if (error.name !== "AbortError") problem.replaceChildren(errorBox(error));
  }
}

async function textOf(file) {
  if (!file) return pasted.value;
  if (file.size > LIMITS.bytes)
    throw refusal(`the file has ${count(file.size)} bytes`, "Divide it into smaller files.");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw refusal(`${file.name} is not text in UTF-8`, "Save it as plain text in UTF-8.");
  }
}

function check(lines) {
  if (!lines.length) throw refusal("there is no line to answer", "Choose a file, or paste lines.");
  if (lines.length > LIMITS.lines)
    throw refusal(`there are ${count(lines.length)} lines`, `Send at most ${count(LIMITS.lines)} at once.`);
  if (!answers.checkValidity()) throw refusal("the number of answers must be between 1 and 100", null);
}

const refusal = (message, hint) => Object.assign(new Error(message), { hint });

async function answer(lines, name) {
  running = new AbortController();
  busy(true);
  const saved = name.replace(/\.\w+$/, "");
  results.start({
    csv: (all) => save(asCsv(all), `${saved}-results.csv`, "text/csv"),
    jsonLines: (all) => save(asJsonLines(all), `${saved}-results.jsonl`, "application/x-ndjson"),
  });
  const report = (state) => {
    progress.value = results.total / lines.length;
    status.textContent = `${count(results.total)} of ${count(lines.length)} lines ${state}`;
  };
  report("done");
  try {
    const options = { k: Number(answers.value), known: "first" };
    await answerLines(lines, options, (some) => (results.add(some), report("done")), running.signal);
  } catch (error) {
    report(error.name === "AbortError" ? "done, stopped" : "done; the rest failed");
    if (error instanceof UnreachableError) error.hint = "What has been answered can be downloaded.";
    throw error;
  } finally {
    busy(false);
    results.end();
  }
}

function busy(isBusy) {
  run.disabled = isBusy;
  cancel.hidden = !isBusy;
  progress.parentElement.hidden = false;
}
