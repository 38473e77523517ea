/** Paints as Python and files tell them. */

/** Tone, text, ring, mark, tone of the mark, and 1 for dashed plus 2 for hatched; what is empty at the end is left out. */
export type WrittenPaint = readonly [string, string?, string?, string?, string?, number?];
export type PaintsByPath = Readonly<Record<string, WrittenPaint>>;

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
