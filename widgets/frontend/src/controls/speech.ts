/** What is said about an element: in the tooltip, and to who listens instead of looking. */

import { titleOf } from "../paint/text";
import type { Hit } from "../scene/pick";
import {
  CONSTANT,
  INPUT,
  NODE,
  OUTPUT,
  STUB,
  type Paths,
  type Scene,
  repetitionOf,
} from "../scene/scene";

/** A tooltip lists so many of the values that something stands for. */
const MOST_LINES = 8;

/** The lines of the tooltip: the path, a title that is shortened on its box, a type, a share. */
export function tooltipOf(scene: Scene, hit: Hit): string[] {
  switch (hit.kind) {
    case "box": {
      const { title, bar } = scene.faceOf(hit.index);
      return withoutBlank([...listPaths(hit.paths), title, bar?.[4] ?? ""]);
    }
    case "row":
      return listPaths(hit.paths);
    case "edge":
      return withoutBlank([
        ...listPaths(hit.paths),
        scene.edgeLabel(hit.index) || labelOf(scene, hit.path),
      ]);
    case "port":
      return withoutBlank([...listPaths(hit.paths), labelOf(scene, hit.path)]);
  }
}

function listPaths(paths: readonly string[]): string[] {
  if (paths.length <= MOST_LINES) return [...paths];
  const hidden = (paths.length - MOST_LINES + 1).toLocaleString("en");
  return [...paths.slice(0, MOST_LINES - 1), `… ${hidden} more`];
}

/** A sentence about what is selected. */
export function describeSelection(scene: Scene, paths: readonly string[]): string {
  const path = paths[0];
  if (!path) return "Nothing selected";
  if (paths.length > 1) {
    const what = paths.every((each) => /(^|\/)%/.test(each)) ? "values" : "elements";
    return `${paths.length.toLocaleString("en")} ${what}, ${nameOf(paths)}`;
  }
  const standIns = scene.standInsOf(path);
  if (standIns.length > 0) return describeStandIns(scene, path, standIns);
  const box = scene.boxesAt(path)[0];
  if (box !== undefined) {
    const inputs = new Set<string>();
    const outputs = new Set<string>();
    for (const edge of scene.edgesOf(box)) {
      const other = scene.sourceOf(edge) === box ? scene.targetOf(edge) : scene.sourceOf(edge);
      if (other >= 0 && scene.parentOf(other) === box) continue;
      (scene.targetOf(edge) === box ? inputs : outputs).add(scene.edgePath(edge));
    }
    const title = titleOf(scene.faceOf(box)) || path;
    const shown = scene.pathOf(box) === path ? null : repetitionOf(scene, box);
    const called = shown ? `${shown.index + 1} of ${shown.count} of ${title}` : title;
    const name = withoutBlank([called, ownName(scene, box, title)]).join(", ");
    return `${name}, ${kindOf(scene, box)}, ${count(inputs.size, "input")}, ${count(outputs.size, "output")}`;
  }
  const row = scene.rowsAt(path)[0];
  if (row) return `${path}, constant of ${titleOf(scene.faceOf(row.box))}`;
  if (scene.edgesAt(path).length > 0) {
    return withoutBlank([path, "value", labelOf(scene, path)]).join(", ");
  }
  return `${path}, not in the picture`;
}

/** The name of a node whose box is called something else; "" where it is the same, or has none. */
function ownName(scene: Scene, box: number, title: string): string {
  if (!(scene.flagsOf(box) & NODE)) return "";
  const name = nameOf(scene.pathOf(box));
  return name.startsWith("#") || title.includes(name) ? "" : name;
}

/** A sentence about what other boxes show or hide. */
function describeStandIns(scene: Scene, path: string, [box, ...more]: readonly number[]): string {
  const others = more.length > 0 ? ` and ${count(more.length, "more box", "more boxes")}` : "";
  const way = scene.isOpenable(box) ? "in" : "shown by";
  return `${path}, ${way} ${titleOf(scene.faceOf(box)) || scene.pathOf(box)}${others}`;
}

/** The last part of a path: what one calls the thing at it; of several the first with a count. */
export function nameOf(at: Paths): string {
  const path = typeof at === "string" ? at : (at[0] ?? "");
  if (typeof at !== "string" && at.length > 1) {
    return `${nameOf(path)} and ${(at.length - 1).toLocaleString("en")} more`;
  }
  const parts = path.split("/").filter((part) => part !== "");
  return (parts[parts.length - 1] ?? path).replace(/^%/, "");
}

function kindOf(scene: Scene, box: number): string {
  const flags = scene.flagsOf(box);
  if (flags & INPUT) return "input of the graph";
  if (flags & OUTPUT) return "output of the graph";
  if (flags & CONSTANT) return "constant";
  if (flags & STUB) return "value from elsewhere";
  const state = scene.isOpen(box) ? "open " : scene.isOpenable(box) ? "closed " : "";
  return state + (flags & NODE ? "node" : "group");
}

function labelOf(scene: Scene, path: string): string {
  for (const edge of scene.edgesAt(path)) {
    const label = scene.edgeLabel(edge);
    if (label) return label;
  }
  return "";
}

function count(number: number, what: string, several = `${what}s`): string {
  return `${number} ${number === 1 ? what : several}`;
}

function withoutBlank(parts: string[]): string[] {
  return parts.filter((part) => part !== "");
}
