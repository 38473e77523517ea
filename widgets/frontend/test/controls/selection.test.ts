import { beforeEach, expect, test, vi } from "vitest";
import { Selection } from "../../src/controls/selection";
import type { WidgetModel } from "../../src/host/anywidget";
import type { Stage } from "../../src/paint/stage";
import { readScene } from "../small";

const listeners = new Map<string, () => void>();
let traits: Record<string, unknown>;
let saved: Array<Record<string, unknown>>;
let stage: { scene: unknown; markSelection: any; markHover: any };
let host: { dataset: Record<string, string> };
let live: { textContent: string };
let selection: Selection;

const model = {
  get: (name: string) => traits[name],
  set(name: string, value: unknown) {
    traits[name] = value;
    listeners.get(name)?.();
  },
  save_changes: () => void saved.push({ ...traits }),
} as unknown as WidgetModel;

beforeEach(() => {
  traits = { selection: "", selected_paths: [], hover: "" };
  saved = [];
  stage = { scene: readScene(), markSelection: vi.fn(), markHover: vi.fn() };
  host = { dataset: {} };
  live = { textContent: "" };
  selection = new Selection(
    model,
    stage as unknown as Stage,
    host as unknown as HTMLElement,
    live as unknown as HTMLElement,
    () => undefined,
  );
  for (const name of ["selection", "selected_paths"]) {
    listeners.set(name, () => selection.follow());
  }
  listeners.set("hover", () => selection.followHover());
});

test("several values are told at once, and their own echo is not followed", () => {
  selection.choose(["main/%x", "main/%t"]);
  expect(selection.paths).toEqual(["main/%x", "main/%t"]);
  expect(selection.path).toBe("main/%x");
  expect(host.dataset.selected).toBe("main/%x");
  expect(live.textContent).toBe("2 values, x and 1 more");
  expect(stage.markSelection.mock.calls).toEqual([[["main/%x", "main/%t"]]]);
  expect(saved).toEqual([
    { selection: "main/%x", selected_paths: ["main/%x", "main/%t"], hover: "" },
  ]);
  selection.choose(["main/%x", "main/%t"]);
  expect(saved).toHaveLength(1);
});

test("the first alone is another selection than all", () => {
  selection.choose(["main/%x", "main/%t"]);
  selection.choose(["main/%x"]);
  expect(saved[1]).toMatchObject({ selection: "main/%x", selected_paths: ["main/%x"] });
  selection.choose([]);
  expect(saved[2]).toMatchObject({ selection: "", selected_paths: [] });
  expect(selection.path).toBe("");
});

test("what the kernel sets is followed; others count only with their first", () => {
  model.set("selected_paths", ["main/%x", "main/%t"]);
  expect(selection.paths).toEqual([]);
  model.set("selection", "main/%x");
  expect(selection.paths).toEqual(["main/%x", "main/%t"]);
  model.set("selection", "main/a");
  expect(selection.paths).toEqual(["main/a"]);
  expect(saved).toEqual([]);
});

test("pointing marks all values, also after the kernel has learned of the first", () => {
  vi.useFakeTimers();
  selection.hover(["main/%x", "main/%t"]);
  vi.runAllTimers();
  vi.useRealTimers();
  expect(traits.hover).toBe("main/%x");
  expect(stage.markHover.mock.calls).toEqual([[["main/%x", "main/%t"]]]);
  model.set("hover", "main/a");
  expect(stage.markHover.mock.calls[1]).toEqual(["main/a"]);
});
