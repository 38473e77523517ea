/** Paints boxes: open groups as frames, everything else with its face. */

import { TEXT_STYLES, type Face, type TextStyle } from "../scene/face";
import sizes from "../scene/sizes";
import { isUnderTitle } from "./place_titles";
import { type Pass, shareOf } from "./pass";
import { elide, fontOf, measureText } from "./text";
import { drawHatch, drawPaint, drawPaints } from "./draw_paints";
import { coloursFromAfar, coloursOf, lineToneOf, toneOf } from "./paints";
import { type Category, type Palette, categoryOf } from "./theme";

/** The hint of a second sheet behind a closed group. */
const SUBTLE_SHEET = 3;
/** Titles that are enlarged to stay readable get this size on the screen. */
const SCREEN_TITLE = 9;
const SMALLEST_SCREEN_TITLE = 6.5;

export function drawFrames(pass: Pass): void {
  const { context, scene, palette, boxes, positions, zoom } = pass;
  for (let k = 0; k < boxes.length; k++) {
    const box = boxes[k];
    if (!scene.isOpen(box)) continue;
    const at = box * 4;
    const { category } = scene.faceOf(box);
    const { frame: fill, border } = categoryOf(palette, category);
    const width = positions[at + 2];
    const height = positions[at + 3];
    context.globalAlpha = shareOf(pass, box);
    const paint = pass.paints.boxes.get(box);
    const line = lineToneOf(palette, paint);
    context.fillStyle = fill;
    context.strokeStyle = line ?? border;
    const usual = sizes.borders.frame;
    context.lineWidth = Math.max(line ? sizes.paint.border : usual, (line ? 1.6 : 0.7) / zoom);
    const quiet = category === "preparation" ? sizes.preparation_dash : [];
    context.setLineDash(paint?.dashed ? sizes.paint.dash : quiet);
    context.beginPath();
    context.roundRect(positions[at], positions[at + 1], width, height, sizes.radii.frame);
    context.fill();
    context.stroke();
  }
  context.setLineDash([]);
  context.globalAlpha = 1;
}

export function drawBoxes(pass: Pass): void {
  const { scene, boxes, detail } = pass;
  const texts = new TextBatch();
  for (let k = 0; k < boxes.length; k++) {
    const box = boxes[k];
    const frame = scene.isOpen(box);
    if (!frame) drawBody(pass, box);
    if (detail === "full") collectTexts(pass, box, texts);
    else if (!frame) collectTitle(pass, box, texts);
  }
  texts.draw(pass);
  if (detail === "full") {
    drawBars(pass);
    drawBadges(pass);
  }
  drawPaints(pass);
}

