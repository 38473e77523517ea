/** What is open in a page, and how that changes. States are never changed: another is another. */

import { GROUP, OPENABLE } from "../scene/scene";
import { type Levels, type Insides, isRepeat } from "./book";
import type { Opened } from "./compose";
import type { Places } from "./places";

/** numbers of boxes from the outermost level inwards */
export type Chain = readonly number[];

/** no picture has more boxes than this */
const MOST_BOXES = 150_000;

export class Openings {
  /** by key of a repeat, for each of its levels what was open inside when it was last shown */
  private readonly kept = new Map<string, Map<number, Opened["inner"]>>();

  /** by key of a repeat with all its repetitions which one was shown before */
  private readonly folded = new Map<string, number>();

  constructor(
    private readonly book: Levels,
    private readonly places: Places,
  ) {}

  /** Open a box, as it is usually shown. */
  open(root: Opened, chain: Chain): Opened {
    const insides = this.insidesAt(root, chain);
    if (!insides) throw new Error(NOT_HERE);
    return this.replace(root, chain, this.openUsual(insides));
  }

  close(root: Opened, chain: Chain): Opened {
    const opened = this.at(root, chain);
    if (opened && this.book.isPart?.(opened.level)) {
      throw new Error("Only a part of this is in what is shown. It can be closed among all again.");
    }
    return this.replace(root, chain, null);
  }

  /** Show one repetition of a repeat, by its number; all for -1. */
  show(root: Opened, chain: Chain, index: number): Opened {
    const insides = this.insidesAt(root, chain);
    const states = insides ? this.book.listStates(insides) : [];
    const number = states[index < 0 ? states.length - 1 : index];
    if (number === undefined || (index >= states.length - 1 && states.length > 1)) {
      throw new Error(NOT_HERE);
    }
    const before = this.at(root, chain);
    if (before?.level === number) return root;
    const key = this.keyAt(root, chain);
    if (before) this.keep(key, before);
    if (before && index < 0) this.folded.set(key, states.indexOf(before.level));
    const inner = this.kept.get(key)?.get(number) ?? this.alike(before, number, states);
    return this.replace(root, chain, { level: number, inner });
  }

  /** Show the one repetition of a repeat again that was shown before all were. */
  fold(root: Opened, chain: Chain): Opened {
    const insides = this.insidesAt(root, chain);
    if (!insides) throw new Error(NOT_HERE);
    return this.show(root, chain, this.folded.get(this.keyAt(root, chain)) ?? insides.usual);
  }

  /** Open everything, repeats with all repetitions; and what is to be said of what stays closed. */
  openAll(): { root: Opened; notices: string[] } {
    let boxes = 0;
    const notices = new Set<string>();
    const openAt = (number: number, above: ReadonlySet<number>): Opened => {
      const level = this.book.level(number);
      boxes += level.form.boxes.length;
      const inner = new Map<number, Opened>();
      const hasAll = level.form.boxes.every(
        ({ flags }, box) => (flags & (GROUP | OPENABLE)) !== (GROUP | OPENABLE) || level.insides.has(box),
      );
      if (!hasAll) notices.add(SOME_NOT_HERE);
      for (const [box, insides] of level.insides) {
        if (level.form.isTerminal || this.isList(level.number, box)) continue;
        if (boxes > MOST_BOXES) {
          notices.add(TOO_MANY);
          break;
        }
        const states = this.book.listStates(insides);
        const state = states[states.length - 1];
        if (!above.has(state)) inner.set(box, openAt(state, new Set(above).add(state)));
      }
      return { level: number, inner };
    };
    return { root: openAt(0, new Set([0])), notices: [...notices] };
  }

  /** The box that is or hides what is at a path, and what is open once it is shown. */
  reveal(root: Opened, path: string): { root: Opened; chain: Chain } | null {
    const chain = this.places.findWay(root, path);
    if (!chain) return null;
    let opened = root;
    const way: number[] = [];
    for (const { box, level } of chain.slice(0, -1)) {
      way.push(box);
      const shown = this.at(opened, way);
      if (shown?.level === level) continue;
      if (shown) this.keep(this.keyAt(opened, way), shown);
      opened = this.replace(opened, way, { level, inner: new Map() });
    }
    way.push(chain[chain.length - 1].box);
    return { root: opened, chain: way };
  }

