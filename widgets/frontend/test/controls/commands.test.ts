import { beforeEach, expect, test, vi } from "vitest";
import { Commands } from "../../src/controls/commands";
import { KERNEL } from "../../src/host/anywidget";
import { hostThatCan } from "../hosts";

/** What lies over the picture, topmost first, as Escape puts it away. */
const LAYERS = ["help", "search", "hint", "legend", "highlights", "focusBar"] as const;

let parts: any;
let commands: Commands;

beforeEach(() => {
  parts = {
    host: KERNEL,
    stage: { camera: { zoom: vi.fn(), fit: vi.fn(), zoomTo: vi.fn() } },
    selection: { path: "main/a", paths: ["main/a"], box: 3, walk: vi.fn() },
    highlights: { isShown: false, clear: vi.fn(), toggle: vi.fn() },
    actions: { toggle: vi.fn(), closeAround: vi.fn(), leaveFocus: vi.fn(), focusOn: vi.fn() },
    search: { isOpen: false, leave: vi.fn(), focus: vi.fn() },
    help: { isShown: false, hide: vi.fn() },
    legend: { isShown: false, hide: vi.fn() },
    menu: { showSelected: vi.fn() },
    hint: { isShown: false, hide: vi.fn() },
    strip: { isShown: false, clear: vi.fn() },
    focusBar: { isShown: false },
  };
  commands = new Commands(parts);
});

function press(key: string, place: string | null = null): { preventDefault: unknown } {
  const target = { closest: () => place };
  const event = {
    ...{ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false },
    composedPath: () => [target],
    preventDefault: vi.fn(),
  };
  commands.onKey(event as unknown as KeyboardEvent);
  return event;
}

test("a key that means something here is kept from the page, others are left to it", () => {
  expect(press("f").preventDefault).toHaveBeenCalledOnce();
  expect(parts.stage.camera.fit).toHaveBeenCalledOnce();
  expect(press("q").preventDefault).not.toHaveBeenCalled();
  expect(press("Tab").preventDefault).not.toHaveBeenCalled();
});

test("Enter opens what is selected, but on a button presses it", () => {
  press("Enter", "button");
  expect(parts.actions.toggle).not.toHaveBeenCalled();
  press("Enter");
  expect(parts.actions.toggle.mock.calls).toEqual([[3]]);
  parts.selection.box = undefined;
  press("Enter");
  expect(parts.actions.toggle).toHaveBeenCalledOnce();
});

test("keys act on all that is selected", () => {
  parts.selection.paths = ["main/%x", "main/%y"];
  press("z");
  press("u");
  expect(parts.stage.camera.zoomTo.mock.calls).toEqual([[["main/%x", "main/%y"]]]);
  expect(parts.highlights.toggle.mock.calls).toEqual([["up", ["main/%x", "main/%y"]]]);
});

test("Escape puts away one thing after the other, then closes the group around", () => {
  const away = {
    help: parts.help.hide,
    search: parts.search.leave,
    hint: parts.hint.hide,
    legend: parts.legend.hide,
    highlights: parts.highlights.clear,
    focusBar: parts.actions.leaveFocus,
  };
  const state = (layer: (typeof LAYERS)[number]): string => (layer === "search" ? "isOpen" : "isShown");
  for (const layer of LAYERS) parts[layer][state(layer)] = true;
  for (const layer of LAYERS) {
    expect(away[layer]).not.toHaveBeenCalled();
    press("Escape");
    expect(away[layer]).toHaveBeenCalledOnce();
    expect(parts.actions.closeAround).not.toHaveBeenCalled();
    parts[layer][state(layer)] = false;
  }
  press("Escape");
  expect(parts.actions.closeAround).toHaveBeenCalledOnce();
});

test("keys that the host has no use for are left to the page", () => {
  parts.host = hostThatCan();
  for (const key of ["Enter", "/", "h"]) expect(press(key).preventDefault).not.toHaveBeenCalled();
  expect(parts.actions.toggle).not.toHaveBeenCalled();
  expect(parts.actions.focusOn).not.toHaveBeenCalled();
  expect(parts.search.focus).not.toHaveBeenCalled();
  expect(press("f").preventDefault).toHaveBeenCalledOnce();
});

test("Escape leaves a neighbourhood only where another one can be shown", () => {
  parts.focusBar.isShown = true;
  parts.host = hostThatCan();
  press("Escape");
  expect(parts.actions.leaveFocus).not.toHaveBeenCalled();
  expect(parts.actions.closeAround).toHaveBeenCalledOnce();
  parts.host = hostThatCan("focus");
  press("Escape");
  expect(parts.actions.leaveFocus).toHaveBeenCalledOnce();
});