function drawBody(pass: Pass, box: number): void {
  const { context, scene, palette, positions, emphasis, zoom } = pass;
  const at = box * 4;
  const face = scene.faceOf(box);
  // the sheets of a stack take their room at the top and at the right
  const sheets = face.stack * sizes.sheet_offset;
  const x = positions[at];
  const y = positions[at + 1] + sheets;
  const width = positions[at + 2] - sheets;
  const height = positions[at + 3] - sheets;
  const paint = pass.paints.boxes.get(box);
  const tone = toneOf(palette, paint);
  if (face.outline === "caption" && !tone) return; // its words stand on the stream
  const colours = coloursOf(palette, face, paint);
  const plain = pass.detail !== "full";
  const radius = Math.min(radiusOf(face), height / 2);
  context.globalAlpha = shareOf(pass, box);
  context.strokeStyle = colours.border;
  context.lineWidth = Math.max(face.outline === "stub" ? 1 : borderOf(face), 0.6 / zoom);
  if (face.outline === "stub") {
    context.fillStyle = (tone ?? palette.stub).fill;
    context.strokeStyle = (tone ?? palette.stub).border;
    context.setLineDash(sizes.stub_dash);
    context.beginPath();
    context.roundRect(x, y, width, height, radius);
    context.fill();
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
    return;
  }
  context.fillStyle = colours.tint;
  drawSheets(pass, box, face, x, y, width, height, radius);
  context.beginPath();
  context.roundRect(x, y, width, height, radius);
  if (plain) {
    context.fill();
    context.stroke();
    context.globalAlpha = 1;
    return;
  }
  const tinted = face.header >= height;
  context.fillStyle = tinted ? colours.tint : tone ? tone.fill : palette.body;
  context.fill();
  if (face.header > 0 && !tinted) {
    context.fillStyle = colours.tint;
    context.beginPath();
    context.roundRect(x, y, width, face.header, [radius, radius, 0, 0]);
    context.fill();
  }
  if (paint?.hatched) drawHatch(pass, x, y, width, height, colours.border);
  for (const [marked, left, top, bottom] of emphasis.rows) {
    if (marked === box) drawRowMark(pass, x + left, y, width - left, top, bottom);
  }
  const ruled = face.header > 0 && !tinted && face.outline !== "terminal" && face.outline !== "constant";
  const rules = ruled ? [sheets + face.header, ...face.rules] : face.rules;
  if (rules.length > 0) {
    context.lineWidth = sizes.rule;
    context.beginPath();
    for (const rule of rules) {
      context.moveTo(x, y - sheets + rule);
      context.lineTo(x + width, y - sheets + rule);
    }
    context.stroke();
  }
  context.lineWidth = Math.max(borderOf(face), 0.6 / zoom);
  const quiet = face.category === "preparation" ? sizes.preparation_dash : [];
  context.strokeStyle = colours.border;
  context.setLineDash(paint?.dashed && !paint.ring ? sizes.stub_dash : quiet);
  context.beginPath();
  context.roundRect(x, y, width, height, radius);
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
}

function borderOf({ outline }: Face): number {
  return outline === "terminal" || outline === "junction" ? sizes.borders.terminal : sizes.borders.box;
}

function radiusOf(face: Face): number {
  return sizes.radii[face.outline];
}

/** The sheets behind a fold of repeats, and one peeping out from behind a closed group. */
function drawSheets(
  pass: Pass,
  box: number,
  face: Face,
  x: number,
  y: number,
  width: number,
  height: number,
  radius: number,
): void {
  const { context, scene } = pass;
  const openable = scene.isOpenable(box) && face.stack === 0;
  for (let sheet = openable ? 1 : face.stack; sheet > 0; sheet--) {
    const shift = openable ? SUBTLE_SHEET : sheet * sizes.sheet_offset;
    context.beginPath();
    context.roundRect(x + shift, y - shift, width, height, radius);
    context.fill();
    context.stroke();
  }
}

function drawRowMark(
  pass: Pass,
  x: number,
  y: number,
  width: number,
  top: number,
  bottom: number,
): void {
  const { context, palette } = pass;
  const alpha = context.globalAlpha;
  context.fillStyle = palette.accent;
  context.globalAlpha = alpha * 0.16;
  context.fillRect(x, y + top, width, bottom - top);
  context.globalAlpha = alpha;
  context.fillRect(x, y + top, 3, bottom - top);
  // a line in a line of the page's colour is seen on a ground of any colour
  for (const [colour, line] of [[palette.page, 4], [palette.accent, 2]] as const) {
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.strokeRect(x + 2, y + top + 1, width - 4, bottom - top - 2);
  }
}

/** Boxes as plain rectangles, colour by colour: thousands of them in a few milliseconds. */
export function drawBlocks(pass: Pass): void {
  const { context, scene, palette, boxes, positions, zoom } = pass;
  const byColours = new Map<string, { colours: Category; members: number[] }>();
  for (let k = 0; k < boxes.length; k++) {
    const box = boxes[k];
    if (scene.isOpen(box)) continue;
    const face = scene.faceOf(box);
    const paint = pass.paints.boxes.get(box);
    if (face.outline === "caption" && !paint) continue;
    const key = paint ? `painted ${paint.tone} ${paint.ring} ${face.category}` : face.category;
    const known = byColours.get(key);
    if (known) known.members.push(box);
    else byColours.set(key, { colours: coloursFromAfar(palette, face, paint), members: [box] });
  }
  const smallest = 1 / zoom;
  for (const { colours, members } of byColours.values()) {
    const outlined = zoom > 0.1;
    context.fillStyle = outlined ? colours.tint : colours.border;
    context.strokeStyle = colours.border;
    context.lineWidth = 0.6 / zoom;
    context.beginPath();
    for (const box of members) {
      const at = box * 4;
      const width = Math.max(positions[at + 2], smallest);
      const height = Math.max(positions[at + 3], smallest);
      context.rect(positions[at], positions[at + 1], width, height);
    }
    context.fill();
    if (outlined) context.stroke();
  }
}

