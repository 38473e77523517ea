/**
 * How the drawn edges hang together: through the walls of open groups, and from the stubs of a
 * value to each other. Every step costs as much as it finds, so that a walk over all of a Scene
 * is linear in its edges.
 */

import { CONSTANT, INPUT, STUB, type Scene } from "./scene";

export type Step = "forward" | "back";

/** Edges that end at a wall in the same port are less than this apart. */
const PORT_SLACK = 1;
const CELL = 2;

/** The edges at one open box, on either side of its wall, by their value and by their place. */
interface Wall {
  byPath: Map<string, number[]>;
  byPlace: Map<string, number[]>;
}

export class Routes {
  private readonly walls = new Map<string, Wall>();

  constructor(readonly scene: Scene) {}

  nearEnd(edge: number, step: Step): number {
    return step === "forward" ? this.scene.sourceOf(edge) : this.scene.targetOf(edge);
  }

  farEnd(edge: number, step: Step): number {
    return step === "forward" ? this.scene.targetOf(edge) : this.scene.sourceOf(edge);
  }

  /** Whether an edge at an open box runs inside its wall: the other end is one of its children. */
  isInside(edge: number, box: number): boolean {
    const { scene } = this;
    const source = scene.sourceOf(edge);
    const target = scene.targetOf(edge);
    if (source === target) return scene.isOpen(box);
    const other = source === box ? target : source;
    return other >= 0 && scene.parentOf(other) === box;
  }

  /** The edges that leave (forward) or enter (back) a box on its outside. */
  edgesFrom(box: number, step: Step): number[] {
    const found: number[] = [];
    for (const edge of this.scene.edgesOf(box)) {
      if (this.nearEnd(edge, step) === box && !this.isInside(edge, box)) found.push(edge);
    }
    return found;
  }

  /**
   * The edges with which an edge goes on at its far end, where that is no box of its own but a
   * wall or a stub; null where it ends at a box, empty where it ends at nothing.
   */
  onward(edge: number, step: Step): number[] | null {
    const { scene } = this;
    const end = this.farEnd(edge, step);
    if (end < 0) return [];
    if ((scene.flagsOf(end) & STUB) !== 0) return this.beyondStub(end, step);
    const inside = this.isInside(edge, end);
    if (!inside && !scene.isOpen(end)) return null;
    const found = this.throughWall(edge, end, inside, step);
    return found.length === 0 && !inside ? null : found;
  }

  /** The other boxes that stand for a value of a stub and have edges in that direction. */
  standIns(stub: number): number[] {
    const { scene } = this;
    return scene
      .boxesAt(scene.pathsOf(stub))
      .filter((box) => (scene.flagsOf(box) & (STUB | INPUT | CONSTANT)) !== 0);
  }

  private beyondStub(stub: number, step: Step): number[] {
    return this.standIns(stub).flatMap((other) =>
      (this.scene.flagsOf(other) & STUB) !== 0 ? this.edgesFrom(other, step) : [],
    );
  }

  private throughWall(edge: number, box: number, inside: boolean, step: Step): number[] {
    const { scene } = this;
    const wall = this.wallOf(box, !inside, step);
    const same = scene.edgePathsOf(edge).flatMap((path) => wall.byPath.get(path) ?? []);
    if (same.length > 0) return [...new Set(same)];
    const x = this.place(edge, step === "forward" ? "end" : "start", 0);
    const y = this.place(edge, step === "forward" ? "end" : "start", 1);
    const found: number[] = [];
    for (let column = -1; column <= 1; column++) {
      for (let row = -1; row <= 1; row++) {
        for (const next of wall.byPlace.get(cellOf(x + column * CELL, y + row * CELL)) ?? []) {
          const side = step === "forward" ? "start" : "end";
          const near =
            Math.abs(this.place(next, side, 0) - x) < PORT_SLACK &&
            Math.abs(this.place(next, side, 1) - y) < PORT_SLACK;
          if (near) found.push(next);
        }
      }
    }
    return found;
  }

  /** The edges that leave (forward) or enter (back) a wall on one of its sides. */
  private wallOf(box: number, inside: boolean, step: Step): Wall {
    const key = `${box} ${inside ? "in" : "out"} ${step}`;
    const known = this.walls.get(key);
    if (known) return known;
    const wall: Wall = { byPath: new Map(), byPlace: new Map() };
    const side = step === "forward" ? "start" : "end";
    for (const edge of this.scene.edgesOf(box)) {
      if (this.nearEnd(edge, step) !== box || this.isInside(edge, box) !== inside) continue;
      for (const path of this.scene.edgePathsOf(edge)) append(wall.byPath, path, edge);
      append(wall.byPlace, cellOf(this.place(edge, side, 0), this.place(edge, side, 1)), edge);
    }
    this.walls.set(key, wall);
    return wall;
  }

  private place(edge: number, end: "start" | "end", axis: 0 | 1): number {
    const { scene } = this;
    const at = end === "start" ? scene.pointsStart(edge) : scene.pointsEnd(edge) - 2;
    return scene.points[at + axis];
  }
}

function cellOf(x: number, y: number): string {
  return `${Math.floor(x / CELL)} ${Math.floor(y / CELL)}`;
}

function append(map: Map<string, number[]>, key: string, entry: number): void {
  const entries = map.get(key);
  if (entries) entries.push(entry);
  else map.set(key, [entry]);
}
