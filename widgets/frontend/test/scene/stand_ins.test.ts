import { expect, test } from "vitest";
import { describeSelection } from "../../src/controls/speech";
import { markSelection } from "../../src/paint/emphasis";
import { targetOf } from "../../src/paint/locate";
import { noEmphasis } from "../../src/paint/pass";
import { Routes } from "../../src/scene/routes";
import { GROUP, OPENABLE } from "../../src/scene/scene";
import { light } from "../../src/scene/trace";
import { placesOf } from "../../src/scene/uses";
import { makeScene } from "../small";

const [A, B, G] = [0, 1, 2];

function makePlaced() {
  const scene = makeScene(
    [{ path: "a", rows: ["%w"] }, { path: "b" }, { path: "g/", flags: GROUP | OPENABLE }],
    [["%v", A, B]],
  );
  scene.standIn({
    "%bias": ["a", "b"],
    "g/n": ["g/"],
    "%w": ["b"],
    "%v": ["g/"],
    b: ["g/"],
    "%far": ["no such box"],
  });
  return scene;
}

test("what has nothing of its own is marked on the boxes that show or hide it", () => {
  const scene = makePlaced();
  for (const [path, boxes] of [["%bias", [A, B]], ["g/n", [G]], ["%far", []]] as const) {
    const emphasis = noEmphasis();
    markSelection(emphasis, scene, [path]);
    expect([...emphasis.boxes]).toEqual([...boxes]);
  }
  expect(scene.boxesAt(["%bias", "g/n"])).toEqual([A, B, G]);
  expect(targetOf(scene, "g/n")).not.toBeNull();
});

test("what has a box, a row or an edge is marked there alone", () => {
  const scene = makePlaced();
  expect(scene.boxesAt("%w")).toEqual([]);
  expect(scene.boxesAt("%v")).toEqual([]);
  expect(scene.boxesAt("b")).toEqual([B]);
});

test("who listens is told where it is", () => {
  const scene = makePlaced();
  expect(describeSelection(scene, ["%bias"])).toBe("%bias, shown by a and 1 more box");
  expect(describeSelection(scene, ["g/n"])).toBe("g/n, in g/");
  expect(describeSelection(scene, ["%far"])).toBe("%far, not in the picture");
});

test("keys lead from there on, and count where a value is used", () => {
  const routes = new Routes(makePlaced());
  expect(placesOf(routes, ["%bias"])).toMatchObject({ producers: [], consumers: [A, B] });
  expect(placesOf(routes, ["g/n"])).toBeNull();
  expect(light(routes, { kind: "down", path: ["%bias"] })!.count).toBe(2);
});
