import { expect, test, vi } from "vitest";
import { LocalTraits } from "../../src/host/local_traits";
import { CANVAS_TRAITS } from "../../src/host/traits";
import type { ReviewMessage } from "../../src/review/connection";
import { type Block, BlockError } from "../../src/standalone/block";
import type { PaintsByPath } from "../../src/scene/paints_by_path";
import type { Kept } from "../../src/standalone/file_notes";
import { FileReview } from "../../src/standalone/file_review";
import type { Around } from "../../src/standalone/places";
import { readReview } from "../../src/review/items";
import { writeReview } from "../review/reviews";

const MARKS = { "main/g/": ["", "", "", "1", "error"], "main/a": ["", "", "error", "!"] };
const PLACES = { marked: { "main/a": [0] }, holders: { "main/g/": [0] }, repeats: {} };
const NOWHERE: Around = { marked: new Set(), holders: new Set(), repetitions: [] };
/** what a picture says of two nodes in one group */
const AROUND: Record<string, Around> = {
  "main/a": { marked: new Set(["main/a"]), holders: new Set(["main/g/"]), repetitions: [] },
  "main/b": {
    marked: new Set(["main/b"]),
    holders: new Set(["main/g/", "main/h.2/"]),
    repetitions: [["main/h.0-3/", 2]],
  },
};

function open(marks: object, read: () => Promise<Block>, kept: Kept | null = null) {
  const traits = new LocalTraits({ ...CANVAS_TRAITS, marks: marks as PaintsByPath });
  const goTo = vi.fn();
  const download = vi.fn();
  const findAround = async (path: string): Promise<Around> => AROUND[path] ?? NOWHERE;
  const review = new FileReview(traits, { read, goTo, findAround, download, kept });
  const told: ReviewMessage[] = [];
  review.onMessage((message) => {
    if (message.type !== "selection") told.push(message);
  });
  return { traits, goTo, review, told, download };
}

const REVIEW = writeReview([
  { id: "NL-G02", paths: ["main/a"], fingerprint: "f1", count: 3, evidence: [["found", "unused"]] },
]);
const values: Record<string, unknown> = { review: REVIEW, places: PLACES, structure: "s1" };
const whole = async (): Promise<Block> =>
  ({ value: (name: string) => values[name] }) as unknown as Block;

test("the list is read once somebody asks", async () => {
  const read = vi.fn(whole);
  const { review, told } = open(MARKS, read);
  expect(read).not.toHaveBeenCalled();
  review.send({ ask: "review" });
  await vi.waitFor(() => expect(told).toHaveLength(2));
  expect(told[0]).toEqual({ type: "review", review: REVIEW, marks: true });
  expect(told[1]).toMatchObject({ stage: "checked", error: "" });
});

test("an item is shown, and marks come and go", async () => {
  const { review, goTo, traits } = open({}, whole);
  review.send({ show: "main/a", item: 0 });
  expect(goTo).toHaveBeenCalledWith("main/a");
  review.send({ marks: true });
  await vi.waitFor(() => expect(traits.get("marks")).toEqual(MARKS));
  review.send({ marks: false });
  await vi.waitFor(() => expect(traits.get("marks")).toEqual({}));
});

test("a file that was cut short says so", async () => {
  const { review, told } = open({}, async () => {
    throw new BlockError("It seems to have been cut short.");
  });
  review.send({ ask: "review" });
  await vi.waitFor(() => expect(told).toHaveLength(2));
  expect(told[0]).toMatchObject({ review: null });
  expect(told[1]).toMatchObject({ error: "It seems to have been cut short." });
});

test("a note is listed, changed, taken along and removed", async () => {
  const { review, told, download } = open({}, whole);
  const items = () => {
    const lists = told.filter(({ type }) => type === "review");
    const last = lists[lists.length - 1];
    return last?.type === "review" ? readReview(last.review).items : [];
  };
  review.send({ ask: "review" });
  await vi.waitFor(() => expect(items()).toHaveLength(1));
  expect(review.notesFile).toMatchObject({ count: 0, remark: "Notes are lost when this page is closed." });
  review.send({ note: "look here", paths: ["main/a", "main/b"] });
  await vi.waitFor(() => expect(items()).toHaveLength(2));
  const note = items()[1];
  expect(note).toMatchObject({ kind: "note", title: "“look here”", where: "a and 1 more", id: "note" });
  expect(review.owns(note.fingerprint)).toBe(true);
  expect(review.owns("another")).toBe(false);
  review.send({ edit: note.fingerprint, note: "look there" });
  await vi.waitFor(() => expect(items()[1].title).toBe("“look there”"));
  review.send({ accept: 0, note: "meant so" });
  await vi.waitFor(() => expect(items()[0].accepted).toBe("meant so"));
  review.notesFile!.save();
  const [name, text] = download.mock.calls[0];
  expect(name).toBe("model.notes.jsonl");
  const events = text.trim().split("\n").map((line: string) => JSON.parse(line));
  expect(events.map(({ turn }: { turn: number }) => turn)).toEqual([1, 2, 1]);
  expect(events[2].accepts).toEqual({
    ...{ rule: "NL-G02", fingerprint: "f1", count: 3, message: "unused" },
  });
  expect(events[0].anchors[1]).toEqual({ path: "main/b", structure: "s1" });
  review.send({ remove: note.fingerprint });
  await vi.waitFor(() => expect(items().map(({ title }) => title)).toEqual(["title", "“meant so”"]));
});

