import { describe, expect, it } from "vitest";
import { attach } from "../../src/standalone/attach";

/** A curve of two pieces from (200, 0) to (50, 20), almost level in between. */
function makeCurve(): Float64Array {
  return new Float64Array([200, 0, 200, 5, 180, 8, 125, 10, 80, 12, 50, 15, 50, 20]);
}

function listAlong(points: Float64Array): number[] {
  return [...points].filter((_, k) => k % 2 === 0);
}

describe("attach", () => {
  const target = [0, 20, 300, 50];
  const head = { at: 12, inwards: -2, count: 7 };

  it("moves an end that is near with the point beside it", () => {
    const points = makeCurve();
    attach(points, head, [53, 21], 0, new Float64Array(target));
    expect([...points.slice(10)]).toEqual([53, 16, 53, 21]);
    expect([...points.slice(0, 10)]).toEqual([...makeCurve().slice(0, 10)]);
  });

  it("leads a curve straight to an end far away", () => {
    const points = makeCurve();
    attach(points, head, [120, 20], 0, new Float64Array(target));
    expect([...points.slice(12)]).toEqual([120, 20]);
    const along = listAlong(points);
    expect(along).toEqual([...along].sort((a, b) => b - a));
    expect([...points.slice(0, 4)]).toEqual([...makeCurve().slice(0, 4)]);
  });

  it("leaves as it is what another box is beside", () => {
    const points = makeCurve();
    const beside = [60, 0, 30, 9];
    attach(points, head, [120, 20], 0, new Float64Array([...target, ...beside]));
    expect([...points.slice(0, 6)]).toEqual([...makeCurve().slice(0, 6)]);
    expect([...points.slice(12)]).toEqual([120, 20]);
  });

  it("does the same at a tail, and to the right", () => {
    const turned = new Float64Array([20, 50, 25, 50, 28, 80, 30, 125, 32, 180, 35, 200, 40, 200]);
    const source = new Float64Array([0, 0, 20, 300]);
    attach(turned, { at: 0, inwards: 2, count: 7 }, [120, 20], 1, source);
    expect([...turned.slice(0, 4)]).toEqual([20, 120, 25, 120]);
    const along = [...turned].filter((_, k) => k % 2 === 1);
    expect(along).toEqual([...along].sort((a, b) => a - b));
    expect([...turned.slice(10)]).toEqual([35, 200, 40, 200]);
  });
});
