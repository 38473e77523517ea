/** The search box: what is typed goes to the host, what it finds is listed and walked. */

import type { SearchHit } from "../host/messages";
import { iconButton, makeElement } from "./elements";
import { type Piece, cutNames, namesOf } from "./hit_names";

const MOST_LISTED = 100;
const PAUSE = 120;
/** in a shadow root: no other list has it */
const LIST = "nl-hits";

/** Hits and which of them is the current one. Steps run around. */
export class HitList {
  hits: SearchHit[] = [];
  total = 0;
  current = -1;

  /** Take new hits; the current one stays current where it is among them. */
  replace(hits: SearchHit[], total: number): void {
    const path = this.hits[this.current]?.path;
    this.hits = hits;
    this.total = Math.max(total, hits.length);
    this.current = path === undefined ? -1 : hits.findIndex((hit) => hit.path === path);
  }

  step(by: 1 | -1): SearchHit | undefined {
    const count = this.hits.length;
    if (count === 0) return undefined;
    if (this.current < 0) this.current = by > 0 ? 0 : count - 1;
    else this.current = (this.current + by + count) % count;
    return this.hits[this.current];
  }

  /** What stands under the box: how many there are. */
  summary(): string {
    if (this.total === 0) return "Nothing found";
    const all = this.total.toLocaleString("en");
    const listed = Math.min(this.hits.length, MOST_LISTED);
    if (this.current >= 0) return `${(this.current + 1).toLocaleString("en")} of ${all}`;
    if (listed < this.total) return `${listed} of ${all}`;
    return this.total === 1 ? "1 hit" : `${all} hits`;
  }
}

export interface SearchActions {
  /** resolves to the hits, rejects with what is wrong with the expression */
  search(text: string, regex: boolean): Promise<{ hits: SearchHit[]; total: number }>;
  reveal(path: string): void;
  /** the hits or the current one have changed */
  mark(hits: SearchHit[], current: SearchHit | undefined): void;
  /** the search is over: give the keyboard back */
  leave(): void;
}

export class SearchBox {
  readonly element = makeElement("div", "nl-search");
  private readonly list = new HitList();
  private readonly input = makeElement("input", "nl-search-text");
  private readonly regexButton: HTMLButtonElement;
  private readonly panel = makeElement("div", "nl-search-panel");
  private readonly note = makeElement("div", "nl-search-note");
  private readonly rows = makeElement("ul", "nl-search-hits");
  private regex = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asked = 0;
  /** whether the current hit was marked by an arrow, and Enter means it and not the next one */
  private isMarked = false;
  /** what the list is about, and what is being asked */
  private answered = "";
  private asking: { question: string; answer: Promise<void> } | undefined;

  /** @param hasRegex whether a regular expression may be typed */
  constructor(
    private readonly actions: SearchActions,
    hasRegex: boolean,
  ) {
    this.input.type = "text";
    this.input.placeholder = "Search";
    this.input.spellcheck = false;
    this.input.autocomplete = "off";
    this.input.title = "Search names, operators and attributes ( / )";
    this.input.setAttribute("role", "combobox");
    this.input.setAttribute("aria-autocomplete", "list");
    this.input.setAttribute("aria-expanded", "false");
    this.input.setAttribute("aria-controls", LIST);
    this.rows.id = LIST;
    this.input.setAttribute("aria-label", "Search names, operators and attributes");
    this.regexButton = iconButton("regex", "Regular expression", () => this.switchRegex());
    this.regexButton.setAttribute("aria-pressed", "false");
    this.rows.setAttribute("role", "listbox");
    this.rows.setAttribute("aria-label", "Hits");
    this.note.setAttribute("role", "status");
    const line = makeElement("div", "nl-search-line");
    line.append(this.input);
    if (hasRegex) line.append(this.regexButton);
    this.panel.append(this.note, this.rows);
    this.panel.hidden = true;
    this.element.append(line, this.panel);
    this.input.addEventListener("input", () => {
      this.fold(false);
      this.askAnew();
    });
    this.input.addEventListener("keydown", (event) => this.onKey(event));
    this.rows.addEventListener("click", (event) => this.onListClick(event));
    // The list scrolls by itself; neither page nor canvas moves with it.
    this.panel.addEventListener("wheel", (event) => event.stopPropagation());
  }

  get isOpen(): boolean {
    return !this.panel.hidden;
  }

  /** Give it the keyboard; what was found before is listed again. */
  focus(): void {
    this.input.focus({ preventScroll: true });
    this.input.select();
    this.fold(false);
    if (this.panel.hidden && this.input.value) void this.ask();
  }

  /** Put the list away; what was typed stays. */
  leave(): void {
    this.putAway();
    this.actions.leave();
  }

  close(): void {
    this.input.value = "";
    this.leave();
  }

  private putAway(): void {
    clearTimeout(this.timer);
    this.asked++;
    this.asking = undefined;
    this.answered = "";
    this.panel.hidden = true;
    this.isMarked = false;
    this.element.classList.remove("nl-invalid");
    this.list.replace([], 0);
    this.actions.mark([], undefined);
  }

