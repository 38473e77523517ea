/** A menu that appears at a point: of the view, or of what was clicked. */

import type { Point } from "../scene/geometry";
import { makeElement } from "./elements";

export interface MenuEntry {
  readonly label: string;
  /** the key that does the same */
  readonly key?: string;
  /** for entries that are one of several choices or can be on and off */
  readonly checked?: boolean;
  /** what there is more to say, where the pointer rests */
  readonly hint?: string;
  readonly press: () => void;
}

/** Entries between lines. */
export type MenuGroups = readonly (readonly MenuEntry[])[];

export class Menu {
  readonly element = makeElement("div", "nl-menu");
  private entries: MenuEntry[] = [];

  /** @param left gives the keyboard back when the menu has gone */
  constructor(private readonly left: () => void) {
    this.element.setAttribute("role", "menu");
    this.element.tabIndex = -1;
    this.element.hidden = true;
    this.element.addEventListener("keydown", (event) => this.onKey(event));
    this.element.addEventListener("focusout", (event) => {
      if (!this.element.contains(event.relatedTarget as Node | null)) this.hide();
    });
    this.element.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  get isShown(): boolean {
    return !this.element.hidden;
  }

  /** Show at a point of the host; as much to the left and up as it takes to fit in. */
  show(groups: MenuGroups, point: Point, host: HTMLElement): void {
    this.entries = groups.flat();
    this.element.replaceChildren(
      ...groups
        .filter((group) => group.length > 0)
        .map((group) => {
          const element = makeElement("div", "nl-menu-group");
          element.append(...group.map((entry) => this.row(entry)));
          return element;
        }),
    );
    this.element.hidden = false;
    this.element.classList.remove("nl-menu-columns");
    if (this.element.scrollHeight > this.element.clientHeight) {
      // what is too high for one column stands in two where they have room, else it scrolls
      this.element.classList.add("nl-menu-columns");
      if (this.element.scrollWidth > this.element.clientWidth)
        this.element.classList.remove("nl-menu-columns");
    }
    const x = Math.min(point.x, host.clientWidth - this.element.offsetWidth - 6);
    const y = Math.min(point.y, host.clientHeight - this.element.offsetHeight - 6);
    this.element.style.transform = `translate(${Math.max(x, 6)}px, ${Math.max(y, 6)}px)`;
    this.rows()[0]?.focus({ preventScroll: true });
  }

  hide(): void {
    this.element.hidden = true;
  }

  private rows(): HTMLElement[] {
    return [...this.element.querySelectorAll<HTMLElement>(".nl-menu-entry")];
  }

  private row(entry: MenuEntry): HTMLElement {
    const row = makeElement("button", "nl-menu-entry");
    row.type = "button";
    row.tabIndex = -1;
    const choice = entry.checked !== undefined;
    row.setAttribute("role", choice ? "menuitemcheckbox" : "menuitem");
    if (choice) row.setAttribute("aria-checked", String(entry.checked));
    const mark = makeElement("span", "nl-menu-mark");
    mark.textContent = entry.checked ? "✓" : "";
    mark.setAttribute("aria-hidden", "true");
    const label = makeElement("span", "nl-menu-label");
    label.textContent = entry.label;
    if (entry.hint) row.title = entry.hint;
    const key = makeElement("span", "nl-menu-key");
    key.textContent = entry.key ?? "";
    row.append(mark, label, key);
    row.addEventListener("click", () => this.press(entry));
    // the pointer takes the mark with it: two rows that are marked would be one too many
    row.addEventListener("pointermove", () => row.focus({ preventScroll: true }));
    return row;
  }

  /** Give a row the keyboard, and scroll the menu to it, but not the page around. */
  private focus(row: HTMLElement | undefined): void {
    row?.focus({ preventScroll: true });
    if (!row) return;
    const { scrollTop, clientHeight } = this.element;
    const { offsetTop, offsetHeight } = row;
    if (offsetTop < scrollTop) this.element.scrollTop = offsetTop;
    else if (offsetTop + offsetHeight > scrollTop + clientHeight)
      this.element.scrollTop = offsetTop + offsetHeight - clientHeight;
  }

  private press(entry: MenuEntry): void {
    this.hide();
    this.left();
    entry.press();
  }

  private onKey(event: KeyboardEvent): void {
    event.stopPropagation();
    const rows = this.rows();
    const at = rows.findIndex((row) => row.matches(":focus"));
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at < 0 ? rows.length - 1 : at - 1,
      Home: 0,
      End: rows.length - 1,
    };
    if (event.key in steps) {
      event.preventDefault();
      this.focus(rows[(steps[event.key] + rows.length) % rows.length]);
    } else if (event.key === "Escape" || event.key === "Tab") {
      event.preventDefault();
      this.hide();
      this.left();
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (at >= 0) this.press(this.entries[at]);
    }
  }
}
