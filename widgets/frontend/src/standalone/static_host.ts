/**
 * A page with nothing behind it: what a canvas asks for is answered from what the file holds. The
 * levels have been laid out beforehand and are put together here.
 */

import type { CanvasConnection } from "../host/connection";
import { type Host, makeHost } from "../host/host";
import type { HitsMessage, Message, Request, SceneMessage } from "../host/messages";
import { CANVAS_TRAITS, type CanvasTraits } from "../host/traits";
import type { Direction } from "../scene/options";
import type { Book } from "./book";
import { type CommandStart, writeCommand } from "./command";
import { Composer, type Opened } from "./compose";
import { type Chain, Openings } from "./opened";
import { type Link, readOpened, writeOpened } from "./permalink";
import { Places } from "./places";
import type { SearchIndex } from "./search";
import { LocalTraits } from "./traits";
import { SceneWriter, type WrittenScene } from "./write_scene";

type Asked = Request & { id: string };
type Answer = Omit<SceneMessage, "type" | "header"> & { readonly root?: Opened };
type SearchRequest = Extract<Asked, { type: "search" }>;
type Receive = (message: unknown, buffers: ArrayBufferView[]) => void;

/** One of the ways in which the picture can run, with what composes it. */
class Drawing {
  readonly composer: Composer;
  readonly places: Places;
  readonly openings: Openings;

  constructor(readonly book: Book) {
    this.composer = new Composer(book);
    this.places = new Places(book);
    this.openings = new Openings(book, this.places);
  }
}

export interface StaticSource {
  /** Read the levels for a direction. */
  readBook(direction: Direction): Promise<Book>;
  /** Read what can be found. */
  readSearch(): Promise<SearchIndex>;
  /** what is open at first, as keys: of each box the number of its state, and what is inside */
  readonly first: KeyedState;
  readonly command: CommandStart;
  /** what is said with the first picture */
  readonly notices?: readonly string[];
  /** what an address says to be open instead, as `permalink.ts` writes it; null for none */
  readonly opened?: string | null;
  readonly traits: Partial<CanvasTraits>;
}

/** What is open by the keys of boxes. */
export interface KeyedState {
  readonly [key: string]: readonly [number, KeyedState];
}

/** the list of hits is this long */
const MOST_HITS = 100;

/** A file: it answers at once, from what is in it, and never goes away. */
const FILE: Host = makeHost(
  ["open", "expand", "search", "regex", "step", "unroll", "direction", "undo", "command"],
  {
    hasInspector: true,
    words: {
      waiting: "Reading the file …",
      absent: "The picture cannot be drawn: the file is damaged.",
      silent: "The file holds no answer.",
      lost: "",
      renew: "write the file anew",
    },
    patience: { first: null, answer: null },
  },
);

export class StaticHost implements CanvasConnection {
  readonly host = FILE;
  readonly traits: LocalTraits<CanvasTraits>;
  private readonly receivers = new Set<Receive>();
  private drawing: Promise<Drawing>;
  private writer: SceneWriter | null = null;
  private root: Opened | null = null;
  /** read when something is searched first */
  private index: Promise<SearchIndex> | null = null;
  private readonly moments: Opened[] = [];
  private moment = 0;
  private readonly watchers = new Set<() => void>();

