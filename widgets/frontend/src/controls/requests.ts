/** What the canvas asks of the kernel, and what becomes of the answers. */

import type { CanvasConnection } from "../host/connection";
import {
  LOST,
  CancelledError,
  Conversation,
  NoAnswerError,
  type Push,
  messageOf,
} from "../host/conversation";
import type {
  HistoryState,
  HitsMessage,
  LegendEntry,
  SceneMessage,
  SceneRequest,
} from "../host/messages";
import type { Arrival } from "../paint/camera";
import type { Size } from "../scene/geometry";
import type { ThemeName } from "../scene/options";
import type { Paths, Scene } from "../scene/scene";
import { LevelStore, StaleError } from "../scene/wire";
import type { Question } from "./dialogs";
import type { Progress } from "./progress_bar";
import type { Strip } from "./strip";

/** How long the first scene may take before we say that there is no kernel. */
const FIRST_ANSWER = 8_000;
const ANSWER = 30_000;

/** How the kernel wants a scene to be shown. */
export interface Arrived extends Arrival {
  readonly select?: Paths;
  readonly restore?: boolean;
  readonly history?: HistoryState;
}

export interface RequestActions {
  show(scene: Scene, arrival: Arrived): void;
  /** there is no kernel to ask */
  absent(): void;
}

export class Requests {
  private readonly conversation: Conversation;
  private readonly store = new LevelStore();
  private underWay: string[] = [];
  private closed = false;

  constructor(
    connection: CanvasConnection,
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
        this.strip.showError(LOST);
      },
    );
  }

  close(): void {
    this.closed = true;
    this.conversation.close();
  }

  /** @param size tells the size of the canvas once it has one; null where it is hidden */
  async askFirstScene(size: Promise<Size | null>): Promise<void> {
    this.progress.show("Waiting for the kernel …", null, null);
    try {
      const known = await size;
      if (this.closed) return;
      const asked: SceneRequest = known
        ? { type: "scene", window: [known.width, known.height] }
        : { type: "scene" };
      const request = this.conversation.request(asked, FIRST_ANSWER);
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

  /**
   * Ask for another scene and show it. An error goes to the strip and the picture stays; what
   * takes long is asked about first.
   *
   * @param kept path of the box that stays where it is, where the kernel names none
   */
  async ask(content: SceneRequest, kept?: string): Promise<void> {
    const { id, reply } = this.conversation.request(content, ANSWER);
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

  /** @throws KernelError with what is wrong with the expression */
  async search(text: string, regex: boolean): Promise<HitsMessage> {
    const request = this.conversation.request({ type: "search", text, regex }, ANSWER);
    const { message } = await request.reply;
    if (message.type !== "hits") throw new Error("The kernel sent no hits.");
    return message;
  }

  /** @throws KernelError where there is no such theme */
  async legend(theme: ThemeName): Promise<LegendEntry[]> {
    const { message } = await this.conversation.request({ type: "legend", theme }, ANSWER).reply;
    if (message.type !== "legend") throw new Error("The kernel sent no legend.");
    return message.entries;
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
        this.progress.show(push.message, push.share, () => this.conversation.cancel(push.id));
        break;
      case "idle":
        if (this.underWay.length === 0 || push.id === null) this.progress.hide();
        break;
    }
  }

  private take(message: SceneMessage, buffers: ArrayBufferView[], kept: string | undefined): void {
    if (this.closed) return;
    let scene;
    try {
      scene = this.store.receive(message.header, buffers);
    } catch (error) {
      // another view of the same widget may have got what this one builds on
      if (error instanceof StaleError) void this.ask({ type: "scene" });
      else this.strip.showError(`The picture cannot be drawn: ${messageOf(error)}`);
      return;
    }
    this.strip.showNotices(scene.notices);
    const { select, center, anchor, fit, restore, history } = message;
    this.actions.show(scene, { select, center, anchor: anchor ?? kept, fit, restore, history });
  }
}
