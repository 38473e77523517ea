/** The way from the main graph to the one shown; graphs that can be entered are buttons. */

import { makeElement } from "./elements";

/** Path and label of each graph from the main one to the one shown. */
export type Crumb = readonly [string, string];

export function readCrumbs(value: unknown): Crumb[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((entry) => Array.isArray(entry) && entry.length >= 2)
    .map((entry) => [String(entry[0]), String(entry[1])] as const);
}

/** Of a longer trail only the ends are shown, and what opens its middle. */
const MOST_CRUMBS = 6;

/** @param enter null where no other graph can be shown: then it only says which one is */
export function fillBreadcrumb(
  bar: HTMLElement,
  crumbs: Crumb[],
  enter: ((path: string) => void) | null,
  whole = crumbs.length <= MOST_CRUMBS,
): void {
  bar.hidden = crumbs.length < 2;
  bar.replaceChildren();
  const hidden = whole ? 0 : crumbs.length - MOST_CRUMBS + 1;
  crumbs.forEach(([path, label], index) => {
    if (index > 1 && index <= hidden) return;
    if (index > 0) {
      const between = makeElement("span", "nl-crumb-between");
      between.textContent = "›";
      between.setAttribute("aria-hidden", "true");
      bar.append(between);
    }
    const last = index === crumbs.length - 1;
    const elided = index === 1 && hidden > 0;
    const crumb = enter || elided ? makeElement("button", "nl-crumb") : makeElement("span", "nl-crumb");
    if (crumb instanceof HTMLButtonElement) crumb.type = "button";
    crumb.textContent = label;
    crumb.title = path;
    if (elided) {
      crumb.textContent = "…";
      crumb.title = `${hidden.toLocaleString("en")} more`;
      crumb.addEventListener("click", () => fillBreadcrumb(bar, crumbs, enter, true));
    } else if (last) crumb.setAttribute("aria-current", "page");
    else if (enter) crumb.addEventListener("click", () => enter(path));
    bar.append(crumb);
  });
}
