/** Where titles of open groups stand: above what is inside where there is room, else over it. */

import { TEXT_STYLES, type Face } from "../scene/face";
import type { Rectangle } from "../scene/geometry";
import type { Picker } from "../scene/pick";
import type { Scene } from "../scene/scene";
import { TITLES_ZOOM, type Pass, type PlacedTitle } from "./pass";
import { elide, measureText } from "./text";

/** Sizes of the text on the screen, the preferred one first. */
const SIZES = [10.5, 8.5, 7];
/** Height of the ground behind the text in sizes of the text. */
const HEIGHT = 1.4;
const INSET = 4;
/** Between the text and the ends of its ground, on the screen. */
export const PADDING = 5;
/** A frame's title takes at most this part of its height. */
const MOST_OF_HEIGHT = 1 / 3;

/** A frame that is narrower on the screen has no room for the fewest letters. */
const NARROWEST = 2 * PADDING + 10;

/** A group's title and its width at size 1. */
interface Name {
  readonly text: string;
  readonly width: number;
}

/** What of a frame's picture decides where titles stand. */
export type Frames = Pick<Pass, "boxes" | "positions" | "zoom" | "motion">;

/**
 * The titles of a Scene's open groups. Where one stands follows from the zoom, the group and the
 * groups around it, wherever the window is: while the zoom stays what is known is used again.
 */
export class Titles {
  private known = new Map<number, PlacedTitle | null>();
  private readonly names = new Map<Face, Name>();
  private zoom = 0;

  /** @param measure width of a text at size 1 */
  constructor(
    private readonly scene: Scene,
    private readonly picker: Picker,
    private readonly measure: (text: string) => number = measureTitle,
  ) {}

  /**
   * Place the titles of the open groups among `boxes`, of which outer ones come first: in the top
   * left corner, beside or below the titles that are there already, shortened to the group's
   * width. One that finds no room above the boxes inside is shortened where these have titles that
   * it would cover; from farther away it is laid over them, since the group tells more than what is
   * in it. Over another title none is laid.
   */
  place({ boxes, positions, zoom, motion }: Frames): PlacedTitle[] {
    if (this.zoom !== zoom) this.known = new Map();
    this.zoom = zoom;
    // while boxes move nothing stays where it is
    const known = motion ? new Map<number, PlacedTitle | null>() : this.known;
    const placed: PlacedTitle[] = [];
    for (let k = 0; k < boxes.length; k++) {
      const box = boxes[k];
      if (!this.scene.isOpen(box)) continue;
      let title = known.get(box);
      if (title === undefined) {
        title = this.placeOne(box, positions, zoom, known, motion === null);
        known.set(box, title);
      }
      if (title) placed.push(title);
    }
    return placed;
  }

  private placeOne(
    box: number,
    positions: Float64Array,
    zoom: number,
    known: ReadonlyMap<number, PlacedTitle | null>,
    isIndexed: boolean,
  ): PlacedTitle | null {
    // a title lies in its group: only those of the groups around it can be in its way
    const taken: Rectangle[] = [];
    for (let around = this.scene.parentOf(box); around >= 0; around = this.scene.parentOf(around)) {
      const title = known.get(around);
      if (title) taken.push(title.ground);
    }
    let first: PlacedTitle | null = null;
    let whole: PlacedTitle | null = null;
    // the last one is the smallest, and so the one with the most letters
    let shortened: PlacedTitle | null = null;
    for (const size of SIZES) {
      for (const title of this.titlesOf(box, positions, zoom, size, taken)) {
        // while boxes move, the index knows where they will be and not where they are
        if (!isIndexed || this.isFree(title.ground, box)) return title;
        first ??= title;
        if (!title.text.endsWith("…")) whole ??= title;
        if (zoom >= TITLES_ZOOM) shortened = this.shorten(title, zoom) ?? shortened;
      }
    }
    return shortened ?? whole ?? first;
  }

