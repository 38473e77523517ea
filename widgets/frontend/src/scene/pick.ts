/** What lies under a point, and what lies in a window: spatial indexes over a Scene. */

import Flatbush from "flatbush";
import {
  type Point,
  type Rectangle,
  boxRectangle,
  contains,
  distanceToEdge,
  edgeBounds,
  labelRectangle,
  titleBand,
} from "./geometry";
import type { Scene } from "./scene";

/** What is hit: `paths` are selected by a click on it, `path` is the first of them. */
export type Hit = { index: number; path: string; paths: readonly string[] } & (
  | { kind: "box" | "edge" | "port" }
  | { kind: "row"; top: number; bottom: number }
);

/** How far a port's ring is to be seen from its centre. */
const PORT_REACH = 5;
/** Edges that end in a port end less than this away from its centre. */
const PORT_SLACK = 1;

export class Picker {
  private readonly boxIndex: Flatbush | null;
  private readonly edgeIndex: Flatbush | null;
  private readonly portIndex: Flatbush | null;
  /** open groups, the highest first */
  private readonly frames: Int32Array;

  constructor(private readonly scene: Scene) {
    this.boxIndex = buildIndex(scene.boxCount, (box) => boxRectangle(scene, box));
    this.edgeIndex = buildIndex(scene.edgeCount, (edge) => edgeBounds(scene, edge));
    this.portIndex = buildIndex(scene.portCount, (port) => ({
      x: scene.ports[port * 2] - PORT_REACH,
      y: scene.ports[port * 2 + 1] - PORT_REACH,
      width: 2 * PORT_REACH,
      height: 2 * PORT_REACH,
    }));
    this.frames = framesOf(scene);
  }

  /** Boxes that touch the rectangle, in the scene's order (outer before inner). */
  boxesIn(part: Rectangle): Uint32Array {
    return search(this.boxIndex, part);
  }

  /** Whether a box, or the border or title of an open one, is in the rectangle. */
  isTaken(part: Rectangle): boolean {
    return this.boxesIn(part).some((box) => {
      if (!this.scene.isOpen(box)) return true;
      const { x, y, width, height } = boxRectangle(this.scene, box);
      const isAround =
        x < part.x &&
        y + titleBand(this.scene, box) < part.y &&
        x + width > part.x + part.width &&
        y + height > part.y + part.height;
      return !isAround;
    });
  }

  /** The closed box nearest to a point; undefined where there is none. */
  nearestBox({ x, y }: Point): number | undefined {
    return this.boxIndex?.neighbors(x, y, 1, Infinity, (box) => !this.scene.isOpen(box))[0];
  }

  edgesIn(part: Rectangle): Uint32Array {
    return search(this.edgeIndex, part);
  }

  portsIn(part: Rectangle): Uint32Array {
    return search(this.portIndex, part);
  }

  /** Open groups in the rectangle that are at least so high, outer before inner. */
  framesIn(part: Rectangle, height: number): number[] {
    const { frames, scene } = this;
    const found: number[] = [];
    for (const frame of frames) {
      const { boxes } = scene;
      const at = frame * 4;
      if (boxes[at + 3] < height) break;
      const isIn =
        boxes[at] <= part.x + part.width &&
        boxes[at] + boxes[at + 2] >= part.x &&
        boxes[at + 1] <= part.y + part.height &&
        boxes[at + 1] + boxes[at + 3] >= part.y;
      if (isIn) found.push(frame);
    }
    return found.sort((one, other) => one - other);
  }

  /**
   * What a click at a point of the scene means. A closed box wins over what runs behind it;
   * an open frame answers on its title band and its border, its inside is ground.
   *
   * @param slack how far beside a line still counts, in the scene's pixels
   */
  at(point: Point, slack: number): Hit | null {
    const { scene } = this;
    const around = {
      x: point.x - slack,
      y: point.y - slack,
      width: 2 * slack,
      height: 2 * slack,
    };
    const boxes = this.boxesIn(around);
    for (let k = boxes.length - 1; k >= 0; k--) {
      const box = boxes[k];
      if (scene.isOpen(box) || !contains(boxRectangle(scene, box), point)) continue;
      return this.rowAt(box, point) ?? hitOf("box", box, scene.pathsOf(box));
    }
    const port = this.portAt(around, point, slack);
    if (port) return port;
    const edge = this.edgeAt(around, point, slack);
    if (edge) return edge;
    for (let k = boxes.length - 1; k >= 0; k--) {
      const box = boxes[k];
      if (scene.isOpen(box) && onFrame(scene, box, point, slack)) {
        return hitOf("box", box, scene.pathsOf(box));
      }
    }
    return null;
  }

