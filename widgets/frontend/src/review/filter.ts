/** Which items are listed: those of a kind, of some levels, with some words. */

import type { ReviewItem } from "./items";

export interface Filter {
  /** null for all kinds */
  readonly kind: string | null;
  /** none for all levels */
  readonly levels: ReadonlySet<string>;
  /** every one of them is in an item, in whatever case */
  readonly words: string;
}

export const NO_FILTER: Filter = { kind: null, levels: new Set(), words: "" };

/** How many items each chip would list, the other filters being as they are. */
export interface ChipCounts {
  readonly all: number;
  readonly kinds: ReadonlyMap<string, number>;
  readonly levels: ReadonlyMap<string, number>;
}

export class FilteredItems {
  /** what is searched of each item, once words were given */
  private haystacks: string[] | null = null;

  constructor(private readonly items: readonly ReviewItem[]) {}

  /** The numbers of the items that a filter lets through. */
  list(filter: Filter): number[] {
    const hasWords = this.findWords(filter.words);
    return this.items
      .filter(
        (item) => isOfKind(item, filter) && isOfLevel(item, filter) && hasWords(item.number),
      )
      .map(({ number }) => number);
  }

  count(filter: Filter): ChipCounts {
    const hasWords = this.findWords(filter.words);
    const kinds = new Map<string, number>();
    const levels = new Map<string, number>();
    let all = 0;
    for (const item of this.items) {
      if (!hasWords(item.number)) continue;
      if (isOfLevel(item, filter)) {
        all += 1;
        kinds.set(item.kind, (kinds.get(item.kind) ?? 0) + 1);
      }
      if (isOfKind(item, filter)) {
        levels.set(item.level.name, (levels.get(item.level.name) ?? 0) + 1);
      }
    }
    return { all, kinds, levels };
  }

  private findWords(text: string): (number: number) => boolean {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return () => true;
    this.haystacks ??= this.items.map(writeHaystack);
    const haystacks = this.haystacks;
    return (number) => words.every((word) => haystacks[number].includes(word));
  }
}

/** So many paths of an item are searched. */
const MOST_PATHS = 50;

function writeHaystack({ title, where, id, evidence, paths }: ReviewItem): string {
  const told = [title, where, id, ...evidence.map(([, text]) => text)];
  return [...told, ...paths.slice(0, MOST_PATHS)].join("\n").toLowerCase();
}

function isOfKind({ kind }: ReviewItem, filter: Filter): boolean {
  return filter.kind === null || filter.kind === kind;
}

function isOfLevel({ level }: ReviewItem, filter: Filter): boolean {
  return filter.levels.size === 0 || filter.levels.has(level.name);
}
