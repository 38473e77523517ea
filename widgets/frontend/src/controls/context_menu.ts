/** Shows the menus: of a thing in the picture, and of the picture itself. */

import type { Traits } from "../host/connection";
import type { Host } from "../host/host";
import type { CanvasTraits } from "../host/traits";
import type { Stage } from "../paint/stage";
import type { Point } from "../scene/geometry";
import type { Hit } from "../scene/pick";
import type { Actions } from "./actions";
import type { Help } from "./dialogs";
import type { Highlights } from "./highlights";
import type { Legend } from "./legend";
import { Menu } from "./menu";
import { type ThingActions, thingMenu, viewMenu } from "./menu_entries";
import type { Panes } from "./panes";
import type { SaveDialog } from "./save_dialog";
import type { SearchBox } from "./search_box";
import type { Selection } from "./selection";
import type { Taking } from "./taking";

export interface MenuParts {
  readonly host: Host;
  readonly traits: Traits<CanvasTraits>;
  readonly frame: HTMLElement;
  readonly panes: Panes;
  readonly stage: Stage;
  readonly selection: Selection;
  readonly highlights: Highlights;
  readonly actions: Actions;
  readonly search: SearchBox;
  readonly help: Help;
  readonly legend: Legend;
  readonly taking: Taking;
  readonly saving: SaveDialog;
  /** whether there is anything to take back, or to do again */
  history(): { undo: boolean; redo: boolean };
}

export class ContextMenu {
  private readonly menu: Menu;

  /** @param closed the menu is put away: give the keyboard back */
  constructor(
    private readonly parts: MenuParts,
    closed: () => void,
  ) {
    this.menu = new Menu(closed);
  }

  /** Put it away: what it stands beside has moved. */
  hide(): void {
    this.menu.hide();
  }

  get element(): HTMLElement {
    return this.menu.element;
  }

  /** The menu of what is at a point of the picture; of the picture where nothing is. */
  showAt(point: Point): void {
    const hit = this.parts.stage.hitAt(point);
    if (hit) this.showThing(hit, this.inFrame(point));
    else this.showView(this.inFrame(point));
  }

  private inFrame({ x, y }: Point): Point {
    const { canvas } = this.parts.stage;
    const [at, frame] = [canvas, this.parts.frame].map((part) => part.getBoundingClientRect());
    return { x: x + at.left - frame.left, y: y + at.top - frame.top };
  }

  /** The menu of what is selected, where it stands. */
  showSelected(): void {
    const { selection, stage } = this.parts;
    const { path, paths, box } = selection;
    const found = stage.camera.locate(path);
    const place = found && this.inFrame(found);
    if (!path || !place) this.showView({ x: stage.camera.size.width, y: 40 });
    else if (box !== undefined) this.showThing({ kind: "box", index: box, path, paths }, place);
    else this.showThing({ kind: "edge", index: -1, path, paths }, place);
  }

  /** The menu of the picture, below a button. */
  showBelow(button: HTMLElement): void {
    const [at, page] = [button.getBoundingClientRect(), this.parts.frame.getBoundingClientRect()];
    this.showView({ x: at.right - page.left, y: at.bottom - page.top + 4 });
  }

  private showThing(hit: Hit, point: Point): void {
    const { host, stage, selection, highlights, actions } = this.parts;
    const { scene } = stage;
    if (!scene) return;
    const { path, paths } = hit;
    const box = hit.kind === "box" ? hit.index : -1;
    const repeat = box >= 0 ? scene.pathOf(box) : path;
    const selected = selection.paths;
    const thingActions: ThingActions = {
      toggle: () => actions.toggle(box),
      unname: () => actions.ask({ type: "unname", path: repeat }, repeat),
      fold: () => actions.ask({ type: "fold", path: repeat }, repeat),
      unroll: () => actions.ask({ type: "unroll", path: repeat }, repeat),
      focus: () => actions.focusOn(path),
      trace: (kind) => {
        selection.choose(paths, box);
        highlights.toggle(kind, paths);
      },
      between: () => highlights.between(selected, paths),
      closeUp: () => stage.camera.zoomTo(paths),
      copyPath: () => void this.parts.taking.copyText(Promise.resolve(paths.join("\n"))),
    };
    const groups = thingMenu(scene, box, path, selection.path, thingActions, host);
    this.menu.show(groups, point, this.parts.frame);
  }

  private showView(point: Point): void {
    const { host, traits, panes, stage, selection, actions, search, help, legend } = this.parts;
    const { taking, saving } = this.parts;
    const wrapped = traits.get("wrap");
    const details = traits.get("details");
    const { undo, redo } = this.parts.history();
    const groups = viewMenu(
      {
        direction: traits.get("direction"),
        theme: traits.get("theme"),
        grouping: traits.get("grouping"),
        wrapped,
        details,
        share: traits.get("share"),
        hasSelection: selection.path !== "",
        inspector: panes.hasInspector ? panes.isInspectorShown : null,
        legend: legend.isShown,
        screen: panes.canFillScreen ? panes.isScreenFull : null,
        canUndo: undo,
        canRedo: redo,
      },
      {
        fit: () => stage.camera.fit(),
        zoomToSelection: () => stage.camera.zoomTo(selection.paths),
        expand: (mode) => actions.ask({ type: "expand", mode }),
        group: (grouping) => actions.ask({ type: "group", grouping }),
        turn: () => actions.turn(),
        wrap: () => actions.ask({ type: "wrap", wrap: !wrapped }),
        detail: () =>
          actions.ask({ type: "details", details: details === "all" ? "facts" : "all" }),
        share: (share) => actions.ask({ type: "share", share }),
        theme: (name) => actions.setTheme(name),
        search: () => search.focus(),
        toggleInspector: () => panes.toggleInspector(),
        toggleLegend: () => legend.toggle(),
        fillScreen: () => panes.toggleScreen(),
        undo: () => actions.undo(),
        redo: () => actions.redo(),
        save: () => saving.show(),
        copyPicture: (format) => void taking.copyPicture(format),
        copyPath: () => void taking.copyText(Promise.resolve(selection.paths.join("\n"))),
        copyCommand: () => void taking.copyCommand(),
        help: () => help.toggle(),
      },
      host,
    );
    this.menu.show(groups, point, this.parts.frame);
  }
}
