/**
 * The tabs beside the picture, and the review that one of them shows: a verdict, filters, a list of
 * items, and what was not looked at.
 *
 * All that is seen stands in a shadow root, with a style sheet of its own. The description that the
 * other tab shows stands beside it in the page: explorer.css hides it by a class of the inspector.
 */

import { makeElement } from "../controls/elements";
import type { TabName } from "../host/host";
import { keepKeys } from "../host/kept_keys";
import { Chips } from "./chips";
import type { CheckProgress, ReviewConnection, ReviewMessage, ReviewRequest } from "./connection";
import { Detail, type DetailActions, makeButton } from "./detail";
import { type Filter, FilteredItems, NO_FILTER } from "./filter";
import { type ReviewItem, type ReviewList, readReview, writeVerdict } from "./items";
import { ItemList } from "./list";
import { NoteForm } from "./note_form";
import styleSheet from "./review.css";
import { Status } from "./status";
import { Tabs } from "./tabs";
import { followTheme } from "./theme";
import { makeUnchecked } from "./unchecked";

const NOTHING: ReviewList = {
  ...{ headline: "", summary: "", unchecked: [], lacksWeights: false, levels: [], items: [] },
};
/** milliseconds after the last key that is typed into the filter */
const PAUSE = 120;

/** The levels of what nobody has to do anything about, which the badge leaves out. */
const QUIET: ReadonlySet<string> = new Set([
  ...["minor", "moved", "equal", "version", "written", "noted"],
]);

export class ReviewView {
  readonly element = document.createElement("div");
  private readonly frame = makeElement("div", "nl-review");
  private readonly body = makeElement("div", "nl-review-body");
  private readonly head = makeElement("div", "nl-review-head");
  private readonly headline = makeElement("h2", "nl-review-headline");
  private readonly verdict = makeElement("p", "nl-review-verdict");
  private readonly summary = makeElement("p", "nl-review-summary");
  private readonly words = makeElement("input", "nl-review-words");
  private readonly marks = makeElement("button", "nl-review-chip nl-review-marks");
  private readonly note = makeElement("button", "nl-review-chip nl-review-note");
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
  /** whether the user has been at the marks, or at the list, with which they come on */
  private knowsMarks = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** what is selected in the picture */
  private selected: readonly string[] = [];
  /** what was typed into forms and not sent, of items by their fingerprints */
  private readonly drafts = new Map<string, Map<string, string>>();
  private readonly writing = new NoteForm(this.draftsOf(""));
  /** what a new note says, which is shown once it is in the list; null for none */
  private awaited: string | null = null;
  private readonly tabWatchers: Array<() => void> = [];
  private readonly stops: Array<() => void> = [];

  /** @param parent where on the page it is put: in an inspector, above the description */
  constructor(
    private readonly connection: ReviewConnection,
    parent: HTMLElement,
  ) {
    this.tabs = new Tabs((tab) => {
      this.applyTab(tab);
      if (tab === "review" && !this.knowsMarks && !this.hasMarks) this.setMarks(true);
    });
    this.chips = new Chips((filter) => this.narrow(filter));
    this.status = new Status({
      check: (check) => connection.send({ check }),
      stop: () => connection.send({ stop: true }),
    });
    this.list = new ItemList(
      { choose: (item) => this.choose(item), fill: (item) => this.makeDetail(item) },
      this.head,
      this.foot,
    );
    this.build();
    parent.append(this.element);
    const inspector = this.element.closest(".nl-inspector");
    this.stops.push(followTheme(this.frame, inspector), () => this.list.dispose());
    this.stops.push(connection.onMessage((message) => this.receive(message)));
    this.stops.push(connection.onLost(() => this.disable()));
    this.applyTab("inspect");
    connection.send({ ask: "review" });
  }

  get tab(): TabName {
    return this.tabs.shown;
  }

  showTab(tab: TabName): void {
    if (tab === this.tab) return;
    this.tabs.show(tab);
    this.applyTab(tab);
  }

  /** Call something where another tab is shown. */
  onTab(changed: () => void): void {
    this.tabWatchers.push(changed);
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
    this.note.type = "button";
    this.note.textContent = "+ note";
    this.note.addEventListener("click", () => this.writeNote());
    this.spoken.setAttribute("aria-live", "polite");
    const { head } = this;
    const line = makeElement("div", "nl-review-filter");
    line.append(this.words, this.note, this.marks);
    head.append(this.headline, this.verdict, this.summary);
    head.append(this.status.element, this.chips.element, line, this.writing.element);
    body.append(this.list.element);
    frame.append(this.tabs.element, body, this.spoken);
    frame.addEventListener("keydown", (event) => this.onKey(event));
  }

  /** Nobody answers any more: what is listed can be read on. */
  private disable(): void {
    this.status.disable();
    this.marks.disabled = this.note.disabled = true;
  }

  // ------------------------------------------------------------------ what comes in