  constructor(private readonly source: StaticSource) {
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

  /** Call something after each change of what is open. */
  onChange(watch: () => void): void {
    this.watchers.add(watch);
  }

  /** What is open, as an address has it. */
  async writeOpened(): Promise<string> {
    const { book } = await this.drawing;
    return this.root ? writeOpened(book, this.root) : "";
  }

  /** Show what an address says. */
  async follow({ direction, opened, selected }: Link): Promise<void> {
    try {
      this.traits.set({ direction });
      const drawing = await this.drawing;
      const root = readOpened(drawing.book, opened);
      this.note(root, "open");
      this.tell(drawing, null, { select: [...selected] });
    } catch (error) {
      this.refuseLink(error);
    }
  }

  /** Say why an address is not followed. */
  refuseLink(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.emit({ type: "error", message: `The address of this page does not fit it: ${why}.` });
  }

  onLost(): () => void {
    return () => undefined;
  }

  /** Show what is at a path, and select it; what has no box is selected alone. */
  async goTo(path: string): Promise<void> {
    try {
      const drawing = await this.drawing;
      if (!drawing.places.has(path)) {
        this.traits.set({ selection: path, selected_paths: [path] });
        return;
      }
      const { root, ...shown } = this.change(drawing, this.root!, { id: "", type: "reveal", path });
      if (root && root !== this.root) this.note(root, "reveal");
      this.tell(drawing, null, shown);
    } catch (error) {
      this.emit({ type: "error", message: error instanceof Error ? error.message : String(error) });
    }
  }

  private async read(): Promise<Drawing> {
    return new Drawing(await this.source.readBook(this.traits.get("direction")));
  }

  private async answer(message: Asked): Promise<void> {
    try {
      const drawing = await this.drawing;
      if (message.type === "scene") {
        this.writer = null; // whoever asks has nothing yet
        this.root ??= this.openFirst(drawing);
        this.tell(drawing, message.id, { fit: true });
        return;
      }
      const before = this.root ?? this.openFirst(drawing);
      if (message.type === "command") {
        const { command } = this.source;
        const traits = {
          direction: this.traits.get("direction"),
          paints: this.traits.get("paints"),
        };
        const isFirst = before === this.moments[0];
        this.emit(writeCommand(command, traits, message.theme, before, isFirst), message.id);
        return;
      }
      if (message.type === "search") {
        this.emit(await this.search(drawing, before, message), message.id);
        return;
      }
      const request = message.type === "reveal" ? await this.place(message) : message;
      const { root, ...shown } = this.change(drawing, before, request);
      if (root && root !== before) this.note(root, message.type);
      this.tell(drawing, message.id, shown);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.emit({ type: "error", message: text }, message.id);
    }
  }

  private openFirst(drawing: Drawing): Opened {
    let root = openKeys(drawing.book, 0, this.source.first);
    try {
      if (this.source.opened != null) root = readOpened(drawing.book, this.source.opened);
    } catch (error) {
      // told once the picture is there
      setTimeout(() => this.refuseLink(error));
    }
    if (this.moments.length === 0) this.moments.push(root);
    return root;
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
      case "undo":
      case "redo": {
        const to = this.moment + (request.type === "undo" ? -1 : 1);
        if (!this.moments[to]) throw new Error(`There is nothing to ${request.type}.`);
        return { root: this.moments[to], restore: true };
      }
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
    if (mode === "none") return { root: { level: 0, inner: new Map() }, fit: true };
    if (mode === "all") return { root: openings.openAll().root, fit: true };
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
  private note(root: Opened, type: string): void {
    this.root = root;
    if (type === "undo" || type === "redo") {
      this.moment += type === "undo" ? -1 : 1;
      return;
    }
    this.moments.length = this.moment + 1;
    this.moments.push(root);
    this.moment++;
  }

  private async turn(): Promise<void> {
    this.drawing = this.read();
    try {
      const drawing = await this.drawing;
      this.writer = null;
      this.tell(drawing, null, { fit: true });
    } catch (error) {
      this.emit({ type: "error", message: String(error instanceof Error ? error.message : error) });
    }
  }

  private tell(drawing: Drawing, id: string | null, shown: Answer): void {
    const notices = this.writer ? [] : [...(this.source.notices ?? []), ...drawing.book.notices];
    this.writer ??= new SceneWriter(drawing.book);
    const composed = drawing.composer.compose(this.root!);
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

/** What is open in a level where some keys are. */
function openKeys(book: Book, number: number, state: KeyedState): Opened {
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
