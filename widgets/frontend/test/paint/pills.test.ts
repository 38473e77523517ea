/** Pills lie between arrows and labels, or below: the same cases as in tests/render/test_pills.py. */

import { expect, test } from "vitest";
import { placePill, takenAt } from "../../src/paint/pills";
import sizes from "../../src/scene/sizes";
import { makeScene } from "../small";

type Interval = readonly [number, number];

const TEXT = "12.3 k MACs · 12 %";
const measure = (text: string): number => text.length * 5.3;

const arrow = (place: number): Interval => [place - 5.2, place + 5.2];

test.each([
  [190, [], [], TEXT, false],
  [190, [arrow(20)], [], TEXT, false],
  [190, [arrow(180)], [], TEXT, false],
  [190, [arrow(95)], [], "12.3 k MACs", false],
  [130, [arrow(65)], [], TEXT, true],
  [90, [arrow(45)], [], "12.3 k MACs", true],
  [190, [[60, 150]], [[20, 40]], TEXT, true],
  [130, [[50, 70]], [[90, 110]], "12.3 k MACs", true],
] as Array<[number, Interval[], Interval[], string, boolean]>)(
  "a pill that ends at %d beside %j above and %j below",
  (right, upper, lower, text, isBelow) => {
    expect(placePill(TEXT, right, { upper, lower }, measure)).toMatchObject({ text, isBelow });
  },
);

test("where nothing has room there is no pill", () => {
  expect(placePill(TEXT, 60, { upper: [[10, 60]], lower: [[10, 60]] }, measure)).toBeNull();
});

test("no pill covers what is there", () => {
  for (let right = 20; right < 300; right += 7) {
    for (let first = 0; first < right; first += 9) {
      for (const others of [[], [first + 60], [first + 90, first + 30]]) {
        const upper = [first, ...others].map(arrow);
        const lower: Interval[] = others.map((place) => [place - 30, place]);
        const pill = placePill(TEXT, right, { upper, lower }, measure);
        if (!pill) continue;
        expect(pill.right - pill.width).toBeGreaterThanOrEqual(sizes.paint.inset - 1);
        for (const [start, stop] of pill.isBelow ? lower : upper) {
          expect(stop <= pill.right - pill.width + 0.5 || start >= pill.right - 0.5).toBe(true);
        }
      }
    }
  }
});

test("heads of arrows near the borders of a box are found, whichever box they end at", () => {
  const scene = makeScene(
    [
      { path: "a", at: [10, 0, 80, 20] },
      { path: "b", at: [30, 60, 80, 40] },
      { path: "c", at: [30, 109, 80, 20] },
    ],
    [
      ["x", 0, 1],
      ["y", 0, 1, 50, 20, 50, 60],
      ["inside", 0, 1, 50, 20, 50, 90],
      ["beside", 0, 1, 20, 20, 20, 60],
      ["right below", 0, 2, 100, 20, 100, 109],
    ],
  );
  const places = (box: number, border: "upper" | "lower"): number[] =>
    takenAt(scene, box, measure)[border].map(([start, stop]) => (start + stop) / 2).sort((one, other) => one - other);
  expect(places(1, "upper")).toEqual([20, 40]);
  expect(places(1, "lower")).toEqual([70]);
  expect(places(2, "upper")).toEqual([70]);
  expect(takenAt(scene, 0, measure)).toEqual({ upper: [], lower: [] });
});
