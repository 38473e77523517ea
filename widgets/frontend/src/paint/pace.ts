/**
 * How much of a frame goes into bitmaps for the next ones.
 *
 * The clock tells only how long commands take to be given: the browser carries them out later,
 * which may take several times as long. What does tell is the time from one frame to the next.
 */

/** Milliseconds of giving commands, at least and at most. */
const LEAST = 0.5;
const MOST = 8;
const FIRST = 4;
/** Milliseconds from frame to frame above which less is painted: while the window moves, else. */
const LONG_MOVING = 20;
const LONG_RESTING = 50;
/** What follows a long frame, and one that was not. */
const LESS = 0.6;
const MORE = 1.2;

export class Pace {
  private time = FIRST;
  /** when the last frame began, if it painted and asked for this one; NaN if not */
  private before = Number.NaN;

  /**
   * Milliseconds for bitmaps in a frame.
   *
   * @param now when the frame begins, as `performance.now()` counts
   * @param isMoving whether the window has moved since the last frame
   */
  begin(now: number, isMoving: boolean): number {
    const interval = now - this.before;
    if (!Number.isNaN(interval)) {
      const isLong = interval > (isMoving ? LONG_MOVING : LONG_RESTING);
      this.time = Math.min(Math.max(this.time * (isLong ? LESS : MORE), LEAST), MOST);
    }
    this.before = Number.NaN;
    return this.time;
  }

  /** A frame that began at a time has painted bitmaps, and another follows at once. */
  painted(start: number): void {
    this.before = start;
  }
}