  private rowAt(box: number, point: Point): Hit | null {
    const x = point.x - this.scene.boxes[box * 4];
    const y = point.y - this.scene.boxes[box * 4 + 1];
    for (const [left, top, bottom, path] of this.scene.targetsOf(box)) {
      if (x >= left && y >= top && y < bottom) {
        return { kind: "row", index: box, path, paths: [path], top, bottom };
      }
    }
    return null;
  }

  private portAt(around: Rectangle, point: Point, slack: number): Hit | null {
    const { scene } = this;
    const reach = slack + 2;
    for (const port of this.portsIn(around)) {
      const dx = scene.ports[port * 2] - point.x;
      const dy = scene.ports[port * 2 + 1] - point.y;
      if (dx * dx + dy * dy <= reach * reach) {
        return hitOf("port", port, this.pathsThrough(port));
      }
    }
    return null;
  }

  private edgeAt(around: Rectangle, point: Point, slack: number): Hit | null {
    const { scene } = this;
    let nearest = -1;
    let distance = slack;
    for (const edge of this.edgesIn(around)) {
      const away = contains(labelRectangle(scene, edge), point)
        ? 0
        : distanceToEdge(scene, edge, point);
      if (away <= distance) {
        nearest = edge;
        distance = away;
      }
    }
    return nearest < 0 ? null : hitOf("edge", nearest, scene.edgePathsOf(nearest));
  }

  /** The paths of all values that pass a port, as they are called outside where an edge is. */
  private pathsThrough(port: number): readonly string[] {
    const { scene } = this;
    const box = scene.portBox(port);
    const [outside, inside] = [new Set<string>(), new Set<string>()];
    for (const edge of box < 0 ? [] : scene.edgesOf(box)) {
      if (!endsAt(scene, edge, scene.ports[port * 2], scene.ports[port * 2 + 1])) continue;
      const child = scene.sourceOf(edge) === box ? scene.targetOf(edge) : scene.sourceOf(edge);
      const within = child >= 0 && (child === box || scene.parentOf(child) === box);
      for (const path of scene.edgePathsOf(edge)) (within ? inside : outside).add(path);
    }
    const found = outside.size > 0 ? outside : inside;
    // one value is called as the port itself is
    return found.size > 1 ? [...found] : [scene.portPath(port)];
  }
}

function hitOf(kind: "box" | "edge" | "port", index: number, paths: readonly string[]): Hit {
  return { kind, index, path: paths[0], paths };
}

function endsAt(scene: Scene, edge: number, x: number, y: number): boolean {
  const { points } = scene;
  const end = scene.pointsEnd(edge) - 2;
  return [scene.pointsStart(edge), end].some(
    (at) => Math.abs(points[at] - x) < PORT_SLACK && Math.abs(points[at + 1] - y) < PORT_SLACK,
  );
}

function onFrame(scene: Scene, box: number, point: Point, slack: number): boolean {
  const { x, y, width, height } = boxRectangle(scene, box);
  const grown = {
    x: x - slack,
    y: y - slack,
    width: width + 2 * slack,
    height: height + 2 * slack,
  };
  if (!contains(grown, point)) return false;
  return (
    point.y < y + titleBand(scene, box) ||
    point.y > y + height - slack ||
    point.x < x + slack ||
    point.x > x + width - slack
  );
}

function framesOf(scene: Scene): Int32Array {
  const frames: number[] = [];
  for (let box = 0; box < scene.boxCount; box++) if (scene.isOpen(box)) frames.push(box);
  const heightOf = (box: number): number => scene.boxes[box * 4 + 3];
  return Int32Array.from(frames.sort((one, other) => heightOf(other) - heightOf(one)));
}

function buildIndex(count: number, rectangleOf: (index: number) => Rectangle): Flatbush | null {
  if (count === 0) return null;
  const index = new Flatbush(count, 16, Float64Array);
  for (let k = 0; k < count; k++) {
    const { x, y, width, height } = rectangleOf(k);
    index.add(x, y, x + width, y + height);
  }
  index.finish();
  return index;
}

function search(index: Flatbush | null, part: Rectangle): Uint32Array {
  if (!index) return new Uint32Array(0);
  const right = part.x + part.width;
  const bottom = part.y + part.height;
  const isAll =
    part.x <= index.minX && part.y <= index.minY && right >= index.maxX && bottom >= index.maxY;
  if (isAll) return Uint32Array.from({ length: index.numItems }, (_, k) => k);
  const found = index.search(part.x, part.y, right, bottom);
  return Uint32Array.from(found).sort();
}
