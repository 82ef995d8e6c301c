/**
 * The layout of the graph of a fact for a given width.
 *
 * Wide: subject, relation and object in a row, the attributes below the relation, the values below the object. Narrow:
 * two columns, relations on the left and entities on the right. In both, the edges from the relation to its attributes
 * run down on the left of the attributes, those to lower rows further out, so that no two edges cross.
 */

const canvas = document.createElement("canvas").getContext("2d"); // measures text
const WIDE = 520;
const MARGIN = 4; // for the outlines
const ROW_GAP = 22;
const LANE = 7; // between parallel edges; less if there are many
const PADDING = 14;

/** Boxes {vertex, lines, x, y, width, height} by position, and the total height. */
export function layOut(fact, width) {
  const wide = width >= WIDE;
  const gap = wide ? 52 : 40;
  const column = (width - 2 * MARGIN - (wide ? 2 : 1) * gap) / (wide ? 3 : 2);
  const left = (number) => MARGIN + number * (column + gap);
  const rows = fact.filter((vertex) => vertex.role === "attribute").length;
  const lane = Math.min(LANE, (0.3 * column) / Math.max(1, rows));
  const indent = rows ? 12 + lane * rows : 0;
  const widthOf = (vertex) => (vertex.role === "attribute" ? column - indent : column);
  const lines = new Map(fact.map((vertex) => [vertex.position, linesOf(vertex, widthOf(vertex))]));
  const height = [...lines.values()].some((label) => label.length > 1) ? 70 : 54;
  const top = (row) => MARGIN + row * (height + ROW_GAP);
  const middle = wide ? 1 : 0;
  const firstRow = wide ? 1 : 2;

  const places = {
    subject: () => [left(wide ? 0 : 1), top(0)],
    relation: () => [left(middle), wide ? top(0) : (top(0) + top(1)) / 2],
    object: () => [left(middle + 1), top(wide ? 0 : 1)],
    attribute: (number) => [left(middle) + indent, top(firstRow + number - 1)],
    value: (number) => [left(middle + 1), top(firstRow + number - 1)],
  };
  const boxes = new Map();
  for (const vertex of fact) {
    const [x, y] = places[vertex.role](Number(vertex.position.split(" ")[1]));
    boxes.set(vertex.position, { vertex, lines: lines.get(vertex.position), x, y, width: widthOf(vertex), height });
  }
  return { boxes, rows, lane, height: top(firstRow + rows) - ROW_GAP + MARGIN };
}

function linesOf(vertex, width) {
  return vertex.name === null ? ["?"] : wrapped(vertex.label, width - 2 * PADDING);
}

/** The SVG path of an edge between two boxes. */
export function route(edge, { boxes, rows, lane }) {
  const one = boxes.get(edge.first);
  const other = boxes.get(edge.second);
  if (one.vertex.role === "relation" && other.vertex.role === "attribute") {
    const number = Number(edge.second.split(" ")[1]);
    const x = one.x + 10 + lane * (rows - number);
    const y = other.y + other.height / 2;
    return `M ${x} ${one.y + one.height} V ${y - 10} Q ${x} ${y} ${x + 10} ${y} H ${other.x}`;
  }
  const [start, end] = one.x < other.x ? [one, other] : [other, one];
  const [x, y] = [start.x + start.width, start.y + start.height / 2];
  const [toX, toY] = [end.x, end.y + end.height / 2];
  const bend = (toX - x) / 2;
  return `M ${x} ${y} C ${x + bend} ${y}, ${toX - bend} ${toY}, ${toX} ${toY}`;
}

/** Break `text` into at most two lines no wider than `width`; the rest of a longer text is cut off. */
function wrapped(text, width) {
  canvas.font = `500 14px ${getComputedStyle(document.body).fontFamily}`;
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
  return canvas.measureText(text).width <= width;
}
