/** Where everything is that a page can show: for each path the boxes that show it. */

import { GROUP, NODE } from "../scene/scene";
import { type FormBox, type Levels, isRepeat, isStub } from "./book";
import type { Opened } from "./compose";

/** A box inside a level. */
interface Spot {
  readonly level: number;
  readonly box: number;
}

/** A step on the way to a box: which box of the level around, and the level that is open in it. */
export interface Step {
  readonly box: number;
  /** the level that is to be open inside; -1 for the last step */
  readonly level: number;
}

/** Where the picture shows something, and what is around it. */
export interface Around {
  /** the paths of the nodes that show it; of a group, an input or output its own */
  readonly marked: ReadonlySet<string>;
  /** the paths of groups, and of nodes with graphs in them, that these are inside of */
  readonly holders: ReadonlySet<string>;
  /** the paths of repeats that they are inside of, and in which repetition, from 0 */
  readonly repetitions: ReadonlyArray<readonly [path: string, repetition: number]>;
}

/** so many ways to one thing are looked at, of so many steps at most */
const MOST_WAYS = 64;
const DEEPEST = 400;

export class Places {
  private spots: Map<string, Spot[]> | null = null;
  /** by level the boxes of other levels that it is the inside of */
  private parents: Map<number, Spot[]> | null = null;
  /** by the number of a value's path the boxes that give it */
  private givers: (Spot[] | undefined)[] = [];
  /** and those that use it, where it is drawn by these alone */
  private users: (Spot[] | undefined)[] = [];
  private numbers: Map<string, number> | null = null;

  constructor(private readonly book: Levels) {}

  /** Whether anything in the file is at a path. */
  has(path: string): boolean {
    return this.index().has(path);
  }

  /** The way from the outermost level to the box that shows what is at a path. */
  findWay(root: Opened, path: string): Step[] | null {
    return this.chooseWay(root, this.index().get(path) ?? []);
  }

  /** Of the ways to some boxes that along which most is open. */
  private chooseWay(root: Opened, spots: readonly Spot[]): Step[] | null {
    let best: Step[] | null = null;
    let most = -1;
    for (const way of this.listWays(root, spots)) {
      const open = this.countOpen(way, root);
      if (open > most) [best, most] = [way, open];
    }
    return best;
  }

  /** The box drawn now that is or hides what is at a path; null where it is nowhere. */
  findShown(root: Opened, path: string): number[] | null {
    const way = this.findWay(root, path);
    return way && this.cutWay(root, way);
  }

  /** The way as far as it is open. */
  private cutWay(root: Opened, way: readonly Step[]): number[] {
    const chain: number[] = [];
    let opened: Opened | undefined = root;
    for (const { box, level } of way) {
      chain.push(box);
      opened = opened.inner.get(box);
      if (!opened || opened.level !== level) break;
    }
    return chain;
  }

  /** The boxes drawn now that are or hide what is at a path: of a row those of all its nodes. */
  listShown(root: Opened, path: string): number[][] {
    const number = this.numberOf(path);
    const spots = number < 0 ? [] : (this.index().get(path) ?? []);
    if (spots !== this.users[number]) {
      const chain = this.findShown(root, path);
      return chain ? [chain] : [];
    }
    const byNode = new Map<string, Spot[]>();
    for (const spot of spots) {
      const { form, names } = this.book.level(spot.level);
      append(byNode, names[form.boxes[spot.box].path], spot);
    }
    const chains = [...byNode.values()].flatMap((same) => {
      const way = this.chooseWay(root, same);
      return way ? [this.cutWay(root, way)] : [];
    });
    // a call has it as a row, and so have nodes inside where it is open
    return chains.filter((chain) => !chains.some((other) => isWithin(chain, other)));
  }

  pathAt(root: Opened, chain: readonly number[]): string {
    return this.nameAt(root, chain, "path");
  }

  keyAt(root: Opened, chain: readonly number[]): string {
    return this.nameAt(root, chain, "key");
  }

  private nameAt(root: Opened, chain: readonly number[], which: "path" | "key"): string {
    let opened: Opened = root;
    for (const box of chain.slice(0, -1)) opened = opened.inner.get(box)!;
    const { form, names } = this.book.level(opened.level);
    return names[form.boxes[chain[chain.length - 1]][which]];
  }

  /** The number of a path, and those of the groups at it and inside. */
  listGroups(path: string): [number, Set<number>] {
    const groups = new Set<number>();
    const pending: Spot[] = (this.index().get(path) ?? []).filter(({ level, box }) =>
      this.isGroupAt(level, box, path),
    );
    const seen = new Set<number>();
    while (pending.length > 0) {
      const { level, box } = pending.pop()!;
      const { form, insides } = this.book.level(level);
      groups.add(this.book.listNames(level)[form.boxes[box].path]);
      const inside = insides.get(box);
      for (const state of inside ? this.book.listStates(inside) : []) {
        if (seen.has(state)) continue;
        seen.add(state);
        this.book.level(state).form.boxes.forEach(({ flags }, within) => {
          if ((flags & GROUP) !== 0) pending.push({ level: state, box: within });
        });
      }
    }
    return [this.book.texts.list().indexOf(path), groups];
  }

