/** A part of a placement, without the empty room between what is left of it. */

import type { Face } from "../scene/face";
import type { Direction } from "../scene/options";
import type { Places } from "./arrange";
import type { Form, Placement } from "./book";
import { joinCurves } from "./curves";
import { Growth, splitBent } from "./growth";

/** What is left of a form: numbers of boxes, edges, inputs and outputs. */
export interface Left {
  readonly boxes: readonly number[];
  readonly edges: readonly number[];
  readonly ins: readonly number[];
  readonly outs: readonly number[];
}

/** so much empty room stays between boxes, along the flow and across it, */
const [FLOW_GAP, CROSS_GAP] = [44, 26];
/** and so much more for each edge in it up to so many */
const EDGE_GAP = 7;
const MOST_EDGES = 8;
/** so much stays outside of the outermost box */
const RIM = 12;
/** about so large is a letter beside an edge, and so high its line */
const LETTER = 6.5;
const LINE = 14;
/** ports on a border take so much to either side */
const PORT = 6;

type Span = readonly [number, number];

/** Make the placement of what is left, in the same order along both axes. */
export function squeeze(
  form: Form,
  left: Left,
  faces: readonly Face[],
  direction: Direction,
): Placement {
  const { places, labels } = form.placements[0];
  const pick = (points: Float64Array, numbers: readonly number[]): Float64Array =>
    Float64Array.from(numbers.flatMap((number) => [points[2 * number], points[2 * number + 1]]));
  const curves = joinCurves(left.edges.map((edge) => findCurve(form, edge)));
  const cut: Places = {
    ...places,
    boxes: pick(places.boxes, left.boxes),
    inputs: pick(places.inputs, left.ins),
    outputs: pick(places.outputs, left.outs),
    edges: curves,
  };
  const told = labels.flatMap((label) => {
    const edge = left.edges.indexOf(label.edge);
    return edge < 0 ? [] : [{ ...label, edge }];
  });
  const [across, down] = [0, 1].map((axis) => {
    const spans: Span[] = left.boxes.map((box, k) => {
      const face = faces[form.boxes[box].face];
      return around(cut.boxes[2 * k + axis], axis === 0 ? face.width : face.height);
    });
    for (const ports of [cut.inputs, cut.outputs]) {
      for (let k = axis; k < ports.length; k += 2) spans.push(around(ports[k], 2 * PORT));
    }
    for (const { text, x, y } of told) {
      spans.push(axis === 0 ? around(x, LETTER * text.length) : around(y, LINE));
    }
    const gap = (axis === 0) === (direction === "LR") ? FLOW_GAP : CROSS_GAP;
    return close(spans, axis === 0 ? places.width : places.height, gap, countPassing(cut, axis));
  });
  const bent = splitBent(cut.edges, across, down);
  const move = (points: Float64Array): Float64Array =>
    points.map((place, k) => (k % 2 === 0 ? across : down).move(place));
  return {
    places: {
      width: across.move(places.width),
      height: down.move(places.height),
      boxes: move(cut.boxes),
      inputs: move(cut.inputs),
      outputs: move(cut.outputs),
      edges: { points: move(bent.points), starts: bent.starts },
    },
    labels: told.map((label) => ({ ...label, x: across.move(label.x), y: down.move(label.y) })),
    opened: new Map(),
  };
}

/** The way of an edge; where it ran with another between the same boxes that one's. */
function findCurve({ edges, placements }: Form, number: number): Float64Array {
  const { points, starts } = placements[0].places.edges;
  const pointsOf = (edge: number): Float64Array =>
    points.subarray(2 * starts[edge], 2 * starts[edge + 1]);
  const own = pointsOf(number);
  if (own.length > 0) return own;
  const { source, target } = edges[number];
  const alike = edges.findIndex(
    (edge, k) => edge.source === source && edge.target === target && starts[k + 1] > starts[k],
  );
  return alike < 0 ? own : pointsOf(alike);
}

function around(centre: number, size: number): Span {
  return [centre - size / 2, centre + size / 2];
}

/** How many edges pass a span along an axis. */
function countPassing({ edges }: Places, axis: number): (low: number, high: number) => number {
  const spans: Span[] = [];
  for (let edge = 0; edge + 1 < edges.starts.length; edge++) {
    let [low, high] = [Infinity, -Infinity];
    for (let k = 2 * edges.starts[edge] + axis; k < 2 * edges.starts[edge + 1]; k += 2) {
      low = Math.min(low, edges.points[k]);
      high = Math.max(high, edges.points[k]);
    }
    spans.push([low, high]);
  }
  return (low, high) => spans.filter(([first, last]) => first < high && last > low).length;
}

/** How coordinates move where what is between some spans is made smaller. */
function close(
  spans: readonly Span[],
  size: number,
  gap: number,
  countEdges: (low: number, high: number) => number,
): Growth {
  const growth = new Growth();
  const shrink = (low: number, high: number, most: number): void => {
    if (high - low > most) growth.add((low + high) / 2, high - low, most);
  };
  const sorted = [...spans].sort(([a], [b]) => a - b);
  if (sorted.length === 0) return growth;
  let [, end] = sorted[0];
  shrink(0, sorted[0][0], RIM);
  for (const [low, high] of sorted) {
    if (low > end) {
      const edges = Math.min(countEdges(end, low), MOST_EDGES);
      shrink(end, low, gap + EDGE_GAP * edges);
    }
    end = Math.max(end, high);
  }
  shrink(end, size, RIM);
  return growth;
}
