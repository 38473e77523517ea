/** Requests to the kernel and its replies. One connection for each view of a widget. */

import type { WidgetModel } from "./anywidget";

export interface Hit {
  path: string;
  title: string;
  detail: string;
  kind: string;
  /** path of the drawn box that is it or hides it */
  shown: string | null;
}

/** Which moment a scene shows, and whether one can go back and forth from it. */
export interface History {
  readonly moment: number;
  readonly undo: boolean;
  readonly redo: boolean;
}

export type Reply =
  | {
      type: "scene";
      header: unknown;
      /** one path, or those of all values of a bundle */
      select?: string | string[];
      /** one path, or those of several things that are gone to together */
      center?: string | string[];
      anchor?: string;
      fit?: boolean;
      /** the window goes where it was when this moment was left */
      restore?: boolean;
      history?: History;
    }
  | { type: "hits"; hits: Hit[]; total: number }
  /** what was asked for takes long: ask the user, then ask again with `sure` */
  | { type: "confirm"; message: string };

/** What comes without having been asked for, or tells about a request under way. */
export type Push =
  | Extract<Reply, { type: "scene" }>
  | { type: "error"; message: string }
  | { type: "busy"; id: string | null; message: string; share: number | null }
  | { type: "idle"; id: string | null }
  | { type: "center"; path: string };

export class KernelError extends Error {}
/** The user has stopped the request. */
export class CancelledError extends KernelError {}
export class NoAnswerError extends Error {}

/** Said once the kernel has been restarted or shut down: what is drawn stays. */
export const LOST = "The kernel that drew this has ended. Run the cell again to go on.";

interface Waiting {
  resolve(reply: { reply: Reply; buffers: ArrayBufferView[] }): void;
  reject(error: Error): void;
  timer: ReturnType<typeof setTimeout> | undefined;
}

let connections = 0;

/** What a widget's model hears when its kernel is gone; nothing that it sends arrives any more. */
export const COMM_LOST = "comm_live_update";

export class Connection {
  private readonly prefix = `${++connections}-${Math.random().toString(36).slice(2, 10)}`;
  private readonly waiting = new Map<string, Waiting>();
  private count = 0;
  private isLost = false;

  /**
   * @param push gets what was not asked for. A scene that another view of the same widget asked
   *   for comes here too, without the places to go to: both views show the same state.
   * @param lost called once when nothing can be asked any more: the kernel was restarted
   */
  constructor(
    private readonly model: Pick<WidgetModel, "on" | "off" | "send">,
    private readonly push: (message: Push, buffers: ArrayBufferView[]) => void,
    private readonly lost: () => void,
  ) {
    model.on("msg:custom", this.receive);
    model.on(COMM_LOST, this.lose);
  }

  /**
   * Send a request.
   *
   * @param timeout milliseconds until NoAnswerError; a "busy" message of the kernel stops the clock
   * @returns the request's id and the promise of its reply; KernelError where the kernel says so
   */
  request(
    content: { type: string; [field: string]: unknown },
    timeout: number,
  ): { id: string; reply: Promise<{ reply: Reply; buffers: ArrayBufferView[] }> } {
    const id = `${this.prefix}-${++this.count}`;
    const reply = new Promise<{ reply: Reply; buffers: ArrayBufferView[] }>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        reject(new NoAnswerError("The kernel does not answer."));
      }, timeout);
      this.waiting.set(id, { resolve, reject, timer });
      try {
        if (this.isLost) throw new Error(LOST);
        this.model.send({ ...content, id });
      } catch {
        clearTimeout(timer);
        this.waiting.delete(id);
        reject(new NoAnswerError(LOST));
      }
    });
    return { id, reply };
  }

  /** Tell the kernel to give up a request, or whatever it is at. */
  cancel(target: string | null): void {
    if (this.isLost) return;
    const id = `${this.prefix}-${++this.count}`;
    this.model.send({ id, type: "cancel", ...(target === null ? {} : { target }) });
  }

  close(): void {
    this.model.off("msg:custom", this.receive);
    this.model.off(COMM_LOST, this.lose);
    for (const { timer } of this.waiting.values()) clearTimeout(timer);
    this.waiting.clear();
  }

  private readonly lose = (): void => {
    if (this.isLost) return;
    this.isLost = true;
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const { timer, reject } of waiting) {
      clearTimeout(timer);
      reject(new NoAnswerError(LOST));
    }
    this.lost();
  };

  private readonly receive = (message: unknown, buffers: ArrayBufferView[] = []): void => {
    if (typeof message !== "object" || message === null) return;
    const fields = message as Record<string, any>;
    const id = typeof fields.id === "string" ? fields.id : null;
    const waiting = id === null ? undefined : this.waiting.get(id);
    if (fields.type === "busy") {
      if (waiting) clearTimeout(waiting.timer);
      if (id === null || waiting) {
        const share = readShare(fields);
        this.push({ type: "busy", id, message: String(fields.message ?? ""), share }, buffers);
      }
      return;
    }
    if (waiting && id !== null) {
      clearTimeout(waiting.timer);
      this.waiting.delete(id);
      if (fields.type === "error") {
        const Kind = fields.cancelled === true ? CancelledError : KernelError;
        waiting.reject(new Kind(String(fields.message)));
      } else {
        waiting.resolve({ reply: fields as Reply, buffers });
      }
      return;
    }
    if (fields.type === "idle") {
      this.push({ type: "idle", id }, buffers);
    } else if (id === null) {
      const known = ["scene", "error", "center"].includes(fields.type);
      if (known) this.push(fields as Push, buffers);
    } else if (fields.type === "scene") {
      this.push({ type: "scene", header: fields.header, history: fields.history }, buffers);
    }
  };
}

/** How much of a task is done, from 0 to 1; null where the kernel does not know. */
function readShare({ done, total }: Record<string, unknown>): number | null {
  if (typeof done !== "number" || typeof total !== "number" || !(total > 0)) return null;
  return Math.min(Math.max(done / total, 0), 1);
}

export function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
