/** Histograms, drawn as SVG from counts: see explorer/standalone/histograms.py. */

/** What is told of a histogram beside its counts. */
export interface HistogramFacts {
  readonly edges: readonly [number, number];
  readonly bins: number;
  readonly extent: readonly [number, number];
  readonly of: string;
  readonly kind?: "integer" | "bool";
  readonly times?: number;
  readonly rest?: string;
  readonly odd?: boolean;
  readonly note?: string;
  readonly zero_point?: number;
  readonly levels?: readonly number[];
  readonly band?: readonly [number, number];
}

export interface Tick {
  readonly at: number;
  readonly text: string;
}

interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Where everything of a histogram is, in pixels. */
export interface HistogramPlaces {
  readonly width: number;
  readonly height: number;
  readonly plot: Rectangle;
  readonly bars: readonly Rectangle[];
  /** along the axis of values: where the middles of the texts are, and the ticks above them */
  readonly values: ReadonlyArray<Tick & { readonly middle: number }>;
  readonly counts: readonly Tick[];
  readonly lines: readonly number[];
  readonly band: Rectangle | null;
}

/** of digits in the inspector's font, at 10 pixels */
const DIGIT = 6.4;
const MOST_TICKS = 7;
const MOST_COUNTS = 5;
/** between two texts */
const GAP = 8;
/** a number is written without an exponent where that takes no more signs */
const LONGEST_PLAIN = 6;
const TOP = 14;
const BOTTOM = 30;
/** a bin that holds anything can be seen */
const LEAST_HEIGHT = 0.75;

/** How wide a text is at most. */
export function measureText(text: string): number {
  return text.length * DIGIT;
}

/** Find the places of a histogram in a picture of some width. */
export function placeHistogram(
  facts: HistogramFacts,
  counts: ArrayLike<number>,
  width: number,
): HistogramPlaces {
  const height = Math.round(Math.min(Math.max(0.5 * width, 130), 200));
  const times = facts.times ?? 1;
  let most = 0;
  for (let k = 0; k < counts.length; k++) most = Math.max(most, counts[k]);
  const top = 1.05 * Math.max(most, 1);
  const steps = most > 0 ? placeTicks(0, most * times, MOST_COUNTS, true) : [];
  const labels = steps.map((step) => writeCount(step));
  const left = Math.ceil(Math.max(10, ...labels.map(measureText)) + 6);
  const plot = { x: left, y: TOP, width: width - left - 8, height: height - TOP - BOTTOM };
  const base = plot.y + plot.height;
  const [first, last] = facts.extent;
  const across = (value: number): number =>
    plot.x + ((value - first) / (last - first)) * plot.width;
  const up = (count: number): number => base - (count / top) * plot.height;

  const [low, high] = facts.edges;
  const wide = across(low + (high - low) / facts.bins) - across(low);
  const gap = facts.bins <= 100 ? 0.08 * wide : 0;
  const bars: Rectangle[] = [];
  for (let k = 0; k < counts.length; k++) {
    if (!counts[k]) continue;
    const y = Math.min(up(counts[k]), base - LEAST_HEIGHT);
    bars.push({ x: across(low) + k * wide + gap / 2, y, width: wide - gap, height: base - y });
  }
  const inside = (value: number): boolean => first <= value && value <= last;
  const lines = [...(facts.levels ?? []), ...(facts.band ?? [])];
  if (facts.zero_point !== undefined) lines.push(facts.zero_point);
  let band: Rectangle | null = null;
  if (facts.band) {
    const [from, to] = facts.band.map((end) => across(Math.min(Math.max(end, first), last)));
    band = { x: from, y: plot.y, width: to - from, height: plot.height };
  }
  return {
    width,
    height,
    plot,
    bars,
    values: labelValues(facts, across, width),
    counts: steps.map((step, k) => ({ at: up(step / times), text: labels[k] })),
    lines: lines.filter(inside).map(across),
    band,
  };
}

/** Ticks along the axis of values, as many as have room for their texts. */
function labelValues(
  facts: HistogramFacts,
  across: (value: number) => number,
  width: number,
): Array<Tick & { middle: number }> {
  if (facts.kind === "bool") {
    return ["false", "true"].map((text, value) => place(text, across(value), width));
  }
  const [first, last] = facts.extent;
  let placed: Array<Tick & { middle: number }> = [];
  for (let most = MOST_TICKS; most > 0; most--) {
    const ticks = placeTicks(first, last, most, facts.kind === "integer");
    const texts = writeNumbers(ticks);
    placed = ticks.map((tick, k) => place(texts[k], across(tick), width));
    if (haveRoom(placed)) return placed;
  }
  return placed.slice(0, 1);
}

/** A tick whose text stays within the picture. */
function place(text: string, at: number, width: number): Tick & { middle: number } {
  const half = measureText(text) / 2;
  return { at, text, middle: Math.min(Math.max(at, half), width - half) };
}

function haveRoom(ticks: ReadonlyArray<Tick & { middle: number }>): boolean {
  return ticks.every((tick, k) => {
    if (k === 0) return true;
    const before = ticks[k - 1];
    const needed = (measureText(tick.text) + measureText(before.text)) / 2 + GAP;
    return tick.middle - before.middle >= needed;
  });
}

/** Round numbers from one to another, at most so many. */
export function placeTicks(first: number, last: number, most: number, whole: boolean): number[] {
  let power = 10 ** Math.floor(Math.log10((last - first) / most));
  if (whole) power = Math.max(power, 1);
  for (const factor of [1, 2, 5, 10, 20, 50]) {
    const step = factor * power;
    const begin = Math.ceil(first / step - ROUNDING);
    const count = Math.floor(last / step + ROUNDING) - begin + 1;
    if (count > most) continue;
    return Array.from({ length: count }, (_, k) => (begin + k || 0) * step);
  }
  return [];
}

