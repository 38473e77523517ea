import { beforeEach, expect, test, vi } from "vitest";
import { Selection } from "../../src/controls/selection";
import { connect } from "../../src/host/anywidget";
import { CANVAS_TRAITS } from "../../src/host/traits";
import type { Stage } from "../../src/paint/stage";
import { FakeModel } from "../fake_model.js";
import { readScene } from "../small";

let model: FakeModel;
let stage: { scene: unknown; markSelection: any; markHover: any };
let host: { dataset: Record<string, string> };
let live: { textContent: string };
let selection: Selection;

beforeEach(() => {
  model = new FakeModel({ selection: "", selected_paths: [], hover: "" });
  stage = { scene: readScene(), markSelection: vi.fn(), markHover: vi.fn() };
  host = { dataset: {} };
  live = { textContent: "" };
  const { traits } = connect(model, CANVAS_TRAITS);
  selection = new Selection(
    traits,
    stage as unknown as Stage,
    host as unknown as HTMLElement,
    live as unknown as HTMLElement,
    () => undefined,
  );
  for (const name of ["selection", "selected_paths"] as const) {
    traits.follow(name, () => selection.follow());
  }
  traits.follow("hover", () => selection.followHover());
});

test("several values are told at once, and their own echo is not followed", () => {
  selection.choose(["main/%x", "main/%t"]);
  expect(selection.paths).toEqual(["main/%x", "main/%t"]);
  expect(selection.path).toBe("main/%x");
  expect(host.dataset.selected).toBe("main/%x");
  expect(live.textContent).toBe("2 values, x and 1 more");
  expect(stage.markSelection.mock.calls).toEqual([[["main/%x", "main/%t"]]]);
  expect(model.saved).toEqual([
    { selection: "main/%x", selected_paths: ["main/%x", "main/%t"] },
  ]);
  selection.choose(["main/%x", "main/%t"]);
  expect(model.saved).toHaveLength(1);
});

test("the first alone is another selection than all", () => {
  selection.choose(["main/%x", "main/%t"]);
  selection.choose(["main/%x"]);
  expect(model.saved[1]).toEqual({ selection: "main/%x", selected_paths: ["main/%x"] });
  selection.choose([]);
  expect(model.saved[2]).toEqual({ selection: "", selected_paths: [] });
  expect(selection.path).toBe("");
});

test("what the kernel sets is followed; others count only with their first", () => {
  model.receiveTrait("selected_paths", ["main/%x", "main/%t"]);
  expect(selection.paths).toEqual([]);
  model.receiveTrait("selection", "main/%x");
  expect(selection.paths).toEqual(["main/%x", "main/%t"]);
  model.receiveTrait("selection", "main/a");
  expect(selection.paths).toEqual(["main/a"]);
  expect(model.saved).toEqual([]);
});

test("pointing marks all values, also after the kernel has learned of the first", () => {
  vi.useFakeTimers();
  selection.hover(["main/%x", "main/%t"]);
  vi.runAllTimers();
  vi.useRealTimers();
  expect(model.values.hover).toBe("main/%x");
  expect(stage.markHover.mock.calls).toEqual([[["main/%x", "main/%t"]]]);
  model.receiveTrait("hover", "main/a");
  expect(stage.markHover.mock.calls[1]).toEqual(["main/a"]);
});
