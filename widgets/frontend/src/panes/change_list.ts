/** What differs between both models, as the list of the Review tab has it, beside the panes. */

import { makeElement } from "../controls/elements";
import { paletteOf } from "../paint/theme";
import { Detail } from "../review/detail";
import {
  type ReviewItem,
  type ReviewList,
  isDifference,
  readReview,
  writeVerdict,
} from "../review/items";
import { ItemList } from "../review/list";
import styleSheet from "../review/review.css";
import type { ThemeName } from "../scene/options";
import type { Side } from "./pairs";

/** what the paths of items begin with, as explorer/panes/page.py writes them */
const SIDES = ["old: ", "new: "] as const;

export interface ChangeListActions {
  show(side: Side, path: string): void;
  /** what is chosen has no place in either model: nothing is selected any more */
  clear(): void;
  /** another item is chosen, null for none; of so many differences, and items in all */
  chosen(item: ReviewItem | null, differences: number, total: number): void;
}

export class ChangeList {
  private readonly host = document.createElement("div");
  private readonly frame = makeElement("div", "nl-review");
  private readonly list: ItemList;
  private readonly review: ReviewList;

  constructor(
    private readonly place: HTMLElement,
    written: unknown,
    private readonly actions: ChangeListActions,
  ) {
    this.review = readReview(written);
    const style = document.createElement("style");
    style.textContent = styleSheet;
    this.host.attachShadow({ mode: "open" }).append(style, this.frame);
    const body = makeElement("div", "nl-review-body");
    const head = makeElement("div", "nl-review-head");
    const words = makeElement("p", "nl-review-verdict");
    words.textContent = `${writeVerdict(this.review.items)}. ${this.review.summary}`;
    head.append(words);
    this.list = new ItemList(
      { choose: (item) => this.choose(item), fill: (item) => this.fill(item) },
      head,
      makeElement("div", "nl-review-foot"),
    );
    body.append(this.list.element);
    this.frame.append(body);
    place.append(this.host);
    const { items } = this.review;
    this.list.take(items, items.map((_, number) => number));
    actions.chosen(null, this.countDifferences(), items.length);
  }

  get isShown(): boolean {
    return !this.place.hidden;
  }

  setShown(isShown: boolean): void {
    this.place.hidden = !isShown;
  }

  setTheme(theme: ThemeName): void {
    const { tones, page } = paletteOf(theme);
    for (const [name, { strong }] of Object.entries(tones)) {
      this.frame.style.setProperty(`--nl-tone-${name}`, strong);
    }
    this.frame.style.setProperty("--nl-sign", page);
    this.frame.dataset.theme = theme;
  }

  /** Go to the next difference, or the one before; around at the ends. */
  step(by: 1 | -1): void {
    const item = this.list.step(by);
    if (item) this.choose(item);
  }

  private choose(item: ReviewItem | null): void {
    this.list.choose(item);
    this.actions.chosen(item, this.countDifferences(), this.review.items.length);
    const [path] = item?.paths ?? [];
    if (path !== undefined) this.showPath(path);
    else this.actions.clear();
  }

  /** How many differ in more than how they are written, which stand first in the list. */
  private countDifferences(): number {
    return this.review.items.filter(isDifference).length;
  }

  private showPath(written: string): void {
    const side = written.startsWith(SIDES[0]) ? 0 : 1;
    this.actions.show(side, written.slice(SIDES[side].length));
  }

  private fill(item: ReviewItem): HTMLElement {
    const actions = {
      show: (path: string) => this.showPath(path),
      copy: (text: string) => navigator.clipboard.writeText(text),
      owns: () => false,
      accept: () => undefined,
      edit: () => undefined,
      remove: () => undefined,
    };
    return new Detail(item, actions, new Map()).element;
  }
}
