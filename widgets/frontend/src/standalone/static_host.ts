/**
 * A page with nothing behind it: what a canvas asks for is answered from what the file holds. The
 * levels have been laid out beforehand and are put together here.
 */

import type { LinkedHost } from "../address/address";
import { type Choices, type Focus, type Link, explainRefusal } from "../address/link";
import type { CanvasConnection } from "../host/connection";
import { type Host, makeHost } from "../host/host";
import { LocalTraits } from "../host/local_traits";
import type { Ability, Message, Request } from "../host/messages";
import { CANVAS_TRAITS, type CanvasTraits } from "../host/traits";
import { type Answer, type OpenState, change, putInState } from "./change";
import { Colouring } from "./colouring";
import { type CommandStart, writeCommand } from "./command";
import type { Drawing } from "./drawing";
import { Finder } from "./finder";
import type { LegendWords } from "./legend";
import type { Overlays } from "./overlays";
import type { Around } from "./places";
import type { SearchIndex } from "./search";
import { Session, type SessionSource } from "./session";
import { SceneWriter, type WrittenScene } from "./write_scene";

type Asked = Request & { id: string };
type Receive = (message: unknown, buffers: ArrayBufferView[]) => void;

export interface StaticSource extends SessionSource {
  /** Read what can be found. */
  readSearch(): Promise<SearchIndex>;
  /** Read what a legend can say. */
  readLegend(): Promise<LegendWords>;
  /** Read what boxes can be coloured by. */
  readonly readOverlays?: () => Promise<Overlays>;
  readonly command: CommandStart;
  /** what is said with the first picture */
  readonly notices?: readonly string[];
  readonly traits: Partial<CanvasTraits>;
}

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
  remark: [
    "Saved copy",
    "Everything shown is stored in this file: it does not follow the model, and tells no program what is selected.",
  ],
};

export class StaticHost implements CanvasConnection, LinkedHost {
  readonly host: Host;
  readonly traits: LocalTraits<CanvasTraits>;
  /** an address keeps nothing else */
  readonly choices: Choices = {};
  private readonly receivers = new Set<Receive>();
  private readonly watchers = new Set<() => void>();
  private readonly session: Session;
  private readonly finder: Finder;
  private readonly colouring: Colouring;
  private writer: { of: Drawing; writer: SceneWriter } | null = null;
  private noticed = false;

