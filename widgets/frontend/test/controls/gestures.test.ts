import { expect, test } from "vitest";
import { readWheel, wheelFactor } from "../../src/controls/gestures";

const STILL = {
  deltaX: 0,
  deltaY: 0,
  deltaMode: 0,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
};

test("wheels zoom, track pads pan, pinches zoom", () => {
  expect(readWheel({ ...STILL, deltaY: 100 })).toBe("zoom");
  expect(readWheel({ ...STILL, deltaY: 3, deltaMode: 1 })).toBe("zoom");
  expect(readWheel({ ...STILL, deltaY: 4 })).toBe("pan");
  expect(readWheel({ ...STILL, deltaX: 3, deltaY: 80 })).toBe("pan");
  expect(readWheel({ ...STILL, deltaY: 100, shiftKey: true })).toBe("pan");
  expect(readWheel({ ...STILL, deltaY: 2.5, ctrlKey: true })).toBe("zoom");
  expect(wheelFactor({ ...STILL, deltaY: 100 })).toBeLessThan(1);
  expect(wheelFactor({ ...STILL, deltaY: -100 })).toBeGreaterThan(1);
});
