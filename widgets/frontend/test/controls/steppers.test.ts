import { describe, expect, it } from "vitest";
import { placeStepper } from "../../src/controls/steppers";

describe("placeStepper", () => {
  const frame = { top: 100, right: 400, titleEnd: 200 };
  const size = { width: 800, height: 600 };
  const widths = { whole: 100, short: 40 };

  it("puts the control at the end of the title's line", () => {
    const place = { x: 294, y: 102, scale: 1, form: "whole" };
    expect(placeStepper(frame, widths, 1, size)).toEqual(place);
  });

  it("makes it smaller with the picture, so that it stays in that line", () => {
    const place = { x: 347, y: 101, scale: 0.5, form: "whole" };
    expect(placeStepper(frame, widths, 0.5, size)).toEqual(place);
    expect(placeStepper(frame, widths, 3, size)?.scale).toBe(1);
  });

  it("leaves its arrows alone where the title would be covered", () => {
    const place = { x: 354, y: 102, scale: 1, form: "short" };
    expect(placeStepper({ ...frame, titleEnd: 300 }, widths, 1, size)).toEqual(place);
    expect(placeStepper(frame, { whole: 190, short: 40 }, 1, size)).toEqual(place);
  });

  it("stands on the frame's border where even these have no room", () => {
    const narrow = { ...frame, titleEnd: 380 };
    expect(placeStepper(narrow, widths, 1, size)).toEqual({ x: 294, y: 82, scale: 1, form: "over" });
    expect(placeStepper({ ...narrow, top: 10 }, widths, 1, size)?.y).toBe(32);
    expect(placeStepper({ ...narrow, right: 60, titleEnd: 50 }, widths, 1, size)?.x).toBe(0);
  });

  it("stays in the window, and gives up where it would be cut", () => {
    expect(placeStepper({ ...frame, right: 900 }, widths, 1, size)?.x).toBe(694);
    expect(placeStepper({ ...frame, top: -5 }, widths, 1, size)).toBeNull();
    expect(placeStepper({ ...frame, top: 585 }, widths, 1, size)).toBeNull();
  });
});
