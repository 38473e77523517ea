import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { KERNEL, connect } from "../../src/host/anywidget";
import {
  Conversation,
  NoAnswerError,
  type Push,
  RefusedError,
} from "../../src/host/conversation";
import { CANVAS_TRAITS } from "../../src/host/traits";
import { FakeModel } from "../fake_model.js";

const LOST = KERNEL.words.lost;

let model: FakeModel;
let pushed: Push[];
let conversation: Conversation;
let losses: number;

beforeEach(() => {
  vi.useFakeTimers();
  model = new FakeModel();
  pushed = [];
  losses = 0;
  conversation = new Conversation(
    connect(model, CANVAS_TRAITS),
    (push) => pushed.push(push),
    () => losses++,
  );
});
afterEach(() => vi.useRealTimers());

test("a reply finds its request", async () => {
  const first = conversation.request({ type: "toggle", path: "main/a" }, 1000);
  const second = conversation.request({ type: "search", text: "x", regex: false }, 1000);
  expect(model.sent[0]).toEqual({ id: first.id, type: "toggle", path: "main/a" });
  expect(conversation.isWaiting).toBe(true);
  const buffers = [new DataView(new ArrayBuffer(4))];
  model.receive({ id: second.id, type: "hits", hits: [], total: 0 });
  expect(conversation.isWaiting).toBe(true);
  model.receive({ id: first.id, type: "scene", header: 1 }, buffers);
  expect(conversation.isWaiting).toBe(false);
  await expect(first.reply).resolves.toMatchObject({ message: { type: "scene" }, buffers });
  await expect(second.reply).resolves.toMatchObject({ message: { total: 0 } });
  expect(pushed).toEqual([]);
});

test("an error reply rejects with the kernel's words", async () => {
  const { id, reply } = conversation.request({ type: "reveal", path: "gone" }, 1000);
  model.receive({ id, type: "error", message: "there is no gone" });
  await expect(reply).rejects.toThrow(new RefusedError("there is no gone"));
});

test("no answer in time rejects; a late scene is still shown", async () => {
  const { id, reply } = conversation.request({ type: "scene" }, 1000);
  vi.advanceTimersByTime(1001);
  await expect(reply).rejects.toBeInstanceOf(NoAnswerError);
  model.receive({ id, type: "scene", header: 1 });
  expect(pushed).toEqual([{ type: "scene", header: 1 }]);
});

test("where a host is never given up no clock runs", async () => {
  const { id, reply } = conversation.request({ type: "expand", mode: "all" }, null);
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(3_600_000);
  model.receive({ id, type: "scene", header: 1 });
  await expect(reply).resolves.toMatchObject({ message: { type: "scene" } });
});

test("busy stops the clock and is told", async () => {
  const { id, reply } = conversation.request({ type: "expand", mode: "all" }, 1000);
  model.receive({ id, type: "busy", message: "laying out", share: 0.25 });
  vi.advanceTimersByTime(60_000);
  model.receive({ id, type: "scene", header: 1 });
  await expect(reply).resolves.toMatchObject({ message: { type: "scene" } });
  expect(pushed).toEqual([{ type: "busy", id, message: "laying out", share: 0.25 }]);
});

test("without a kernel a request rejects at once", async () => {
  model.isClosed = true;
  const { reply } = conversation.request({ type: "scene" }, 1000);
  await expect(reply).rejects.toThrow(/Run the cell again/);
});

test("what another view asked for is shown here too, but not where it went", () => {
  model.receive({ id: "other-1", type: "scene", header: 1, center: "main/a", select: "main/a" });
  model.receive({ id: "other-2", type: "error", message: "not for us" });
  model.receive({ id: "other-3", type: "hits", hits: [], total: 0 });
  model.receive({ id: "other-4", type: "busy", message: "not for us" });
  expect(pushed).toEqual([{ type: "scene", header: 1 }]);
});

test("messages without a request are pushes; unknown ones are left alone", () => {
  model.receive({ id: null, type: "error", message: "oh" });
  model.receive({ type: "scene", header: 1 });
  model.receive({ type: "weather" });
  model.receive("text");
  expect(pushed.map((push) => push.type)).toEqual(["error", "scene"]);
});

test("cancel names its target", () => {
  conversation.cancel("7");
  expect(model.sent[0]).toMatchObject({ type: "cancel", target: "7" });
});

test("closing stops listening and forgets requests", () => {
  conversation.request({ type: "scene" }, 1000);
  conversation.close();
  expect(model.listening).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test("after the kernel's restart what is asked says what to do, and nothing is sent", async () => {
  const { reply } = conversation.request({ type: "toggle", path: "main/a" }, 1000);
  model.loseKernel();
  model.loseKernel();
  expect(losses).toBe(1);
  await expect(reply).rejects.toThrow(new NoAnswerError(LOST));
  model.sent = [];
  model.isClosed = true;
  conversation.cancel(null);
  const next = conversation.request({ type: "search", text: "x", regex: false }, 1000);
  await expect(next.reply).rejects.toThrow(new NoAnswerError(LOST));
  expect(LOST).toContain("Run the cell again");
  expect(model.sent).toEqual([]);
  conversation.close();
  expect(model.listening).toBe(0);
});
