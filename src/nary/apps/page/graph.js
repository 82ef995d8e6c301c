/** The fact drawn as its graph: a color for each role, a color and a dash pattern for each type of edge. */

import { h, svg } from "./dom.js";
import { percent } from "./format.js";
import { layOut, route } from "./layout.js";

const WIDTH = 2.2; // of an edge without attention
const MOST = 7; // of the edge with the most attention

const EDGES = ["subject-relation", "object-relation", "relation-attribute", "attribute-value"];

export class GraphView {
  #onAsk;
  #graph = null;
  #attention = [];
  #odd = null;
  #canvas = h("div", { class: "canvas" });
  #note = h("p", { class: "quiet", hidden: true }, "The wider an edge, the more attention goes along it.");

  /** `onAsk` is called with the position of an element that was chosen. */
  constructor(host, onAsk) {
    this.#onAsk = onAsk;
    host.append(this.#canvas, this.#note, legend());
    new ResizeObserver(() => this.#draw()).observe(this.#canvas);
  }

  /** Draw {vertices, edges}. */
  show(graph) {
    this.#graph = graph;
    this.#attention = [];
    this.#odd = null;
    this.#draw();
  }

  /** Give the edges the width of the attention that goes along them, [{from, to, weight}]. */
  attend(attention) {
    this.#attention = attention;
    this.#draw();
  }

  /** Mark the element that fits least. */
  mark(position) {
    this.#odd = position;
    this.#draw();
  }

  #draw() {
    const width = this.#canvas.clientWidth;
    if (!this.#graph || !width) return;
    const layout = layOut(this.#graph.vertices, width);
    const focused = document.activeElement?.dataset?.position;
    this.#note.hidden = this.#attention.length === 0;
    this.#canvas.replaceChildren(
      svg(
        "svg",
        { viewBox: `0 0 ${width} ${layout.height}`, height: layout.height, role: "group", "aria-label": "Graph" },
        this.#graph.edges.map((edge) => this.#edge(edge, layout)),
        [...layout.boxes.values()].map((box) => this.#vertex(box)),
      ),
    );
    if (focused) this.#canvas.querySelector(`[data-position="${CSS.escape(focused)}"]`)?.focus();
  }

  #edge(edge, layout) {
    const weight = (one, other) => this.#attention.find(({ from, to }) => from === one && to === other)?.weight ?? 0;
    const there = weight(edge.first, edge.second);
    const back = weight(edge.second, edge.first);
    const most = Math.max(...this.#attention.map((one) => one.weight));
    const title = this.#attention.length
      ? `${edge.first} → ${edge.second}: attention ${percent(there)}, back ${percent(back)}`
      : edge.label;
    const width = this.#attention.length ? 1 + (MOST - 1) * (Math.max(there, back) / most) : WIDTH;
    return svg(
      "path",
      { d: route(edge, layout), class: `edge ${edge.label}`, "stroke-width": width.toFixed(1) },
      svg("title", {}, title),
    );
  }

  #vertex({ vertex, lines, x, y, width, height }) {
    const { position, role, name, label } = vertex;
    const gap = name === null;
    const odd = position === this.#odd;
    const ask = () => gap || this.#onAsk(position);
    const middle = x + width / 2;
    const first = y + height / 2 + (lines.length > 1 ? 5 : 14);
    return svg(
      "g",
      {
        class: `vertex ${role}${gap ? " gap" : ""}${odd ? " odd" : ""}`,
        "data-position": position,
        role: gap ? "img" : "button",
        tabindex: gap ? "-1" : "0",
        "aria-label": gap ? `${position}: asked for` : `${position}: ${label}. Ask for it`,
        onclick: ask,
        onkeydown: (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          ask();
        },
      },
      svg("title", {}, gap ? `${position}: asked for` : `${position}: ${label}\nClick to ask for it`),
      svg("rect", { x, y, width, height, rx: role === "relation" || role === "attribute" ? 10 : height / 2 }),
      svg("text", { class: "caption", x: middle, y: y + 18 }, odd ? `${position} · fits least` : position),
      lines.map((line, index) => svg("text", { class: "label", x: middle, y: first + 17 * index }, line)),
    );
  }
}

function legend() {
  const sample = (label) => {
    const path = svg("path", { d: "M 2 5 H 28", class: `edge ${label}`, "stroke-width": WIDTH });
    const picture = svg("svg", { width: 30, height: 10, "aria-hidden": "true" }, path);
    return h("li", {}, picture, label.replace("-", " – "));
  };
  return h("ul", { class: "legend", "aria-label": "Types of edge" }, EDGES.map(sample));
}
