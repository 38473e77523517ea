import { expect, test } from "vitest";
import { fromMap, planMap, windowInMap } from "../../src/paint/minimap";

test("the minimap shows only when there is more than the window", () => {
  const size = { width: 1000, height: 600 };
  expect(planMap({ width: 900, height: 500 }, { x: -10, y: -10, zoom: 1 }, size)).toBeNull();
  const view = { x: 0, y: 1000, zoom: 0.5 };
  const plan = planMap({ width: 1000, height: 8000 }, view, size)!;
  expect(plan.size.height).toBeCloseTo(130);
  const mark = windowInMap(plan, view, size);
  const centre = fromMap(plan, { x: mark.x, y: mark.y + mark.height / 2 });
  expect(centre.y).toBeCloseTo(1600);
});
