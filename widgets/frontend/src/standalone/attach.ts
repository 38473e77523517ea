/** Ends of edges at the exact places where they leave boxes and come to them. */

/** An end that lies farther from its place is of a box that was laid out in another size. */
const MOST_DRIFT = 8;

/** One end of an edge. */
export interface End {
  /** where its point is in the array */
  readonly at: number;
  /** from each point to the next inside: 2, or -2 at the head */
  readonly inwards: number;
  /** how many points the edge has */
  readonly count: number;
}

/**
 * Move an end of an edge to its exact place, and the curve with it.
 *
 * @param along its place along the side of the box
 * @param across its place across
 * @param axis 0 where edges run down, 1 where they run to the right
 * @param boxes x, y, width and height of all boxes, which a curve does not run through
 */
export function attach(
  points: Float64Array,
  end: End,
  [along, across]: readonly [number, number],
  axis: number,
  boxes: Float64Array,
): void {
  const { at, inwards } = end;
  const drift = along - points[at + axis];
  const rise = across - points[at + 1 - axis];
  if (Math.abs(drift) >= MOST_DRIFT && Math.abs(rise) < MOST_DRIFT) {
    lean(points, end, drift, axis, boxes);
  } else if (Math.abs(drift) < MOST_DRIFT) {
    points[at + inwards + axis] += drift;
  }
  points[at + axis] = along;
  points[at + 1 - axis] = across;
  if (Math.abs(rise) < MOST_DRIFT) points[at + inwards + 1 - axis] += rise;
}

/**
 * Shift the points of an edge near its end, those at the end most, so that it goes straight to its
 * new place and does not double back: as far as no box is beside.
 */
function lean(
  points: Float64Array,
  end: End,
  drift: number,
  axis: number,
  boxes: Float64Array,
): void {
  const { at, inwards } = end;
  const start = points[at + axis];
  let span: readonly [number, number] = [Math.min(start, start + drift), Math.max(start, start + drift)];
  let moved: number[] = [];
  // what is shifted goes farther along than the end itself: look again at all of it
  for (let round = 0; round < 2; round++) {
    moved = listNear(points, end, axis, findRoom(points, end, span, axis, boxes));
    const places = moved.map((_, k) => points[at + k * inwards + axis]);
    span = [Math.min(span[0], ...places), Math.max(span[1], ...places.map((place) => place + drift))];
  }
  const length = moved[moved.length - 1];
  for (let k = 1; k < moved.length; k++) {
    // the point beside the end goes all the way: the curve comes to its side at a right angle
    points[at + k * inwards + axis] += drift * (k === 1 ? 1 : 1 - moved[k] / length);
  }
}

/** For each point from an end on that is no farther across than that, its way from the end. */
function listNear(
  points: Float64Array,
  { at, inwards, count }: End,
  axis: number,
  room: number,
): number[] {
  const lengths = [0];
  // the other end stays, and its next point
  for (let k = 1; k < count - 2; k++) {
    const [x, y] = [at + k * inwards, at + k * inwards + 1];
    if (Math.abs(points[at + k * inwards + 1 - axis] - points[at + 1 - axis]) > room) break;
    const step = Math.hypot(points[x] - points[x - inwards], points[y] - points[y - inwards]);
    lengths.push(lengths[k - 1] + step);
  }
  return lengths;
}

/** How far from an end, across, no box is in the way along a span. */
function findRoom(
  points: Float64Array,
  { at, inwards }: End,
  [low, high]: readonly [number, number],
  axis: number,
  boxes: Float64Array,
): number {
  const across = points[at + 1 - axis];
  let room = Infinity;
  for (let box = 0; box < boxes.length; box += 4) {
    const begin = boxes[box + axis];
    if (begin > high || begin + boxes[box + 2 + axis] < low) continue;
    const near = boxes[box + 1 - axis];
    const far = near + boxes[box + 3 - axis];
    // a tail goes on behind its box, a head comes from before it
    const left = inwards > 0 ? near - across : across - far;
    if (left >= -MOST_DRIFT) room = Math.min(room, Math.max(left, 0));
  }
  return room;
}
