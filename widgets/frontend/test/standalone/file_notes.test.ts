import { expect, test } from "vitest";
import { FileNotes, type KnownNote } from "../../src/standalone/file_notes";

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

const KNOWN: KnownNote = {
  ...{ id: "n1", kept: 3, removed: 0, author: "ana" },
  text: [3, "2026-11-01T00:00:00.000000Z", "e3"],
  accepts: [["NL-G02", "f1"]],
};
const known = (changes: Partial<KnownNote> = {}): KnownNote[] => [{ ...KNOWN, ...changes }];
const write = (events: object[]) =>
  keep({
    "netloupe-notes-s": events
      .map((event) => JSON.stringify({ format: "netloupe-notes-1", note: "n1", author: "", ...event }))
      .join("\n"),
  });

test("a note of the file is changed and removed by events that come after all of it", () => {
  const notes = new FileNotes("s", null, known());
  expect(notes.owns("n1")).toBe(true);
  expect(notes.listChanges()).toEqual([]);
  notes.edit("n1", "better");
  expect(notes.list()).toEqual([]);
  expect(notes.listChanges()).toMatchObject([{ isRemoved: false, written: { text: "better" } }]);
  notes.remove("n1");
  expect(notes.listChanges()).toMatchObject([{ isRemoved: true }]);
  const events = notes.text().trim().split("\n").map((line) => JSON.parse(line));
  expect(events.map(({ note, turn }) => [note, turn])).toEqual([["n1", 4], ["n1", 5]]);
  expect(events[0].text).toBe("better");
  expect(events[1].removed).toBe(true);
  expect("anchors" in events[0] || "text" in events[1]).toBe(false);
});

test("what was removed in the file comes after a removal", () => {
  const notes = new FileNotes("s", null, known({ removed: 7 }));
  notes.edit("n1", "kept all the same");
  expect(JSON.parse(notes.text()).turn).toBe(8);
});

test("of what the browser kept only what is newer than the file changes it", () => {
  const at = "2026-11-02T00:00:00.000000Z";
  const change = (event: object) => new FileNotes("s", write([event]), known()).listChanges()[0];
  // the file has taken it up
  expect(change({ event: "e3", turn: 3, at: KNOWN.text[1], text: "old" }).written).toBeNull();
  expect(change({ event: "e2", turn: 2, at, text: "older" }).written).toBeNull();
  // two wrote at once: the later counts
  expect(change({ event: "e0", turn: 3, at, text: "at once" }).written?.text).toBe("at once");
  // somebody wrote without knowing that it was removed
  expect(change({ event: "e9", turn: 3, at, removed: true }).isRemoved).toBe(false);
  expect(change({ event: "e9", turn: 4, at, removed: true }).isRemoved).toBe(true);
});

test("a note of the browser that the file has is listed once, one removed there not at all", () => {
  const event = { event: "e1", turn: 1, at: "2026-11-01T00:00:00.000000Z", text: "one", anchors: [] };
  expect(new FileNotes("s", write([event])).list()).toHaveLength(1);
  expect(new FileNotes("s", write([event]), known()).list()).toEqual([]);
  expect(new FileNotes("s", write([event]), known({ kept: 1, removed: 2 })).list()).toEqual([]);
});