  /** The nodes that show what is at a path, or the group that is there, and what is around. */
  findAround(path: string): Around {
    const marked = new Set(path.includes("%") ? [path] : []);
    const holders = new Set<string>();
    const repetitions: [string, number][] = [];
    const shown = this.index().get(path) ?? [];
    // an output has a box of its own, and the node that gives it is marked as well
    const given = this.givers[this.book.texts.list().indexOf(path)] ?? [];
    const seen = new Set<number>();
    for (const { level, box } of given.length > 0 ? given : shown) {
      const { form, names } = this.book.level(level);
      if (this.isGroupAt(level, box, path)) {
        marked.add(path);
        seen.add(level);
        repetitions.push(...this.listRepeats(level, box));
      } else if ((form.boxes[box].flags & NODE) !== 0) {
        marked.add(names[form.boxes[box].path]);
        seen.add(level);
      }
    }
    for (const inner of seen) {
      for (const { level, box } of this.parents!.get(inner) ?? []) {
        const { form, names, insides } = this.book.level(level);
        const holder = form.boxes[box];
        const states = this.book.listStates(insides.get(box)!);
        if (!isRepeat(holder)) {
          if ((holder.flags & (GROUP | NODE)) !== 0) holders.add(names[holder.path]);
        } else if (states.indexOf(inner) < states.length - 1) {
          repetitions.push([names[holder.path], states.indexOf(inner)]);
        }
        seen.add(level); // which the loop comes to, too
      }
    }
    return { marked, holders, repetitions };
  }

  /** The repeats that a box is a repetition of, and which, where they are unrolled. */
  private listRepeats(level: number, box: number): [path: string, repetition: number][] {
    const { boxes } = this.book.level(level).form;
    const isRepetition = (one: FormBox): boolean => (one.flags & (GROUP | NODE)) !== 0;
    const repetition = boxes.slice(0, box).filter(isRepetition).length;
    return (this.parents!.get(level) ?? []).flatMap(({ level: around, box: holder }) => {
      const { form, names, insides } = this.book.level(around);
      const states = this.book.listStates(insides.get(holder)!);
      const isUnrolled = isRepeat(form.boxes[holder]) && states.indexOf(level) === states.length - 1;
      return isUnrolled ? [[names[form.boxes[holder].path], repetition] as [string, number]] : [];
    });
  }

  private numberOf(path: string): number {
    this.numbers ??= new Map(this.book.texts.list().map((text, number) => [text, number]));
    return this.numbers.get(path) ?? -1;
  }

  private isGroupAt(level: number, box: number, path: string): boolean {
    const { form, names } = this.book.level(level);
    const { flags, path: name, key } = form.boxes[box];
    return (flags & GROUP) !== 0 && (names[name] === path || names[key] === path);
  }

  private countOpen(way: readonly Step[], root: Opened): number {
    let opened: Opened | undefined = root;
    let count = 0;
    for (const { box, level } of way) {
      opened = opened?.inner.get(box);
      if (!opened || opened.level !== level) break;
      count++;
    }
    return count;
  }

  /** The ways from the outermost level to some boxes; a few of them where there are many. */
  private *listWays(root: Opened, spots: readonly Spot[]): Iterable<Step[]> {
    const parents = this.parents!;
    const pending: Step[][] = [];
    const starts = spots.map(({ level, box }) => ({ level, way: [{ box, level: -1 }] }));
    let count = 0;
    for (const start of starts) {
      const open = [start];
      while (open.length > 0 && count < MOST_WAYS) {
        const { level, way } = open.pop()!;
        if (level === root.level) {
          count++;
          pending.push(way);
        } else if (way.length < DEEPEST) {
          for (const above of [...(parents.get(level) ?? [])].reverse()) {
            open.push({ level: above.level, way: [{ box: above.box, level }, ...way] });
          }
        }
      }
    }
    yield* pending;
  }

  private index(): Map<string, Spot[]> {
    if (this.spots && this.parents) return this.spots;
    // by numbers of texts: very many paths are not to be compared
    const [found, given, used]: (Spot[] | undefined)[][] = [[], [], []];
    const parents = new Map<number, Spot[]>();
    for (const number of this.book.listLevels()) {
      const { form, insides } = this.book.level(number);
      const names = this.book.listNames(number);
      form.boxes.forEach((box, place) => {
        const spot = { level: number, box: place };
        if (isStub(box)) return;
        add(found, names[box.path], spot);
        if (box.key !== box.path) add(found, names[box.key], spot);
        for (const row of box.rows) add(used, names[row], spot);
      });
      for (const { path, source, target, bundle } of form.edges) {
        for (const name of [path, ...bundle]) {
          if (source >= 0) add(given, names[name], { level: number, box: source });
          else if (target >= 0) add(used, names[name], { level: number, box: target });
        }
      }
      for (const [box, inside] of insides) {
        for (const state of this.book.listStates(inside)) {
          append(parents, state, { level: number, box });
        }
      }
    }
    // what has no box of its own is shown by the one that gives it, else by one that uses it
    const spots = new Map<string, Spot[]>();
    this.book.texts.list().forEach((path, number) => {
      const shown = found[number] ?? given[number] ?? used[number];
      if (shown) spots.set(path, shown);
    });
    this.spots = spots;
    this.parents = parents;
    this.givers = given;
    this.users = used;
    return spots;
  }
}

/** Whether a box is inside another one. */
function isWithin(chain: readonly number[], other: readonly number[]): boolean {
  return other.length < chain.length && other.every((box, depth) => box === chain[depth]);
}

function add(lists: (Spot[] | undefined)[], number: number, spot: Spot): void {
  const known = lists[number];
  if (known) known.push(spot);
  else lists[number] = [spot];
}

function append<Key>(map: Map<Key, Spot[]>, key: Key, spot: Spot): void {
  const known = map.get(key);
  if (known) known.push(spot);
  else map.set(key, [spot]);
}