  /** Leave of the list the line that counts, so that the picture below can be seen; or unfold it. */
  private fold(isFolded: boolean): void {
    this.rows.hidden = isFolded;
    this.setExpanded();
  }

  private setExpanded(): void {
    const isExpanded = !this.panel.hidden && !this.rows.hidden;
    this.input.setAttribute("aria-expanded", String(isExpanded));
    const { current } = this.list;
    const active = isExpanded && current >= 0 && current < MOST_LISTED ? idOf(current) : "";
    if (active) this.input.setAttribute("aria-activedescendant", active);
    else this.input.removeAttribute("aria-activedescendant");
  }

  /** Ask again: what is drawn has changed, and so has where hits are to be marked. */
  refresh(): void {
    if (this.input.value && !this.panel.hidden) this.askLater();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.asked++;
  }

  private switchRegex(): void {
    this.regex = !this.regex;
    this.regexButton.setAttribute("aria-pressed", String(this.regex));
    this.input.focus({ preventScroll: true });
    if (this.input.value) void this.ask();
  }

  /** Ask for what is typed now: no hit is marked among what is found. */
  private askAnew(): void {
    this.isMarked = false;
    this.askLater();
  }

  private askLater(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), PAUSE);
  }

  private question(): string {
    return `${this.regex ? "regex" : "words"} ${this.input.value}`;
  }

  private ask(): Promise<void> {
    const question = this.question();
    const answer = this.listHits(question);
    this.asking = { question, answer };
    return answer;
  }

  private async listHits(question: string): Promise<void> {
    clearTimeout(this.timer);
    const turn = ++this.asked;
    const text = this.input.value;
    if (!text.trim()) {
      this.list.replace([], 0);
      this.panel.hidden = true;
      this.element.classList.remove("nl-invalid");
      this.actions.mark([], undefined);
      return;
    }
    try {
      const { hits, total } = await this.actions.search(text, this.regex);
      if (turn !== this.asked) return;
      this.answered = question;
      this.list.replace(hits, total);
      this.element.classList.remove("nl-invalid");
      this.show();
    } catch (error) {
      if (turn !== this.asked) return;
      this.answered = question;
      this.list.replace([], 0);
      this.element.classList.add("nl-invalid");
      this.show();
      this.note.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  private show(): void {
    const listed = this.list.hits.slice(0, MOST_LISTED);
    const names = cutNames(namesOf(listed));
    const shown = listed.map((hit, index) => makeRow(hit, index, names[index]));
    this.rows.replaceChildren(...shown);
    this.panel.hidden = false;
    this.markCurrent();
  }

  private markCurrent(): void {
    this.note.textContent = this.list.summary();
    for (const row of this.rows.children) {
      const current = (row as HTMLElement).dataset.index === String(this.list.current);
      row.setAttribute("aria-selected", String(current));
      if (current) (row as HTMLElement).scrollIntoView?.({ block: "nearest" });
    }
    this.setExpanded();
    this.actions.mark(this.list.hits, this.list.hits[this.list.current]);
  }

  /** Go on in the hits of what is typed now: never in those of an earlier text. */
  private async step(by: 1 | -1, isMarking: boolean): Promise<void> {
    const question = this.question();
    if (this.panel.hidden || question !== this.answered) {
      await (this.asking?.question === question ? this.asking.answer : this.ask());
      if (question !== this.question()) return;
    }
    const { hits, current } = this.list;
    const hit = this.isMarked && !isMarking && hits[current] ? hits[current] : this.list.step(by);
    if (!hit) return;
    this.isMarked = isMarking;
    this.fold(!isMarking);
    this.markCurrent();
    this.actions.reveal(hit.path);
  }

  private onKey(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      event.preventDefault();
      if (this.panel.hidden) this.close();
      else this.leave();
    } else if (event.key === "Enter" || event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      void this.step(event.key === "ArrowUp" || event.shiftKey ? -1 : 1, event.key !== "Enter");
    }
  }

  private onListClick(event: MouseEvent): void {
    const row = (event.target as Element).closest<HTMLElement>(".nl-hit");
    if (!row) return;
    this.list.current = Number(row.dataset.index);
    this.isMarked = false;
    this.fold(true);
    this.markCurrent();
    this.actions.reveal(this.list.hits[this.list.current].path);
  }
}

function idOf(index: number): string {
  return `nl-hit-${index}`;
}

function makeRow(hit: SearchHit, index: number, pieces: readonly Piece[]): HTMLElement {
  const row = makeElement("li", "nl-hit");
  row.setAttribute("role", "option");
  row.dataset.index = String(index);
  row.id = idOf(index);
  row.title = hit.path;
  const kind = makeElement("span", "nl-hit-kind");
  kind.textContent = hit.kind;
  const title = makeElement("span", "nl-hit-title");
  title.append(
    ...pieces.map(({ text, kept }) => {
      const part = makeElement("span", kept ? "nl-hit-kept" : "nl-hit-elided");
      part.textContent = text;
      return part;
    }),
  );
  const detail = makeElement("span", "nl-hit-detail");
  detail.textContent = hit.detail;
  row.append(title, detail, kind);
  return row;
}
