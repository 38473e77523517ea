/**
 * What is open in a page while somebody looks at it, all of it or in a neighbourhood alone, and
 * what was open before: explorer/session/session.py for a page with nothing behind it.
 */

import type { Focus, Link } from "../address/link";
import type { LocalTraits } from "../host/local_traits";
import type { HistoryState } from "../host/messages";
import type { CanvasTraits } from "../host/traits";
import type { PaintsByPath, WrittenPaint } from "../scene/paints_by_path";
import type { Direction } from "../scene/options";
import type { Book } from "./book";
import type { Answer } from "./change";
import type { Opened } from "./compose";
import { Drawing, type KeyedState, openKeys } from "./drawing";
import type { Links } from "./links";
import { Neighbourhood } from "./neighbourhood";
import { readOpened, writeOpened } from "./opened_text";

/** What is open, all of it or in a neighbourhood alone. */
interface Moment {
  readonly root: Opened;
  readonly focus: Focus | null;
}

export interface SessionSource {
  /** Read the levels for a direction. */
  readBook(direction: Direction): Promise<Book>;
  /** Read which nodes are one edge apart; null where the file does not have it. */
  readonly readLinks?: (() => Promise<Links>) | null;
  /** what is open at first */
  readonly first: KeyedState;
  /** what an address says to be open instead, as `opened_text.ts` writes it; null for none */
  readonly opened?: string | null;
  /** the neighbourhood that it says to be shown; null for all */
  readonly focus?: Focus | null;
}

/** how many edges a neighbourhood reaches at most, as in explorer/session/requests.py */
const MOST_HOPS = 5;
/** what is outside of a neighbourhood and gives values to it */
const OUTSIDE: WrittenPaint = ["note", "outside"];

export class Session {
  private drawing: Promise<Drawing>;
  private root: Opened | null = null;
  /** what is open when all is shown */
  private whole: Opened | null = null;
  private links: Promise<Links> | null = null;
  /** the neighbourhood that alone is shown */
  private focus: Focus | null = null;
  private focused: Promise<Drawing<Neighbourhood>> | null = null;
  private readonly moments: Moment[] = [];
  private moment = 0;

  /**
   * @param paints how boxes and edges are painted, wherever they are shown
   * @param refused called with why what an address says at first is not shown
   */
  constructor(
    private readonly source: SessionSource,
    private readonly traits: LocalTraits<CanvasTraits>,
    private readonly paints: PaintsByPath,
    private readonly refused: (error: unknown) => void,
  ) {
    this.drawing = this.read();
  }

  /** The neighbourhood that alone is shown; null where all is. */
  get shownFocus(): Focus | null {
    return this.focus;
  }

  /** What is open now; the first thing that is, where nothing was yet. */
  async begin(): Promise<Opened> {
    return this.root ?? this.openFirst();
  }

  /** What is open, after {@link begin}. */
  get opened(): Opened {
    return this.root!;
  }

  /** What composes what is shown now. */
  async shown(): Promise<Drawing> {
    return (await this.focused) ?? this.drawing;
  }

  /** What composes all, whatever is shown. */
  get all(): Promise<Drawing> {
    return this.drawing;
  }

  /** What is open, as an address has it. */
  async writeOpened(): Promise<string> {
    const { book } = await this.shown();
    return this.root ? writeOpened(book, this.root) : "";
  }

  /**
   * Show what an address says to be open.
   *
   * @throws Error where that does not fit
   */
  async follow({ opened, focus }: Pick<Link, "opened" | "focus">): Promise<void> {
    const moment = await this.findMoment(opened, focus);
    await this.go(moment);
    this.note(moment.root);
  }

  /** Whether what was open at first is. */
  isFirst(root: Opened): boolean {
    return root === this.moments[0].root;
  }

  get history(): HistoryState {
    return {
      moment: this.moment,
      undo: this.moment > 0,
      redo: this.moment + 1 < this.moments.length,
    };
  }

  /** Remember what is open from now on. */
  note(root: Opened): void {
    this.root = root;
    if (!this.focus) this.whole = root;
    this.moments.length = this.moment + 1;
    this.moments.push({ root, focus: this.focus });
    this.moment++;
  }

  /** Go back or forth in what was open. */
  async travel(way: "undo" | "redo"): Promise<void> {
    const to = this.moment + (way === "undo" ? -1 : 1);
    if (!this.moments[to]) throw new Error(`There is nothing to ${way}.`);
    await this.go(this.moments[to]);
    this.moment = to;
  }

