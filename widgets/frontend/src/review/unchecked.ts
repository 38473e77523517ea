/** What a review did not look at, and why: a line each. */

import { makeElement } from "../controls/elements";

/** A list of more characters is folded. */
const LONGEST_UNCHECKED = 120;

/** A rule as it stands in such a list: `NL-N01 nan-weight`. */
const RULE = /NL-[A-Z]\d+ /g;

/** A line about what was not looked at; a long list of rules is folded. */
export function makeUnchecked(reason: string, what: string): HTMLElement {
  const cut = what.lastIndexOf(",", LONGEST_UNCHECKED);
  const count = what.match(RULE)?.length ?? 0;
  if (what.length <= LONGEST_UNCHECKED || cut < 0 || count < 2) {
    const row = makeElement("p", "nl-review-foot-row");
    row.textContent = what ? `${what}: ${reason}` : reason;
    return row;
  }
  const row = makeElement("details", "nl-review-foot-row");
  const summary = makeElement("summary", "");
  const begin = reason.charAt(0).toUpperCase() + reason.slice(1);
  summary.textContent = `${begin}: ${what.slice(0, cut)} and more, ${count.toLocaleString("en")} in all`;
  const whole = makeElement("p", "");
  whole.textContent = what;
  row.append(summary, whole);
  return row;
}
