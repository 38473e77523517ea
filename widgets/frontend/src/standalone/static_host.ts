/**
 * A page with nothing behind it: what a canvas asks for is answered from what the file holds. The
 * levels have been laid out beforehand and are put together here.
 */

import type { CanvasConnection } from "../host/connection";
import { type Host, makeHost } from "../host/host";
import type { Ability, HitsMessage, Message, Request, SceneMessage } from "../host/messages";
import { LocalTraits } from "../host/local_traits";
import { CANVAS_TRAITS, type CanvasTraits } from "../host/traits";
import { type WrittenPaint, layPaints } from "../scene/paints_by_path";
import type { Direction } from "../scene/options";
import type { Book, Levels } from "./book";
import { type CommandStart, writeCommand } from "./command";
import { type Composed, Composer, type Opened } from "./compose";
import { type Chain, Openings } from "./opened";
import type { LegendWords } from "./legend";
import { type Focus, type Link, readOpened, writeOpened } from "./permalink";
import { type Around, Places } from "./places";
import type { Links } from "./links";
import { Neighbourhood } from "./neighbourhood";
import type { Overlays } from "./overlays";
import type { SearchIndex } from "./search";
import { SceneWriter, type WrittenScene } from "./write_scene";

type Asked = Request & { id: string };
type Answer = Omit<SceneMessage, "type" | "header"> & {
  readonly root?: Opened;
  /** what is to be said of it */
  readonly notices?: readonly string[];
};

/** How a box is to be: closed, open as it usually is, or open with one repetition; all for -1. */
type State = "closed" | "usual" | number;
export interface OpenState {
  readonly path: string;
  readonly state: State;
}

/** What is open, all of it or in a neighbourhood alone. */
interface Moment {
  readonly root: Opened;
  readonly focus: Focus | null;
}
type SearchRequest = Extract<Asked, { type: "search" }>;
type Receive = (message: unknown, buffers: ArrayBufferView[]) => void;

/** One of the ways in which the picture can run, with what composes it. */
class Drawing<Shown extends Levels = Levels> {
  readonly composer: Composer;
  readonly places: Places;
  readonly openings: Openings;

  constructor(readonly book: Shown) {
    this.composer = new Composer(book);
    this.places = new Places(book);
    this.openings = new Openings(book, this.places);
  }
}

export interface StaticSource {
  /** Read the levels for a direction. */
  readBook(direction: Direction): Promise<Book>;
  /** Read which nodes are one edge apart; null where the file does not have it. */
  readonly readLinks?: (() => Promise<Links>) | null;
  /** Read what can be found. */
  readSearch(): Promise<SearchIndex>;
  /** Read what a legend can say. */
  readLegend(): Promise<LegendWords>;
  /** Read what boxes can be coloured by. */
  readonly readOverlays?: () => Promise<Overlays>;
  /** what is open at first, as keys: of each box the number of its state, and what is inside */
  readonly first: KeyedState;
  readonly command: CommandStart;
  /** what is said with the first picture */
  readonly notices?: readonly string[];
  /** what an address says to be open instead, as `permalink.ts` writes it; null for none */
  readonly opened?: string | null;
  /** the neighbourhood that it says to be shown; null for all */
  readonly focus?: Focus | null;
  readonly traits: Partial<CanvasTraits>;
}

/** What is open by the keys of boxes. */
export interface KeyedState {
  readonly [key: string]: readonly [number, KeyedState];
}

/** the list of hits is this long */
const MOST_HITS = 100;

/** what a file can do, */
const ABLE: readonly Ability[] = [
  ...(["open", "expand", "search", "regex", "step", "unroll", "direction", "undo"] as const),
  ...(["command", "legend"] as const),
];
/** and what else is known of it: it answers at once, from what is in it, and never goes away */
const FILE: Omit<Host, "can"> = {
  hasInspector: true,
  words: {
    waiting: "Reading the file …",
    absent: "The picture cannot be drawn: the file is damaged.",
    silent: "The file holds no answer.",
    lost: "",
    renew: "write the file anew",
  },
  patience: { first: null, answer: null },
};

