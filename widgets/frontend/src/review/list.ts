/**
 * A list of thousands of items, of which those in sight stand in the page.
 *
 * Each row is a button that unfolds what is said of its item below it. One row takes part in the
 * order of the Tab key; arrow keys move on from there.
 */

import { makeElement } from "../controls/elements";
import { followPrinting } from "../host/printing";
import { type ReviewItem } from "./items";
import { Rows } from "./rows";

/** pixels, as in review.css */
export const ROW_HEIGHT = 50;
/** beyond what is in sight, so that a quick wheel shows no gaps */
const MARGIN = 300;
const MOST_PRINTED = 1000;

export interface ListActions {
  /** the user has chosen an item, or puts away the one that is chosen */
  choose(item: ReviewItem | null): void;
  /** what is said of an item */
  fill(item: ReviewItem): HTMLElement;
}

export class ItemList {
  /** what scrolls */
  readonly element = makeElement("div", "nl-review-scroll");
  private readonly list = makeElement("ol", "nl-review-list");
  private readonly rows = new Rows(ROW_HEIGHT);
  private readonly shown = new Map<number, HTMLLIElement>();
  private items: readonly ReviewItem[] = [];
  /** numbers of the items that are listed, in order */
  private listed: readonly number[] = [];
  /** by number the place of a listed item */
  private places = new Map<number, number>();
  private chosen: ReviewItem | null = null;
  /** the number of the item that the keyboard is at */
  private active = -1;
  private isDue = false;
  private readonly sized = new ResizeObserver(() => this.measure());
  private isPrinted = false;
  private readonly stopPrinting = followPrinting(
    () => this.print(true),
    () => this.print(false),
  );

  /**
   * @param head what stands above the first row, and stays in sight where there is room for it
   * @param foot what stands behind the last row
   */
  constructor(
    private readonly actions: ListActions,
    private readonly head: HTMLElement,
    foot: HTMLElement,
  ) {
    this.list.setAttribute("aria-label", "Items of the review");
    this.element.append(head, this.list, foot);
    this.element.addEventListener("scroll", () => this.drawSoon(), { passive: true });
    this.element.addEventListener("keydown", (event) => this.onKey(event));
    this.sized.observe(this.element);
    this.sized.observe(head);
  }

  dispose(): void {
    this.sized.disconnect();
    this.stopPrinting();
  }

  /** Show other items. */
  take(items: readonly ReviewItem[], listed: readonly number[]): void {
    this.items = items;
    this.chosen = null;
    this.active = -1;
    this.clear();
    this.narrow(listed);
    this.element.scrollTop = 0;
  }

  /** Show other ones of the same items; the chosen one stays unfolded where it is among them. */
  narrow(listed: readonly number[]): void {
    this.listed = listed;
    this.places = new Map(listed.map((number, place) => [number, place]));
    if (!this.places.has(this.active)) this.active = listed[0] ?? -1;
    this.rows.count = listed.length;
    for (const row of this.shown.values()) row.remove();
    this.shown.clear();
    this.draw();
    this.measure();
  }

  /** Unfold an item and bring it into sight; null folds the one that is unfolded. */
  choose(item: ReviewItem | null): void {
    const before = this.chosen;
    this.chosen = item;
    if (item) this.active = item.number;
    for (const each of [before, item]) if (each) this.remake(each.number);
    this.draw();
    this.measure();
    if (item) this.bringIntoSight(item.number);
  }

  /** The item behind, or before, the chosen one of those that are listed; around at the ends. */
  step(by: 1 | -1): ReviewItem | null {
    const count = this.listed.length;
    if (count === 0) return null;
    const place = this.chosen ? this.places.get(this.chosen.number) : undefined;
    const next = place === undefined ? (by > 0 ? 0 : count - 1) : (place + by + count) % count;
    return this.items[this.listed[next]];
  }

  /** The place of an item among those that are listed; -1 where it is not. */
  placeOf(item: ReviewItem): number {
    return this.places.get(item.number) ?? -1;
  }

  focus(): void {
    this.shown.get(this.active)?.querySelector("button")?.focus({ preventScroll: true });
  }