  /** A title shortened to what is free on its line; null where too little is. */
  private shorten(title: PlacedTitle, zoom: number): PlacedTitle | null {
    const { box, size, ground } = title;
    const lefts = this.inWayOf(ground, box).map((other) => this.scene.boxes[other * 4]);
    const padding = PADDING / zoom;
    const room = Math.min(...lefts) - ground.x - 2 * padding - 1 / zoom;
    const { text: name, width: wide } = this.nameOf(this.scene.faceOf(box));
    const text = elide(name, (room * zoom) / (wide * size));
    if (!text) return null;
    const width = Math.min((this.measure(text) * size) / zoom, room) + 2 * padding;
    return { box, text, size, ground: { ...ground, width } };
  }

  /** The title of an open group in the places where it fits, the best first. */
  private titlesOf(
    box: number,
    positions: Float64Array,
    zoom: number,
    size: number,
    taken: readonly Rectangle[],
  ): PlacedTitle[] {
    const [left, top] = [positions[box * 4], positions[box * 4 + 1]];
    const [width, height] = [positions[box * 4 + 2], positions[box * 4 + 3]];
    const high = (size * HEIGHT) / zoom;
    const room = height * MOST_OF_HEIGHT;
    if (high > room || width * zoom < NARROWEST) return [];
    const { text: title, width: wide } = this.nameOf(this.scene.faceOf(box));
    if (!title) return [];
    const inset = Math.min(INSET, size / 2) / zoom;
    const padding = PADDING / zoom;
    const placeAt = (x: number, y: number): PlacedTitle | null => {
      if (y + high > top + Math.max(room, height / 2)) return null;
      const most = left + width - inset - x - 2 * padding;
      const text = elide(title, most / ((wide * size) / zoom));
      if (!text) return null;
      const needed = text === title ? wide : this.measure(text);
      const across = Math.min((needed * size) / zoom, most) + 2 * padding;
      return { box, text, size, ground: { x, y, width: across, height: high } };
    };
    const first = placeAt(left + inset, top + inset / 2);
    const inWay = first ? taken.filter((ground) => touch(ground, first.ground)) : [];
    if (!first || inWay.length === 0) return first ? [first] : [];
    const right = Math.max(...inWay.map((ground) => ground.x + ground.width));
    const below = Math.max(...inWay.map((ground) => ground.y + ground.height));
    const beside = [
      placeAt(right + 1 / zoom, first.ground.y),
      placeAt(first.ground.x, below + 1 / zoom),
    ];
    return beside.filter(
      (one) => one !== null && !taken.some((ground) => touch(ground, one.ground)),
    ) as PlacedTitle[];
  }

  private nameOf(face: Face): Name {
    let name = this.names.get(face);
    if (!name) {
      // with the number of a repeat's repetitions
      const runs = face.texts.filter((run) => run[3] === "title");
      const text = runs.map((run) => run[2]).join(" ");
      name = { text, width: this.measure(text) };
      this.names.set(face, name);
    }
    return name;
  }

  /** Whether nothing but a group, what is around it and its own wall lies in a rectangle. */
  private isFree(ground: Rectangle, box: number): boolean {
    return this.inWayOf(ground, box).length === 0;
  }

  private inWayOf(ground: Rectangle, box: number): number[] {
    return Array.from(this.picker.boxesIn(ground)).filter((other) => {
      let around = box;
      while (around >= 0 && around !== other) around = this.scene.parentOf(around);
      return around < 0;
    });
  }
}

/** Whether a title of a group lies on a rectangle. */
export function isUnderTitle({ titles }: Pick<Pass, "titles">, place: Rectangle): boolean {
  return titles.some(({ ground }) => touch(ground, place));
}

function measureTitle(text: string): number {
  return measureText(text, "title") / TEXT_STYLES.title[0];
}

function touch(one: Rectangle, other: Rectangle): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}
