import { expect, test } from "vitest";
import { FileNotes } from "../../src/standalone/file_notes";

function keep(values: Record<string, string> = {}) {
  return {
    values,
    getItem: (key: string) => values[key] ?? null,
    setItem: (key: string, value: string) => {
      values[key] = value;
    },
  };
}

test("notes are kept by the digest of the model, and found again", () => {
  const kept = keep();
  const notes = new FileNotes("s1", kept);
  notes.add("one", ["main/a"]);
  expect(notes.isKept).toBe(true);
  expect(Object.keys(kept.values)).toEqual(["netloupe-notes-s1"]);
  const again = new FileNotes("s1", kept);
  expect(again.list().map(({ text, paths }) => [text, paths])).toEqual([["one", ["main/a"]]]);
  expect(new FileNotes("s2", kept).list()).toEqual([]);
});

test("the latest turn counts, and what is removed is gone", () => {
  const notes = new FileNotes("s", null);
  notes.add("one", ["main/a"]);
  notes.add("two", ["main/b"]);
  const [{ id }, other] = notes.list();
  notes.edit(id, "changed");
  expect(notes.list().map(({ text }) => text)).toEqual(["changed", "two"]);
  notes.remove(other.id);
  expect(notes.list().map(({ text }) => text)).toEqual(["changed"]);
  expect(notes.count).toBe(4);
});

test("each event is a line of the format, with an id of its own", () => {
  const notes = new FileNotes("s", null);
  notes.add("one", ["main/a"]);
  notes.add("line\nbreak", ["main/a"]);
  const lines = notes.text().split("\n");
  expect(lines.pop()).toBe("");
  const events = lines.map((line) => JSON.parse(line));
  const ids = events.flatMap(({ event, note }) => [event, note]);
  expect(new Set(ids).size).toBe(4);
  for (const id of ids) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
  for (const { at, format, author } of events) {
    expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect([format, author]).toEqual(["netloupe-notes-1", ""]);
  }
});

test("a browser that keeps nothing, or is full, loses nothing of this page", () => {
  const refusing = {
    getItem: () => {
      throw new Error("SecurityError");
    },
    setItem: () => {
      throw new Error("QuotaExceededError");
    },
  };
  const notes = new FileNotes("s", refusing);
  notes.add("one", ["main/a"]);
  expect(notes.isKept).toBe(false);
  expect(notes.list()).toHaveLength(1);
  const full = new FileNotes("s", { ...keep(), setItem: refusing.setItem });
  expect(full.isKept).toBe(true);
  full.add("one", ["main/a"]);
  expect(full.isKept).toBe(false);
  expect(full.list()).toHaveLength(1);
});

test("lines that somebody else has left there are passed over", () => {
  const kept = keep({ "netloupe-notes-s": 'x\n{"format":"netloupe-notes-1"}\n[]\nnull\n' });
  expect(new FileNotes("s", kept).list()).toEqual([]);
});