  private onKey(event: KeyboardEvent): void {
    if (!(event.target as Element).classList.contains("nl-review-row")) return;
    const place = this.places.get(this.active) ?? -1;
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW_HEIGHT) - 1);
    const last = this.listed.length - 1;
    const places: Record<string, number> = {
      ArrowDown: place + 1,
      ArrowUp: place - 1,
      PageDown: place + page,
      PageUp: place - page,
      Home: 0,
      End: last,
    };
    if (!(event.key in places) || last < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const before = this.active;
    this.active = this.listed[Math.min(Math.max(places[event.key], 0), last)];
    this.bringIntoSight(this.active);
    this.draw();
    for (const number of [before, this.active]) this.markActive(number);
    this.focus();
  }

  private bringIntoSight(number: number): void {
    const place = this.places.get(number);
    if (place === undefined) return;
    const { element, rows, covered } = this;
    const { offsetTop } = this.list;
    const [top, bottom] = [rows.top(place) + offsetTop, rows.bottom(place) + offsetTop];
    const height = element.clientHeight - covered;
    if (top < element.scrollTop + covered || bottom - top > height) element.scrollTop = top - covered;
    else if (bottom > element.scrollTop + covered + height) {
      element.scrollTop = bottom - covered - height;
    }
    this.draw();
  }

  /** How much of what is in sight the head covers: nothing where it scrolls with the list. */
  private get covered(): number {
    return getComputedStyle(this.head).position === "sticky" ? this.head.offsetHeight : 0;
  }

  private drawSoon(): void {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.draw();
    });
  }

  /** Put the rows that are in sight into the page, and take the others out. */
  private draw(): void {
    const { element, rows, shown } = this;
    this.list.style.height = `${rows.total}px`;
    const { clientHeight } = element;
    const top = element.scrollTop - this.list.offsetTop;
    const [first, end] = this.isPrinted
      ? [0, MOST_PRINTED]
      : rows.window(top - MARGIN, top + clientHeight + MARGIN);
    const wanted = new Set(this.listed.slice(first, end));
    // the keyboard stays where it is
    for (const kept of [this.active, this.chosen?.number ?? -1]) {
      if (this.places.has(kept)) wanted.add(kept);
    }
    for (const [number, row] of shown) {
      if (wanted.has(number)) continue;
      row.remove();
      shown.delete(number);
    }
    for (const number of wanted) {
      let row = shown.get(number);
      if (!row) {
        row = this.makeRow(this.items[number]);
        shown.set(number, row);
        this.insert(row, number);
      }
      row.style.transform = `translateY(${rows.top(this.places.get(number)!)}px)`;
    }
  }

  /** Paper does not scroll: all rows stand in the page while it is printed, or very many. */
  private print(isPrinted: boolean): void {
    this.isPrinted = isPrinted;
    const left = this.listed.length - MOST_PRINTED;
    if (isPrinted && left > 0) this.list.dataset.more = `… ${left.toLocaleString("en")} more`;
    else delete this.list.dataset.more;
    this.draw();
  }

  /** Rows stand in the page in their order, which is that of the Tab key and of screen readers. */
  private insert(row: HTMLLIElement, number: number): void {
    const place = this.places.get(number)!;
    let next: HTMLLIElement | null = null;
    let nearest = Infinity;
    for (const [other, element] of this.shown) {
      const at = this.places.get(other)!;
      if (at > place && at < nearest) [next, nearest] = [element, at];
    }
    this.list.insertBefore(row, next);
  }

  private makeRow(item: ReviewItem): HTMLLIElement {
    const row = makeElement("li", "nl-review-item");
    row.dataset.item = String(item.number);
    row.setAttribute("aria-setsize", String(this.listed.length));
    row.setAttribute("aria-posinset", String(this.places.get(item.number)! + 1));
    const isChosen = item === this.chosen;
    row.classList.toggle("nl-chosen", isChosen);
    row.classList.toggle("nl-accepted", item.accepted !== "");
    const head = makeElement("button", "nl-review-row");
    head.type = "button";
    head.tabIndex = item.number === this.active ? 0 : -1;
    head.setAttribute("aria-expanded", String(isChosen));
    head.append(makeSign(item), makeTexts(item));
    head.addEventListener("click", () => {
      this.active = item.number;
      this.actions.choose(item === this.chosen ? null : item);
      this.focus();
    });
    row.append(head);
    if (isChosen) {
      const detail = this.actions.fill(item);
      detail.id = `nl-review-detail-${item.number}`;
      head.setAttribute("aria-controls", detail.id);
      row.append(detail);
      this.sized.observe(row);
    }
    return row;
  }

  private remake(number: number): void {
    const row = this.shown.get(number);
    if (!row) return;
    const hadFocus = row.contains((row.getRootNode() as ShadowRoot | Document).activeElement);
    row.remove();
    this.sized.unobserve(row);
    this.shown.delete(number);
    if (!this.places.has(number)) return;
    const made = this.makeRow(this.items[number]);
    this.shown.set(number, made);
    this.insert(made, number);
    if (hadFocus) this.focus();
  }

  private markActive(number: number): void {
    const head = this.shown.get(number)?.querySelector("button");
    if (head) head.tabIndex = number === this.active ? 0 : -1;
  }

  private clear(): void {
    for (const row of this.shown.values()) row.remove();
    this.shown.clear();
  }

  /** Learn how much higher the unfolded row is. */
  private measure(): void {
    const place = this.chosen ? this.places.get(this.chosen.number) : undefined;
    const row = this.chosen ? this.shown.get(this.chosen.number) : undefined;
    if (place === undefined || !row) this.rows.unfold(-1, 0);
    else this.rows.unfold(place, Math.max(0, row.offsetHeight - ROW_HEIGHT));
    this.draw();
  }
}

/** The disc with the sign of an item. */
export function makeSign({ level, accepted }: Pick<ReviewItem, "level" | "accepted">): HTMLElement {
  const sign = makeElement("span", "nl-review-sign");
  sign.textContent = level.sign;
  sign.dataset.tone = level.tone;
  sign.setAttribute("role", "img");
  sign.setAttribute("aria-label", accepted ? `accepted ${level.meaning}` : level.meaning);
  return sign;
}

function makeTexts(item: ReviewItem): HTMLElement {
  const texts = makeElement("span", "nl-review-texts");
  const line = makeElement("span", "nl-review-line");
  const title = makeElement("span", "nl-review-title");
  title.textContent = item.title;
  const id = makeElement("span", "nl-review-id");
  id.textContent = item.id;
  line.append(title, id);
  const where = makeElement("span", "nl-review-where");
  where.append(item.where);
  // what is found there tells items of one rule apart; the details say it again
  const found = item.evidence.find(([label]) => label === "found")?.[1];
  const told = item.accepted || found;
  if (told) {
    const more = makeElement("span", "nl-review-told");
    more.textContent = item.where ? ` · ${told}` : told;
    where.append(more);
  }
  texts.append(line, where);
  texts.title = [item.title, item.where, found].filter(Boolean).join("\n");
  return texts;
}
