/** What is around the explorer of a page, such as a report, and how the two talk. */

import type { StaticHost } from "./static_host";

/** the name of the event by which a path is to be shown: `detail` is that path */
export const SHOW = "netloupe:show";
/** the name of the event that tells what is selected: `detail` is a list of paths */
export const SELECTED = "netloupe:selected";
/** the name of the event by which boxes are to be coloured: `detail` is the number of a column */
export const COLOUR = "netloupe:colour";
/** the name of the event that tells what they are coloured by: `detail` is that number */
export const COLOURED = "netloupe:coloured";

/** Where the explorer is put: what the page has for it, else the page itself. */
export function findPlace(): Element {
  return document.querySelector("[data-nl-explorer]") ?? document.body;
}

/** Show what the page around asks for, and tell it what is selected and coloured. */
export function followPage(host: StaticHost): void {
  document.addEventListener(SHOW, (event) => {
    const path: unknown = (event as CustomEvent).detail;
    if (typeof path === "string" && path !== "") void host.goTo(path);
  });
  host.traits.follow("selected_paths", () => {
    tell(SELECTED, host.traits.get("selected_paths"));
  });
  document.addEventListener(COLOUR, (event) => {
    const overlay: unknown = (event as CustomEvent).detail;
    if (typeof overlay === "number") host.send({ type: "overlay", overlay, id: "around" });
  });
  host.traits.follow("overlay", () => tell(COLOURED, host.traits.get("overlay")));
}

function tell(name: string, detail: unknown): void {
  document.dispatchEvent(new CustomEvent(name, { detail }));
}
