import { expect, test } from "vitest";
import { HitList } from "../../src/controls/search_box";

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
