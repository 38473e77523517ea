/** Chips that narrow a list: by kind one at a time, by level several, each with its count. */

import { makeElement } from "../controls/elements";
import type { ChipCounts, Filter } from "./filter";
import type { ReviewList } from "./items";

/** What the kinds of explorer/review/item.py are called where there are several. */
const KIND_NAMES: Readonly<Record<string, string>> = {
  finding: "findings",
  difference: "differences",
  audit: "audit",
  note: "notes",
};

export class Chips {
  readonly element = makeElement("div", "nl-review-chips");

  /** @param changed called with the filter that a chip makes */
  constructor(private readonly changed: (filter: Filter) => void) {
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "Filter by kind and level");
  }

  /** Show chips for what occurs in a list. */
  show(list: ReviewList, filter: Filter, counts: ChipCounts): void {
    const kinds = distinct(list.items.map(({ kind }) => kind));
    const used = new Set(list.items.map(({ level }) => level.name));
    const levels = list.levels.filter(({ name }) => used.has(name));
    const focused = this.focusedKey();
    const chips: HTMLElement[] = [];
    if (kinds.length > 1) {
      const toAll = (): void => this.changed({ ...filter, kind: null });
      chips.push(makeChip("kind:", "all", counts.all, filter.kind === null, toAll));
    }
    for (const kind of kinds.length > 1 ? kinds : []) {
      const isOn = filter.kind === kind;
      const toggle = (): void => this.changed({ ...filter, kind: isOn ? null : kind });
      const count = counts.kinds.get(kind) ?? 0;
      chips.push(makeChip(`kind:${kind}`, KIND_NAMES[kind] ?? kind, count, isOn, toggle));
    }
    if (levels.length > 1) {
      if (chips.length > 0) chips.push(makeElement("span", "nl-review-gap"));
      for (const { name, meaning, sign, tone } of levels) {
        const isOn = filter.levels.has(name);
        const toggle = (): void => {
          const wanted = new Set(filter.levels);
          if (!wanted.delete(name)) wanted.add(name);
          this.changed({ ...filter, levels: wanted });
        };
        const chip = makeChip(`level:${name}`, meaning, counts.levels.get(name) ?? 0, isOn, toggle);
        const mark = makeElement("span", "nl-review-sign nl-small");
        mark.textContent = sign;
        mark.dataset.tone = tone;
        mark.setAttribute("aria-hidden", "true");
        chip.prepend(mark);
        chips.push(chip);
      }
    }
    this.element.replaceChildren(...chips);
    if (focused) this.element.querySelector<HTMLElement>(`[data-chip="${focused}"]`)?.focus();
  }

  private focusedKey(): string | undefined {
    const focused = [...this.element.children].find((chip) => chip.matches(":focus"));
    return (focused as HTMLElement | undefined)?.dataset.chip;
  }
}

function makeChip(
  key: string,
  label: string,
  count: number,
  isOn: boolean,
  press: () => void,
): HTMLButtonElement {
  const chip = makeElement("button", "nl-review-chip");
  chip.type = "button";
  chip.dataset.chip = key;
  chip.append(`${label} ${count.toLocaleString("en")}`);
  chip.setAttribute("aria-pressed", String(isOn));
  chip.disabled = count === 0 && !isOn;
  chip.addEventListener("click", press);
  return chip;
}

function distinct<Entry>(entries: readonly Entry[]): Entry[] {
  return [...new Set(entries)];
}