  /** What is open at a place; undefined where it is closed. */
  at(root: Opened, chain: Chain): Opened | undefined {
    let found: Opened | undefined = root;
    for (const box of chain) found = found?.inner.get(box);
    return found;
  }

  keyAt(root: Opened, chain: Chain): string {
    const parent = this.at(root, chain.slice(0, -1));
    if (!parent) throw new Error(NOT_HERE);
    const { form, names } = this.book.level(parent.level);
    return names[form.boxes[chain[chain.length - 1]].key];
  }

  private isList(level: number, box: number): boolean {
    const insides = this.book.level(level).insides.get(box);
    return insides !== undefined && this.book.level(insides.first).form.isTerminal;
  }

  private insidesAt(root: Opened, chain: Chain): Insides | undefined {
    const parent = this.at(root, chain.slice(0, -1));
    return parent && this.book.level(parent.level).insides.get(chain[chain.length - 1]);
  }

  private openUsual(insides: Insides): Opened {
    return { level: this.book.listStates(insides)[insides.usual], inner: new Map() };
  }

  private keep(key: string, shown: Opened): void {
    const kept = this.kept.get(key) ?? new Map<number, Opened["inner"]>();
    kept.set(shown.level, shown.inner);
    this.kept.set(key, kept);
  }

  /** What is open in one state of a repeat, as far as it is the same in another. */
  private alike(before: Opened | undefined, number: number, states: readonly number[]): Opened["inner"] {
    if (!before) return new Map();
    const all = states.length - 1;
    const [from, to] = [states.indexOf(before.level), states.indexOf(number)];
    if (to === all) {
      // the repetition that was shown stays open among all
      const found = this.openableAt(number, from);
      return found ? new Map([[found[0], { level: found[1], inner: before.inner }]]) : new Map();
    }
    if (from === all) {
      const found = this.openableAt(before.level, to);
      return (found && before.inner.get(found[0])?.inner) ?? new Map();
    }
    return this.mirror(before, number).inner;
  }

  /** The box of a repetition among all, and its level. */
  private openableAt(number: number, repetition: number): [number, number] | null {
    const { form, insides } = this.book.level(number);
    const boxes = form.boxes.flatMap((box, k) => (isMember(box.flags) ? [k] : []));
    const box = boxes[repetition];
    const found = box === undefined ? undefined : insides.get(box);
    return found && !isRepeat(form.boxes[box]) ? [box, found.first] : null;
  }

  /** Open in a level what is open in another that looks alike. */
  private mirror(before: Opened, number: number): Opened {
    const [old, level] = [this.book.level(before.level), this.book.level(number)];
    const inner = new Map<number, Opened>();
    if (old.form.boxes.length === level.form.boxes.length) {
      for (const [box, inside] of before.inner) {
        const [ours, theirs] = [old.insides.get(box), level.insides.get(box)];
        if (!ours || !theirs) continue;
        const state = this.book.listStates(ours).indexOf(inside.level);
        const states = this.book.listStates(theirs);
        if (state >= 0 && state < states.length) inner.set(box, this.mirror(inside, states[state]));
      }
    }
    return { level: number, inner };
  }

  private replace(root: Opened, chain: Chain, inside: Opened | null): Opened {
    const [box, ...rest] = chain;
    const inner = new Map(root.inner);
    if (rest.length > 0) {
      const next = root.inner.get(box);
      if (!next) throw new Error(NOT_HERE);
      inner.set(box, this.replace(next, rest, inside));
    } else if (inside) {
      inner.set(box, inside);
    } else {
      inner.delete(box);
    }
    return { level: root.level, inner };
  }
}

const SOME_NOT_HERE = "Some groups stay closed: what is in them is not in this file.";
/** as explorer/view/expand.py says it */
const TOO_MANY =
  `Only the first ${MOST_BOXES.toLocaleString("en")} boxes are open. ` +
  "Open a part of the model to see all of it.";
const NOT_HERE = "This cannot be opened: the inside of it is not in this file.";

/** Whether a box is a node or a group, not a pill, an input or an output. */
function isMember(flags: number): boolean {
  return (flags & 12) !== 0;
}