class TextBatch {
  private readonly byFont = new Map<string, Array<[string, number, number, CanvasTextAlign]>>();

  add(
    font: string,
    colour: string,
    alpha: number,
    run: [string, number, number, CanvasTextAlign],
  ): void {
    const key = `${font}|${colour}|${alpha}`;
    const runs = this.byFont.get(key);
    if (runs) runs.push(run);
    else this.byFont.set(key, [run]);
  }

  draw({ context }: Pass): void {
    context.textBaseline = "alphabetic";
    for (const [key, runs] of this.byFont) {
      const [font, colour, alpha] = key.split("|");
      context.font = font;
      context.fillStyle = colour;
      context.globalAlpha = Number(alpha);
      for (const [text, x, y, align] of runs) {
        context.textAlign = align;
        context.fillText(text, x, y);
      }
    }
    context.globalAlpha = 1;
  }
}

const ALIGN = { start: "left", middle: "center", end: "right" } as const;

function collectTexts(pass: Pass, box: number, texts: TextBatch): void {
  const { scene, palette, positions } = pass;
  const at = box * 4;
  const face = scene.faceOf(box);
  const frame = scene.isOpen(box);
  const colours = coloursOf(palette, face, undefined);
  const tone = frame ? undefined : toneOf(palette, pass.paints.boxes.get(box));
  const alpha = shareOf(pass, box);
  const stub = face.outline === "stub";
  const tinted = !frame && face.header >= face.height - face.stack * sizes.sheet_offset;
  for (const [x, y, text, style, anchor] of face.texts) {
    // a frame is larger than its face: what stands at its right end does so in every width
    const shift = frame && anchor === "end" ? positions[at + 2] - face.width : 0;
    const own = tinted ? colours.text : textColour(palette, colours, style, frame);
    const usual = stub ? palette.stub.text : own;
    const colour = tone ? tone.text : usual;
    texts.add(fontOf(style), colour, alpha, [
      text,
      positions[at] + x + shift,
      positions[at + 1] + y,
      ALIGN[anchor],
    ]);
  }
}

function textColour(
  palette: Palette,
  colours: Category,
  style: TextStyle,
  frame: boolean,
): string {
  switch (style) {
    case "title":
      return colours.text;
    case "title-muted":
      return frame ? palette.muted : colours.text;
    case "muted":
      return palette.muted;
    case "badge":
      return palette.badge.text;
    default:
      return palette.ink;
  }
}

/** The title alone, in the middle, large enough to read, and shortened where it has to be. */
function collectTitle(pass: Pass, box: number, texts: TextBatch): void {
  const { scene, palette, positions, zoom } = pass;
  const face = scene.faceOf(box);
  const title = face.texts.find((run) => run[3] === "title")?.[2];
  if (!title) return;
  const at = box * 4;
  const room = positions[at + 2] * zoom - 3;
  const width = measureText(title, "title") / TEXT_STYLES.title[0];
  const size = Math.min(Math.max(room / width, SMALLEST_SCREEN_TITLE), SCREEN_TITLE);
  if (positions[at + 3] * zoom < size) return;
  const shown = elide(title, room / (width * size));
  if (!shown) return;
  const rounded = Math.round((size / zoom) * 4) / 4;
  const middle = positions[at + 1] + positions[at + 3] / 2;
  const place = { x: positions[at], y: middle - rounded / 2, width: positions[at + 2], height: rounded };
  if (isUnderTitle(pass, place)) return;
  const colour = coloursOf(palette, face, pass.paints.boxes.get(box)).text;
  texts.add(fontOf("title", rounded), colour, shareOf(pass, box), [
    shown,
    positions[at] + positions[at + 2] / 2,
    middle + rounded * 0.36,
    "center",
  ]);
}

