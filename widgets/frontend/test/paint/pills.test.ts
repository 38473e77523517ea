/** Pills lie between arrows, or below: the same cases as in tests/render/test_pills.py. */

import { expect, test } from "vitest";
import { arrowsAt, placePill } from "../../src/paint/pills";
import sizes from "../../src/scene/sizes";
import { makeScene } from "../small";

const TEXT = "12.3 k MACs · 12 %";
const measure = (text: string): number => text.length * 5.3;

test.each([
  [190, [], TEXT, false],
  [190, [20], TEXT, false],
  [190, [180], TEXT, false],
  [190, [95], "12.3 k MACs", false],
  [130, [65], TEXT, true],
  [90, [45], "12.3 k MACs", true],
] as Array<[number, number[], string, boolean]>)(
  "a pill that ends at %d beside arrows at %j",
  (right, arrows, text, isBelow) => {
    expect(placePill(TEXT, right, arrows, measure)).toMatchObject({ text, isBelow });
  },
);

test("no pill covers an arrow", () => {
  for (let right = 20; right < 300; right += 7) {
    for (let first = 0; first < right; first += 9) {
      for (const arrows of [[first], [first, first + 60], [first, first + 90, first + 30]]) {
        const pill = placePill(TEXT, right, arrows, measure);
        if (!pill) continue;
        expect(pill.right - pill.width).toBeGreaterThanOrEqual(sizes.paint.inset - 1);
        if (pill.isBelow) continue;
        for (const arrow of arrows) {
          expect(arrow + 3.2 <= pill.right - pill.width + 0.5 || arrow - 3.2 >= pill.right - 0.5).toBe(true);
        }
      }
    }
  }
});

test("arrows that end at the upper border of a box are found", () => {
  const scene = makeScene(
    [
      { path: "a", at: [10, 0, 80, 20] },
      { path: "b", at: [30, 60, 80, 20] },
    ],
    [
      ["x", 0, 1],
      ["y", 0, 1, 50, 20, 50, 60],
      ["beside", 0, 1, 50, 20, 110, 70],
    ],
  );
  expect(arrowsAt(scene, 1)).toEqual([40, 20]);
  expect(arrowsAt(scene, 0)).toEqual([]);
});
