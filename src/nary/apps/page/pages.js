/** More of a list, page by page. */

import { UnreachableError } from "./api.js";
import { button } from "./dom.js";
import { errorBox } from "./errors.js";
import { count } from "./format.js";

/**
 * A button that shows `shown` of `total`, and adds what `fetchMore(offset)` returns, {items, elements}, before itself
 * when it is clicked; null if nothing is left.
 */
export function moreButton(shown, total, fetchMore, name = "") {
  if (shown >= total) return null;
  const text = () => `Show more${name && ` ${name}`} (${count(total - shown)} left)`;
  const more = button({ class: "plain more" }, text());
  more.addEventListener("click", async () => {
    more.disabled = true;
    try {
      const { items, elements } = await fetchMore(shown);
      more.before(...elements);
      shown = items ? shown + items : total;
      if (shown >= total) {
        elements[0]?.querySelector?.("a, button")?.focus();
        more.remove();
      } else more.textContent = text();
    } catch (error) {
      if (!(error instanceof UnreachableError)) more.before(errorBox(error)); // a banner says that it is unreachable
    }
    more.disabled = false;
  });
  return more;
}
