/**
 * One of two explorers that are side by side, each in a frame of its own: what the page around may
 * ask of it, and what it is told. `../panes_page.ts` is that page.
 */

import type { Keeper } from "../address/address";
import { findPoint } from "../paint/locate";
import type { Stage } from "../paint/stage";
import { type Point, type Size, type WindowPlace, boxRectangle } from "../scene/geometry";
import type { Direction, ThemeName } from "../scene/options";
import { OPEN, type Repetition, STUB, repetitionOf } from "../scene/scene";
import type { OpenState } from "../standalone/change";
import type { StaticHost } from "../standalone/static_host";

/** the name of the event at the frame's element by which a pane gives itself: `detail` is it */
export const PANE = "netloupe:pane";

/** the name of the event at the frame's element that tells what is seen: `detail` is an address */
export const ADDRESS = "netloupe:address";

/** The address of a pane, as `../address/link.ts` has it, which the page around it keeps. */
export class FrameAddress implements Keeper {
  constructor(private readonly frame: Element) {}

  /** What is to be seen at first. */
  read(): string {
    return (this.frame as HTMLElement).dataset?.address ?? "";
  }

  write(text: string): void {
    this.frame.dispatchEvent(new CustomEvent(ADDRESS, { detail: text }));
  }

  onChange(): void {
    // the page around it shows what it wants to by itself
  }
}

/** What of a pane is another: what is selected or drawn, where the window is, or how it looks. */
export type PaneChange = "selection" | "scene" | "place" | "looks";

/** A box that is open; of a repeat, which repetition it shows, and the path of that. */
export interface OpenBox {
  readonly repetition: Repetition | null;
  readonly shown: string;
}

export interface Looks {
  readonly theme: "auto" | ThemeName;
  readonly shownTheme: string;
  readonly direction: Direction;
}

export interface Pane {
  /** paths of what is selected */
  readonly selected: readonly string[];
  /** open what is around some elements, select them and bring the first one into view */
  show(paths: readonly string[]): Promise<void>;
  /** select, and move nothing */
  select(paths: readonly string[]): void;
  /** by path the boxes that are open */
  listOpen(): ReadonlyMap<string, OpenBox>;
  /** open and close several boxes */
  open(changes: readonly OpenState[]): Promise<void>;
  /** whether only what is around an element is shown */
  readonly isFocused: boolean;
  /** the middle of the window in the scene and its zoom; null while there is nothing to be seen */
  readonly place: WindowPlace | null;
  /** the window's size, in CSS pixels */
  readonly size: Size;
  standAt(place: WindowPlace): void;
  /** by path the middle of each box that is closed; none of those that stand for others */
  listBoxes(): ReadonlyMap<string, Point>;
  /** where a box, a row of one or an edge stands in the scene; null where it is not drawn */
  findPoint(path: string): Point | null;
  readonly looks: Looks;
  look(looks: Partial<Omit<Looks, "shownTheme">>): void;
  /** call something after each change */
  watch(watch: (change: PaneChange) => void): void;
}

/** The canvas of a pane. */
export interface PaneView {
  readonly picture: Stage;
  standAt(place: WindowPlace): void;
  /** call something after each frame */
  onFrame(watch: () => void): void;
}

/** Give this pane to the page around it. */
export function offerPane(host: StaticHost, view: PaneView): void {
  frameElement?.dispatchEvent(new CustomEvent(PANE, { detail: makePane(host, view) }));
}

function makePane(host: StaticHost, view: PaneView): Pane {
  const { traits } = host;
  const { picture } = view;
  const { camera } = picture;
  return {
    get selected() {
      return traits.get("selected_paths");
    },
    async show(paths) {
      if (paths.length === 0) return;
      await host.goTo(paths[0]);
      if (paths.length > 1) traits.set({ selection: paths[0], selected_paths: [...paths] });
    },
    select(paths) {
      traits.set({ selection: paths[0] ?? "", selected_paths: [...paths] });
    },
    listOpen() {
      const { scene } = picture;
      const open = new Map<string, OpenBox>();
      for (let box = 0; scene && box < scene.boxCount; box++) {
        if (!scene.isOpen(box)) continue;
        const shown = scene.pathsOf(box)[0];
        open.set(scene.pathOf(box), { repetition: repetitionOf(scene, box), shown });
      }
      return open;
    },
    open: (changes) => host.openAll(changes),
    get isFocused() {
      return host.shownFocus !== null;
    },
    get place() {
      const { size } = camera;
      if (!picture.scene || camera.isHidden) return null;
      const { x, y, zoom } = camera.view;
      return { x: x + size.width / 2 / zoom, y: y + size.height / 2 / zoom, zoom };
    },
    get size() {
      return camera.size;
    },
    standAt: (place) => view.standAt(place),
    listBoxes() {
      const { scene } = picture;
      const boxes = new Map<string, Point>();
      for (let box = 0; scene && box < scene.boxCount; box++) {
        if ((scene.flagsOf(box) & (OPEN | STUB)) !== 0) continue;
        const { x, y, width, height } = boxRectangle(scene, box);
        boxes.set(scene.pathOf(box), { x: x + width / 2, y: y + height / 2 });
      }
      return boxes;
    },
    findPoint: (path) => picture.scene && findPoint(picture.scene, path),
    get looks() {
      return {
        theme: traits.get("theme"),
        shownTheme: traits.get("shown_theme"),
        direction: traits.get("direction"),
      };
    },
    look: (looks) => traits.set(looks),
    watch(watch) {
      let [scene, place] = [picture.scene, camera.view];
      traits.follow("selected_paths", () => watch("selection"));
      for (const name of ["theme", "shown_theme", "direction"] as const) {
        traits.follow(name, () => watch("looks"));
      }
      view.onFrame(() => {
        if (picture.scene !== scene) {
          scene = picture.scene;
          watch("scene");
        }
        if (camera.view === place) return;
        place = camera.view;
        watch("place");
      });
    },
  };
}
