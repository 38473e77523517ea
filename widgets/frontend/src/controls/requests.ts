/** What the canvas asks of its host, and what becomes of the answers. */

import type { CanvasConnection } from "../host/connection";
import {
  CancelledError,
  Conversation,
  NoAnswerError,
  type Push,
  type Reply,
  messageOf,
} from "../host/conversation";
import type {
  CommandMessage,
  FirstScene,
  HistoryState,
  HitsMessage,
  LegendEntry,
  PictureRequest,
  Request,
  SceneMessage,
  SceneRequest,
} from "../host/messages";
import type { Arrival } from "../paint/camera";
import type { Size } from "../scene/geometry";
import type { ThemeName } from "../scene/options";
import type { Paths, PlacesByPath, Scene } from "../scene/scene";
import { LevelStore, StaleError } from "../scene/wire";
import { VersionError } from "../scene/wire_header";
import type { Question } from "./dialogs";
import type { Progress } from "./progress_bar";
import type { Strip } from "./strip";

/** Milliseconds in which a picture is drawn, whatever its size. */
const PATIENCE = 300_000;

/** How the host wants a scene to be shown. */
export interface Arrived extends Arrival {
  readonly select?: Paths;
  readonly restore?: boolean;
  readonly history?: HistoryState;
  readonly places?: PlacesByPath;
}

export interface RequestActions {
  show(scene: Scene, arrival: Arrived): void;
  /** nobody answers */
  absent(): void;
}

export class Requests {
  private readonly conversation: Conversation;
  private readonly store = new LevelStore();
  private underWay: string[] = [];
  private closed = false;
  private endWaiting: () => void = () => undefined;

  constructor(
    private readonly connection: CanvasConnection,
    private readonly strip: Strip,
    private readonly progress: Progress,
    private readonly question: Question,
    private readonly actions: RequestActions,
  ) {
    this.conversation = new Conversation(
      connection,
      (push, buffers) => this.onPush(push, buffers),
      () => {
        this.progress.hide();
        this.strip.showError(connection.host.words.lost);
      },
    );
  }

  /** Whether something that was asked for has not been answered. */
  get isWaiting(): boolean {
    return this.conversation.isWaiting;
  }

  close(): void {
    this.closed = true;
    this.endWaiting();
    this.conversation.close();
  }

  /**
   * Show the first scene: the one that is made unasked, where there is one, else ask for it.
   *
   * @param size tells the size of the canvas once it has one; null where it is hidden
   */
  async showFirstScene(size: () => Promise<Size | null>): Promise<void> {
    const { words, patience } = this.connection.host;
    const here = this.connection.traits.get("first");
    if (here.message) {
      this.take(here.message, here.buffers ?? [], undefined);
      return;
    }
    this.progress.show(words.waiting, null, null);
    try {
      const made = here.coming ? await this.waitForFirst(patience.first) : here;
      if (this.closed) return;
      if (made.message) {
        this.take(made.message, made.buffers ?? [], undefined);
        return;
      }
      const known = await size();
      if (this.closed) return;
      const asked: SceneRequest = { type: "scene", ...sizeOf(known) };
      const request = this.conversation.request(asked, patience.first);
      const { message, buffers } = await request.reply;
      if (message.type === "scene") this.take(message, buffers, undefined);
    } catch (error) {
      if (this.closed) return;
      if (error instanceof NoAnswerError) this.actions.absent();
      else this.strip.showError(messageOf(error));
    } finally {
      this.progress.hide();
    }
  }

  /** Wait for the scene that is being made; there is none in what comes where it is not made. */
  private waitForFirst(timeout: number | null): Promise<FirstScene> {
    const { traits } = this.connection;
    return new Promise((resolve) => {
      const settle = (made: FirstScene): void => {
        clearTimeout(timer);
        stop();
        resolve(made);
      };
      const timer = timeout === null ? undefined : setTimeout(() => settle({}), timeout);
      const stop = traits.follow("first", () => {
        const made = traits.get("first");
        if (!made.coming) settle(made);
      });
      this.endWaiting = () => settle({});
    });
  }

  /** Tell that the first picture is painted; `size` is that of the canvas, null where hidden. */
  tellPainted(size: Size | null): void {
    if (!this.connection.host.can("begin") || this.closed) return;
    this.conversation.tell({ type: "painted", ...sizeOf(size) });
  }