/** how many edges a neighbourhood reaches at most, as in explorer/session/requests.py */
const MOST_HOPS = 5;
/** what is outside of a neighbourhood and gives values to it */
const OUTSIDE: WrittenPaint = ["note", "outside"];

export class StaticHost implements CanvasConnection {
  readonly host: Host;
  readonly traits: LocalTraits<CanvasTraits>;
  private readonly receivers = new Set<Receive>();
  private drawing: Promise<Drawing>;
  private writer: SceneWriter | null = null;
  private root: Opened | null = null;
  /** what is open when all is shown */
  private whole: Opened | null = null;
  /** read when something is searched first */
  private index: Promise<SearchIndex> | null = null;
  private links: Promise<Links> | null = null;
  private words: Promise<LegendWords> | null = null;
  private overlays: Promise<Overlays> | null = null;
  private overlaid: Overlays | null = null;
  /** the neighbourhood that alone is shown */
  private focus: Focus | null = null;
  private focused: Promise<Drawing<Neighbourhood>> | null = null;
  private noticed = false;
  private readonly moments: Moment[] = [];
  private moment = 0;
  private readonly watchers = new Set<() => void>();

  constructor(private readonly source: StaticSource) {
    const able = [...ABLE];
    if (source.readLinks) able.push("focus");
    if (source.traits.overlays?.length) able.push("overlay");
    this.host = makeHost(able, FILE);
    this.traits = new LocalTraits({ ...CANVAS_TRAITS, ...source.traits });
    this.drawing = this.read();
    this.traits.follow("direction", () => void this.turn());
  }

  send(message: Asked): void {
    if (message.type === "cancel") return;
    void this.answer(message);
  }

  onMessage(receive: Receive): () => void {
    this.receivers.add(receive);
    return () => this.receivers.delete(receive);
  }

  /** The neighbourhood that alone is shown; null where all is. */
  get shownFocus(): Focus | null {
    return this.focus;
  }

  /** Call something after each change of what is open. */
  onChange(watch: () => void): void {
    this.watchers.add(watch);
  }

  /** What is open, as an address has it. */
  async writeOpened(): Promise<string> {
    const { book } = await this.shown();
    return this.root ? writeOpened(book, this.root) : "";
  }

  /** Show what an address says. */
  async follow({ direction, opened, selected, focus }: Link): Promise<void> {
    try {
      this.traits.set({ direction });
      const drawing = await this.prepare(focus);
      const root = readOpened(drawing.book, opened);
      await this.go({ root, focus });
      this.note(root);
      this.tell(drawing, null, { select: [...selected] });
    } catch (error) {
      this.refuseLink(error);
    }
  }

  /** Say why an address is not followed. */
  refuseLink(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.warn(`The address of this page does not fit it: ${why}.`);
  }

  /** Say what is wrong with the page. */
  warn(message: string): void {
    this.emit({ type: "error", message });
  }

  onLost(): () => void {
    return () => undefined;
  }

  /** Show what is at a path, and select it; what has no box is selected where it is shown. */
  async goTo(path: string): Promise<void> {
    try {
      const { places } = await this.drawing;
      const place = places.has(path) ? path : await this.findPlace(path);
      if (place === null || !places.has(place)) {
        this.traits.set({ selection: path, selected_paths: [path] });
        return;
      }
      const { drawing, root: before } = await this.leaveFor(place);
      const asked = { id: "", type: "reveal", path: place } as const;
      const { root, ...shown } = this.change(drawing, before, asked);
      if (root && root !== this.root) this.note(root);
      this.tell(drawing, null, { ...shown, select: path });
    } catch (error) {
      this.emit({ type: "error", message: error instanceof Error ? error.message : String(error) });
    }
  }

  /** Open, step and close several boxes at once; what the file does not have stays as it is. */
  async openAll(changes: readonly OpenState[]): Promise<void> {
    const before = this.root ?? (await this.openFirst());
    const drawing = await this.shown();
    let root = before;
    for (const { path, state } of changes) root = this.changeOne(drawing, root, path, state);
    if (root === before) return;
    this.note(root);
    this.tell(drawing, null, { anchor: changes[0].path });
  }

