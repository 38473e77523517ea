/**
 * Where the window of one pane stands so that it shows what the other one shows. Pure arithmetic.
 *
 * Both pictures are laid out on their own, so that the way from an element to its pair is another
 * for each. Taking over the pair nearest to the middle would let the picture jump whenever another
 * one is the nearest. So the ways of all pairs are averaged, those nearest to the middle counting
 * most (inverse distance weighting: D. Shepard, A two-dimensional interpolation function for
 * irregularly-spaced data, 1968): what is in the middle is at the same place, what moves moves
 * steadily, and beside something that one model alone has the other one shows where it would be.
 * What is selected stands at the same place on both sides while it is in the window.
 */

import type { Point, Size, WindowPlace } from "../scene/geometry";

/** Where an element is in one scene, and where its pair is in the other. */
export interface PlacedPair {
  readonly from: Point;
  readonly to: Point;
}

/** nearer than so many pixels of the scene all count alike */
const NEAR = 24;
/** so far inside of the edge of the window, in pixels, a selection begins to count less */
const FADE = 80;

/**
 * The place of the other window.
 *
 * @param place where the window stands
 * @param size how large it is
 * @param pairs what both scenes show
 * @param selected what is selected, and its pair
 */
export function align(
  place: WindowPlace,
  size: Size,
  pairs: readonly PlacedPair[],
  selected: PlacedPair | null,
): WindowPlace {
  const way = averageWay(place, pairs);
  if (!selected) return { ...place, x: place.x + way.x, y: place.y + way.y };
  const share = shareInside(place, size, selected.from);
  const own = { x: selected.to.x - selected.from.x, y: selected.to.y - selected.from.y };
  return {
    zoom: place.zoom,
    x: place.x + share * own.x + (1 - share) * way.x,
    y: place.y + share * own.y + (1 - share) * way.y,
  };
}

function averageWay(place: Point, pairs: readonly PlacedPair[]): Point {
  let [x, y, sum] = [0, 0, 0];
  for (const { from, to } of pairs) {
    const [dx, dy] = [from.x - place.x, from.y - place.y];
    const weight = 1 / (dx * dx + dy * dy + NEAR * NEAR) ** 2;
    x += weight * (to.x - from.x);
    y += weight * (to.y - from.y);
    sum += weight;
  }
  return sum > 0 ? { x: x / sum, y: y / sum } : { x: 0, y: 0 };
}

/** 1 for what is well inside of the window, 0 outside of it. */
function shareInside({ x, y, zoom }: WindowPlace, size: Size, point: Point): number {
  const across = size.width / 2 - Math.abs(point.x - x) * zoom;
  const down = size.height / 2 - Math.abs(point.y - y) * zoom;
  return Math.min(Math.max(Math.min(across, down) / FADE, 0), 1);
}
