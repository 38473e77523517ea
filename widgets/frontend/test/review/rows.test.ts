import { expect, test } from "vitest";
import { Rows } from "../../src/review/rows";

test("rows of one height follow one another", () => {
  const rows = new Rows(50, 10_000);
  expect(rows.total).toBe(500_000);
  expect([rows.top(3), rows.bottom(3)]).toEqual([150, 200]);
  expect(rows.window(0, 99)).toEqual([0, 2]);
  expect(rows.window(100, 100)).toEqual([2, 3]);
  expect(rows.window(499_990, 600_000)).toEqual([9_999, 10_000]);
  expect(rows.window(-500, -300)).toEqual([0, 0]);
});

test("what follows an unfolded row stands lower", () => {
  const rows = new Rows(50, 10);
  rows.unfold(2, 200);
  expect(rows.total).toBe(700);
  expect([rows.top(2), rows.bottom(2), rows.top(3)]).toEqual([100, 350, 350]);
  expect(rows.window(0, 349)).toEqual([0, 3]);
  expect(rows.window(120, 340)).toEqual([2, 3]);
  expect(rows.window(350, 399)).toEqual([3, 4]);
  rows.unfold(-1, 200);
  expect(rows.total).toBe(500);
});

test("each height belongs to exactly the row around it", () => {
  const rows = new Rows(50, 30);
  rows.unfold(7, 133);
  for (let height = 0; height < rows.total; height += 7) {
    const [first] = rows.window(height, height);
    expect(rows.top(first)).toBeLessThanOrEqual(height);
    expect(rows.bottom(first)).toBeGreaterThan(height);
  }
});

test("a list of nothing has no rows", () => {
  const rows = new Rows(50);
  expect([rows.total, rows.window(0, 500)]).toEqual([0, [0, 0]]);
});
