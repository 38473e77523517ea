import { expect, test } from "vitest";
import { HitList } from "../../src/controls/search_box";
import { readCrumbs } from "../../src/controls/elements";
import { fromMap, planMap, windowInMap } from "../../src/paint/minimap";

const hit = (path: string) => ({ path, title: path, detail: "", kind: "node", shown: null });

test("steps run around, the current hit stays current", () => {
  const list = new HitList();
  expect(list.step(1)).toBeUndefined();
  list.replace([hit("a"), hit("b"), hit("c")], 3);
  expect(list.step(1)?.path).toBe("a");
  expect(list.step(-1)?.path).toBe("c");
  list.replace([hit("c"), hit("d")], 2);
  expect(list.current).toBe(0);
  list.replace([hit("e")], 1);
  expect(list.current).toBe(-1);
});

test("the summary says how many there are", () => {
  const list = new HitList();
  expect(list.summary()).toBe("Nothing found");
  list.replace([hit("a")], 1);
  expect(list.summary()).toBe("1 hit");
  list.replace(Array.from({ length: 200 }, (_, k) => hit(String(k))), 1234);
  expect(list.summary()).toBe("100 of 1,234");
  list.step(1);
  expect(list.summary()).toBe("1 of 1,234");
});

test("crumbs that are none are left out", () => {
  expect(readCrumbs([["main", "gpt2"], "x", ["main/If.then", "then"]])).toEqual([
    ["main", "gpt2"],
    ["main/If.then", "then"],
  ]);
  expect(readCrumbs(null)).toEqual([]);
});

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
