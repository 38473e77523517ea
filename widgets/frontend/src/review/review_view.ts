/**
 * The tabs beside the picture, and the review that one of them shows: a verdict, filters, a list of
 * items, and what was not looked at.
 *
 * All that is seen stands in a shadow root, with a style sheet of its own. The description that the
 * other tab shows stands beside it in the page: explorer.css hides it by a class of the inspector.
 */

import { makeElement } from "../controls/elements";
import { keepKeys } from "../host/kept_keys";
import { Chips } from "./chips";
import type { CheckProgress, ReviewConnection, ReviewMessage } from "./connection";
import { Detail } from "./detail";
import { type Filter, FilteredItems, NO_FILTER } from "./filter";
import { type ReviewItem, type ReviewList, readReview } from "./items";
import { ItemList } from "./list";
import styleSheet from "./review.css";
import { Status } from "./status";
import { type TabName, Tabs } from "./tabs";
import { followTheme } from "./theme";

const NOTHING: ReviewList = {
  ...{ headline: "", summary: "", verdict: "", unchecked: [], lacksWeights: false, levels: [], items: [] },
};
/** milliseconds after the last key that is typed into the filter */
const PAUSE = 120;

export class ReviewView {
  readonly element = document.createElement("div");
  private readonly frame = makeElement("div", "nl-review");
  private readonly body = makeElement("div", "nl-review-body");
  private readonly headline = makeElement("h2", "nl-review-headline");
  private readonly verdict = makeElement("p", "nl-review-verdict");
  private readonly summary = makeElement("p", "nl-review-summary");
  private readonly words = makeElement("input", "nl-review-words");
  private readonly marks = makeElement("button", "nl-review-chip nl-review-marks");
  private readonly foot = makeElement("div", "nl-review-foot");
  private readonly spoken = makeElement("div", "nl-unseen");
  private readonly tabs: Tabs;
  private readonly chips: Chips;
  private readonly status: Status;
  private readonly list: ItemList;
  private review: ReviewList = NOTHING;
  private filtered = new FilteredItems([]);
  private filter: Filter = NO_FILTER;
  private progress: CheckProgress = { stage: "unchecked", share: null, error: "" };
  private detail: Detail | null = null;
  private hasMarks = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly stops: Array<() => void> = [];

