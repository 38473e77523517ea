/** The header of a scene's message, checked; what explorer/render/wire.py says it holds. */

import type { Face } from "./face";
import type { Direction } from "./options";

export const VERSION = 5;

export class WireError extends Error {}
/** The scene is of another version than the canvas. */
export class VersionError extends WireError {}

export interface Header {
  number: number;
  since: number | null;
  width: number;
  height: number;
  direction: Direction;
  wrapped: boolean;
  extreme: boolean;
  notices: string[];
  root: number;
  counts: { boxes: number; ports: number; edges: number };
  faces: Face[];
  labels: string[];
  forms: Array<[number, number, number, number, number, number]>;
  levels: number;
}

export function checkHeader(header: unknown): Header {
  const fields = header as Record<string, any> | null;
  if (typeof fields !== "object" || fields === null) throw new WireError("the scene has no header");
  if (fields.version !== VERSION) {
    throw new VersionError(
      `the scene has version ${String(fields.version)}, this canvas draws version ${VERSION}`,
    );
  }
  const counts = fields.counts ?? {};
  for (const name of ["boxes", "ports", "edges"]) {
    if (!isCount(counts[name])) throw new WireError(`the scene's header does not count its ${name}`);
  }
  for (const name of ["faces", "labels", "forms"]) {
    if (!Array.isArray(fields[name])) throw new WireError(`the scene's header has no ${name}`);
  }
  const forms = fields.forms as unknown[];
  if (!forms.every((form) => Array.isArray(form) && form.length === 6 && form.every(isCount))) {
    throw new WireError("the scene's header does not say how large its forms are");
  }
  if (!isCount(fields.levels) || !isCount(fields.number)) {
    throw new WireError("the scene's header does not count its levels");
  }
  return {
    number: fields.number,
    since: isCount(fields.since) ? fields.since : null,
    width: finiteOrZero(fields.width),
    height: finiteOrZero(fields.height),
    direction: fields.direction === "LR" ? "LR" : "TB",
    wrapped: fields.wrapped === true,
    extreme: fields.extreme === true,
    notices: Array.isArray(fields.notices) ? fields.notices.map(String) : [],
    root: finiteOrZero(fields.root),
    counts,
    faces: fields.faces.map(completeFace),
    labels: fields.labels.map(String),
    forms: fields.forms,
    levels: fields.levels,
  };
}

export function completeFace(face: Partial<Face>): Face {
  return {
    outline: face.outline ?? "node",
    category: face.category ?? "other",
    width: face.width ?? 0,
    height: face.height ?? 0,
    header: face.header ?? 0,
    rules: face.rules ?? [],
    stack: face.stack ?? 0,
    texts: face.texts ?? [],
    badges: face.badges ?? [],
    targets: face.targets ?? [],
    title: face.title ?? "",
    bar: face.bar ?? null,
    aside: face.aside ?? 0,
  };
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

function finiteOrZero(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
