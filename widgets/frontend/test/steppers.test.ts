import { describe, expect, it } from "vitest";

import { stepperTop } from "../src/steppers";

describe("stepperTop", () => {
  const frame = { top: 100, right: 400, titleEnd: 200 };

  it("is on the line of the title where both have room", () => {
    expect(stepperTop(frame, 100)).toBe(102);
  });

  it("is above the frame where the title would be covered", () => {
    expect(stepperTop({ ...frame, titleEnd: 300 }, 100)).toBeLessThan(frame.top - 20);
    expect(stepperTop(frame, 190)).toBeLessThan(frame.top - 20);
  });
});
