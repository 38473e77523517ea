import { expect, test } from "vitest";
import {
  drawHistogram,
  type HistogramFacts,
  measureText,
  placeHistogram,
  placeTicks,
  tellHistogram,
  writeCount,
  writeNotes,
  writeNumbers,
} from "../../src/standalone/histogram";

function tell(low: number, high: number, more: Partial<HistogramFacts> = {}): HistogramFacts {
  const margin = 0.02 * (high - low);
  const extent = [low - margin, high + margin] as const;
  return { edges: [low, high], bins: 4, extent, of: "value", ...more };
}

test("bars stand beside each other, as high as their counts", () => {
  const { bars, plot } = placeHistogram(tell(-1, 1), [1, 0, 4, 2], 340);
  expect(bars).toHaveLength(3);
  const [one, four, two] = bars;
  expect(four.height / one.height).toBeCloseTo(4);
  expect(two.height / one.height).toBeCloseTo(2);
  expect(one.x).toBeGreaterThan(plot.x);
  expect(four.x + four.width).toBeLessThan(two.x);
  expect(two.x + two.width).toBeLessThan(plot.x + plot.width);
  for (const bar of bars) expect(bar.y + bar.height).toBeCloseTo(plot.y + plot.height);
});

test("a single element beside a million is seen", () => {
  const { bars } = placeHistogram(tell(0, 1), [1_000_000, 0, 0, 1], 240);
  expect(bars[1].height).toBeGreaterThan(0.5);
});

const RANGES: Array<[number, number, Partial<HistogramFacts>]> = [
  [-0.064, 0.065, {}],
  [-2.9e-7, 2.7e-7, {}],
  [1e6, 1e6 + 1, {}],
  [-0.5, 24_677_655.5, { kind: "integer" }],
  [-(2 ** 63), 2 ** 63, { kind: "integer" }],
  [-8.5, 7.5, { kind: "integer" }],
  [-1.79, 1.79, { of: "value / 1e+308" }],
  [-0.5, 1.5, { kind: "bool" }],
  [123456.789, 123456.78901, {}],
];

test.each(RANGES)("texts from %d to %d stay apart and inside", (low, high, more) => {
  for (let width = 200; width <= 500; width += 20) {
    const { values } = placeHistogram(tell(low, high, more), [3, 1, 2, 0], width);
    expect(values.length).toBeGreaterThan(0);
    let end = -1;
    for (const { middle, text } of values) {
      const half = measureText(text) / 2;
      expect(middle - half).toBeGreaterThan(end);
      end = middle + half;
    }
    expect(end).toBeLessThanOrEqual(width);
    expect(new Set(values.map(({ text }) => text)).size).toBe(values.length);
  }
});

test("ticks are round numbers, whole ones for integers", () => {
  expect(placeTicks(-0.03, 1.02, 5, false)).toEqual([0, 0.5, 1]);
  expect(placeTicks(-0.03, 1.02, 6, false)).toEqual([0, 0.2, 0.4, 3 * 0.2, 0.8, 1]);
  expect(placeTicks(-0.5, 2.5, 6, true)).toEqual([0, 1, 2]);
  expect(placeTicks(0, 24, 5, true)).toEqual([0, 5, 10, 15, 20]);
});

test("numbers are written with the digits that tell them apart", () => {
  expect(writeNumbers([-0.05, 0, 0.05])).toEqual(["−0.05", "0", "0.05"]);
  expect(writeNumbers([-2e-7, 0, 2e-7])).toEqual(["−2e−7", "0", "2e−7"]);
  expect(writeNumbers([0, 5e6, 1e7, 1.5e7])).toEqual(["0", "5e6", "1e7", "1.5e7"]);
  expect(writeNumbers([1e6, 1e6 + 0.5])).toEqual(["1000000.0", "1000000.5"]);
  expect(["0", "950", "1.5k", "20M"]).toEqual([0, 950, 1500, 2e7].map(writeCount));
});

test("counts are multiplied where they were too large for their column", () => {
  const { counts } = placeHistogram(tell(0, 1, { times: 1000 }), [2_000_000, 0, 0, 1], 340);
  expect(counts[counts.length - 1].text).toBe("2G");
});

test("nothing but NaNs has no bars and no counts", () => {
  const { bars, counts } = placeHistogram(tell(0, 1), [0, 0, 0, 0], 340);
  expect([bars, counts]).toEqual([[], []]);
});

test("the quantization is drawn where it is in view", () => {
  const facts = tell(0, 1, { extent: [-0.5, 1.5], band: [-0.25, 9], note: "step 0.1" });
  const { band, lines, plot } = placeHistogram(facts, [1, 1, 1, 1], 340);
  expect(lines).toHaveLength(1);
  expect(band!.x).toBeCloseTo(plot.x + plot.width / 8);
  expect(band!.x + band!.width).toBeCloseTo(plot.x + plot.width);
  const point = placeHistogram(tell(0, 1, { zero_point: 0 }), [1, 1, 1, 1], 340);
  expect(point.lines).toHaveLength(1);
});

test("texts are no markup", () => {
  const facts = tell(0, 1, { of: "<b>", note: "<i>", rest: "3 NaN", odd: true });
  expect(drawHistogram(facts, [1, 1, 1, 1], 340)).toContain("&lt;b&gt;");
  expect(writeNotes(facts)).toContain("&lt;i&gt;");
  expect(writeNotes(facts)).toContain('<span class="nl-histogram-note">3 NaN</span>');
  expect(writeNotes(tell(0, 1))).toBe("");
});

test("what a histogram shows is told in words, too", () => {
  expect(tellHistogram(tell(-1, 1, { of: 'value of "w"' }), [1, 0, 4, 2])).toBe(
    "Histogram of value of &quot;w&quot;: from -1 to 1, most between 0 and 0.5",
  );
  expect(tellHistogram(tell(0, 1), [0, 0])).toBe("Histogram of value: nothing to show");
  expect(drawHistogram(tell(0, 1), [1, 2, 3, 4], 300)).toContain(
    'aria-label="Histogram of value: from 0 to 1, most between 0.75 and 1"',
  );
});
