/** Create elements. Text is always text: nothing in the page parses markup. */

/** An HTML element. Properties named on... are listeners, false and null are left out, the others are attributes. */
export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** An SVG element, made in the same way. */
export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

/** A button. */
export function button(properties, ...children) {
  return h("button", { type: "button", ...properties }, ...children);
}

/** The part of a section that changes. */
export function body(id) {
  return document.querySelector(`#${id} .body`);
}
