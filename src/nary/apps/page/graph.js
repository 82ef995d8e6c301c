/** The graph of a fact: a color for each role, a color and a dash pattern for each edge type. */

import { h, svg } from "./dom.js";
import { percent } from "./format.js";
import { layOut, route } from "./layout.js";

const EDGE_WIDTH = 2.2; // without attention
const MAX_WIDTH = 7; // of the edge with the most attention

const EDGES = ["subject-relation", "object-relation", "relation-attribute", "attribute-value"];

export class GraphView {
  #onAsk;
  #graph = null;
  #attention = [];
  #worst = null;
  #canvas = h("div", { class: "canvas" });
  #note = h("p", { class: "quiet", hidden: true }, "Wider edges carry more attention.");

  /** `onAsk` is called with the position of a clicked element. */
  constructor(host, onAsk) {
    this.#onAsk = onAsk;
    host.append(this.#canvas, this.#note, legend());
    new ResizeObserver(() => this.#draw()).observe(this.#canvas);
  }

  /** Draw {vertices, edges}. */
  show(graph) {
    this.#graph = graph;
    this.#attention = [];
    this.#worst = null;
    this.#draw();
  }

  /** Show attention weights, [{from, to, weight}], as edge widths. */
  showAttention(attention) {
    this.#attention = attention;
    this.#draw();
  }

  /** Mark the element that fits worst. */
  markWorst(position) {
    this.#worst = position;
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
        { viewBox: `0 0 ${width} ${layout.height}`, height: layout.height, role: "group", "aria-label": "Fact graph" },
        this.#graph.edges.map((edge) => this.#edge(edge, layout)),
        [...layout.boxes.values()].map((box) => this.#vertex(box)),
      ),
    );
    if (focused) this.#canvas.querySelector(`[data-position="${CSS.escape(focused)}"]`)?.focus();
  }

  #edge(edge, layout) {
    const weight = (source, target) =>
      this.#attention.find(({ from, to }) => from === source && to === target)?.weight ?? 0;
    const forward = weight(edge.first, edge.second);
    const backward = weight(edge.second, edge.first);
    const highest = Math.max(...this.#attention.map(({ weight: value }) => value));
    const title = this.#attention.length
      ? `Attention ${edge.first} → ${edge.second}: ${percent(forward)}, reverse: ${percent(backward)}`
      : edge.label;
    const width = this.#attention.length ? 1 + (MAX_WIDTH - 1) * (Math.max(forward, backward) / highest) : EDGE_WIDTH;
    return svg(
      "path",
      { d: route(edge, layout), class: `edge ${edge.label}`, "stroke-width": width.toFixed(1) },
      svg("title", {}, title),
    );
  }

  #vertex({ vertex, lines, x, y, width, height }) {
    const { position, role, name, label } = vertex;
    const gap = name === null;
    const worst = position === this.#worst;
    const ask = () => gap || this.#onAsk(position);
    const middle = x + width / 2;
    const first = y + height / 2 + (lines.length > 1 ? 5 : 14);
    return svg(
      "g",
      {
        class: `vertex ${role}${gap ? " gap" : ""}${worst ? " worst" : ""}`,
        "data-position": position,
        role: gap ? "img" : "button",
        tabindex: gap ? "-1" : "0",
        "aria-label": gap ? `${position}: to be predicted` : `${position}: ${label}. Predict it`,
        onclick: ask,
        onkeydown: (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          ask();
        },
      },
      svg("title", {}, gap ? `${position}: to be predicted` : `${position}: ${label}\nClick to predict it`),
      svg("rect", { x, y, width, height, rx: role === "relation" || role === "attribute" ? 10 : height / 2 }),
      svg("text", { class: "caption", x: middle, y: y + 18 }, worst ? `${position} · worst fit` : position),
      lines.map((line, index) => svg("text", { class: "label", x: middle, y: first + 17 * index }, line)),
    );
  }
}

function legend() {
  const sample = (label) => {
    const path = svg("path", { d: "M 2 5 H 28", class: `edge ${label}`, "stroke-width": EDGE_WIDTH });
    const picture = svg("svg", { width: 30, height: 10, "aria-hidden": "true" }, path);
    return h("li", {}, picture, label.replace("-", " – "));
  };
  return h("ul", { class: "legend", "aria-label": "Edge types" }, EDGES.map(sample));
}
