/**
 * What a report does around the explorer of its page: tables that sort, and places that the picture
 * shows. `explorer/report/document.py` writes what is found here.
 */

import { COLOUR, COLOURED, SELECTED, SHOW } from "./standalone/around";

type Order = "ascending" | "descending";

/** Sort a table by a column: numbers as numbers, what has none last, equal rows as they were. */
export function sortTable(table: HTMLTableElement, column: number, order: Order): void {
  const bodies = [...table.tBodies];
  const keys = bodies.map((body) => readKey(body.rows[0]?.cells[column]));
  const sign = order === "ascending" ? 1 : -1;
  const places = bodies.map((_, place) => place);
  places.sort((a, b) => compare(keys[a], keys[b], sign) || a - b);
  for (const place of places) {
    const body = bodies[place];
    if (body) table.append(body);
  }
}

type Key = number | string | null | undefined;

function readKey(cell: HTMLTableCellElement | undefined): Key {
  if (!cell) return null;
  if (cell.dataset.key !== undefined) return Number(cell.dataset.key);
  // of a column of numbers, one that is not known
  if (cell.classList.contains("nlr-number")) return null;
  return cell.textContent?.trim() || null;
}

function compare(a: Key, b: Key, sign: number): number {
  if (a == null || b == null) return Number(a == null) - Number(b == null);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}

/** Let the heads of tables sort them: the first time ascending, numbers from the largest. */
function followHeads(): void {
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest("button[data-sort]") : null;
    const head = button?.closest("th");
    const table = head?.closest("table");
    if (!head || !table) return;
    const first: Order = head.classList.contains("nlr-number") ? "descending" : "ascending";
    const before = head.getAttribute("aria-sort");
    const other: Order = before === "ascending" ? "descending" : "ascending";
    const order = before === "none" ? first : other;
    for (const each of table.querySelectorAll("th[aria-sort]")) {
      each.setAttribute("aria-sort", each === head ? order : "none");
    }
    sortTable(table, head.cellIndex, order);
  });
}

/** Show the elements that rows name, and tell where one came from. */
class PlaceLinks {
  private readonly back = document.createElement("button");
  private from: HTMLElement | null = null;

  constructor(private readonly explorer: Element) {
    const { back } = this;
    back.type = "button";
    back.className = "nlr-back";
    back.textContent = "↩ Back to the table";
    back.hidden = true;
    back.addEventListener("click", () => this.goBack());
    document.body.append(back);
    document.addEventListener("click", ({ target }) => {
      const place = target instanceof Element ? target.closest("[data-path]") : null;
      if (place instanceof HTMLElement && place.closest(".nlr-article")) this.show(place);
    });
    document.addEventListener(SELECTED, (event) => {
      this.note((event as CustomEvent<readonly string[]>).detail);
    });
    // what the observer tells may be from before a place was shown
    new IntersectionObserver(() => {
      if (this.countSeen() <= 0) back.hidden = true;
    }).observe(explorer);
  }

  private show(place: HTMLElement): void {
    document.dispatchEvent(new CustomEvent(SHOW, { detail: place.dataset.path }));
    const { height } = this.explorer.getBoundingClientRect();
    if (this.countSeen() >= Math.min(height, innerHeight) / 2) return;
    this.from = place;
    this.explorer.scrollIntoView({ block: "start" });
    this.back.hidden = false;
  }

  /** How many pixels of the explorer's height are in sight now; below 0 where none are. */
  private countSeen(): number {
    const { top, bottom } = this.explorer.getBoundingClientRect();
    return Math.min(bottom, innerHeight) - Math.max(top, 0);
  }

  private goBack(): void {
    this.back.hidden = true;
    this.from?.scrollIntoView({ block: "center" });
    this.from?.focus({ preventScroll: true });
  }

  /** Mark the rows of what is selected. */
  private note(paths: readonly string[]): void {
    const chosen = new Set(paths);
    for (const place of document.querySelectorAll<HTMLElement>(".nlr-article [data-path]")) {
      if (chosen.has(place.dataset.path ?? "")) place.setAttribute("aria-current", "true");
      else place.removeAttribute("aria-current");
    }
  }
}

/** Let buttons choose what boxes are coloured by. */
function followColours(): void {
  const buttons = [...document.querySelectorAll<HTMLElement>("button[data-overlay]")];
  for (const button of buttons) {
    const detail = Number(button.dataset.overlay);
    button.addEventListener("click", () => {
      document.dispatchEvent(new CustomEvent(COLOUR, { detail }));
    });
  }
  document.addEventListener(COLOURED, (event) => {
    const chosen = String((event as CustomEvent<number>).detail);
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(button.dataset.overlay === chosen));
    }
  });
}

const explorer = document.querySelector("[data-nl-explorer]");
followHeads();
followColours();
if (explorer) new PlaceLinks(explorer);
