import { expect, test } from "vitest";
import { describeSelection, nameOf, tooltipOf } from "../../src/controls/speech";
import { markSelection } from "../../src/paint/emphasis";
import { noEmphasis } from "../../src/paint/pass";
import { Picker } from "../../src/scene/pick";
import { Routes } from "../../src/scene/routes";
import { INPUT, REPEAT, STUB, repetitionOf } from "../../src/scene/scene";
import { light } from "../../src/scene/trace";
import { consumerAt, lightPlaces, placesOf } from "../../src/scene/uses";
import { makeScene } from "../small";

// a gives %v and %w, b gives %u; the stub 3 takes %v %w, the stub 4 %u; c uses %v and %u from
// the stub 5, d uses %w from 7; the open group 9 takes %v %w by one edge, of which e uses one each
const [A, B, FROM_A, FROM_B, TO_C, C, TO_D, D, G, E, F] = [...Array(11).keys()];
const scene = makeScene(
  [
    { path: "a", at: [0, 0, 80, 20] },
    { path: "b", at: [200, 5, 80, 20] },
    { path: "%v", key: "%v from a", flags: STUB, rows: ["%v", "%w"], at: [0, 40, 80, 20] },
    { path: "%u", key: "%u from b", flags: STUB, at: [200, 40, 80, 20] },
    { path: "%v", key: "%v to c", flags: STUB, rows: ["%v", "%u"], at: [0, 80, 80, 20] },
    { path: "c", at: [0, 120, 80, 20] },
    { path: "%w", key: "%w to d", flags: STUB, at: [0, 160, 80, 20] },
    { path: "d", at: [0, 200, 80, 20] },
    { path: "g/", open: true, at: [0, 240, 300, 100] },
    { path: "g/e", parent: 8, at: [10, 280, 80, 20] },
    { path: "g/f", parent: 8, at: [110, 280, 80, 20] },
  ],
  [
    ["%v %w", A, FROM_A],
    ["%u", B, FROM_B],
    ["%v %u", TO_C, C],
    ["%w", TO_D, D],
    ["%v %w", A, G, 80, 20, 100, 240],
    ["%v", G, E, 100, 240, 50, 280],
    ["%w", G, F, 100, 240, 150, 280],
  ],
  {},
  [["%v", G, 100, 240]],
);
const routes = new Routes(scene);
const picker = new Picker(scene);

test("a pill, an edge and a port for several values select all of them", () => {
  expect(picker.at({ x: 40, y: 90 }, 2)).toMatchObject({ path: "%v", paths: ["%v", "%u"] });
  expect(picker.at({ x: 40, y: 170 }, 2)).toMatchObject({ path: "%w", paths: ["%w"] });
  expect(picker.at({ x: 40, y: 30 }, 2)).toMatchObject({ kind: "edge", paths: ["%v", "%w"] });
  expect(picker.at({ x: 100, y: 240 }, 2)).toMatchObject({ kind: "port", paths: ["%v", "%w"] });
});

test("the places of several values are the producers and consumers of all of them", () => {
  const places = placesOf(routes, ["%v", "%u"])!;
  expect(places).toMatchObject({ producers: [A, B], consumers: [C, E], stubbed: true });
  const { boxes, edges, count } = lightPlaces(scene, places);
  expect([...boxes.keys()].filter((k) => boxes[k])).toEqual([A, B, FROM_A, FROM_B, TO_C, C, E]);
  expect([...edges]).toEqual([1, 1, 1, 0, 1, 1, 0]);
  expect(count).toBe(2);
  expect(consumerAt(routes, places, TO_C)).toBe(0);
});

test("one of them alone has its own places, though it is drawn with others", () => {
  expect(placesOf(routes, "%w")).toMatchObject({ producers: [A], consumers: [D, F] });
  expect(placesOf(routes, ["%w"])).toEqual({ ...placesOf(routes, "%w"), at: ["%w"] });
  expect(placesOf(routes, "%u")).toMatchObject({ producers: [B], consumers: [C] });
  expect(placesOf(routes, [])).toBeNull();
});

test("a trace goes on from a bundle to all that its values reach", () => {
  const lit = (path: string | string[], kind: "up" | "down"): number[] => {
    const { boxes } = light(routes, { kind, path })!;
    return [...boxes.keys()].filter((k) => boxes[k]);
  };
  expect(lit("a", "down")).toEqual([A, FROM_A, TO_C, C, TO_D, D, E, F]);
  expect(lit("c", "up")).toEqual([A, B, FROM_A, FROM_B, TO_C, C]);
  expect(lit("g/f", "up")).toEqual([A, F]);
  expect(lit(["%u", "%w"], "down")).toEqual(expect.arrayContaining([C, D, F]));
});

test("all boxes and edges of the values are marked", () => {
  const emphasis = noEmphasis();
  markSelection(emphasis, scene, ["%v", "%u"]);
  expect([...emphasis.boxes].sort()).toEqual([FROM_A, FROM_B, TO_C]);
  expect([...emphasis.edges].sort()).toEqual([0, 1, 2, 4, 5]);
});

test("they are told by number and by the first name; the tooltip lists them", () => {
  expect(describeSelection(scene, ["%v", "%u"])).toBe("2 values, v and 1 more");
  expect(nameOf(["main/%v", "main/%u", "main/%w"])).toBe("v and 2 more");
  const many = Array.from({ length: 20 }, (_, k) => `%${k}`);
  const hit = { kind: "box", index: 0, path: "%0", paths: many } as const;
  expect(tooltipOf(scene, hit)).toHaveLength(8);
  expect(tooltipOf(scene, hit)[7]).toBe("… 13 more");
});

test("inputs of one kind in one box are selected together", () => {
  const inputs = makeScene(
    [{ path: "%p.0", flags: INPUT, rows: ["%p.0", "%p.1"] }, { path: "n" }],
    [["%p.0 %p.1", 0, 1]],
  );
  expect(inputs.pathsOf(0)).toEqual(["%p.0", "%p.1"]);
  expect(inputs.boxesAt("%p.1")).toEqual([0]);
  expect(placesOf(new Routes(inputs), "%p.1")).toMatchObject({ producers: [0], consumers: [1] });
});

test("the title of an open repeat selects the repetition that it shows", () => {
  const levels = (rows: string[], open = true): ReturnType<typeof makeScene> =>
    makeScene([{ path: "layers.0-3/", flags: REPEAT, open, rows, at: [0, 0, 200, 100] }]);
  const one = levels(["4", "2", "layers.2/"]);
  expect(new Picker(one).at({ x: 50, y: 10 }, 2)).toMatchObject({ paths: ["layers.2/"] });
  expect([one.boxesAt("layers.2/"), one.boxesAt("layers.0-3/")]).toEqual([[0], [0]]);
  expect(repetitionOf(one, 0)).toEqual({ count: 4, index: 2 });
  expect(describeSelection(one, ["layers.2/"])).toContain("3 of 4 of layers.0-3/");
  expect(describeSelection(one, ["layers.0-3/"])).not.toContain("3 of 4");
  // all of them, or closed: the repeat itself
  for (const other of [levels(["4", "-1"]), levels(["%w"], false)]) {
    expect(other.pathsOf(0)).toEqual(["layers.0-3/"]);
  }
});
