/** Requests and their replies, over one connection. Each view of a widget has one of its own. */

import type { CanvasConnection } from "./connection";
import type {
  CommandMessage,
  ConfirmMessage,
  ErrorMessage,
  FileMessage,
  HitsMessage,
  LegendMessage,
  IdleMessage,
  Message,
  Request,
  SceneMessage,
} from "./messages";

/** What ends a request well, with the buffers that came with it. */
export interface Reply {
  readonly message:
    | SceneMessage
    | HitsMessage
    | LegendMessage
    | FileMessage
    | CommandMessage
    | ConfirmMessage;
  readonly buffers: ArrayBufferView[];
}

/** What comes without having been asked for, or tells about a request under way. */
export type Push =
  | SceneMessage
  | ErrorMessage
  | (IdleMessage & { readonly id: string | null })
  | {
      readonly type: "busy";
      readonly id: string | null;
      readonly message: string;
      /** how much is done, from 0 to 1; null where that is not known */
      readonly share: number | null;
      /** left out where it can be stopped */
      readonly stoppable?: false;
    };

/** The host says that a request has failed, and why. */
export class RefusedError extends Error {}
/** The user has stopped the request. */
export class CancelledError extends RefusedError {}
export class NoAnswerError extends Error {}

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: Error): void;
  timer: ReturnType<typeof setTimeout> | undefined;
}

let conversations = 0;

export class Conversation {
  private readonly prefix = `${++conversations}-${Math.random().toString(36).slice(2, 10)}`;
  private readonly waiting = new Map<string, Waiting>();
  private readonly stops: Array<() => void>;
  private count = 0;
  private isLost = false;

  /**
   * @param push gets what was not asked for. A scene that another view of the same widget asked
   *   for comes here too, without the places to go to: both views show the same state.
   * @param lost called once when nothing can be asked any more
   */
  constructor(
    private readonly connection: Pick<CanvasConnection, "host" | "send" | "onMessage" | "onLost">,
    private readonly push: (push: Push, buffers: ArrayBufferView[]) => void,
    private readonly lost: () => void,
  ) {
    this.stops = [
      connection.onMessage((message, buffers) => this.receive(message, buffers)),
      connection.onLost(() => this.lose()),
    ];
  }

  /**
   * Send a request.
   *
   * @param timeout milliseconds until NoAnswerError, null for never; a "busy" message stops the clock
   * @returns the request's id and the promise of its reply; RefusedError where it has failed
   */
  request(content: Request, timeout: number | null): { id: string; reply: Promise<Reply> } {
    const id = this.nextId();
    const { silent, lost } = this.connection.host.words;
    const reply = new Promise<Reply>((resolve, reject) => {
      const giveUp = (): void => {
        this.waiting.delete(id);
        reject(new NoAnswerError(silent));
      };
      const timer = timeout === null ? undefined : setTimeout(giveUp, timeout);
      this.waiting.set(id, { resolve, reject, timer });
      try {
        if (this.isLost) throw new Error(lost);
        this.connection.send({ ...content, id });
      } catch {
        clearTimeout(timer);
        this.waiting.delete(id);
        reject(new NoAnswerError(lost));
      }
    });
    return { id, reply };
  }

  /** Tell the host to give up a request, or whatever it is at. */
  cancel(target: string | null): void {
    this.tell({ type: "cancel", ...(target === null ? {} : { target }) });
  }

  /** Tell the host something, if it is still there; no answer is waited for. */
  tell(content: Request): void {
    if (this.isLost) return;
    try {
      this.connection.send({ ...content, id: this.nextId() });
    } catch {
      // who is gone needs to know nothing
    }
  }

  /** Whether something that was asked for has not been answered. */
  get isWaiting(): boolean {
    return this.waiting.size > 0;
  }

  close(): void {
    for (const stop of this.stops) stop();
    for (const { timer } of this.waiting.values()) clearTimeout(timer);
    this.waiting.clear();
  }

  private nextId(): string {
    return `${this.prefix}-${++this.count}`;
  }

  private lose(): void {
    if (this.isLost) return;
    this.isLost = true;
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const { timer, reject } of waiting) {
      clearTimeout(timer);
      reject(new NoAnswerError(this.connection.host.words.lost));
    }
    this.lost();
  }

  private receive(content: unknown, buffers: ArrayBufferView[]): void {
    if (typeof content !== "object" || content === null) return;
    const message = content as Message & { id?: unknown };
    const id = typeof message.id === "string" ? message.id : null;
    const waiting = id === null ? undefined : this.waiting.get(id);
    if (message.type === "busy") {
      if (waiting) clearTimeout(waiting.timer);
      if (id === null || waiting) {
        const text = String(message.message ?? "");
        const held = message.stoppable === false ? { stoppable: false as const } : {};
        this.push({ type: "busy", id, message: text, share: readShare(message), ...held }, buffers);
      }
    } else if (message.type === "idle") {
      this.push({ type: "idle", id }, buffers);
    } else if (waiting && id !== null) {
      clearTimeout(waiting.timer);
      this.waiting.delete(id);
      if (message.type === "error") {
        const Kind = message.cancelled === true ? CancelledError : RefusedError;
        waiting.reject(new Kind(String(message.message)));
      } else {
        waiting.resolve({ message, buffers });
      }
    } else if (id === null) {
      if (message.type === "scene" || message.type === "error") this.push(message, buffers);
    } else if (message.type === "scene") {
      const { header, history } = message;
      this.push({ type: "scene", header, history }, buffers);
    }
  }
}

/** How much of a task is done, from 0 to 1; null where the host does not know. */
function readShare({ share }: { share: unknown }): number | null {
  return typeof share === "number" ? Math.min(Math.max(share, 0), 1) : null;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
