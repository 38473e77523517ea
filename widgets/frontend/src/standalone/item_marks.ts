/** What marks the items of a review in the picture, as paint_places of explorer/review/marking.py. */

import type { LevelStyle } from "../review/items";
import type { PaintsByPath, WrittenPaint } from "../scene/paints_by_path";
import type { Around } from "./places";

/** By path the numbers of the items that are about what is there; see explorer/review/marking.py. */
export interface ItemPlaces {
  /** nodes, groups, inputs and outputs */
  readonly marked: Readonly<Record<string, readonly number[]>>;
  /** groups, and nodes with graphs in them, of what is inside */
  readonly holders: Readonly<Record<string, readonly number[]>>;
  /** repeats: item and repetition, in turn */
  readonly repeats: Readonly<Record<string, readonly number[]>>;
}

/** a count above this is written as `99+` */
const MOST_COUNTED = 99;

export class ItemMarks {
  private readonly marked: Map<string, Set<number>>;
  private readonly holders: Map<string, Set<number>>;
  /** of each repeat the repetitions of each item */
  private readonly repeats = new Map<string, Map<number, Set<number>>>();

  constructor(places: ItemPlaces) {
    this.marked = readNumbers(places.marked);
    this.holders = readNumbers(places.holders);
    for (const [path, pairs] of Object.entries(places.repeats)) {
      for (let k = 0; k + 1 < pairs.length; k += 2) this.addRepetition(path, pairs[k], pairs[k + 1]);
    }
  }

  /** Note that an item is about something more. */
  add(item: number, { marked, holders, repetitions }: Around): void {
    for (const path of marked) numbersAt(this.marked, path).add(item);
    for (const path of holders) numbersAt(this.holders, path).add(item);
    for (const [path, repetition] of repetitions) this.addRepetition(path, item, repetition);
  }

  /**
   * Return the marks.
   *
   * @param levels the styles of levels, the worst first
   * @param level by the number of an item that of its level; -1 where it is not to be marked
   */
  paint(levels: readonly LevelStyle[], level: readonly number[]): PaintsByPath {
    const paints: Record<string, WrittenPaint> = {};
    /** The items that are to be marked, and the style of the worst. */
    const findDue = (items: Iterable<number>): [number[], LevelStyle | undefined] => {
      const due = [...items].filter((item) => (level[item] ?? -1) >= 0);
      const worst = due.reduce((least, item) => Math.min(least, level[item]), levels.length);
      return [due, levels[worst]];
    };
    for (const [path, items] of this.holders) {
      const [due, worst] = findDue(items);
      if (worst) paints[path] = writeCount(due.length, worst);
    }
    for (const [path, items] of this.repeats) {
      const [due, worst] = findDue(items.keys());
      const repetitions = new Set(due.flatMap((item) => [...items.get(item)!]));
      if (worst) paints[path] = writeCount(repetitions.size, worst);
    }
    for (const [path, items] of this.marked) {
      const [due, worst] = findDue(items);
      if (!worst) continue;
      const own = due.length === 1 ? worst.sign : writeNumber(due.length);
      // what holds others keeps their count
      const [, , , mark, tone] = paints[path] ?? ["", "", "", own];
      if (worst.tone === "removed") paints[path] = ["", "", worst.tone, mark, tone ?? "", 1];
      else paints[path] = tone ? ["", "", worst.tone, mark, tone] : ["", "", worst.tone, mark];
    }
    return paints;
  }

  private addRepetition(path: string, item: number, repetition: number): void {
    const known = this.repeats.get(path) ?? new Map<number, Set<number>>();
    this.repeats.set(path, known.set(item, (known.get(item) ?? new Set()).add(repetition)));
  }
}

function readNumbers(written: Readonly<Record<string, readonly number[]>>): Map<string, Set<number>> {
  return new Map(Object.entries(written).map(([path, numbers]) => [path, new Set(numbers)]));
}

function numbersAt(places: Map<string, Set<number>>, path: string): Set<number> {
  const known = places.get(path) ?? new Set();
  places.set(path, known);
  return known;
}

function writeCount(count: number, { tone }: LevelStyle): WrittenPaint {
  return ["", "", "", writeNumber(count), tone];
}

function writeNumber(count: number): string {
  return count <= MOST_COUNTED ? `${count}` : `${MOST_COUNTED}+`;
}
