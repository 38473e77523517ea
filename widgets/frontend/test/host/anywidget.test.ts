import { expect, test, vi } from "vitest";
import { type WidgetModel, connect, makeWidget } from "../../src/host/anywidget";
import { CANVAS_TRAITS } from "../../src/host/traits";
import { FakeModel } from "../fake_model.js";

test("traits are read by name; what is missing or of another kind is as at the start", () => {
  const model = new FakeModel({ focus: "main/Conv", hops: "two", breadcrumb: {}, wrap: 1 });
  const { traits } = connect(model, CANVAS_TRAITS);
  expect(traits.get("focus")).toBe("main/Conv");
  expect(traits.get("hops")).toBe(0);
  expect(traits.get("breadcrumb")).toEqual([]);
  expect(traits.get("wrap")).toBe(false);
  expect(traits.get("height")).toBe(CANVAS_TRAITS.height);
});

test("several traits are set in one change that the kernel gets", () => {
  const model = new FakeModel();
  connect(model, CANVAS_TRAITS).traits.set({ selection: "a", selected_paths: ["a", "b"] });
  expect(model.saved).toEqual([{ selection: "a", selected_paths: ["a", "b"] }]);
});

test("changes of a trait are followed until that is ended", () => {
  const model = new FakeModel();
  const { traits } = connect(model, CANVAS_TRAITS);
  const changed = vi.fn();
  const stop = traits.follow("theme", changed);
  model.receiveTrait("theme", "dark");
  model.receiveTrait("title", "gpt2");
  expect(changed.mock.calls).toEqual([[]]);
  stop();
  model.receiveTrait("theme", "light");
  expect(changed).toHaveBeenCalledTimes(1);
  expect(model.listening).toBe(0);
});

test("messages come in with their buffers, go out, and end with the kernel", () => {
  const model = new FakeModel();
  const connection = connect(model, CANVAS_TRAITS);
  const [receive, lost] = [vi.fn(), vi.fn()];
  const stops = [connection.onMessage(receive), connection.onLost(lost)];
  const buffer = new DataView(new ArrayBuffer(4));
  model.receive({ type: "idle" }, [buffer]);
  connection.send({ type: "undo", id: "1" });
  model.loseKernel();
  expect(receive.mock.calls).toEqual([[{ type: "idle" }, [buffer]]]);
  expect(lost.mock.calls).toEqual([[]]);
  expect(model.sent).toEqual([{ type: "undo", id: "1" }]);
  for (const stop of stops) stop();
  expect(model.listening).toBe(0);
});

test("a module shows what it is made of in its element, and takes it away", () => {
  const [away, parent] = [vi.fn(), {} as HTMLElement];
  const show = vi.fn((_connection: unknown, _parent: HTMLElement) => away);
  const model: WidgetModel = new FakeModel({ html: "<p>" });
  const stop = makeWidget({ html: "" }, show).render({ model, el: parent });
  expect(show.mock.calls[0][1]).toBe(parent);
  expect(away).not.toHaveBeenCalled();
  stop();
  expect(away).toHaveBeenCalledOnce();
});
