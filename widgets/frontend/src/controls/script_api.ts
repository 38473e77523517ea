/** What scripts and tests may ask the host element: where things are, and how it is doing. */

import type { Stage } from "../paint/stage";
import type { Point, Rectangle } from "../scene/geometry";

export interface ScriptApi {
  /** paths of all boxes that are drawn */
  paths(): string[];
  /** paths of all edges that are drawn */
  edges(): string[];
  /** what the box of a path takes on the page, also outside of the window */
  bounds(path: string): Rectangle | null;
  /** where a path stands on the page; null where it is outside of the window */
  locate(path: string): Point | null;
  stats(): {
    nodes: number;
    edges: number;
    /** boxes painted in the last frame */
    visible: number;
    /** milliseconds that the last frame took */
    frameMs: number;
    zoom: number;
    /** how many nodes are lit; null where nothing is dimmed */
    lit: number | null;
    /** whether something moves, is being painted, or was asked for and is not answered */
    busy: boolean;
  };
}

/** @param isWaiting whether something was asked for and is not answered */
export function makeScriptApi(stage: Stage, isWaiting: () => boolean): ScriptApi {
  const { canvas, camera } = stage;
  const onPage = <Place extends Point>(place: Place | null): Place | null => {
    if (!place) return null;
    const { left, top } = canvas.getBoundingClientRect();
    return { ...place, x: left + place.x, y: top + place.y };
  };
  return {
    paths: () => stage.scene?.paths() ?? [],
    edges: () => stage.scene?.edgePaths() ?? [],
    bounds: (path) => onPage(camera.boundsOf(path)),
    locate: (path) => onPage(camera.locate(path)),
    stats: () => ({
      nodes: stage.scene?.boxCount ?? 0,
      edges: stage.scene?.edgeCount ?? 0,
      visible: stage.visible,
      frameMs: stage.frameMs,
      zoom: camera.view.zoom,
      lit: stage.lit?.count ?? null,
      busy: stage.isBusy || isWaiting(),
    }),
  };
}