  /**
   * Ask for another scene and show it. An error goes to the strip and the picture stays; what
   * takes long is asked about first.
   *
   * @param kept path of the box that stays where it is, where the host names none
   */
  async ask(content: SceneRequest, kept?: string): Promise<void> {
    const { id, reply } = this.request(content);
    this.underWay.push(id);
    try {
      const { message, buffers } = await reply;
      if (message.type === "scene") this.take(message, buffers, kept);
      if (message.type === "confirm") {
        const sure = await this.question.ask(message.message);
        if (sure && !this.closed) void this.ask({ ...content, sure: true }, kept);
      }
    } catch (error) {
      if (!this.closed && !(error instanceof CancelledError)) this.strip.showError(messageOf(error));
    } finally {
      this.end(id);
    }
  }

  /** @throws RefusedError with what is wrong with the expression */
  async search(text: string, regex: boolean): Promise<HitsMessage> {
    const { message } = await this.finish(this.request({ type: "search", text, regex }));
    if (message.type !== "hits") throw new Error("The answer to a search has no hits.");
    return message;
  }

  /** @throws RefusedError where there is no such theme */
  async legend(theme: ThemeName): Promise<LegendEntry[]> {
    const { message } = await this.finish(this.request({ type: "legend", theme }));
    if (message.type !== "legend") throw new Error("What was asked for a legend sent none.");
    return message.entries;
  }

  /** @throws RefusedError where there is no such theme */
  async command(theme: ThemeName): Promise<CommandMessage> {
    const { message } = await this.work({ type: "command", theme });
    if (message.type !== "command") throw new Error("What was asked for a command sent none.");
    return message;
  }

  /** @throws RefusedError where there is no such picture */
  async picture(content: PictureRequest): Promise<{ bytes: ArrayBufferView; notices: string[] }> {
    const { message, buffers } = await this.work(content);
    if (message.type !== "file" || buffers.length !== 1) {
      throw new Error("What was asked for a picture sent none.");
    }
    return { bytes: buffers[0], notices: message.notices };
  }

  /** Ask for what may take a while. */
  private work(content: Request): Promise<Reply> {
    const { patience } = this.connection.host;
    const timeout = patience.answer === null ? null : PATIENCE;
    return this.finish(this.conversation.request(content, timeout));
  }

  /** Wait for an answer. Until then it is under way, and what is said of it stands no longer. */
  private async finish({ id, reply }: { id: string; reply: Promise<Reply> }): Promise<Reply> {
    this.underWay.push(id);
    try {
      return await reply;
    } finally {
      this.end(id);
    }
  }

  private request(content: Request): { id: string; reply: Promise<Reply> } {
    return this.conversation.request(content, this.connection.host.patience.answer);
  }

  private end(id: string): void {
    this.underWay = this.underWay.filter((other) => other !== id);
    if (this.underWay.length === 0) this.progress.hide();
  }

  private onPush(push: Push, buffers: ArrayBufferView[]): void {
    switch (push.type) {
      case "scene":
        this.take(push, buffers, undefined);
        if (this.underWay.length === 0) this.progress.hide();
        break;
      case "error":
        this.strip.showError(push.message);
        if (this.underWay.length === 0) this.progress.hide();
        break;
      case "busy":
        this.progress.show(
          push.message,
          push.share,
          push.stoppable === false ? null : this.canceller(push.id),
        );
        break;
      case "idle":
        if (this.underWay.length === 0 || push.id === null) this.progress.hide();
        break;
    }
  }

  /** What stops a request, or whatever is under way; null where nothing can. */
  private canceller(id: string | null): (() => void) | null {
    return this.connection.host.can("cancel") ? () => this.conversation.cancel(id) : null;
  }

  private take(message: SceneMessage, buffers: ArrayBufferView[], kept: string | undefined): void {
    if (this.closed) return;
    let scene;
    try {
      scene = this.store.receive(message.header, buffers);
    } catch (error) {
      // another view of the same widget may have got what this one builds on
      if (error instanceof StaleError) void this.ask({ type: "scene" });
      else this.strip.showError(`The picture cannot be drawn: ${this.explain(error)}`);
      return;
    }
    this.strip.showNotices(scene.notices);
    const { select, center, anchor, fit, restore, history, places } = message;
    const shown = { select, center, anchor: anchor ?? kept, fit, restore, history, places };
    this.actions.show(scene, shown);
  }

  private explain(error: unknown): string {
    if (!(error instanceof VersionError)) return messageOf(error);
    return `${error.message}: ${this.connection.host.words.renew}`;
  }
}

function sizeOf(size: Size | null): { window?: [number, number] } {
  return size ? { window: [size.width, size.height] } : {};
}
