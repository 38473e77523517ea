import { expect, test, vi } from "vitest";
import { LocalTraits } from "../../src/host/local_traits";
import { CANVAS_TRAITS } from "../../src/host/traits";
import type { ReviewMessage } from "../../src/review/connection";
import { type Block, BlockError } from "../../src/standalone/block";
import { FileReview } from "../../src/standalone/file_review";

const MARKS = { "main/a": ["", "", "error", "!"] } as const;

function open(marks: object, read: () => Promise<Block>) {
  const traits = new LocalTraits({ ...CANVAS_TRAITS, marks: marks as typeof MARKS });
  const goTo = vi.fn();
  const review = new FileReview(traits, { read, goTo });
  const told: ReviewMessage[] = [];
  review.onMessage((message) => told.push(message));
  return { traits, goTo, review, told };
}

const values: Record<string, unknown> = { review: { items: [] }, marks: MARKS };
const whole = async (): Promise<Block> =>
  ({ value: (name: string) => values[name] }) as unknown as Block;

test("the list is read once somebody asks", async () => {
  const read = vi.fn(whole);
  const { review, told } = open(MARKS, read);
  expect(read).not.toHaveBeenCalled();
  review.send({ ask: "review" });
  await vi.waitFor(() => expect(told).toHaveLength(2));
  expect(told[0]).toEqual({ type: "review", review: { items: [] }, marks: true });
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
