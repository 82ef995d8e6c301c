/** The results of a file to keep: as a table (CSV), or as JSON Lines with everything the server said. */

const COLUMNS = [
  ...["line", "text", "kind", "rank", "answer", "label", "probability", "known"],
  ...["value_median", "value_low", "value_high", "worst", "error"],
];

/** A row for each fact, for each answer of a question, and for each line with an error. */
export function asCsv(results) {
  const rows = results.flatMap(rowsOf).map((row) => COLUMNS.map((name) => cell(row[name])).join(","));
  return [COLUMNS.join(","), ...rows, ""].join("\r\n");
}

/** A JSON object for each line. */
export function asJsonLines(results) {
  return results.map((result) => `${JSON.stringify(plain(result))}\n`).join("");
}

/** Let the browser save a text as a file. */
export function save(text, name, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function rowsOf({ number, text, plausibility, prediction, error }) {
  const line = { line: number, text };
  if (error) return [{ ...line, kind: "error", error: [error.message, error.hint].filter(Boolean).join(" ") }];
  if (plausibility) {
    const { plausibility: probability, known, elements } = plausibility;
    return [{ ...line, kind: "fact", probability, known, worst: elements[0]?.position }];
  }
  const { median, low, high } = prediction.value ?? {};
  const rows = prediction.answers.map(({ name, label, fact, probability, known }, index) => ({
    ...line,
    kind: "question",
    rank: index + 1,
    answer: name ?? fact,
    label: label ?? fact,
    probability,
    known,
    value_median: median,
    value_low: low,
    value_high: high,
  }));
  return rows.length ? rows : [{ ...line, kind: "question" }];
}

function plain({ number, text, plausibility, prediction, error }) {
  return { line: number, text, ...(error ? { error } : plausibility ? { plausibility } : { prediction }) };
}

function cell(value) {
  const text = value == null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