  private changeOne(drawing: Drawing, root: Opened, path: string, state: State): Opened {
    const { openings, places } = drawing;
    try {
      if (state === "closed") {
        const chain = places.findShown(root, path);
        return chain && openings.at(root, chain) ? openings.close(root, chain) : root;
      }
      const found = openings.reveal(root, path);
      if (!found) return root;
      if (state !== "usual") return openings.show(found.root, found.chain, state);
      const isOpen = openings.at(found.root, found.chain) !== undefined;
      return isOpen ? found.root : openings.open(found.root, found.chain);
    } catch {
      return root; // the inside of it is not in the file
    }
  }

  private async read(): Promise<Drawing> {
    return new Drawing(await this.source.readBook(this.traits.get("direction")));
  }

  private async answer(message: Asked): Promise<void> {
    try {
      if (message.type === "scene") {
        this.writer = null; // whoever asks has nothing yet
        this.noticed = false;
        this.root ??= await this.openFirst();
        await this.readOverlays();
        this.tell(await this.shown(), message.id, { fit: true });
        return;
      }
      const before = this.root ?? (await this.openFirst());
      const drawing = await this.shown();
      if (message.type === "command") {
        const { command } = this.source;
        const traits = {
          direction: this.traits.get("direction"),
          paints: this.source.traits.paints ?? {},
        };
        const isFirst = before === this.moments[0].root;
        const written = writeCommand(command, traits, message.theme, before, isFirst, this.focus);
        this.emit(written, message.id);
        return;
      }
      if (message.type === "legend") {
        this.words ??= this.source.readLegend();
        const { book, composer } = drawing;
        const { traits } = this;
        const painted = layPaints(traits.get("paints"), traits.get("coloured"));
        const paints = layPaints(traits.get("marks"), painted);
        const overlay = traits.get("overlay");
        const [{ theme }, shown] = [message, composer.compose(before)];
        const entries = (await this.words).list(book, shown, paints, theme, overlay >= 0);
        const own = overlay < 0 ? [] : (this.overlaid?.list(overlay, traits.get("coloured"), theme) ?? []);
        this.emit({ type: "legend", entries: [...own, ...entries] }, message.id);
        return;
      }
      if (message.type === "overlay") {
        const count = this.traits.get("overlays").length;
        if (!(Number.isInteger(message.overlay) && message.overlay >= -1 && message.overlay < count)) {
          throw new Error("There is nothing of that number to colour by.");
        }
        this.traits.set({ overlay: message.overlay });
        await this.readOverlays();
        this.tell(drawing, message.id, {});
        return;
      }
      if (message.type === "search") {
        this.emit(await this.search(drawing, before, message), message.id);
        return;
      }
      if (message.type === "focus" || message.type === "unfocus") {
        const asked = message.type === "focus" ? message : null;
        const shown = asked ? await this.show(asked) : await this.showAll();
        this.tell(await this.shown(), message.id, shown);
        return;
      }
      if (message.type === "undo" || message.type === "redo") {
        const to = this.moment + (message.type === "undo" ? -1 : 1);
        if (!this.moments[to]) throw new Error(`There is nothing to ${message.type}.`);
        await this.go(this.moments[to]);
        this.moment = to;
        this.tell(await this.shown(), message.id, { restore: true });
        return;
      }
      if (message.type === "reveal") {
        const request = await this.place(message);
        const left = await this.leaveFor(request.path);
        const { root, ...shown } = this.change(left.drawing, left.root, request);
        if (root && root !== before) this.note(root);
        this.tell(left.drawing, message.id, shown);
        return;
      }
      const { root, ...shown } = this.change(drawing, before, message);
      if (root && root !== before) this.note(root);
      this.tell(drawing, message.id, shown);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.emit({ type: "error", message: text }, message.id);
    }
  }

  private async openFirst(): Promise<Opened> {
    const { book } = await this.drawing;
    let moment: Moment = { root: openKeys(book, 0, this.source.first), focus: null };
    this.whole = moment.root;
    try {
      const { opened, focus = null } = this.source;
      if (opened != null) {
        moment = { root: readOpened((await this.prepare(focus)).book, opened), focus };
      }
    } catch (error) {
      // told once the picture is there
      setTimeout(() => this.refuseLink(error));
    }
    if (this.moments.length === 0) this.moments.push(moment);
    await this.go(moment);
    return moment.root;
  }