  /** @param parent where on the page it is put: in an inspector, above the description */
  constructor(
    private readonly connection: ReviewConnection,
    parent: HTMLElement,
  ) {
    this.tabs = new Tabs((tab) => this.showTab(tab));
    this.chips = new Chips((filter) => this.narrow(filter));
    this.status = new Status({
      check: (check) => connection.send({ check }),
      stop: () => connection.send({ stop: true }),
    });
    this.list = new ItemList(
      { choose: (item) => this.choose(item), fill: (item) => this.makeDetail(item) },
      this.foot,
    );
    this.build();
    parent.append(this.element);
    const inspector = this.element.closest(".nl-inspector");
    this.stops.push(followTheme(this.frame, inspector), () => this.list.dispose());
    this.stops.push(connection.onMessage((message) => this.receive(message)));
    this.stops.push(connection.onLost(() => this.status.disable()));
    this.showTab("inspect");
    connection.send({ ask: "review" });
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const stop of this.stops) stop();
    this.element.remove();
  }

  private build(): void {
    const { element, frame, body } = this;
    const style = document.createElement("style");
    style.textContent = styleSheet;
    element.attachShadow({ mode: "open" }).append(style, frame);
    element.dataset.netloupe = "review";
    keepKeys(element);
    body.setAttribute("role", "tabpanel");
    body.setAttribute("aria-labelledby", "nl-tab-review");
    this.words.type = "search";
    this.words.placeholder = "Filter";
    this.words.spellcheck = false;
    this.words.setAttribute("aria-label", "Filter by words");
    this.words.addEventListener("input", () => this.narrowSoon());
    this.marks.type = "button";
    this.marks.textContent = "marks";
    this.marks.title = "Mark items in the picture";
    this.marks.addEventListener("click", () => this.setMarks(!this.hasMarks));
    this.spoken.setAttribute("aria-live", "polite");
    const head = makeElement("div", "nl-review-head");
    const line = makeElement("div", "nl-review-filter");
    line.append(this.words, this.marks);
    head.append(this.headline, this.verdict, this.summary);
    head.append(this.status.element, this.chips.element, line);
    body.append(head, this.list.element);
    frame.append(this.tabs.element, body, this.spoken);
    frame.addEventListener("keydown", (event) => this.onKey(event));
  }

  // ------------------------------------------------------------------ what comes in

  private receive(message: ReviewMessage): void {
    switch (message.type) {
      case "review":
        this.take(message.review, message.marks);
        break;
      case "progress":
        this.progress = message;
        this.showStatus();
        break;
      case "go": {
        const item = this.review.items[message.item] ?? null;
        if (item && this.list.placeOf(item) < 0) this.narrow({ ...NO_FILTER });
        this.showItem(item);
        if (item) this.tabs.show("review");
        this.showTab(this.tabs.shown);
        break;
      }
    }
  }

  private take(written: unknown, marks: boolean): void {
    let review = NOTHING;
    if (written !== null) {
      try {
        review = readReview(written);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        this.progress = { stage: "unchecked", share: null, error: message };
      }
    }
    const kept = this.detail && findAgain(review.items, this.detail.item);
    this.review = review;
    this.filtered = new FilteredItems(review.items);
    this.hasMarks = marks;
    fill(this.headline, review.headline || review.verdict);
    fill(this.verdict, review.headline ? review.verdict : "");
    fill(this.summary, review.summary);
    this.detail = null;
    this.list.take(review.items, this.filtered.list(this.filter));
    this.showChips();
    this.showStatus();
    this.showFoot();
    this.showBadge();
    if (kept) this.showItem(kept);
  }

  private showBadge(): void {
    const due = this.review.items.filter(
      ({ level, accepted }) => accepted === "" && level.name !== "minor" && level.name !== "noted",
    );
    this.tabs.count(due.length, due[0]?.level.tone ?? "");
  }

  private showStatus(): void {
    const { canCheck } = this.connection;
    this.status.show(this.progress, this.review.lacksWeights, canCheck);
    this.element.dataset.stage = this.progress.stage;
  }

  private showFoot(): void {
    const { unchecked } = this.review;
    const isEmpty = this.review.items.length === 0;
    this.foot.replaceChildren();
    if (unchecked.length === 0 || (isEmpty && this.progress.stage === "unchecked")) return;
    const title = makeElement("h3", "nl-review-foot-title");
    title.textContent = "Not checked";
    this.foot.append(title);
    for (const [reason, what] of unchecked) {
      const row = makeElement("p", "nl-review-foot-row");
      row.textContent = what ? `${reason}: ${what}` : reason;
      this.foot.append(row);
    }
  }

  // ------------------------------------------------------------------ filters

  private narrowSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.narrow({ ...this.filter, words: this.words.value });
    }, PAUSE);
  }

  private narrow(filter: Filter): void {
    this.filter = filter;
    if (this.words.value !== filter.words) this.words.value = filter.words;
    const listed = this.filtered.list(filter);
    this.list.narrow(listed);
    this.showChips();
    const { length } = listed;
    this.spoken.textContent = `${length.toLocaleString("en")} ${length === 1 ? "item" : "items"}`;
  }

  private showChips(): void {
    const isShown = this.review.items.length > 0;
    this.chips.element.hidden = !isShown;
    this.words.parentElement!.hidden = !isShown;
    this.chips.show(this.review, this.filter, this.filtered.count(this.filter));
    this.marks.setAttribute("aria-pressed", String(this.hasMarks));
  }

  // ------------------------------------------------------------------ one item

  /** The user chooses an item: it is shown in the picture too. */
  private choose(item: ReviewItem | null): void {
    this.showItem(item);
    const path = this.detail?.shownPath;
    if (path !== undefined) this.show(path);
  }

  private showItem(item: ReviewItem | null): void {
    if (item === null) this.detail = null;
    this.list.choose(item);
  }

  private makeDetail(item: ReviewItem): HTMLElement {
    if (this.detail?.item !== item) {
      this.detail = new Detail(item, { show: (path) => this.show(path), copy: copyText });
    }
    return this.detail.element;
  }

  private show(path: string): void {
    const item = this.detail?.item.number ?? -1;
    this.connection.send({ show: path, item });
    this.element.dataset.shown = path;
  }

  private step(by: 1 | -1): void {
    const next = this.list.step(by);
    if (!next) return;
    this.choose(next);
    this.list.focus();
  }

  // ------------------------------------------------------------------ tabs, keys, marks

  private showTab(tab: TabName): void {
    const isReview = tab === "review";
    this.body.hidden = !isReview;
    this.element.dataset.tab = tab;
    this.element.closest(".nl-inspector")?.classList.toggle("nl-reviewing", isReview);
  }

  private setMarks(marks: boolean): void {
    this.hasMarks = marks;
    this.marks.setAttribute("aria-pressed", String(marks));
    this.connection.send({ marks });
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target === this.words;
    if (event.key === "Escape" && isTyping && this.words.value) {
      this.narrow({ ...this.filter, words: "" });
    } else if (event.key === "ArrowDown" && isTyping) {
      this.list.focus();
    } else if (event.key === "/" && !isTyping && !this.body.hidden) {
      this.words.focus();
    } else if ((event.key === "n" || event.key === "p") && !isTyping && !this.body.hidden) {
      this.step(event.key === "n" ? 1 : -1);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

/** The item of another reading that says the same at the same place. */
function findAgain(items: readonly ReviewItem[], before: ReviewItem): ReviewItem | undefined {
  return items.find(
    ({ id, title, paths }) =>
      id === before.id && title === before.title && paths[0] === before.paths[0],
  );
}

/** Let an element say something; it is not there where that is nothing. */
function fill(element: HTMLElement, text: string): void {
  element.textContent = text;
  element.hidden = text === "";
}

async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}