/** Which share of the model boxes hold: their lower border is thick so far. */
function drawBars(pass: Pass): void {
  const { context, scene, palette, boxes, positions } = pass;
  for (let k = 0; k < boxes.length; k++) {
    const box = boxes[k];
    const face = scene.faceOf(box);
    if (!face.bar || scene.isOpen(box)) continue;
    const [, x, y, width] = face.bar;
    const top = positions[box * 4 + 1] + y - sizes.bar.thickness / 2;
    context.globalAlpha = shareOf(pass, box);
    context.fillStyle = coloursOf(palette, face, pass.paints.boxes.get(box)).text;
    context.fillRect(positions[box * 4] + x, top, width, sizes.bar.thickness);
  }
  context.globalAlpha = 1;
}

function drawBadges(pass: Pass): void {
  const { context, scene, palette, boxes, positions } = pass;
  context.font = fontOf("badge");
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  context.lineWidth = 1;
  for (let k = 0; k < boxes.length; k++) {
    const box = boxes[k];
    const at = box * 4;
    for (const [x, y, width, height, text, isChip] of scene.faceOf(box).badges) {
      const pill = isChip ? palette.stub : palette.badge;
      context.globalAlpha = shareOf(pass, box);
      context.fillStyle = pill.fill;
      context.strokeStyle = pill.border;
      context.beginPath();
      const left = positions[at] + x;
      const top = positions[at + 1] + y;
      context.roundRect(left, top, width, height, height / 2);
      context.fill();
      context.stroke();
      context.fillStyle = pill.text;
      context.fillText(text, left + width / 2, top + height / 2 + sizes.badge_baseline);
    }
  }
  context.globalAlpha = 1;
}

/** Rings around what is found, pointed at and selected. */
export function drawRings(pass: Pass): void {
  const { emphasis, palette, boxes } = pass;
  // from afar rows are not drawn
  const rows = pass.detail === "full" ? [] : emphasis.rows.map(([box]) => box);
  const chosen = rows.length > 0 ? new Set([...emphasis.boxes, ...rows]) : emphasis.boxes;
  const any = emphasis.hits.size + emphasis.hoverBoxes.size + chosen.size;
  if (any === 0 && emphasis.place < 0) return;
  for (let k = 0; k < boxes.length; k++) {
    const box = boxes[k];
    const selected = chosen.has(box);
    if (emphasis.hits.has(box)) {
      if (box === emphasis.currentHit) drawRing(pass, box, palette.hit, 6.5, 3.5, 2);
      else drawRing(pass, box, palette.hit, 3, 2.5, 1.5);
    }
    if (emphasis.hoverBoxes.has(box) && !selected) {
      drawRing(pass, box, palette.hover, 1.5, 1.6, 1.2);
    }
    if (box === emphasis.place) drawRing(pass, box, palette.accent, 6.5, 2, 1.6);
    if (selected) {
      drawRing(pass, box, palette.accent, sizes.ring.offset, sizes.ring.width, 2);
      drawPaint(pass, box); // which the ring runs through
    }
  }
}

function drawRing(
  pass: Pass,
  box: number,
  colour: string,
  gap: number,
  width: number,
  thinnest: number,
): void {
  const { context, scene, positions, zoom } = pass;
  const at = box * 4;
  const frame = scene.isOpen(box);
  const away = Math.max(gap, (gap * 0.5) / zoom);
  const radius = (frame ? sizes.radii.frame : radiusOf(scene.faceOf(box))) + away * 0.75;
  context.strokeStyle = colour;
  context.lineWidth = Math.max(width, thinnest / zoom);
  context.beginPath();
  context.roundRect(
    positions[at] - away,
    positions[at + 1] - away,
    positions[at + 2] + 2 * away,
    positions[at + 3] + 2 * away,
    radius,
  );
  context.stroke();
}