test("what cannot be noted is said", async () => {
  const { review, told } = open({}, whole);
  review.send({ ask: "review" });
  await vi.waitFor(() => expect(told).toHaveLength(2));
  review.send({ note: "on nothing", paths: [] });
  review.send({ accept: 7, note: "none" });
  review.send({ edit: "unknown", note: "none" });
  await vi.waitFor(() => expect(told).toHaveLength(5));
  for (const message of told.slice(2)) {
    expect(message.type === "noted" && message.error).toMatch(/\w/);
  }
});

test("a note that the file has is changed and removed, and what it accepts with it", async () => {
  const known = [
    { id: "n1", kept: 1, removed: 0, text: [1, "2026", "e1"], author: "ana", accepts: [["NL-G02", "f1"]] },
  ];
  const written = writeReview([
    { id: "NL-G02", paths: ["main/a"], fingerprint: "f1", accepted: "ana: meant so" },
    { kind: 3, level: 3, id: "note", title: "“meant so”", fingerprint: "n1", evidence: [["note", "meant so"], ["by", "ana"]] },
  ]);
  const { review, told } = open({}, async () => ({ value: (name: string) => ({ ...values, review: written, notes: known })[name] }) as unknown as Block);
  const items = () => {
    const lists = told.filter(({ type }) => type === "review");
    const last = lists[lists.length - 1];
    return last?.type === "review" ? readReview(last.review).items : [];
  };
  review.send({ ask: "review" });
  await vi.waitFor(() => expect(items()).toHaveLength(2));
  expect(review.owns("n1")).toBe(true);
  review.send({ edit: "n1", note: "no longer meant so\nbut known" });
  await vi.waitFor(() => expect(items()[1].title).toBe("“no longer meant so”"));
  expect(items()[1].evidence.slice(0, 2)).toEqual([["note", "no longer meant so\nbut known"], ["by", "ana"]]);
  expect(items()[1].evidence[2][0]).toBe("changed here");
  expect(items()[0].accepted).toBe("ana: no longer meant so\nbut known");
  review.send({ remove: "n1" });
  await vi.waitFor(() => expect(items()).toHaveLength(1));
  expect(items()[0].accepted).toBe("");
  expect(review.notesFile!.count).toBe(2);
});

test("marks follow notes and what they accept", async () => {
  const known = [
    { id: "n1", kept: 1, removed: 0, text: [1, "2026", "e1"], author: "ana", accepts: [] },
  ];
  const written = writeReview([
    { id: "NL-G02", paths: ["main/a"], fingerprint: "f1" },
    { kind: 3, level: 3, id: "note", paths: ["main/a"], fingerprint: "n1" },
  ]);
  const places = {
    marked: { "main/a": [0, 1] },
    holders: { "main/g/": [0, 1] },
    repeats: { "main/r.0-3/": [0, 1, 1, 1, 1, 3] },
  };
  const first = { "main/a": ["", "", "error", "2"] };
  const told: Record<string, unknown> = { ...values, review: written, notes: known, places };
  const whole = async (): Promise<Block> => ({ value: (name: string) => told[name] }) as unknown as Block;
  const lines = new Map<string, string>();
  const kept = {
    getItem: (key: string) => lines.get(key) ?? null,
    setItem(key: string, text: string) {
      lines.set(key, text);
      Object.assign(kept, { [key]: text }); // as a Storage has its keys
    },
  };
  const { review, traits, told: messages } = open(first, whole, kept);
  const marks = () => traits.get("marks") as Record<string, unknown>;
  review.send({ ask: "review" });
  await vi.waitFor(() => expect(marks()["main/r.0-3/"]).toEqual(["", "", "", "2", "error"]));
  expect(marks()).toMatchObject({ "main/a": ["", "", "error", "2"], "main/g/": ["", "", "", "2", "error"] });
  review.send({ remove: "n1" });
  await vi.waitFor(() => expect(marks()["main/a"]).toEqual(["", "", "error", "!"]));
  expect(marks()["main/r.0-3/"]).toEqual(["", "", "", "1", "error"]);
  // an accepted finding is not marked, and what accepts it is
  review.send({ accept: 0, note: "meant so" });
  await vi.waitFor(() => expect(marks()["main/a"]).toEqual(["", "", "note", "✎"]));
  expect(marks()["main/g/"]).toEqual(["", "", "", "1", "note"]);
  expect(marks()["main/r.0-3/"]).toBeUndefined();
  review.send({ note: "and here", paths: ["main/b", "main/a"] });
  await vi.waitFor(() => expect(marks()["main/b"]).toEqual(["", "", "note", "✎"]));
  expect(marks()["main/a"]).toEqual(["", "", "note", "2"]);
  expect(marks()).toMatchObject({ "main/h.2/": ["", "", "", "1", "note"], "main/h.0-3/": ["", "", "", "1", "note"] });
  review.send({ marks: false });
  await vi.waitFor(() => expect(marks()).toEqual({}));
  review.send({ note: "third", paths: ["main/b"] });
  await vi.waitFor(() => expect(messages.filter(({ type }) => type === "noted")).toHaveLength(4));
  expect(marks()).toEqual({});
  review.send({ marks: true });
  await vi.waitFor(() => expect(marks()["main/b"]).toEqual(["", "", "note", "2"]));
  // whoever opens the page again sees them without asking
  const again = open(first, whole, kept);
  await vi.waitFor(() => expect(again.traits.get("marks")).toEqual(marks()));
  // and whoever does not want marks gets none
  const without = open({}, whole, kept);
  without.review.send({ ask: "review" });
  await vi.waitFor(() => expect(without.told).toHaveLength(2));
  expect(without.traits.get("marks")).toEqual({});
});
