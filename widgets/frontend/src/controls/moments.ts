/** Where the window stood at each moment of the history, so that undoing brings back the place. */

import type { Viewport } from "../paint/viewport";
import type { Size } from "../scene/geometry";

/** Of more moments the ones that were left first are forgotten. */
const MOST_MOMENTS = 200;
/** Scenes of sizes that differ by less are the same. */
const SLACK = 1;

interface Place {
  readonly view: Viewport;
  readonly scene: Size;
}

export class Moments {
  private readonly places = new Map<number, Place>();

  /** Note where the window stands before another moment is shown. */
  leave(moment: number, view: Viewport, scene: Size): void {
    this.places.delete(moment);
    this.places.set(moment, { view, scene: { width: scene.width, height: scene.height } });
    for (const first of this.places.keys()) {
      if (this.places.size <= MOST_MOMENTS) break;
      this.places.delete(first);
    }
  }

  /** Where the window stood when the moment was left; undefined where the scene is another now. */
  find(moment: number, scene: Size): Viewport | undefined {
    const place = this.places.get(moment);
    if (!place) return undefined;
    const { width, height } = place.scene;
    const isSame =
      Math.abs(width - scene.width) < SLACK && Math.abs(height - scene.height) < SLACK;
    return isSame ? place.view : undefined;
  }
}
