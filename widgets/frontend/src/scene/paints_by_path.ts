/** Paints as Python and files tell them. */

/** Tone, text, ring, mark, tone of the mark, and 1 for dashed plus 2 for hatched; what is empty at the end is left out. */
export type WrittenPaint = readonly [string, string?, string?, string?, string?, number?];
export type PaintsByPath = Readonly<Record<string, WrittenPaint>>;
