/** What is said of one item: its evidence, where it is, and what can be done about it. */

import { iconButton, makeElement } from "../controls/elements";
import type { ReviewItem } from "./items";
import { NoteForm } from "./note_form";

export interface DetailActions {
  /** show and select what is at a path of the item */
  show(path: string): void;
  /** @throws where the browser does not allow it */
  copy(text: string): Promise<void>;
  /** accept a finding, for a reason */
  accept(reason: string): void;
  /** whether the note of an id can be changed */
  owns(note: string): boolean;
  /** let a note say something else */
  edit(text: string): void;
  remove(): void;
}

export class Detail {
  readonly element = makeElement("div", "nl-review-detail");
  /** what is written here, of a finding or a note */
  readonly form: NoteForm;
  private place = 0;
  private readonly path = makeElement("code", "nl-review-path");
  private readonly count = makeElement("span", "nl-review-count");

  /** @param drafts what was typed of it and not sent */
  constructor(
    readonly item: ReviewItem,
    private readonly actions: DetailActions,
    drafts: Map<string, string>,
  ) {
    this.form = new NoteForm(drafts);
    this.element.setAttribute("role", "region");
    this.element.setAttribute("aria-label", item.title);
    this.element.append(this.makeFacts());
    if (item.paths.length > 0) this.element.append(this.makePlaces());
    const rule = this.makeRule();
    this.element.append(this.makeButtons(rule), this.form.element, rule);
    this.element.addEventListener("keydown", (event) => this.onKey(event));
    this.tell();
  }

  /** The path that is shown; undefined where the item has none. */
  get shownPath(): string | undefined {
    return this.item.paths[this.place];
  }

  /** Go to the next path of the item, or the one before; around at the ends. */
  step(by: 1 | -1): void {
    const { length } = this.item.paths;
    if (length < 2) return;
    this.place = (this.place + by + length) % length;
    this.tell();
    this.showPath();
  }

  private showPath(): void {
    const path = this.shownPath;
    if (path !== undefined) this.actions.show(path);
  }

  private onKey(event: KeyboardEvent): void {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const isTyping = (event.target as Element).matches("textarea");
    if (by === 0 || isTyping || this.item.paths.length < 2) return;
    event.preventDefault();
    event.stopPropagation();
    this.step(by as 1 | -1);
  }

  private tell(): void {
    const path = this.shownPath;
    if (path === undefined) return;
    this.path.textContent = path;
    const { length } = this.item.paths;
    const all = this.item.count > length ? `the first ${write(length)}` : write(length);
    this.count.textContent = `${write(this.place + 1)} of ${all}`;
  }

  private makeFacts(): HTMLElement {
    const facts = makeElement("dl", "nl-review-facts");
    const rows = [...this.item.evidence];
    if (this.item.accepted) rows.push(["accepted", this.item.accepted]);
    if (this.item.remedy) rows.push(["remedy", this.item.remedy]);
    for (const [label, text] of rows) {
      const term = makeElement("dt", "");
      term.textContent = label;
      const told = makeElement("dd", "");
      told.textContent = text;
      facts.append(term, told);
    }
    return facts;
  }

  private makePlaces(): HTMLElement {
    const places = makeElement("div", "nl-review-places");
    places.append(this.path);
    if (this.item.paths.length > 1) {
      const stepper = makeElement("span", "nl-review-stepper");
      stepper.append(
        iconButton("back", "Place before (←)", () => this.step(-1)),
        this.count,
        iconButton("forward", "Next place (→)", () => this.step(1)),
      );
      this.count.setAttribute("aria-live", "polite");
      places.append(stepper);
    }
    return places;
  }

  private makeButtons(rule: HTMLElement): HTMLElement {
    const buttons = makeElement("div", "nl-review-buttons");
    const { paths, remedy } = this.item;
    if (paths.length > 0) buttons.append(makeButton("show in picture", () => this.showPath()));
    if (rule.childElementCount > 0) {
      const explain = makeButton("explain", () => {
        rule.hidden = !rule.hidden;
        explain.setAttribute("aria-expanded", String(!rule.hidden));
      });
      explain.setAttribute("aria-expanded", "false");
      buttons.append(explain);
    }
    if (remedy) buttons.append(this.makeCopy("copy remedy", remedy));
    buttons.append(...this.makeNoteButtons());
    return buttons;
  }

  private makeNoteButtons(): HTMLButtonElement[] {
    const { kind, accepted, fingerprint, evidence, id } = this.item;
    if (fingerprint === "") return [];
    const { form, actions } = this;
    if (kind === "note" && !actions.owns(fingerprint)) return [];
    if (kind === "note") {
      const text = evidence.find(([label]) => label === "note")?.[1] ?? "";
      return [
        makeButton("edit", () => form.open("The note", "change", text, (t) => actions.edit(t))),
        makeButton("remove", () => actions.remove()),
      ];
    }
    if (accepted !== "") return [];
    const reason = `Why ${id} is well so`;
    return [
      makeButton("accept with note", () => form.open(reason, "accept", "", (t) => actions.accept(t))),
    ];
  }

  private makeCopy(label: string, text: string): HTMLButtonElement {
    const button = makeButton(label, () => {
      void this.actions.copy(text).then(
        () => say("copied"),
        () => say("select the text to copy it"),
      );
    });
    const say = (told: string): void => {
      button.textContent = told;
      setTimeout(() => (button.textContent = label), 2_000);
    };
    return button;
  }

  /** The text of the rule, folded. */
  private makeRule(): HTMLElement {
    const rule = makeElement("div", "nl-review-rule");
    rule.hidden = true;
    const { why, source } = this.item;
    for (const text of [why, source && `Source: ${source}`]) {
      if (!text) continue;
      const paragraph = makeElement("p", "");
      paragraph.textContent = text;
      rule.append(paragraph);
    }
    return rule;
  }
}

export function makeButton(label: string, press: () => void): HTMLButtonElement {
  const button = makeElement("button", "nl-review-button");
  button.type = "button";
  button.textContent = label;
  button.addEventListener("click", press);
  return button;
}

function write(number: number): string {
  return number.toLocaleString("en");
}
