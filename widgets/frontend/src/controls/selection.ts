/** What is selected and pointed at, and how the arrow keys move on from there. */

import type { Traits } from "../host/connection";
import type { CanvasTraits } from "../host/traits";
import type { Stage } from "../paint/stage";
import { type Arrow, endOf, firstBox, walkFrom } from "../scene/walk";
import { describeSelection } from "./speech";

const HOVER_PAUSE = 90;

export class Selection {
  /** the path of what is selected, those of all values of a bundle, none for nothing */
  paths: readonly string[] = [];
  /** what is set here comes back at once as a change */
  private telling = false;
  /** the box that was clicked or walked to last, and the one before; -1 for none */
  private chosen = -1;
  private came = -1;
  private hoverTimer: ReturnType<typeof setTimeout> | undefined;

  /** @param changed the selection is another, or what is drawn of it */
  constructor(
    private readonly traits: Traits<CanvasTraits>,
    private readonly stage: Stage,
    private readonly host: HTMLElement,
    private readonly live: HTMLElement,
    private readonly changed: () => void,
  ) {
    this.paths = readSelection(traits);
  }

  /** The path of what is selected, of several values the first one's; "" for nothing. */
  get path(): string {
    return this.paths[0] ?? "";
  }

  dispose(): void {
    clearTimeout(this.hoverTimer);
  }

  /** Select by the user's hand: the host learns of it. */
  choose(paths: readonly string[], box = -1): void {
    this.chosen = box;
    this.select(paths);
    if (same(paths, readSelection(this.traits))) return;
    this.tell({ selection: this.path, selected_paths: [...paths] });
  }

  /** The host has selected something. */
  follow(): void {
    if (!this.telling) this.select(readSelection(this.traits));
  }

  /** The host, or another view, points at something. */
  followHover(): void {
    if (!this.telling) this.stage.markHover(this.traits.get("hover"));
  }

  select(paths: readonly string[]): void {
    const { scene } = this.stage;
    const changed = !same(paths, this.paths);
    this.paths = paths;
    this.host.dataset.selected = this.path;
    this.stage.markSelection(paths);
    if (changed && scene) this.live.textContent = describeSelection(scene, paths);
    this.changed();
  }

  /** A new scene numbers its boxes anew. */
  forgetBoxes(): void {
    this.chosen = this.came = -1;
  }

  hover(paths: readonly string[]): void {
    this.stage.markHover(paths);
    clearTimeout(this.hoverTimer);
    this.hoverTimer = setTimeout(() => this.tellHover(paths[0] ?? ""), HOVER_PAUSE);
  }

  /** The selected box: of several with that path, the one that was clicked or walked to. */
  get box(): number | undefined {
    const boxes = this.stage.scene?.boxesAt(this.paths) ?? [];
    return boxes.includes(this.chosen) ? this.chosen : boxes[0];
  }

  /** The selected box, or the one on whose face the selection is a row. */
  get holder(): number | undefined {
    return this.box ?? this.stage.scene?.rowsAt(this.paths)[0]?.box;
  }

  /** The open group that the selection is, or that holds it; -1 where none does. */
  get groupAround(): number {
    const { scene, routes } = this.stage;
    if (!scene || !routes) return -1;
    const box = this.holder;
    if (box !== undefined) return scene.isOpen(box) ? box : scene.parentOf(box);
    for (const edge of scene.edgesAt(this.paths)) {
      for (const end of [scene.sourceOf(edge), scene.targetOf(edge)]) {
        if (end >= 0) return routes.isInside(edge, end) ? end : scene.parentOf(end);
      }
    }
    return -1;
  }

  walk(arrow: Arrow): void {
    const { scene, routes } = this.stage;
    if (!scene || !routes) return;
    const box = this.holder;
    if (box !== undefined) {
      const reached = walkFrom(routes, box, arrow, this.came);
      if (reached === undefined) return;
      this.goTo(reached);
      this.came = box;
    } else if (scene.edgesAt(this.paths).length > 0) {
      const forward = scene.direction === "TB" ? "ArrowDown" : "ArrowRight";
      this.goTo(endOf(routes, this.paths, arrow === forward ? "forward" : "back"));
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
    this.choose(scene.pathsOf(box), box);
    this.stage.camera.bringIntoSight(box);
  }

  /** Set traits at once, without following them as if the host had. */
  private tell(values: Partial<CanvasTraits>): void {
    this.telling = true;
    this.traits.set(values);
    this.telling = false;
  }

  private tellHover(path: string): void {
    if (this.traits.get("hover") === path) return;
    this.tell({ hover: path });
  }
}

/** What the host says is selected: `selected_paths` where they belong to `selection`. */
function readSelection(traits: Traits<CanvasTraits>): readonly string[] {
  const path = traits.get("selection");
  const paths = traits.get("selected_paths");
  if (path === "") return [];
  return paths[0] === path ? paths : [path];
}

function same(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((path, k) => path === other[k]);
}
