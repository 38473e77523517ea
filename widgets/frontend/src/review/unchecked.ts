/** What a review did not look at, and why: a line each. */

import { makeElement } from "../controls/elements";

/** A list of more characters is folded. */
const LONGEST_UNCHECKED = 120;

/** A line about what was not looked at; a long list of it is folded. */
export function makeUnchecked(reason: string, what: string): HTMLElement {
  if (what.length <= LONGEST_UNCHECKED) {
    const row = makeElement("p", "nl-review-foot-row");
    row.textContent = what ? `${what}: ${reason}` : reason;
    return row;
  }
  const row = makeElement("details", "nl-review-foot-row");
  const summary = makeElement("summary", "");
  const first = what.slice(0, what.lastIndexOf(",", LONGEST_UNCHECKED) + 1).replace(/,$/, "");
  const count = what.split(", ").length;
  const begin = reason.charAt(0).toUpperCase() + reason.slice(1);
  summary.textContent = `${begin}: ${first || "what"} and more, ${count.toLocaleString("en")} in all`;
  const whole = makeElement("p", "");
  whole.textContent = what;
  row.append(summary, whole);
  return row;
}
