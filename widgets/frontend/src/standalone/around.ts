/** What is around the explorer of a page, such as a report, and how the two talk. */

import type { StaticHost } from "./static_host";

/** the name of the event by which a path is to be shown: `detail` is that path */
export const SHOW = "netloupe:show";
/** the name of the event that tells what is selected: `detail` is a list of paths */
export const SELECTED = "netloupe:selected";

/** Where the explorer is put: what the page has for it, else the page itself. */
export function findPlace(): Element {
  return document.querySelector("[data-nl-explorer]") ?? document.body;
}

/** Show what the page around asks for, and tell it what is selected. */
export function followPage(host: StaticHost): void {
  document.addEventListener(SHOW, (event) => {
    const path: unknown = (event as CustomEvent).detail;
    if (typeof path === "string" && path !== "") void host.goTo(path);
  });
  host.traits.follow("selected_paths", () => {
    const detail = host.traits.get("selected_paths");
    document.dispatchEvent(new CustomEvent(SELECTED, { detail }));
  });
}