  constructor(private readonly source: StaticSource) {
    const able = [...ABLE];
    if (source.readLinks) able.push("focus");
    if (source.traits.overlays?.length) able.push("overlay");
    this.host = makeHost(able, FILE);
    this.traits = new LocalTraits({ ...CANVAS_TRAITS, ...source.traits });
    const refused = (error: unknown): void => this.warn(explainRefusal(error));
    this.session = new Session(source, this.traits, source.traits.paints ?? {}, refused);
    this.finder = new Finder(() => source.readSearch());
    const { readOverlays = null } = source;
    this.colouring = new Colouring(this.traits, () => source.readLegend(), readOverlays);
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

  onLost(): () => void {
    return () => undefined;
  }

  get shownFocus(): Focus | null {
    return this.session.shownFocus;
  }

  onChange(watch: () => void): void {
    this.watchers.add(watch);
  }

  writeOpened(): Promise<string> {
    return this.session.writeOpened();
  }

  async follow(link: Link): Promise<void> {
    this.traits.set({ direction: link.direction });
    await this.session.follow(link);
    await this.tell(await this.session.shown(), null, { select: [...link.selected] });
  }

  warn(message: string): void {
    this.emit({ type: "error", message });
  }

  /** Show what is at a path, and select it; what has no box is selected where it is shown. */
  async goTo(path: string): Promise<void> {
    try {
      const { places } = await this.session.all;
      const place = places.has(path) ? path : await this.finder.findPlace(path);
      if (place === null || !places.has(place)) {
        this.traits.set({ selection: path, selected_paths: [path] });
        return;
      }
      await this.reveal(place, null, path);
    } catch (error) {
      this.warn(wordsOf(error));
    }
  }

  /** The nodes by which the picture shows what is at a path, and what is around these. */
  async findAround(path: string): Promise<Around> {
    return this.finder.findAround(await this.session.all, path);
  }

  /** Open, step and close several boxes at once; what the file does not have stays as it is. */
  async openAll(changes: readonly OpenState[]): Promise<void> {
    const before = await this.session.begin();
    const drawing = await this.session.shown();
    let root = before;
    for (const wanted of changes) root = putInState(drawing, root, wanted);
    if (root === before) return;
    this.session.note(root);
    await this.tell(drawing, null, { anchor: changes[0].path });
  }

  private async answer(message: Asked): Promise<void> {
    try {
      await this.respond(message);
    } catch (error) {
      this.emit({ type: "error", message: wordsOf(error) }, message.id);
    }
  }

  private async respond(message: Asked): Promise<void> {
    const { session } = this;
    const { id } = message;
    if (message.type === "scene") {
      this.writer = null; // whoever asks has nothing yet
      this.noticed = false;
      await session.begin();
      await this.colouring.read();
      await this.tell(await session.shown(), id, { fit: true });
      return;
    }
    const before = await session.begin();
    const drawing = await session.shown();
    switch (message.type) {
      case "command": {
        const { command, traits: given } = this.source;
        const traits = { direction: this.traits.get("direction"), paints: given.paints ?? {} };
        const isFirst = session.isFirst(before);
        const { theme } = message;
        this.emit(writeCommand(command, traits, theme, before, isFirst, this.shownFocus), id);
        return;
      }
      case "legend": {
        const shown = drawing.composer.compose(before);
        const entries = await this.colouring.list(drawing.book, shown, message.theme);
        this.emit({ type: "legend", entries }, id);
        return;
      }
      case "overlay":
        await this.colouring.choose(message.overlay);
        await this.tell(drawing, id, {});
        return;
      case "search":
        this.emit(await this.finder.search(drawing, before, message.text, message.regex), id);
        return;
      case "focus":
      case "unfocus": {
        const shown = await (message.type === "focus" ? session.show(message) : session.showAll());
        await this.tell(await session.shown(), id, shown);
        return;
      }
      case "undo":
      case "redo":
        await session.travel(message.type);
        await this.tell(await session.shown(), id, { restore: true });
        return;
      case "reveal":
        await this.reveal((await this.finder.place(message)).path, id, message.path);
        return;
      default: {
        const { root, ...shown } = change(drawing, before, message, this.source.first);
        if (root && root !== before) session.note(root);
        await this.tell(drawing, id, shown);
      }
    }
  }

  /** Open what hides something, and select it or something that it shows. */
  private async reveal(place: string, id: string | null, selected = place): Promise<void> {
    const { session } = this;
    const before = await session.begin();
    const left = await session.leaveFor(place);
    const asked = { type: "reveal", path: place } as const;
    const { root, ...shown } = change(left.drawing, left.root, asked, this.source.first);
    if (root && root !== before) session.note(root);
    await this.tell(left.drawing, id, { ...shown, select: selected });
  }

  private async turn(): Promise<void> {
    try {
      const drawing = await this.session.turn();
      this.writer = null;
      this.noticed = false;
      await this.tell(drawing, null, { fit: true });
    } catch (error) {
      this.warn(wordsOf(error));
    }
  }

  private async tell(drawing: Drawing, id: string | null, answer: Answer): Promise<void> {
    const { notices: told = [], ...shown } = answer;
    const selected = answer.select ?? this.traits.get("selected_paths");
    const places = await this.finder.listPlaces(drawing, this.session.opened, [selected].flat());
    const notices = [...told];
    if (!this.noticed) notices.push(...(this.source.notices ?? []), ...drawing.book.notices);
    this.noticed = true;
    if (this.writer?.of !== drawing) {
      this.writer = { of: drawing, writer: new SceneWriter(drawing.book) };
    }
    const composed = drawing.composer.compose(this.session.opened);
    this.colouring.colour(composed);
    const { header, buffers }: WrittenScene = this.writer.writer.write(composed, notices);
    const { history } = this.session;
    this.emit({ ...shown, type: "scene", header, history, places }, id, buffers);
    for (const watch of this.watchers) watch();
  }

  private emit(message: Message, id: string | null = null, buffers: ArrayBufferView[] = []): void {
    const sent = id === null ? message : { ...message, id };
    for (const receive of [...this.receivers]) receive(sent, buffers);
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
