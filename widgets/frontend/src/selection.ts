/** What is selected and pointed at, and how the arrow keys move on from there. */

import { type WidgetModel, readText } from "./model";
import type { Stage } from "./stage";
import { describeSelection } from "./speech";
import { type Arrow, endOf, firstBox, walkFrom } from "./walk";

const HOVER_PAUSE = 90;

export class Selection {
  path = "";
  /** the box that was clicked or walked to last, and the one before; -1 for none */
  private chosen = -1;
  private came = -1;
  private hoverTimer: ReturnType<typeof setTimeout> | undefined;

  /** @param changed the selection is another, or what is drawn of it */
  constructor(
    private readonly model: WidgetModel,
    private readonly stage: Stage,
    private readonly host: HTMLElement,
    private readonly live: HTMLElement,
    private readonly changed: () => void,
  ) {
    this.path = readText(model, "selection");
  }

  dispose(): void {
    clearTimeout(this.hoverTimer);
  }

  /** Select by the user's hand: the kernel learns of it. */
  choose(path: string, box = -1): void {
    this.chosen = box;
    this.select(path);
    this.tell("selection", path);
  }

  select(path: string): void {
    const { scene } = this.stage;
    const changed = path !== this.path;
    this.path = path;
    this.host.dataset.selected = path;
    this.stage.markSelection(path);
    if (changed && scene) this.live.textContent = describeSelection(scene, path);
    this.changed();
  }

  /** A new scene numbers its boxes anew. */
  forgetBoxes(): void {
    this.chosen = this.came = -1;
  }

  hover(path: string): void {
    this.stage.markHover(path);
    clearTimeout(this.hoverTimer);
    this.hoverTimer = setTimeout(() => this.tell("hover", path), HOVER_PAUSE);
  }

  /** The selected box: of several with that path, the one that was clicked or walked to. */
  get box(): number | undefined {
    const boxes = this.stage.scene?.boxesAt(this.path) ?? [];
    return boxes.includes(this.chosen) ? this.chosen : boxes[0];
  }

  /** The selected box, or the one on whose face the selection is a row. */
  get holder(): number | undefined {
    return this.box ?? this.stage.scene?.rowsAt(this.path)[0]?.box;
  }

  walk(arrow: Arrow): void {
    const { scene, wiring } = this.stage;
    if (!scene || !wiring) return;
    const box = this.holder;
    if (box !== undefined) {
      const reached = walkFrom(wiring, box, arrow, this.came);
      if (reached === undefined) return;
      this.goTo(reached);
      this.came = box;
    } else if (this.path && scene.edgesAt(this.path).length > 0) {
      const forward = scene.direction === "TB" ? "ArrowDown" : "ArrowRight";
      this.goTo(endOf(wiring, this.path, arrow === forward ? "forward" : "back"));
    } else {
      this.goToFirst();
    }
  }

  goToFirst(): void {
    const { scene } = this.stage;
    this.goTo(scene ? firstBox(scene) : undefined);
  }

  private goTo(box: number | undefined): void {
    const { scene } = this.stage;
    if (!scene || box === undefined) return;
    this.came = -1;
    this.choose(scene.pathOf(box), box);
    this.stage.bringIntoSight(box);
  }

  private tell(trait: "selection" | "hover", path: string): void {
    if (readText(this.model, trait) === path) return;
    this.model.set(trait, path);
    this.model.save_changes();
  }
}