  /** Show all again, as it was open. */
  async showAll(): Promise<Answer> {
    const center = this.focus?.path;
    const root = this.whole!;
    await this.go({ root, focus: null });
    this.note(root);
    const { places } = await this.drawing;
    const chain = center === undefined ? null : places.findShown(root, center);
    return { fit: true, ...(chain && { center: places.pathAt(root, chain) }) };
  }

  /** Show a neighbourhood alone. */
  async show({ path, hops }: Focus): Promise<Answer> {
    const focus = { path, hops };
    const drawing = await this.readAround(focus);
    const { book, openings } = drawing;
    // a value or a group has no box of its own
    const root = openings.reveal(book.root, focus.path)?.root ?? book.root;
    await this.go({ root, focus }, drawing);
    this.note(root);
    return { fit: true };
  }

  /** What composes what shows a path: all, where that is outside of the neighbourhood. */
  async leaveFor(path: string): Promise<{ drawing: Drawing; root: Opened }> {
    const drawing = await this.shown();
    if (!this.focus || drawing.places.findWay(this.root!, path)) {
      return { drawing, root: this.root! };
    }
    await this.go({ root: this.whole!, focus: null });
    return { drawing: await this.drawing, root: this.whole! };
  }

  /** Show the same in the direction that now is, and return what composes it. */
  async turn(): Promise<Drawing> {
    this.drawing = this.read();
    const { focus } = this;
    if (focus) this.focused = this.readAround(focus);
    return this.shown();
  }

  private async read(): Promise<Drawing> {
    return new Drawing(await this.source.readBook(this.traits.get("direction")));
  }

  private async openFirst(): Promise<Opened> {
    const { book } = await this.drawing;
    let moment: Moment = { root: openKeys(book, 0, this.source.first), focus: null };
    this.whole = moment.root;
    try {
      const { opened = null, focus = null } = this.source;
      if (opened !== null || focus) moment = await this.findMoment(opened, focus);
    } catch (error) {
      // told once the picture is there
      setTimeout(() => this.refused(error));
    }
    if (this.moments.length === 0) this.moments.push(moment);
    await this.go(moment);
    return moment.root;
  }

  /** What an address says to be open; where it says nothing what is open at first. */
  private async findMoment(opened: string | null, focus: Focus | null): Promise<Moment> {
    const { book } = await this.prepare(focus);
    if (opened !== null) return { root: readOpened(book, opened), focus };
    const isPart = book instanceof Neighbourhood;
    return { root: isPart ? book.root : openKeys(book, 0, this.source.first), focus };
  }

  /** What composes a neighbourhood, or all for null. */
  private async prepare(focus: Focus | null): Promise<Drawing> {
    if (!focus) return this.drawing;
    if (isSame(focus, this.focus) && this.focused) return this.focused;
    return this.readAround(focus);
  }

  private async readAround({ path, hops }: Focus): Promise<Drawing<Neighbourhood>> {
    if (!this.source.readLinks) throw new Error("This file does not say what is around that.");
    if (!(Number.isInteger(hops) && hops >= 1 && hops <= MOST_HOPS)) {
      throw new Error(`hops is ${hops}. Give a number from 1 to ${MOST_HOPS}.`);
    }
    this.links ??= this.source.readLinks();
    const [links, { book, places }] = [await this.links, await this.drawing];
    const seeds = places.has(path) ? links.findSeeds(...places.listGroups(path)) : [];
    if (seeds.length === 0) {
      throw new Error(`No node of this graph gives or uses ${JSON.stringify(path)}.`);
    }
    return new Drawing(new Neighbourhood(book, links.findNeighbourhood(seeds, hops)));
  }

  /**
   * Show a moment, of whatever neighbourhood it is.
   *
   * @param drawing what composes that, where it is there already
   */
  private async go({ root, focus }: Moment, drawing?: Drawing<Neighbourhood>): Promise<void> {
    if (!isSame(focus, this.focus)) {
      const focused = focus ? (drawing ?? (await this.readAround(focus))) : null;
      this.focus = focus;
      this.focused = focused && Promise.resolve(focused);
    }
    this.root = root;
    if (!focus) this.whole = root;
    const paints = { ...this.paints };
    for (const path of (await this.focused)?.book.outside ?? []) paints[path] ??= OUTSIDE;
    this.traits.set({ focus: focus?.path ?? "", hops: focus?.hops ?? 0, paints });
  }
}

function isSame(one: Focus | null, other: Focus | null): boolean {
  return one?.path === other?.path && one?.hops === other?.hops;
}
