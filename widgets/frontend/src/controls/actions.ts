/** What a user does with the picture, whether by the pointer, by keys or from a menu. */

import type { Traits } from "../host/connection";
import type { Host } from "../host/host";
import type { SceneRequest } from "../host/messages";
import type { CanvasTraits } from "../host/traits";
import type { Stage } from "../paint/stage";
import type { Point } from "../scene/geometry";
import options from "../scene/options";
import { isChip } from "../scene/scene";
import type { Highlights } from "./highlights";
import type { Requests } from "./requests";
import type { Selection } from "./selection";

export class Actions {
  constructor(
    private readonly host: Host,
    private readonly traits: Traits<CanvasTraits>,
    private readonly stage: Stage,
    private readonly selection: Selection,
    private readonly highlights: Highlights,
    private readonly requests: Requests,
  ) {}

  /** paths of groups that were asked to close and are still drawn open */
  private readonly closing = new Set<string>();

  /** Ask for another scene. `kept` is the path of the box that stays where it is. */
  ask(content: SceneRequest, kept?: string): void {
    void this.requests.ask(content, kept);
  }

  /** @param second the click is the second of two ends */
  click(point: Point, second: boolean): void {
    const hit = this.stage.hitAt(point);
    if (second && hit && this.selection.path) {
      this.highlights.between(this.selection.paths, hit.paths);
      return;
    }
    this.selection.choose(hit?.paths ?? [], hit?.kind === "box" ? hit.index : -1);
  }

  doubleClick(point: Point): void {
    if (!this.host.can("open")) return;
    const hit = this.stage.hitAt(point);
    const { scene } = this.stage;
    // the row of folded shape arithmetic leads to its nodes, others belong to their box
    if (scene && hit?.kind === "row" && isChip(scene, hit.index, hit.top)) {
      this.ask({ type: "open", path: hit.path }, scene.pathOf(hit.index));
    } else if (hit && (hit.kind === "box" || hit.kind === "row")) {
      this.toggle(hit.index);
    }
  }

  /** Open a box that is closed, close one that is open. */
  toggle(box: number): void {
    const { scene } = this.stage;
    if (!scene || !this.host.can("open")) return;
    if (!(scene.isOpenable(box) || scene.isOpen(box))) return;
    const path = scene.pathOf(box);
    if (scene.isOpen(box) && this.selection.box === box) {
      this.selection.choose(scene.closedPathsOf(box), box);
    }
    this.ask({ type: "toggle", path }, path);
  }

  /**
   * Close the group around the selection and select it; select nothing outside of all groups, or
   * where none can be closed.
   */
  closeAround(): void {
    const { scene } = this.stage;
    if (!scene) return;
    let group = this.host.can("open") ? this.selection.groupAround : -1;
    while (group >= 0 && this.closing.has(scene.pathOf(group))) group = scene.parentOf(group);
    if (group < 0) {
      this.selection.choose([]);
      return;
    }
    const path = scene.pathOf(group);
    this.selection.choose(scene.closedPathsOf(group), group);
    this.closing.add(path);
    void this.requests.ask({ type: "close", path }, path).finally(() => this.closing.delete(path));
  }

  /** Show only what is around a path. */
  focusOn(path: string, hops = options.hops.default): void {
    if (path) this.ask({ type: "focus", path, hops });
  }

  undo(): void {
    this.ask({ type: "undo" });
  }

  redo(): void {
    this.ask({ type: "redo" });
  }

  leaveFocus(): void {
    this.ask({ type: "unfocus" });
  }

  /** Let the graph run to the right, or down again. */
  turn(): void {
    this.traits.set({ direction: this.traits.get("direction") === "LR" ? "TB" : "LR" });
  }

  setTheme(theme: CanvasTraits["theme"]): void {
    this.traits.set({ theme });
  }
}