  /** What composes what is shown now. */
  private async shown(): Promise<Drawing> {
    return (await this.focused) ?? this.drawing;
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
      this.writer = null;
    }
    this.root = root;
    if (!focus) this.whole = root;
    const paints = { ...this.source.traits.paints };
    for (const path of (await this.focused)?.book.outside ?? []) paints[path] ??= OUTSIDE;
    this.traits.set({ focus: focus?.path ?? "", hops: focus?.hops ?? 0, paints });
  }

  /** Show all again, as it was open. */
  private async showAll(): Promise<Answer> {
    const center = this.focus?.path;
    const root = this.whole!;
    await this.go({ root, focus: null });
    this.note(root);
    const { places } = await this.drawing;
    const chain = center === undefined ? null : places.findShown(root, center);
    return { fit: true, ...(chain && { center: places.pathAt(root, chain) }) };
  }

  /** Show a neighbourhood alone. */
  private async show({ path, hops }: Focus): Promise<Answer> {
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
  private async leaveFor(path: string): Promise<{ drawing: Drawing; root: Opened }> {
    const drawing = await this.shown();
    if (!this.focus || drawing.places.findWay(this.root!, path)) {
      return { drawing, root: this.root! };
    }
    await this.go({ root: this.whole!, focus: null });
    return { drawing: await this.drawing, root: this.whole! };
  }

  /** What is open after a request, and how that is to be shown. */
  private change(drawing: Drawing, root: Opened, request: Asked): Answer {
    const { openings } = drawing;
    switch (request.type) {
      case "toggle": {
        const chain = this.find(drawing, root, request.path);
        const isOpen = openings.at(root, chain) !== undefined;
        const changed = isOpen ? openings.close(root, chain) : openings.open(root, chain);
        return { root: changed, anchor: request.path };
      }
      case "open": {
        const { root: shown, chain } = this.reveal(drawing, root, request.path);
        const isOpen = openings.at(shown, chain) !== undefined;
        return { root: isOpen ? shown : openings.open(shown, chain), anchor: request.path };
      }
      case "close":
        return {
          root: openings.close(root, this.find(drawing, root, request.path)),
          anchor: request.path,
        };
      case "shown":
        return this.showState(drawing, root, request.path, request.index);
      case "unroll":
        return this.showState(drawing, root, request.path, -1);
      case "fold": {
        const chain = this.find(drawing, root, request.path);
        return { root: openings.fold(root, chain), anchor: request.path };
      }
      case "reveal": {
        const { root: shown } = this.reveal(drawing, root, request.path);
        return { root: shown, select: request.path, center: request.path };
      }
      case "expand":
        return this.expand(drawing, request.mode);
      default:
        throw new Error("This file has nothing behind it that could answer that.");
    }
  }

  private async search(
    { places }: Drawing,
    root: Opened,
    { text, regex }: SearchRequest,
  ): Promise<HitsMessage> {
    this.index ??= this.source.readSearch();
    const { found, total } = (await this.index).search(text, regex, MOST_HITS);
    const hits = found.map(({ place, ...hit }) => {
      const chain = places.findShown(root, place);
      return { ...hit, shown: chain && places.pathAt(root, chain) };
    });
    return { type: "hits", hits, total };
  }

  /** The nodes by which the picture shows what is at a path, and what is around these. */
  async findAround(path: string): Promise<Around> {
    const { places } = await this.drawing;
    if (places.has(path)) return places.findAround(path);
    const place = await this.findPlace(path);
    const around = places.findAround(place ?? path);
    if (place === null) return around;
    // a node that is nowhere drawn is in what is around the one that stands for it
    return { ...around, marked: new Set([path, ...(path.includes("%") ? around.marked : [])]) };
  }

  /** Where something is shown that has no box of its own; null where that is unknown. */
  private async findPlace(path: string): Promise<string | null> {
    this.index ??= this.source.readSearch();
    return (await this.index).placeOf(path);
  }

  /** What is asked for in the place of something that has no box of its own. */
  private async place<Placed extends { path: string }>(request: Placed): Promise<Placed> {
    const place = this.index && (await this.index).placeOf(request.path);
    return place === null ? request : { ...request, path: place };
  }

  private showState(drawing: Drawing, root: Opened, path: string, index: number): Answer {
    const chain = this.find(drawing, root, path);
    return { root: drawing.openings.show(root, chain, index), anchor: path };
  }

  private expand({ book, openings }: Drawing, mode: string): Answer {
    if (mode === "all") return { ...openings.openAll(), fit: true };
    if (book instanceof Neighbourhood) return { root: book.root, fit: true };
    if (mode === "none") return { root: { level: 0, inner: new Map() }, fit: true };
    return { root: openKeys(book, 0, this.source.first), fit: true };
  }

  /** The box at a path that is drawn now. */
  private find({ places }: Drawing, root: Opened, path: string): Chain {
    const chain = places.findShown(root, path);
    if (!chain) throw new Error(`There is nothing at ${JSON.stringify(path)} in this file.`);
    return chain;
  }

  private reveal(
    { openings }: Drawing,
    root: Opened,
    path: string,
  ): { root: Opened; chain: Chain } {
    const found = openings.reveal(root, path);
    if (!found) throw new Error(`There is nothing at ${JSON.stringify(path)} in this file.`);
    return found;
  }

  /** Remember what is open from now on. */
  private note(root: Opened): void {
    this.root = root;
    if (!this.focus) this.whole = root;
    this.moments.length = this.moment + 1;
    this.moments.push({ root, focus: this.focus });
    this.moment++;
  }

  private async turn(): Promise<void> {
    this.drawing = this.read();
    const { focus } = this;
    if (focus) this.focused = this.readAround(focus);
    try {
      const drawing = await this.shown();
      this.writer = null;
      this.noticed = false;
      this.tell(drawing, null, { fit: true });
    } catch (error) {
      this.emit({ type: "error", message: String(error instanceof Error ? error.message : error) });
    }
  }

  /** Read what boxes are coloured by, where they are. */
  private async readOverlays(): Promise<void> {
    if (this.traits.get("overlay") < 0 || !this.source.readOverlays) return;
    this.overlays ??= this.source.readOverlays();
    this.overlaid = await this.overlays;
  }

  /** Colour what is shown. */
  private colour(shown: Composed): void {
    const overlay = this.traits.get("overlay");
    this.traits.set({ coloured: overlay < 0 ? {} : (this.overlaid?.paint(overlay, shown) ?? {}) });
  }

  private tell(drawing: Drawing, id: string | null, answer: Answer): void {
    const { notices: told = [], ...shown } = answer;
    const notices = [...told];
    if (!this.noticed) notices.push(...(this.source.notices ?? []), ...drawing.book.notices);
    this.noticed = true;
    this.writer ??= new SceneWriter(drawing.book);
    const composed = drawing.composer.compose(this.root!);
    this.colour(composed);
    const { header, buffers }: WrittenScene = this.writer.write(composed, notices);
    const history = {
      moment: this.moment,
      undo: this.moment > 0,
      redo: this.moment + 1 < this.moments.length,
    };
    this.emit({ ...shown, type: "scene", header, history }, id, buffers);
    for (const watch of this.watchers) watch();
  }

  private emit(message: Message, id: string | null = null, buffers: ArrayBufferView[] = []): void {
    const sent = id === null ? message : { ...message, id };
    for (const receive of [...this.receivers]) receive(sent, buffers);
  }
}

function isSame(one: Focus | null, other: Focus | null): boolean {
  return one?.path === other?.path && one?.hops === other?.hops;
}

/** What is open in a level where some keys are. */
function openKeys(book: Levels, number: number, state: KeyedState): Opened {
  const level = book.level(number);
  const inner = new Map<number, Opened>();
  for (const [box, insides] of level.insides) {
    const wanted = state[level.names[level.form.boxes[box].key]];
    if (!wanted) continue;
    const states = book.listStates(insides);
    const inside = states[wanted[0] < 0 ? states.length - 1 : wanted[0]];
    if (inside !== undefined) inner.set(box, openKeys(book, inside, wanted[1]));
  }
  return { level: number, inner };
}
