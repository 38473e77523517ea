import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  LOST,
  Connection,
  KernelError,
  NoAnswerError,
  type Push,
} from "../../src/host/conversation";

/** A model whose messages the tests play the kernel for. */
class Channel {
  sent: any[] = [];
  broken = false;
  private listeners: Array<[string, (message?: unknown, buffers?: unknown) => void]> = [];
  on(event: string, listener: any): void {
    this.listeners.push([event, listener]);
  }
  off(event: string, listener: any): void {
    this.listeners = this.listeners.filter(([e, other]) => e !== event || other !== listener);
  }
  send(content: unknown): void {
    if (this.broken) throw new Error("the comm is closed");
    this.sent.push(content);
  }
  receive(message: unknown, buffers: unknown[] = []): void {
    this.call("msg:custom", message, buffers);
  }
  call(event: string, ...given: unknown[]): void {
    for (const [wanted, listener] of [...this.listeners]) if (wanted === event) listener(...given);
  }
  get listening(): number {
    return this.listeners.length;
  }
}

let channel: Channel;
let pushed: Push[];
let connection: Connection;
let losses: number;

beforeEach(() => {
  vi.useFakeTimers();
  channel = new Channel();
  pushed = [];
  losses = 0;
  connection = new Connection(
    channel,
    (push) => pushed.push(push),
    () => losses++,
  );
});
afterEach(() => vi.useRealTimers());

test("a reply finds its request", async () => {
  const first = connection.request({ type: "toggle", path: "main/a" }, 1000);
  const second = connection.request({ type: "search", text: "x", regex: false }, 1000);
  expect(channel.sent[0]).toEqual({ id: first.id, type: "toggle", path: "main/a" });
  const buffers = [new DataView(new ArrayBuffer(4))];
  channel.receive({ id: second.id, type: "hits", hits: [], total: 0 });
  channel.receive({ id: first.id, type: "scene", header: 1 }, buffers);
  await expect(first.reply).resolves.toMatchObject({ reply: { type: "scene" }, buffers });
  await expect(second.reply).resolves.toMatchObject({ reply: { total: 0 } });
  expect(pushed).toEqual([]);
});

test("an error reply rejects with the kernel's words", async () => {
  const { id, reply } = connection.request({ type: "reveal", path: "gone" }, 1000);
  channel.receive({ id, type: "error", message: "there is no gone" });
  await expect(reply).rejects.toThrow(new KernelError("there is no gone"));
});

test("no answer in time rejects; a late scene is still shown", async () => {
  const { id, reply } = connection.request({ type: "scene" }, 1000);
  vi.advanceTimersByTime(1001);
  await expect(reply).rejects.toBeInstanceOf(NoAnswerError);
  channel.receive({ id, type: "scene", header: 1 });
  expect(pushed).toEqual([{ type: "scene", header: 1 }]);
});

test("busy stops the clock and is told", async () => {
  const { id, reply } = connection.request({ type: "expand", mode: "all" }, 1000);
  channel.receive({ id, type: "busy", message: "laying out", done: 3, total: 12 });
  vi.advanceTimersByTime(60_000);
  channel.receive({ id, type: "scene", header: 1 });
  await expect(reply).resolves.toMatchObject({ reply: { type: "scene" } });
  expect(pushed).toEqual([{ type: "busy", id, message: "laying out", share: 0.25 }]);
});

test("without a kernel a request rejects at once", async () => {
  channel.broken = true;
  const { reply } = connection.request({ type: "scene" }, 1000);
  await expect(reply).rejects.toThrow(/Run the cell again/);
});

test("what another view asked for is shown here too, but not where it went", () => {
  channel.receive({ id: "other-1", type: "scene", header: 1, center: "main/a", select: "main/a" });
  channel.receive({ id: "other-2", type: "error", message: "not for us" });
  channel.receive({ id: "other-3", type: "hits", hits: [], total: 0 });
  channel.receive({ id: "other-4", type: "busy", message: "not for us" });
  expect(pushed).toEqual([{ type: "scene", header: 1 }]);
});

test("messages without a request are pushes; unknown ones are left alone", () => {
  channel.receive({ id: null, type: "error", message: "oh" });
  channel.receive({ type: "center", path: "main/a" });
  channel.receive({ type: "weather" });
  channel.receive("text");
  expect(pushed.map((push) => push.type)).toEqual(["error", "center"]);
});

test("cancel names its target", () => {
  connection.cancel("7");
  expect(channel.sent[0]).toMatchObject({ type: "cancel", target: "7" });
});

test("closing stops listening and forgets requests", () => {
  connection.request({ type: "scene" }, 1000);
  connection.close();
  expect(channel.listening).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test("after the kernel's restart what is asked says what to do, and nothing is sent", async () => {
  const { reply } = connection.request({ type: "toggle", path: "main/a" }, 1000);
  channel.call("comm_live_update");
  channel.call("comm_live_update");
  expect(losses).toBe(1);
  await expect(reply).rejects.toThrow(new NoAnswerError(LOST));
  channel.sent = [];
  channel.broken = true;
  connection.cancel(null);
  const next = connection.request({ type: "search", text: "x", regex: false }, 1000);
  await expect(next.reply).rejects.toThrow(new NoAnswerError(LOST));
  expect(LOST).toContain("Run the cell again");
  expect(channel.sent).toEqual([]);
  connection.close();
  expect(channel.listening).toBe(0);
});