/** of a step, since neither its multiples nor the ends are exact */
const ROUNDING = 1e-9;

/** Numbers at equal distances, with as many digits as tell them apart. */
export function writeNumbers(numbers: readonly number[]): string[] {
  const step = numbers.length > 1 ? numbers[1] - numbers[0] : Math.abs(numbers[0] ?? 0) || 1;
  const digits = Math.floor(Math.log10(step) + 1e-9);
  const isZero = (number: number): boolean => Math.abs(number) < step / 2;
  const plain = numbers.map((number) =>
    isZero(number) ? "0" : number.toFixed(Math.min(Math.max(-digits, 0), 100)),
  );
  const short = numbers.map((number) => (isZero(number) ? "0" : shorten(number, digits)));
  const length = (texts: string[]): number => Math.max(0, ...texts.map((text) => text.length));
  const shown = length(plain) <= Math.max(length(short), LONGEST_PLAIN) ? plain : short;
  return shown.map((text) => text.replace(/-/g, "−"));
}

/** A number with an exponent, with its digits down to those of a power of ten. */
function shorten(number: number, digits: number): string {
  const more = Math.floor(Math.log10(Math.abs(number)) + 1e-9) - digits;
  const [fraction, exponent] = number.toExponential(Math.min(Math.max(more, 0), 15)).split("e");
  const kept = fraction.includes(".") ? fraction.replace(/\.?0+$/, "") : fraction;
  return `${kept}e${exponent.replace("+", "")}`;
}

/** A count in thousands, millions and so on: 1500 is 1.5k. */
export function writeCount(count: number): string {
  const units = ["", "k", "M", "G", "T", "P", "E"];
  let unit = 0;
  while (count >= 1000 && unit < units.length - 1) {
    count /= 1000;
    unit++;
  }
  return `${Number(count.toPrecision(3))}${units[unit]}`;
}

/** Draw a histogram. */
export function drawHistogram(
  facts: HistogramFacts,
  counts: ArrayLike<number>,
  width: number,
): string {
  const { height, plot, bars, values, counts: steps, lines, band } = placeHistogram(
    facts,
    counts,
    width,
  );
  const base = plot.y + plot.height;
  const right = plot.x + plot.width;
  const drawn: string[] = [];
  for (const { at } of steps) drawn.push(line("grid", plot.x, at, right, at));
  if (band) drawn.push(rectangle("band", band));
  for (const bar of bars) drawn.push(rectangle("bar", bar));
  for (const x of lines) drawn.push(line("mark", x, plot.y, x, base));
  drawn.push(line("axis", plot.x, base, right, base));
  for (const { at } of values) drawn.push(line("axis", at, base, at, base + 3));
  for (const { middle, text } of values) drawn.push(label(text, middle, base + 13, "middle"));
  for (const { at, text } of steps) drawn.push(label(text, plot.x - 5, at + 3.5, "end"));
  drawn.push(label("count", 0, 9, "start"));
  drawn.push(label(facts.of, plot.x + plot.width / 2, height - 3, "middle"));
  return (
    `<svg class="nl-histogram-picture" role="img" aria-label="${tellHistogram(facts, counts)}" ` +
    `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${drawn.join("")}</svg>`
  );
}

/** What a histogram shows, in words: of what, from where to where, and where most of it is. */
export function tellHistogram(facts: HistogramFacts, counts: ArrayLike<number>): string {
  const all = Array.from(counts);
  const [low, high] = facts.edges;
  const total = all.reduce((sum, count) => sum + count, 0);
  const begin = `Histogram of ${escapeText(facts.of)}`;
  if (total === 0) return `${begin}: nothing to show`;
  const most = all.indexOf(Math.max(...all));
  const wide = (high - low) / all.length;
  const write = (number: number): string => String(Number(number.toPrecision(3)));
  const range = `from ${write(low)} to ${write(high)}`;
  const peak = `most between ${write(low + most * wide)} and ${write(low + (most + 1) * wide)}`;
  return `${begin}: ${range}, ${peak}`;
}

function rectangle(kind: string, { x, y, width, height }: Rectangle): string {
  return (
    `<rect class="nl-histogram-${kind}" x="${round(x)}" y="${round(y)}" ` +
    `width="${round(width)}" height="${round(height)}"/>`
  );
}

function line(kind: string, x1: number, y1: number, x2: number, y2: number): string {
  return (
    `<line class="nl-histogram-${kind}" x1="${round(x1)}" y1="${round(y1)}" ` +
    `x2="${round(x2)}" y2="${round(y2)}"/>`
  );
}

function label(text: string, x: number, y: number, anchor: string): string {
  return (
    `<text class="nl-histogram-label" x="${round(x)}" y="${round(y)}" ` +
    `text-anchor="${anchor}">${escapeText(text)}</text>`
  );
}

/** What stands above the picture: how elements are quantized, and what the bars do not show. */
export function writeNotes(facts: HistogramFacts): string {
  const write = (text: string | undefined, quiet: boolean): string =>
    text ? `<span class="nl-histogram-${quiet ? "rest" : "note"}">${escapeText(text)}</span>` : "";
  const notes = write(facts.note, false) + write(facts.rest, !facts.odd);
  return notes && `<div class="nl-histogram-notes">${notes}</div>`;
}

function round(length: number): number {
  return Math.round(100 * length) / 100;
}

function escapeText(text: string): string {
  return text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;");
}
