import { expect, test } from "vitest";
import { distanceToEdge, middleOfEdge } from "../../src/scene/geometry";
import { Picker } from "../../src/scene/pick";
import { C, CONV, G, RELU, T, X, X_TO_C, makeScene, readScene } from "../small";

const scene = readScene();
const picker = new Picker(scene);
const at = (x: number, y: number): unknown => {
  const hit = picker.at({ x, y }, 4);
  return hit && [hit.kind, hit.path];
};

test("a closed box is hit all over, a row of it selects its own path", () => {
  expect(at(105, 125)).toEqual(["box", "main/a"]);
  expect(at(150, 160)).toEqual(["row", "main/%w"]);
  expect(at(150, 168)).toEqual(["box", "main/a"]);
  expect(at(450, 140)).toEqual(["box", "main/c/"]);
});

test("a row in the line of the title is hit where it begins", () => {
  const face = scene.faceOf(CONV);
  const [[left, top, bottom]] = face.targets;
  face.targets = [[left + 40, top, bottom]];
  expect(at(105, 160)).toEqual(["box", "main/a"]);
  expect(at(150, 160)).toEqual(["row", "main/%w"]);
  face.targets = [[left, top, bottom]];
});

test("an open frame is hit on its title and its border; its inside is ground", () => {
  expect(at(250, 90)).toEqual(["box", "main/g/"]);
  expect(at(51, 200)).toEqual(["box", "main/g/"]);
  expect(at(80, 330)).toBeNull();
  expect(at(500, 460)).toBeNull();
});

test("a title of several lines is hit, and covered, as far down as it reaches", () => {
  const face = { outline: "frame", width: 120, height: 52, header: 52 } as const;
  const group = makeScene([{ path: "layers", open: true, at: [0, 0, 400, 300], face }]);
  const inside = new Picker(group);
  expect(inside.at({ x: 100, y: 45 }, 4)).toMatchObject({ kind: "box", path: "layers" });
  expect(inside.at({ x: 100, y: 60 }, 4)).toBeNull();
  expect(inside.isTaken({ x: 100, y: 30, width: 40, height: 40 })).toBe(true);
  expect(inside.isTaken({ x: 100, y: 60, width: 40, height: 40 })).toBe(false);
});

test("edges are hit within a few pixels, also on their labels", () => {
  expect(at(152, 230)).toEqual(["edge", "main/%t"]);
  expect(at(185, 215)).toEqual(["edge", "main/%t"]);
  expect(at(185, 230)).toBeNull();
});

test("ports win over the edges that meet there", () => {
  expect(at(151, 81)).toEqual(["port", "main/%x"]);
});

test("what touches a window is found in the scene's order", () => {
  expect([...picker.boxesIn({ x: 0, y: 0, width: 220, height: 260 })]).toEqual([
    X,
    G,
    CONV,
    RELU,
  ]);
  expect([...picker.boxesIn({ x: 390, y: 100, width: 50, height: 50 })]).toEqual([C]);
  expect([...picker.edgesIn({ x: 140, y: 190, width: 20, height: 20 })]).toEqual([T]);
});

test("ports and open groups are found by an index", () => {
  expect([...picker.portsIn({ x: 140, y: 70, width: 20, height: 20 })]).toEqual([0]);
  expect([...picker.portsIn({ x: 0, y: 0, width: 500, height: 500 })]).toEqual([0, 1]);
  expect(picker.framesIn({ x: 0, y: 0, width: 60, height: 90 }, 100)).toEqual([G]);
  expect(picker.framesIn({ x: 0, y: 0, width: 60, height: 90 }, 301)).toEqual([]);
});

test("a window over the whole scene has all boxes and edges in it, in their order", () => {
  const whole = { x: -100, y: -100, width: scene.width + 200, height: scene.height + 200 };
  expect([...picker.boxesIn(whole)]).toEqual([...Array(scene.boxCount).keys()]);
  expect([...picker.edgesIn(whole)]).toEqual([...Array(scene.edgeCount).keys()]);
  expect(picker.framesIn(whole, 0)).toEqual(
    [...Array(scene.boxCount).keys()].filter((box) => scene.isOpen(box)),
  );
});

test("distance is measured to the curve, not to its control points", () => {
  expect(distanceToEdge(scene, T, { x: 160, y: 200 })).toBeCloseTo(10);
  expect(distanceToEdge(scene, X_TO_C, { x: 180, y: 80 })).toBeGreaterThan(20);
  expect(middleOfEdge(scene, X_TO_C)).toEqual({ x: 315, y: 80 });
});

test("an empty scene has nothing to hit", () => {
  const nothing = readScene();
  Object.defineProperties(nothing, {
    boxCount: { value: 0 },
    edgeCount: { value: 0 },
    portCount: { value: 0 },
  });
  expect(new Picker(nothing).at({ x: 1, y: 1 }, 4)).toBeNull();
});
