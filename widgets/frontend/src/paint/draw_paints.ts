/** What a paint lays over a box: a ring around it, a pill on its border, a mark in its corner. */

import { TEXT_STYLES } from "../scene/face";
import sizes from "../scene/sizes";
import { type Paint, toneOf } from "./paints";
import { type Pass, shareOf } from "./pass";
import { placePill, takenAt } from "./pills";
import { fontOf, measureText } from "./text";
import { type Tone, findTone } from "./theme";

/** Between the pill and the mark in the corner. */
const GAP = 4;
/** Marks keep so much of a height on the screen, as long as the box is so wide there. */
const SCREEN_MARK = 11;
const NARROWEST_MARKED = 14;

/** Lay the paints over the boxes; costs what is painted. */
export function drawPaints(pass: Pass): void {
  if (pass.paints.boxes.size === 0) return;
  for (const box of Array.from(pass.boxes)) drawPaint(pass, box);
}

/** Lay its paint over a box. */
export function drawPaint(pass: Pass, box: number): void {
  const { context, scene, positions } = pass;
  const paint = pass.paints.boxes.get(box);
  if (!paint) return;
  const isOpen = scene.isOpen(box);
  const sheets = isOpen ? 0 : scene.faceOf(box).stack * sizes.sheet_offset;
  const at = box * 4;
  const right = positions[at] + positions[at + 2] - sheets;
  const top = positions[at + 1] + sheets;
  context.globalAlpha = shareOf(pass, box);
  if (paint.ring && !isOpen) drawAround(pass, box, paint, sheets);
  const left = paint.mark ? drawMark(pass, paint, right, top, positions[at + 2]) : right;
  // what is open has controls right below its upper edge
  const rise = isOpen ? sizes.pill.height : sizes.paint.rise;
  if (pass.detail === "full") drawPill(pass, box, paint, left, right, top, rise);
  context.globalAlpha = 1;
}

function drawAround(pass: Pass, box: number, paint: Paint, sheets: number): void {
  const { context, scene, palette, positions, zoom } = pass;
  const tone = findTone(palette, paint.ring);
  if (!tone) return;
  const at = box * 4;
  const gap = Math.max(sizes.paint.ring, 1 / zoom);
  context.strokeStyle = tone.strong;
  context.lineWidth = Math.max(sizes.paint.border, 1.6 / zoom);
  context.setLineDash(paint.dashed ? sizes.paint.dash : []);
  context.beginPath();
  context.roundRect(
    positions[at] - gap,
    positions[at + 1] + sheets - gap,
    positions[at + 2] - sheets + 2 * gap,
    positions[at + 3] - sheets + 2 * gap,
    sizes.radii[scene.faceOf(box).outline] + gap,
  );
  context.stroke();
  context.setLineDash([]);
}

/** How far the mark of a box that is so wide reaches into it from its right end; 0 without one. */
export function markReach(paint: Paint | undefined, width: number, zoom: number): number {
  if (!paint?.mark || width * zoom < NARROWEST_MARKED) return 0;
  return measureMark(paint.mark, zoom).reach;
}

function measureMark(mark: string, zoom: number): { scale: number; across: number; reach: number } {
  const { height, overhang, padding, reach, furthest } = sizes.paint.mark;
  const scale = Math.max(1, SCREEN_MARK / (height * zoom));
  const across = Math.max(measureText(mark, "mark") + 2 * padding, height);
  const inside = Math.max(Math.min(across - overhang, reach), across - furthest);
  return { scale, across: across * scale, reach: inside * scale };
}

/** Draw a sign or a count on a disc; return where it begins. */
function drawMark(pass: Pass, paint: Paint, right: number, top: number, width: number): number {
  const { context, palette, zoom } = pass;
  const tone = findTone(palette, paint.markTone || paint.ring || paint.tone);
  if (!tone || width * zoom < NARROWEST_MARKED) return right;
  const { height, overhang, baseline } = sizes.paint.mark;
  const { scale, across, reach } = measureMark(paint.mark, zoom);
  const left = right - reach;
  const upper = top - overhang * scale;
  context.fillStyle = tone.strong;
  context.strokeStyle = palette.page;
  context.lineWidth = sizes.paint.border * scale;
  context.beginPath();
  context.roundRect(left, upper, across, height * scale, (height * scale) / 2);
  context.fill();
  context.stroke();
  context.font = fontOf("mark", TEXT_STYLES.mark[0] * scale);
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  context.fillStyle = palette.page;
  context.fillText(paint.mark, left + across / 2, upper + baseline * scale);
  return left;
}

/** Draw what the paint says in a pill that ends left of the mark, and covers no arrow and no label. */
function drawPill(
  pass: Pass,
  box: number,
  paint: Paint,
  mark: number,
  end: number,
  top: number,
  rise: number,
): void {
  const { context, positions, scene } = pass;
  const tone = pillTone(pass, paint);
  if (!paint.text || !tone) return;
  const { height, baseline } = sizes.pill;
  const latest = Math.min(end - sizes.paint.inset, mark < end ? mark - GAP : end);
  const measure = (given: string): number => measureText(given, "badge");
  const origin = positions[box * 4];
  const pill = placePill(paint.text, latest - origin, takenAt(scene, box, measure), measure);
  if (!pill) return;
  const { text, width } = pill;
  const left = origin + pill.right - width;
  // at the lower border are bars, and facts right above it
  const lower = positions[box * 4 + 1] + positions[box * 4 + 3] - sizes.paint.dip;
  const upper = pill.isBelow ? lower : top - rise;
  context.font = fontOf("badge");
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  context.lineWidth = 1;
  context.fillStyle = tone.fill;
  context.strokeStyle = tone.border;
  context.beginPath();
  context.roundRect(left, upper, width, height, height / 2);
  context.fill();
  context.stroke();
  context.fillStyle = tone.text;
  context.fillText(text, left + width / 2, upper + baseline);
}

function pillTone({ palette }: Pass, paint: Paint): Tone | undefined {
  return (
    toneOf(palette, paint) ?? findTone(palette, paint.ring) ?? findTone(palette, paint.markTone)
  );
}

/** Fill a rectangle with strokes from lower left to upper right. */
export function drawHatch(
  { context }: Pass,
  x: number,
  y: number,
  width: number,
  height: number,
  colour: string,
): void {
  context.strokeStyle = colour;
  context.lineWidth = sizes.rule;
  context.beginPath();
  for (let reach = sizes.paint.hatch; reach < width + height; reach += sizes.paint.hatch) {
    context.moveTo(x + Math.max(reach - height, 0), y + Math.min(reach, height));
    context.lineTo(x + Math.min(reach, width), y + Math.max(reach - width, 0));
  }
  context.stroke();
}
