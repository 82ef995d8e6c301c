/** Labels cut to fit: at most two lines, the rest of a longer one left out. */

const pen = document.createElement("canvas").getContext("2d");

/** `text` in lines no wider than `width`. */
export function wrapped(text, width) {
  pen.font = `500 14px ${getComputedStyle(document.body).fontFamily}`;
  const words = text.trim().split(/\s+/);
  let first = "";
  while (words.length && fits(`${first} ${words[0]}`.trim(), width)) first = `${first} ${words.shift()}`.trim();
  const rest = words.join(" ");
  if (!rest) return [first];
  return first ? [first, cut(rest, width)] : [cut(rest, width)];
}

function cut(text, width) {
  if (fits(text, width)) return text;
  const characters = [...text];
  while (characters.length && !fits(`${characters.join("")}…`, width)) characters.pop();
  return `${characters.join("").trimEnd()}…`;
}

function fits(text, width) {
  return pen.measureText(text).width <= width;
}
