/** Which model this is, in one line. */

import * as api from "./api.js";
import { count } from "./format.js";
import { latest } from "./latest.js";

const newest = latest();

/** Write the line; a server that cannot tell leaves it empty. */
export async function describeModel() {
  const host = document.getElementById("model");
  try {
    const { name, dataset, counts } = await newest(api.model);
    const sizes = `${count(counts.entities)} entities · ${count(counts.relations)} relations`;
    host.textContent = `${name} on ${dataset} · ${sizes}`;
  } catch {
    host.textContent = "";
  }
}
