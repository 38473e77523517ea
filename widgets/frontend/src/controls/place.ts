/** Where a panel stands over the picture: where it covers least, until somebody moves it. */

import type { Rectangle } from "../scene/geometry";

/** From the borders of the picture. */
const INSET = 10;
/** How far an arrow key moves it. */
const STEP = 20;
const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-STEP, 0],
  ArrowRight: [STEP, 0],
  ArrowUp: [0, -STEP],
  ArrowDown: [0, STEP],
};
/** Corners as shares of the room that is left: the first is taken where none is better. */
const CORNERS = [
  [0, 1],
  [0, 0],
  [1, 0],
  [1, 1],
] as const;

export class Place {
  /** whether the best corner is still to be found */
  private isDue = false;
  private isMoved = false;
  /** the size of the picture when it was placed last */
  private room = "";
  private x = INSET;
  private y = INSET;

  /**
   * @param head what it is dragged by
   * @param grip a button that arrow keys move it by
   * @param weigh how much would be under a place in the picture
   */
  constructor(
    private readonly element: HTMLElement,
    head: HTMLElement,
    grip: HTMLElement,
    private readonly weigh: (place: Rectangle) => number,
  ) {
    grip.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      this.moveByHand(this.x + step[0], this.y + step[1]);
    });
    head.addEventListener("pointerdown", (event) => {
      const button = (event.target as Element).closest("button");
      if (event.button !== 0 || (button && button !== grip)) return;
      const [dx, dy] = [this.x - event.clientX, this.y - event.clientY];
      const move = (moved: PointerEvent): void =>
        this.moveByHand(moved.clientX + dx, moved.clientY + dy);
      const end = (): void => {
        head.removeEventListener("pointermove", move);
        for (const name of ["pointerup", "pointercancel"]) head.removeEventListener(name, end);
      };
      head.setPointerCapture(event.pointerId);
      head.addEventListener("pointermove", move);
      for (const name of ["pointerup", "pointercancel"]) head.addEventListener(name, end);
    });
  }

  /** Find the best corner once its size is known; it stays where somebody has moved it. */
  choose(): void {
    this.isDue = !this.isMoved;
  }

  /** Its size is known: stand in the corner where it covers least. */
  settle(): void {
    if (!this.isDue) {
      this.keepInside();
      return;
    }
    this.isDue = false;
    const { width, height, most } = this.measure();
    let [best, x, y] = [Infinity, INSET, INSET];
    for (const [across, down] of CORNERS) {
      const corner = { x: INSET + across * most.x, y: INSET + down * most.y };
      const weight = this.weigh({ ...corner, width, height });
      if (weight < best) [best, x, y] = [weight, corner.x, corner.y];
    }
    this.moveTo(x, y);
  }

  keepInside(): void {
    this.moveTo(this.x, this.y);
  }

  /** The picture may have got another size: what is best may be another corner now. */
  follow(): void {
    if (this.isDue) return; // until its own size is known
    if (this.room !== this.measureRoom()) this.choose();
    this.settle();
  }

  private moveByHand(x: number, y: number): void {
    this.isMoved = true;
    this.isDue = false;
    this.moveTo(x, y);
  }

  private moveTo(x: number, y: number): void {
    this.room = this.measureRoom();
    const { most } = this.measure();
    this.x = Math.round(Math.min(Math.max(x, INSET), INSET + most.x));
    this.y = Math.round(Math.min(Math.max(y, INSET), INSET + most.y));
    this.element.style.left = `${this.x}px`;
    this.element.style.top = `${this.y}px`;
  }

  private measureRoom(): string {
    const { clientWidth = 0, clientHeight = 0 } = this.element.parentElement ?? {};
    return `${clientWidth} ${clientHeight}`;
  }

  private measure(): { width: number; height: number; most: { x: number; y: number } } {
    const { offsetWidth: width, offsetHeight: height, parentElement: room } = this.element;
    const left = (all = 0, own = 0): number => Math.max(all - own - 2 * INSET, 0);
    const most = { x: left(room?.clientWidth, width), y: left(room?.clientHeight, height) };
    return { width, height, most };
  }
}
