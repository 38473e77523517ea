import { expect, test } from "vitest";
import { isOffered, readKey } from "../../src/controls/keys";
import { KERNEL } from "../../src/host/anywidget";
import { type Keystroke, isKept } from "../../src/host/kept_keys";

const NAMED = [
  ...["Enter", "Escape", "Tab", "Home", "End", "PageUp", "PageDown", "Backspace", "Delete"],
  ...["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "ContextMenu", "F1", "F2", "F11"],
];
const LETTERS = [..."abcdefghijklmnopqrstuvwxyz0123456789/?+-=_.,;[]'` "];
const ALL = [...LETTERS, ...NAMED];

function strokesWith(names: string): Keystroke[] {
  const has = (name: string): boolean => names.includes(name);
  return ALL.map((key) => ({
    ...{ key, ctrlKey: has("ctrl"), metaKey: has("meta"), altKey: has("alt"), shiftKey: has("shift") },
  }));
}

/** The keys that do not reach the notebook, with some keys held. */
function keptWith(names: string, isTyping: boolean): string[] {
  const isUsed = (stroke: Keystroke): boolean => {
    const command = isTyping ? null : readKey(stroke);
    return command !== null && isOffered(command, KERNEL);
  };
  return strokesWith(names)
    .filter((stroke) => isKept(stroke, isTyping, isUsed(stroke)))
    .map(({ key }) => key);
}

test("of shortcuts with Ctrl or Cmd a canvas keeps those that it uses, and no other", () => {
  for (const names of ["ctrl", "meta"]) expect(keptWith(names, false)).toEqual(["c", "y", "z", "Enter"]);
  for (const names of ["ctrl shift", "meta shift"]) {
    expect(keptWith(names, false)).toEqual(["c", "z", "Enter"]);
  }
});

test("a canvas keeps no shortcut with Alt", () => {
  for (const names of ["alt", "alt shift", "ctrl alt"]) expect(keptWith(names, false)).toEqual(["Enter"]);
});

test("what is typed does nothing around, but for keys of functions", () => {
  const typed = ALL.filter((key) => !/^F\d/.test(key));
  for (const isTyping of [true, false]) {
    for (const names of ["", "shift"]) expect(keptWith(names, isTyping)).toEqual(typed);
  }
});

test("a field for text keeps what edits text", () => {
  const kept = ["a", "c", "v", "x", "y", "z", "Enter", "Home", "End", "PageUp", "PageDown"];
  kept.push("Backspace", "Delete", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight");
  expect(keptWith("ctrl", true)).toEqual(kept);
  expect(keptWith("ctrl", true)).not.toContain("s");
});

test("letters that are written with Alt are text", () => {
  expect(keptWith("ctrl alt", true)).toEqual([...LETTERS, "Enter"]);
});
