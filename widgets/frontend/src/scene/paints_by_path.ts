/** Paints as Python and files tell them. */

/** Tone, text, ring, mark, tone of the mark, and 1 for dashed plus 2 for hatched; what is empty at the end is left out. */
export type WrittenPaint = readonly [string, string?, string?, string?, string?, number?];
export type PaintsByPath = Readonly<Record<string, WrittenPaint>>;

/** What the paths inside a call go on with, behind that of the call. */
export const CALL = "()";
/** By the path of a function what paths in it begin with in each call that is open. */
export type OpenCalls = ReadonlyMap<string, readonly string[]>;

/**
 * Paints with those of functions also where open calls show them; as paint_calls of
 * explorer/render/called.py.
 */
export function paintCalls(paints: PaintsByPath, calls: OpenCalls): PaintsByPath {
  if (calls.size === 0) return paints;
  const all: Record<string, WrittenPaint> = { ...paints };
  for (const [path, written] of Object.entries(paints)) {
    for (let cut = path.indexOf("/"); cut >= 0; cut = path.indexOf("/", cut + 1)) {
      for (const begin of calls.get(path.slice(0, cut)) ?? []) {
        const place = begin + path.slice(cut);
        const own = paints[place];
        all[place] = own ? layOver(own, written) : written;
      }
    }
  }
  return all;
}

/** Two layers of paints as one; a box that is in both has both. */
export function layPaints(upper: PaintsByPath, lower: PaintsByPath): PaintsByPath {
  const all: Record<string, WrittenPaint> = { ...lower };
  for (const [path, written] of Object.entries(upper)) {
    const below = lower[path];
    all[path] = below ? layOver(written, below) : written;
  }
  return all;
}

function layOver(upper: WrittenPaint, lower: WrittenPaint): WrittenPaint {
  const [tone, text, ring, mark, , flags = 0] = upper;
  const [lowTone, lowText, lowRing, lowMark, , lowFlags = 0] = lower;
  const markTone = mark ? toneOfMark(upper) : lowMark ? toneOfMark(lower) : "";
  return [
    tone || lowTone,
    text || lowText,
    ring || lowRing,
    mark || lowMark,
    markTone,
    flags | lowFlags,
  ];
}

function toneOfMark([tone, , ring, , markTone]: WrittenPaint): string {
  return markTone || ring || tone;
}
