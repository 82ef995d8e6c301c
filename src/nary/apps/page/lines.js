/** The lines of a file: which there are, and their results from the server, a few lines at a time. */

import { ApiError, lines as send } from "./api.js";

/** The largest file, in bytes, and the most lines that are not blank. */
export const LIMITS = { bytes: 5_000_000, lines: 20_000, line: 100_000 };
const AT_ONCE = 25; // lines in a request at first; fewer if the server takes too long
const MAX_CHARACTERS = 200_000; // in a request
const RETRIES = 20;

/** The lines that are not blank, {number, text}, numbered from 1 as an editor does. */
export function readLines(text) {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  return lines.map((line, index) => ({ number: index + 1, text: line.trim() })).filter((line) => line.text);
}

/**
 * Send the lines to the server. `onResults` is called with results {number, text, plausibility, prediction, error} in
 * the order of the lines: every line has one.
 */
export async function answerLines(lines, { k, known }, onResults, signal) {
  let size = AT_ONCE;
  for (let start = 0; start < lines.length;) {
    const part = take(lines, start, size);
    if (part[0].text.length > LIMITS.line) {
      onResults([failed(part[0], `a line of more than ${LIMITS.line.toLocaleString("en")} characters`)]);
      start += 1;
      continue;
    }
    try {
      const { results } = await patiently(
        () =>
          send(
            part.map(({ text }) => text),
            k,
            known,
            signal,
          ),
        signal,
      );
      onResults(results.map((result, index) => ({ ...result, ...part[index] })));
      start += part.length;
    } catch (error) {
      if (error.status !== 504) throw error;
      if (part.length === 1) {
        onResults([failed(part[0], error.message)]);
        start += 1;
      }
      size = Math.max(1, Math.floor(part.length / 2));
    }
  }
}

/** The next lines for one request: at most `size`, and not too long together; a very long one goes alone. */
function take(lines, start, size) {
  const part = [lines[start]];
  let characters = lines[start].text.length;
  for (const line of lines.slice(start + 1, start + size)) {
    characters += line.text.length;
    if (characters > MAX_CHARACTERS) break;
    part.push(line);
  }
  return part;
}

const failed = (line, message) => ({ ...line, plausibility: null, prediction: null, error: { message, hint: null } });

/** Try again while the server is overloaded. */
async function patiently(request, signal) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 503 || tries === RETRIES || signal.aborted) throw error;
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
}