  private receive(message: ReviewMessage): void {
    switch (message.type) {
      case "review":
        this.take(message.review, message.marks);
        break;
      case "marks":
        this.showMarks(message.marks);
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
        this.applyTab(this.tabs.shown);
        break;
      }
      case "noted":
        this.endWriting(message.error);
        break;
      case "selection":
        this.selected = message.paths;
        this.showNoteButton();
        break;
    }
  }

  private take(told: unknown, marks: boolean): void {
    let review = NOTHING;
    if (told !== null) {
      try {
        review = readReview(told);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        this.progress = { stage: "unchecked", share: null, error: message };
      }
    }
    const kept = this.detail && findAgain(review.items, this.detail.item);
    this.review = review;
    this.filtered = new FilteredItems(review.items);
    this.hasMarks = marks;
    const verdict = told === null ? "" : writeVerdict(review.items);
    fill(this.headline, review.headline || verdict);
    fill(this.verdict, review.headline ? verdict : "");
    fill(this.summary, review.summary);
    this.detail = null;
    this.list.take(review.items, this.filtered.list(this.filter));
    this.showChips();
    this.showStatus();
    this.showFoot();
    this.showBadge();
    const written = this.findAwaited();
    if (written && this.list.placeOf(written) < 0) this.narrow(NO_FILTER);
    if (written ?? kept) this.showItem(written ?? kept!);
  }

  /** The note that was just written, once it is in the list. */
  private findAwaited(): ReviewItem | undefined {
    const { awaited } = this;
    if (awaited === null) return undefined;
    const found = this.review.items.filter(
      ({ kind, evidence }) =>
        kind === "note" && evidence.some(([label, text]) => label === "note" && text === awaited),
    );
    if (found.length > 0) this.awaited = null;
    return found[found.length - 1];
  }

  private showBadge(): void {
    const due = this.review.items.filter(
      ({ level, accepted }) => accepted === "" && !QUIET.has(level.name),
    );
    // the same numbers as in the verdict, which the badge adds up
    this.tabs.count(due.length, due[0]?.level.tone ?? "", writeVerdict(due));
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
    this.showNotesFile();
    if (unchecked.length === 0 || (isEmpty && this.progress.stage === "unchecked")) return;
    const title = makeElement("h3", "nl-review-foot-title");
    title.textContent = "Not checked";
    this.foot.append(title);
    for (const [reason, what] of unchecked) {
      this.foot.append(makeUnchecked(reason, what));
    }
  }

  private showNotesFile(): void {
    const file = this.connection.notesFile;
    if (!file || file.count === 0) return;
    const row = makeElement("p", "nl-review-foot-row nl-review-notes");
    row.append(`${file.remark} `, makeButton("download notes", () => file.save()));
    this.foot.append(row);
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
    this.words.hidden = this.marks.hidden = !isShown;
    this.showNoteButton();
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
      const drafts = this.draftsOf(item.fingerprint || item.title);
      this.detail = new Detail(item, this.detailActions(item), drafts);
    }
    return this.detail.element;
  }

  private detailActions(item: ReviewItem): DetailActions {
    return {
      show: (path) => this.show(path),
      copy: copyText,
      owns: (note) => this.connection.owns(note),
      accept: (text) => this.sendNote({ accept: item.number, note: text }),
      edit: (text) => this.sendNote({ edit: item.fingerprint, note: text }),
      remove: () => this.sendNote({ remove: item.fingerprint }),
    };
  }

  private draftsOf(item: string): Map<string, string> {
    const known = this.drafts.get(item) ?? new Map<string, string>();
    this.drafts.set(item, known);
    return known;
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

  // ------------------------------------------------------------------ notes

  private showNoteButton(): void {
    const [first, ...others] = this.selected;
    this.note.disabled = first === undefined;
    const more = others.length ? ` and ${others.length.toLocaleString("en")} more` : "";
    this.note.title = first === undefined ? "Select something to write a note on it" : `${first}${more}`;
  }

  private writeNote(): void {
    const paths = this.selected;
    if (paths.length === 0) return;
    this.writing.open(`Note on ${this.note.title}`, "add note", "", (text) => {
      this.awaited = text;
      this.sendNote({ note: text, paths });
    });
  }

  private sendNote(request: ReviewRequest): void {
    this.connection.send(request);
  }

  /** A note was written, or why it was not. */
  private endWriting(error: string): void {
    const form = this.detail?.form.isOpen ? this.detail.form : this.writing;
    if (error) {
      form.refuse(error);
      this.awaited = null;
    } else {
      form.close();
    }
    this.spoken.textContent = error || "Noted";
  }

  // ------------------------------------------------------------------ tabs, keys, marks

  private applyTab(tab: TabName): void {
    const isReview = tab === "review";
    this.body.hidden = !isReview;
    this.element.dataset.tab = tab;
    this.element.closest(".nl-inspector")?.classList.toggle("nl-reviewing", isReview);
    for (const changed of this.tabWatchers) changed();
  }

  private setMarks(marks: boolean): void {
    this.knowsMarks = true;
    this.showMarks(marks);
    this.connection.send({ marks });
  }

  private showMarks(marks: boolean): void {
    this.hasMarks = marks;
    this.marks.setAttribute("aria-pressed", String(marks));
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = (event.target as Element).matches("input, textarea");
    if (event.key === "Escape" && event.target === this.words && this.words.value) {
      this.narrow({ ...this.filter, words: "" });
    } else if (event.key === "ArrowDown" && event.target === this.words) {
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

/** The item of another list that is the same finding or note, or says the same of the same place. */
function findAgain(items: readonly ReviewItem[], before: ReviewItem): ReviewItem | undefined {
  const { id, title, fingerprint, paths } = before;
  return items.find((item) =>
    fingerprint
      ? item.id === id && item.fingerprint === fingerprint
      : item.id === id && item.title === title && item.paths[0] === paths[0],
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
