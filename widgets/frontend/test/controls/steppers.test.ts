import { describe, expect, it } from "vitest";
import { placeStepper } from "../../src/controls/steppers";

describe("placeStepper", () => {
  const frame = { top: 100, right: 400, titleEnd: 200, numberStart: 360, numberEnd: 386 };
  const size = { width: 800, height: 600 };
  const widths = { whole: 100, short: 40 };

  it("puts the control at the end of the title's line", () => {
    const place = { x: 294, y: 101, scale: 1, form: "whole" };
    expect(placeStepper(frame, widths, 1, size)).toEqual(place);
  });

  it("makes it smaller with the picture, so that it stays in that line", () => {
    const place = { x: 347, y: 100.5, scale: 0.5, form: "whole" };
    expect(placeStepper(frame, widths, 0.5, size)).toEqual(place);
    expect(placeStepper(frame, widths, 3, size)?.scale).toBe(1);
  });

  it("leaves its arrows alone where the title would be covered", () => {
    const place = { x: 314, y: 101, scale: 1, form: "short" };
    expect(placeStepper({ ...frame, titleEnd: 300 }, widths, 1, size)).toEqual(place);
    expect(placeStepper(frame, { whole: 190, short: 40 }, 1, size)).toEqual(place);
  });

  it("covers the number of repetitions altogether or not at all", () => {
    const large = { ...frame, right: 900, titleEnd: 300, numberStart: 780, numberEnd: 886 };
    const wide = { width: 2000, height: 600 };
    expect(placeStepper(large, widths, 3, wide)).toMatchObject({ x: 674, form: "whole" });
    expect(placeStepper({ ...large, numberStart: 800 }, widths, 3, wide)?.x).toBe(794);
    // a mark in the corner makes the frame end before the number does
    expect(placeStepper({ ...frame, right: 384 }, widths, 1, size)?.x).toBe(286);
    // a number that is out of the window is in nobody's way
    expect(placeStepper({ ...large, numberStart: 860 }, widths, 3, size)?.x).toBe(694);
  });

  it("stands on the frame's border where even these have no room", () => {
    const narrow = { ...frame, titleEnd: 380 };
    expect(placeStepper(narrow, widths, 1, size)).toEqual({ x: 294, y: 84, scale: 1, form: "over" });
    expect(placeStepper({ ...narrow, top: 10 }, widths, 1, size)?.y).toBe(30);
    expect(placeStepper({ ...narrow, right: 60, titleEnd: 50, numberStart: 60, numberEnd: 0 }, widths, 1, size)?.x).toBe(0);
  });

  it("stays in the window, and gives up where it would be cut", () => {
    expect(placeStepper({ ...frame, right: 900, numberStart: 860, numberEnd: 886 }, widths, 1, size)?.x).toBe(694);
    expect(placeStepper({ ...frame, top: -5 }, widths, 1, size)).toBeNull();
    expect(placeStepper({ ...frame, top: 585 }, widths, 1, size)).toBeNull();
  });
});
