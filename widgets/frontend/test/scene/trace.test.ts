import { expect, test } from "vitest";
import { Routes } from "../../src/scene/routes";
import { INPUT, NODE, STUB } from "../../src/scene/scene";
import { light } from "../../src/scene/trace";
import { consumerAt, lightPlaces, placesOf } from "../../src/scene/uses";
import { C, CONV, G, RELU, X, Y, makeScene, readScene } from "../small";

const small = new Routes(readScene());
const lit = (routes: Routes, trace: Parameters<typeof light>[1]): number[] | null => {
  const found = light(routes, trace);
  return found && [...found.boxes.keys()].filter((box) => found.boxes[box]);
};

test("upstream and downstream go through the walls of open groups", () => {
  expect(lit(small, { kind: "down", path: "main/a" })).toEqual([Y, CONV, RELU]);
  expect(lit(small, { kind: "up", path: "main/b" })).toEqual([X, CONV, RELU]);
  expect(lit(small, { kind: "both", path: "main/c/" })).toEqual([X, C, Y]);
  expect(light(small, { kind: "down", path: "main/a" })!.count).toBe(3);
});

test("from an open group it goes outwards, and what is inside belongs to it", () => {
  expect(lit(small, { kind: "down", path: "main/g/" })).toEqual([G, Y, CONV, RELU]);
  expect(lit(small, { kind: "up", path: "main/g/" })).toEqual([X, G, CONV, RELU]);
});

test("a value leads both ways, a constant only on", () => {
  expect(lit(small, { kind: "up", path: "main/%t" })).toEqual([X, CONV]);
  expect(lit(small, { kind: "down", path: "main/%w" })).toEqual([Y, CONV, RELU]);
  expect(lit(small, { kind: "up", path: "main/%w" })).toEqual([CONV]);
});

test("between two things lies what is downstream of one and upstream of the other", () => {
  const down = { kind: "between", path: "main/%x", other: "main/b" } as const;
  expect(lit(small, down)).toEqual([X, CONV, RELU]);
  expect(lit(small, { ...down, path: "main/b", other: "main/%x" })).toEqual([X, CONV, RELU]);
  expect(light(small, { kind: "between", path: "main/a", other: "main/c/" })!.count).toBe(0);
});

test("what is hidden counts as the closed group around it; what is unknown is null", () => {
  expect(lit(small, { kind: "down", path: "main/c/deep/inside" })).toEqual([C, Y]);
  expect(light(small, { kind: "down", path: "elsewhere" })).toBeNull();
});

// a gives a hub %h to the stub 1; stubs 2 and 4 give it to b and c; b is in an open group
const hub = new Routes(
  makeScene(
    [
      { path: "a" },
      { path: "%h", key: "%h from a", flags: STUB },
      { path: "%h", key: "%h to b", flags: STUB },
      { path: "g/", open: true, at: [0, 130, 200, 100] },
      { path: "%h", key: "%h to c", flags: STUB },
      { path: "c", at: [0, 300, 80, 20] },
      { path: "b", parent: 3, at: [10, 160, 80, 20] },
      { path: "z" },
    ],
    [
      ["%h", 0, 1],
      ["%h", 2, 3, 40, 100, 40, 130],
      ["%h", 3, 6, 40, 130, 40, 160],
      ["%h", 4, 5],
      ["%q", 5, 7],
    ],
  ),
);

test("a trace jumps from stub to stub", () => {
  expect(lit(hub, { kind: "down", path: "a" })).toEqual([0, 1, 2, 4, 5, 6, 7]);
  expect(lit(hub, { kind: "up", path: "b" })).toEqual([0, 1, 2, 4, 6]);
  expect(light(hub, { kind: "down", path: "a" })!.count).toBe(4);
});

test("the places of a value: who gives it, who uses it, in order", () => {
  const places = placesOf(hub, "%h")!;
  expect(places).toMatchObject({ producers: [0], consumers: [6, 5], stubbed: true });
  const found = lightPlaces(hub.scene, places);
  expect([...found.boxes]).toEqual([1, 1, 1, 0, 1, 1, 1, 0]);
  expect([...found.edges]).toEqual([1, 1, 1, 1, 0]);
  expect([consumerAt(hub, places, 4), consumerAt(hub, places, 6)]).toEqual([1, 0]);
  expect(consumerAt(hub, places, 0)).toBe(-1);
  expect(placesOf(hub, "a")).toBeNull();
  expect(placesOf(hub, "")).toBeNull();
});

test("an input that is a hub gives its value without an edge", () => {
  const routes = new Routes(
    makeScene(
      [
        { path: "%m", flags: INPUT },
        { path: "%m", key: "%m to a", flags: STUB },
        { path: "a" },
      ],
      [["%m", 1, 2]],
    ),
  );
  expect(placesOf(routes, "%m")).toMatchObject({ producers: [0], consumers: [2] });
  expect(lit(routes, { kind: "down", path: "%m" })).toEqual([0, 1, 2]);
  expect(lit(routes, { kind: "up", path: "a" })).toEqual([0, 1, 2]);
});

test("a constant shared by several faces has places and no producer", () => {
  const routes = new Routes(
    makeScene([
      { path: "a", rows: ["%w"] },
      { path: "b", rows: ["%w"] },
    ]),
  );
  expect(placesOf(routes, "%w")).toMatchObject({ producers: [], consumers: [0, 1] });
});

test("values with another name inside meet at the port, also a fraction of a pixel away", () => {
  const routes = new Routes(
    makeScene(
      [{ path: "a" }, { path: "f", open: true, at: [0, 60, 200, 100] }, { path: "f/n", parent: 1 }],
      [
        ["%x", 0, 1, 50, 20, 50, 60],
        ["f/%formal", 1, 2, 50.4, 60, 40, 80],
        ["f/%other", 1, 2, 70, 60, 40, 80],
      ],
    ),
  );
  expect(routes.onward(0, "forward")).toEqual([1]);
  expect(routes.onward(1, "back")).toEqual([0]);
});

test("a long chain with cycles ends, and every edge is followed once", () => {
  const count = 20_000;
  const boxes = Array.from({ length: count }, (_, k) => ({ path: `n${k}`, flags: NODE }));
  const edges = boxes.map((_, k): [string, number, number] => [`%${k}`, k, (k + 1) % count]);
  const routes = new Routes(makeScene(boxes, edges));
  expect(light(routes, { kind: "down", path: "n7" })!.count).toBe(count);
});

// each edge against each other would take longer than a test may
test("a wall with many ports is passed in time linear in its edges", () => {
  const count = 20_000;
  const boxes = [
    { path: "a" },
    { path: "g/", open: true, at: [0, 60, 9e5, 100] as [number, number, number, number] },
    { path: "g/n", parent: 1 },
  ];
  const edges = Array.from({ length: count }, (_, k) => [
    [`%${k}`, 0, 1, k * 4, 20, k * 4, 60],
    [`%${k}`, 1, 2, k * 4, 60, 40, 80],
  ]).flat() as Array<[string, number, number, ...number[]]>;
  expect(light(new Routes(makeScene(boxes, edges)), { kind: "down", path: "a" })!.count).toBe(2);
});

test("the groups around what is lit are known, for their titles", () => {
  const around = (trace: Parameters<typeof light>[1]) => {
    const found = light(hub, trace)!.around;
    return hub.scene.paths().filter((_, box) => found[box]);
  };
  expect(around({ kind: "up", path: "b" })).toContain("g/");
  expect(around({ kind: "down", path: "c" })).not.toContain("g/");
});
