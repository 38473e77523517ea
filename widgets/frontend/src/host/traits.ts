/**
 * The state that a canvas shares with Python: the traits of widgets/canvas.py, under their names.
 * What each of them holds, and who sets it, stands there.
 */

import type { PaintsByPath } from "../scene/paints_by_path";
import type { FirstScene } from "./messages";
import type { Details, Direction, Share, ThemeName } from "../scene/options";

export interface CanvasTraits {
  selection: string;
  selected_paths: readonly string[];
  hover: string;
  focus: string;
  hops: number;
  grouping: string;
  wrap: boolean;
  details: Details;
  share: Share;
  theme: "auto" | ThemeName;
  direction: Direction;
  breadcrumb: ReadonlyArray<readonly string[]>;
  paints: PaintsByPath;
  marks: PaintsByPath;
  coloured: PaintsByPath;
  overlays: readonly string[];
  overlay: number;
  changed: string;
  shown_theme: string;
  height: number;
  inspector_width: number;
  inspector_shown: boolean;
  title: string;
  file_name: string;
  static_id: string;
  first: FirstScene;
}

/** What the traits are until they are set. */
export const CANVAS_TRAITS: CanvasTraits = {
  selection: "",
  selected_paths: [],
  hover: "",
  focus: "",
  hops: 0,
  grouping: "auto",
  wrap: false,
  details: "facts",
  share: "parameters",
  theme: "auto",
  direction: "TB",
  breadcrumb: [],
  paints: {},
  marks: {},
  coloured: {},
  overlays: [],
  overlay: -1,
  changed: "",
  shown_theme: "",
  height: 560,
  inspector_width: 360,
  inspector_shown: true,
  title: "",
  file_name: "",
  static_id: "",
  first: {},
};

/** The traits of widgets/description_text.py. */
export interface DescriptionTraits {
  html: string;
}

export const DESCRIPTION_TRAITS: DescriptionTraits = {
  html: "",
};
