import { describe, expect, it } from "vitest";
import { placeStepper } from "../../src/controls/steppers";

describe("placeStepper", () => {
  const frame = { top: 100, right: 400, titleEnd: 200 };
  const size = { width: 800, height: 600 };

  it("puts the control at the end of the title's line", () => {
    expect(placeStepper(frame, 100, 1, size)).toEqual({ x: 294, y: 102, scale: 1 });
  });

  it("makes it smaller with the picture, so that it stays in that line", () => {
    expect(placeStepper(frame, 100, 0.5, size)).toEqual({ x: 347, y: 101, scale: 0.5 });
    expect(placeStepper(frame, 100, 3, size)?.scale).toBe(1);
  });

  it("gives up where the title would be covered", () => {
    expect(placeStepper({ ...frame, titleEnd: 300 }, 100, 1, size)).toBeNull();
    expect(placeStepper(frame, 190, 1, size)).toBeNull();
  });

  it("stays in the window, and gives up where it would be cut", () => {
    expect(placeStepper({ ...frame, right: 900 }, 100, 1, size)?.x).toBe(694);
    expect(placeStepper({ ...frame, top: -5 }, 100, 1, size)).toBeNull();
    expect(placeStepper({ ...frame, top: 585 }, 100, 1, size)).toBeNull();
  });
});
