/** The Bézier points of many edges in one array, edge after edge. */

export interface Curves {
  /** x and y in turn; of each edge the start, then three points for each of its pieces */
  readonly points: Float64Array;
  /** number of the first point of each edge, and the end of the last */
  readonly starts: Int32Array;
}

/** Of how many Bézier pieces an edge consists. */
export function countPieces({ starts }: Curves, edge: number): number {
  return Math.max(Math.floor((starts[edge + 1] - starts[edge] - 1) / 3), 0);
}

/** How many points an edge has. */
export function countPoints({ starts }: Curves, edge: number): number {
  return starts[edge + 1] - starts[edge];
}

/** The coordinate of a point on a Bézier piece that begins at a place of an array. */
export function evaluate(points: ArrayLike<number>, at: number, t: number): number {
  const s = 1 - t;
  return (
    s * s * s * points[at] +
    3 * s * s * t * points[at + 2] +
    3 * s * t * t * points[at + 4] +
    t * t * t * points[at + 6]
  );
}

/** Put curves together from arrays of their points, in order. */
export function joinCurves(each: ReadonlyArray<ArrayLike<number>>): Curves {
  const starts = new Int32Array(each.length + 1);
  each.forEach((points, edge) => (starts[edge + 1] = starts[edge] + points.length / 2));
  const points = new Float64Array(2 * starts[each.length]);
  each.forEach((part, edge) => points.set(part, 2 * starts[edge]));
  return { points, starts };
}
