import { expect, test } from "vitest";
import { Moments } from "../../src/controls/moments";

const SCENE = { width: 300, height: 200 };

test("a moment is found where it was left, as long as its scene is the same", () => {
  const moments = new Moments();
  moments.leave(1, { x: 5, y: 6, zoom: 0.5 }, SCENE);
  moments.leave(2, { x: 0, y: 0, zoom: 1 }, { width: 900, height: 900 });
  moments.leave(1, { x: 7, y: 8, zoom: 0.5 }, SCENE);
  expect(moments.find(1, SCENE)).toEqual({ x: 7, y: 8, zoom: 0.5 });
  expect(moments.find(1, { ...SCENE, width: 310 })).toBeUndefined();
  expect(moments.find(3, SCENE)).toBeUndefined();
});

test("only so many are kept, and the last ones", () => {
  const moments = new Moments();
  for (let moment = 0; moment < 500; moment++) moments.leave(moment, { x: moment, y: 0, zoom: 1 }, SCENE);
  expect(moments.find(0, SCENE)).toBeUndefined();
  expect(moments.find(499, SCENE)?.x).toBe(499);
});
