import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Requests } from "../../src/controls/requests";
import { KERNEL, connect } from "../../src/host/anywidget";
import type { Host } from "../../src/host/host";
import { CANVAS_TRAITS } from "../../src/host/traits";
import { FakeModel } from "../fake_model.js";
import { hostThatCan } from "../hosts";

let model: FakeModel;
let parts: any;

function askOf(host: Host): Requests {
  const connection = { ...connect(model, CANVAS_TRAITS), host };
  return new Requests(connection, parts.strip, parts.progress, parts.question, parts.actions);
}

beforeEach(() => {
  vi.useFakeTimers();
  model = new FakeModel();
  parts = {
    strip: { showError: vi.fn(), showNotices: vi.fn() },
    progress: { show: vi.fn(), hide: vi.fn() },
    question: { ask: vi.fn() },
    actions: { show: vi.fn(), absent: vi.fn() },
  };
});
afterEach(() => vi.useRealTimers());

test("until the first scene is there the host's words stand, and a kernel is given up", async () => {
  const asked = askOf(KERNEL).showFirstScene(async () => null);
  expect(parts.progress.show.mock.calls).toEqual([["Waiting for the kernel …", null, null]]);
  await vi.advanceTimersByTimeAsync(7_999);
  expect(parts.actions.absent).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await asked;
  expect(parts.actions.absent).toHaveBeenCalledOnce();
  expect(parts.progress.hide).toHaveBeenCalled();
});

test("a host without time-outs is never given up", async () => {
  const requests = askOf(hostThatCan("legend"));
  void requests.showFirstScene(async () => null);
  expect(parts.progress.show.mock.calls[0][0]).toBe("Unpacking …");
  void requests.ask({ type: "scene" });
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(model.sent.map(({ type }) => type)).toEqual(["scene", "scene"]);
  expect(vi.getTimerCount()).toBe(0);
  expect(parts.actions.absent).not.toHaveBeenCalled();
  expect(parts.strip.showError).not.toHaveBeenCalled();
});

/** A scene as this canvas cannot draw it: what becomes of it is seen by what is said of it. */
const ODD = { message: { type: "scene", header: { version: 1 } }, buffers: [] };

test("a first scene that is there already is taken at once, and nothing is asked", () => {
  model = new FakeModel({ first: ODD });
  void askOf(KERNEL).showFirstScene(async () => null);
  expect(parts.strip.showError.mock.lastCall[0]).toMatch(/has version 1/);
  expect(parts.progress.show).not.toHaveBeenCalled();
  expect(model.sent).toEqual([]);
});

test("one that is being made is waited for; where it is not made, it is asked for", async () => {
  model = new FakeModel({ first: { coming: true } });
  const shown = askOf(KERNEL).showFirstScene(async () => null);
  await vi.advanceTimersByTimeAsync(1_000);
  model.receiveTrait("first", ODD);
  await shown;
  expect(parts.strip.showError.mock.lastCall[0]).toMatch(/has version 1/);
  expect(model.sent).toEqual([]);

  model = new FakeModel({ first: { coming: true } });
  void askOf(KERNEL).showFirstScene(async () => ({ width: 700, height: 500 }));
  model.receiveTrait("first", {});
  await vi.advanceTimersByTimeAsync(0);
  expect(model.sent).toMatchObject([{ type: "scene", window: [700, 500] }]);

  model = new FakeModel({ first: { coming: true } });
  void askOf(KERNEL).showFirstScene(async () => null);
  await vi.advanceTimersByTimeAsync(8_000);
  expect(model.sent).toMatchObject([{ type: "scene" }]);
});

test("a canvas that is taken away asks for nothing any more", async () => {
  model = new FakeModel({ first: { coming: true } });
  const requests = askOf(KERNEL);
  const shown = requests.showFirstScene(async () => null);
  requests.close();
  await shown;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(model.sent).toEqual([]);
  expect(model.listening).toBe(0);
  expect(parts.actions.absent).not.toHaveBeenCalled();
});

test("that the first picture is painted is told to a host in which something waits for it", () => {
  askOf(hostThatCan("legend")).tellPainted({ width: 700, height: 500 });
  expect(model.sent).toEqual([]);
  askOf(KERNEL).tellPainted({ width: 700, height: 500 });
  askOf(KERNEL).tellPainted(null);
  const [sized, hidden] = model.sent.map(({ id, ...told }) => told);
  expect(sized).toEqual({ type: "painted", window: [700, 500] });
  expect(hidden).toEqual({ type: "painted" });
  model.isClosed = true;
  askOf(KERNEL).tellPainted(null); // a kernel that is gone keeps nothing from being drawn
  expect(model.sent).toHaveLength(2);
});

test("an answer that does not come and a host that has gone are told in its words", async () => {
  const asked = askOf(KERNEL).ask({ type: "undo" });
  await vi.advanceTimersByTimeAsync(30_000);
  await asked;
  expect(parts.strip.showError.mock.calls).toEqual([["The kernel does not answer."]]);
  askOf(hostThatCan());
  model.loseKernel();
  expect(parts.strip.showError).toHaveBeenLastCalledWith("The page has gone");
});

test("what takes long can be stopped where the host can stop it", () => {
  const busy = { id: null, type: "busy", message: "Laying out", share: 0.5 };
  askOf(KERNEL);
  model.receive(busy);
  const [, , cancel] = parts.progress.show.mock.calls[0];
  cancel();
  expect(model.sent).toMatchObject([{ type: "cancel" }]);
  model = new FakeModel();
  askOf(hostThatCan());
  model.receive(busy);
  expect(parts.progress.show).toHaveBeenLastCalledWith("Laying out", 0.5, null);
});

test("a scene of another version says what to do about it there", () => {
  for (const [host, advice] of [
    [KERNEL, "restart the kernel and reload the page"],
    [hostThatCan(), "write it again"],
  ] as const) {
    model = new FakeModel();
    askOf(host);
    model.receive({ type: "scene", header: { version: 1 } });
    expect(parts.strip.showError.mock.lastCall[0]).toMatch(/has version 1, .*: /);
    expect(parts.strip.showError.mock.lastCall[0].endsWith(`: ${advice}`)).toBe(true);
  }
});

test("what is said while something is looked for goes with the answer", async () => {
  const requests = askOf(KERNEL);
  const found = requests.search("relu", false);
  const { id } = model.sent[0];
  model.receive({ id, type: "busy", message: "Searching", share: null });
  expect(parts.progress.show).toHaveBeenLastCalledWith("Searching", null, expect.any(Function));
  expect(parts.progress.hide).not.toHaveBeenCalled();
  model.receive({ id, type: "hits", hits: [], total: 0 });
  await found;
  expect(parts.progress.hide).toHaveBeenCalledOnce();
});
