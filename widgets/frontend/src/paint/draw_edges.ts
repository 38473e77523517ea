/** Paints edges, their labels, and the ports on the borders of open groups. */

import { labelRectangle } from "../scene/geometry";
import {
  ARROW,
  CAPTURED,
  CONTROL,
  FORMER,
  LOOP,
  NEWER,
  STREAM,
  type Scene,
} from "../scene/scene";
import sizes from "../scene/sizes";
import type { Pass } from "./pass";
import { lineToneOf } from "./paints";
import { fontOf, measureText } from "./text";
import { categoryOf } from "./theme";

/** With more edges in the window each is drawn as straight lines, without arrow heads. */
const MOST_CURVES = 3000;
/** Lines never get thinner on the screen. */
const THINNEST = 0.5;
/** Those that are lit among what is dimmed stay as wide as this. */
const THINNEST_LIT = 1.6;

/** @param rough draw straight lines without heads, whatever the number of edges */
export function drawEdges(
  pass: Pass,
  rough = pass.edges.length > MOST_CURVES,
): void {
  const { context, scene, palette, emphasis, edges } = pass;
  const plain: number[] = [];
  const stream: number[] = [];
  const captured: number[] = [];
  const control: number[] = [];
  const former: number[] = [];
  const newer: number[] = [];
  const loops: number[] = [];
  const hovered: number[] = [];
  const marked: number[] = [];
  const painted: number[] = [];
  for (let k = 0; k < edges.length; k++) {
    const edge = edges[k];
    const flags = scene.edgeFlags(edge);
    if (emphasis.edges.has(edge)) marked.push(edge);
    else if (emphasis.hoverEdges.has(edge)) hovered.push(edge);
    else if (pass.paints.edges.has(edge)) painted.push(edge);
    else if (flags & LOOP) loops.push(edge);
    else if (flags & CAPTURED) captured.push(edge);
    else if (flags & FORMER) former.push(edge);
    else if (flags & NEWER) newer.push(edge);
    else if (flags & CONTROL) control.push(edge);
    else if (flags & STREAM) stream.push(edge);
    else plain.push(edge);
  }
  const { isLit, zoom } = pass;
  const thin = Math.max(sizes.edge.width, (isLit ? THINNEST_LIT : THINNEST) / zoom);
  const bold = Math.max(sizes.edge.stream_width, (isLit ? THINNEST_LIT : THINNEST) / zoom);
  const thick = Math.max(sizes.edge.selected_width, THINNEST_LIT / zoom);
  const faint = rough ? 0.35 : zoom < 0.1 ? 0.6 : 1;
  context.globalAlpha = pass.share * (isLit ? 1 : faint);
  const colour = (usual: string): string => (isLit ? palette.accent : usual);
  strokeEdges(pass, plain, colour(palette.edge), thin, [], rough);
  strokeEdges(pass, captured, colour(palette.edge_captured), thin, sizes.edge.dashes.captured, rough);
  strokeEdges(pass, control, colour(palette.edge_control), thin, sizes.edge.dashes.control, rough);
  strokeEdges(pass, stream, colour(palette.stream), bold, [], rough, sizes.edge.stream_arrow);
  context.globalAlpha = pass.share;
  const { removed, added } = palette.tones;
  strokeEdges(pass, former, colour(removed.strong), thick, sizes.paint.dash, rough);
  strokeEdges(pass, newer, colour(added.strong), thick, [], rough);
  const broad = Math.max(sizes.edge.loop_width, thin);
  strokeEdges(pass, loops, colour(palette.edge_loop), broad, [], rough);
  strokePainted(pass, painted, thick, rough);
  strokeEdges(pass, hovered, palette.hover, thick, [], false);
  strokeEdges(pass, marked, palette.accent, thick, [], false);
  context.globalAlpha = 1;
}

/** Stroke painted edges, those of one tone and kind together. */
function strokePainted(pass: Pass, edges: number[], width: number, rough: boolean): void {
  const { scene, palette, paints } = pass;
  const alike = new Map<string, { colour: string; dashes: number[]; members: number[] }>();
  for (const edge of edges) {
    const flags = scene.edgeFlags(edge) & (CAPTURED | CONTROL);
    const paint = paints.edges.get(edge);
    const key = `${paint?.ring} ${paint?.tone} ${paint?.dashed} ${flags}`;
    const known = alike.get(key);
    if (known) {
      known.members.push(edge);
      continue;
    }
    const { captured, control } = sizes.edge.dashes;
    const usual = flags & CAPTURED ? captured : flags & CONTROL ? control : [];
    const dashes = paint?.dashed ? sizes.paint.dash : usual;
    const colour = lineToneOf(palette, paint) ?? palette.edge;
    alike.set(key, { colour, dashes, members: [edge] });
  }
  for (const { colour, dashes, members } of alike.values()) {
    strokeEdges(pass, members, colour, width, dashes, rough);
  }
}

function strokeEdges(
  pass: Pass,
  edges: number[],
  colour: string,
  width: number,
  dashes: number[],
  rough: boolean,
  arrow: Arrow = sizes.edge.arrow,
): void {
  if (edges.length === 0) return;
  const { context, scene } = pass;
  const { points } = scene;
  context.strokeStyle = colour;
  context.fillStyle = colour;
  context.lineWidth = width;
  context.setLineDash(rough ? [] : dashes);
  const heads = !rough && pass.zoom > 0.12;
  const usual = arrow === sizes.edge.arrow ? sizes.edge.width * 1.4 : sizes.edge.stream_width;
  const scale = Math.max(1, width / usual);
  context.beginPath();
  for (const edge of edges) {
    let at = scene.pointsStart(edge);
    const end = scene.pointsEnd(edge);
    if (end - at < 8) continue;
    if (rough && isTiny(points, at, end, pass.zoom)) continue;
    context.moveTo(points[at], points[at + 1]);
    if (rough) {
      for (; at + 7 < end; at += 6) context.lineTo(points[at + 6], points[at + 7]);
      continue;
    }
    const hasHead = heads && (scene.edgeFlags(edge) & ARROW) !== 0;
    for (; at + 7 < end; at += 6) {
      let x = points[at + 6];
      let y = points[at + 7];
      if (hasHead && at + 13 >= end) {
        // The line stops inside the head, so that the tip stays sharp.
        const [dx, dy] = endDirection(points, at);
        x -= dx * arrow.length * scale * 0.7;
        y -= dy * arrow.length * scale * 0.7;
      }
      context.bezierCurveTo(
        ...([points[at + 2], points[at + 3], points[at + 4], points[at + 5]] as const),
        ...([x, y] as const),
      );
    }
  }
  context.stroke();
  context.setLineDash([]);
  if (!heads) return;
  context.beginPath();
  for (const edge of edges) {
    const head = scene.edgeFlags(edge) & ARROW ? findArrowHead(scene, edge, scale, arrow) : null;
    if (!head) continue;
    const [tip, left, right] = head;
    context.moveTo(...tip);
    context.lineTo(...left);
    context.lineTo(...right);
    context.closePath();
  }
  context.fill();
}

/** Whether an edge ends in the pixel in which it begins. */
function isTiny(points: Float64Array, start: number, end: number, zoom: number): boolean {
  const across = Math.abs(points[end - 2] - points[start]);
  return (across + Math.abs(points[end - 1] - points[start + 1])) * zoom < 1;
}

type Point = [number, number];
/** Length and half of the width of an arrow head. */
type Arrow = Readonly<{ length: number; half_width: number }>;

/** The tip of the head of an edge's arrow and the ends of its base; null where it has no way. */
export function arrowOf(scene: Scene, edge: number): Arrow {
  const flags = scene.edgeFlags(edge);
  if (flags & LOOP) return sizes.edge.loop_arrow;
  return flags & STREAM ? sizes.edge.stream_arrow : sizes.edge.arrow;
}

export function findArrowHead(
  scene: Scene,
  edge: number,
  scale = 1,
  arrow: Arrow = sizes.edge.arrow,
): [Point, Point, Point] | null {
  const { points } = scene;
  const end = scene.pointsEnd(edge);
  if (end - scene.pointsStart(edge) < 8) return null;
  const [dx, dy] = endDirection(points, end - 8);
  const [x, y] = [points[end - 2], points[end - 1]];
  const backX = x - dx * arrow.length * scale;
  const backY = y - dy * arrow.length * scale;
  const [sideX, sideY] = [dy, dx].map((part) => part * arrow.half_width * scale);
  return [[x, y], [backX - sideX, backY + sideY], [backX + sideX, backY - sideY]];
}

/** Unit vector in which the piece of a curve that begins at `at` ends. */
function endDirection(points: Float64Array, at: number): [number, number] {
  for (const from of [at + 4, at + 2, at]) {
    const dx = points[at + 6] - points[from];
    const dy = points[at + 7] - points[from + 1];
    const length = Math.hypot(dx, dy);
    if (length > 0.01) return [dx / length, dy / length];
  }
  return [0, 1];
}

export function drawPorts(pass: Pass): void {
  if (pass.zoom < 0.3 || pass.detail === "blocks") return;
  const { context, scene, palette, ports } = pass;
  context.globalAlpha = pass.share;
  context.fillStyle = palette.port;
  context.strokeStyle = palette.stream;
  context.lineWidth = sizes.edge.width;
  context.beginPath();
  for (let k = 0; k < ports.length; k++) {
    const x = scene.ports[ports[k] * 2];
    const y = scene.ports[ports[k] * 2 + 1];
    context.moveTo(x + sizes.port_radius, y);
    context.arc(x, y, sizes.port_radius, 0, 2 * Math.PI);
  }
  context.fill();
  context.stroke();
  context.globalAlpha = 1;
}

export function drawLabels(pass: Pass): void {
  if (pass.detail !== "full" || pass.zoom < 0.55) return;
  const { context, scene, palette, emphasis, edges } = pass;
  context.font = fontOf("label");
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  for (let k = 0; k < edges.length; k++) {
    const edge = edges[k];
    const label = scene.edgeLabel(edge);
    if (!label) continue;
    const x = scene.labels[edge * 2];
    const { y, height } = labelRectangle(scene, edge);
    if (scene.edgeFlags(edge) & LOOP) {
      // It stands where nothing else is.
      context.font = fontOf(scene.edgeFlags(edge) & ARROW ? "name" : "text");
      context.fillStyle = palette.edge_loop;
      context.globalAlpha = pass.share;
      context.fillText(label, x, y + height / 2 + sizes.edge_label.baseline / 2);
      context.font = fontOf("label");
      continue;
    }
    const width = measureText(label, "label") + 2 * sizes.edge_label.padding;
    context.fillStyle = groundOf(pass, edge);
    context.globalAlpha = pass.share;
    context.beginPath();
    context.roundRect(x - width / 2, y, width, height, sizes.edge_label.radius);
    context.fill();
    context.fillStyle = emphasis.edges.has(edge) ? palette.accent : palette.edge_label;
    context.fillText(label, x, y + sizes.edge_label.baseline);
  }
  context.globalAlpha = 1;
}

/** The colour behind an edge: that of the open box whose inside it crosses. */
function groundOf({ scene, palette }: Pass, edge: number): string {
  const source = scene.sourceOf(edge);
  const target = scene.targetOf(edge);
  const inner = source >= 0 ? source : target;
  let around = inner >= 0 ? scene.parentOf(inner) : -1;
  if (source >= 0 && target >= 0) {
    if (scene.parentOf(target) === source) around = source;
    else if (scene.parentOf(source) === target) around = target;
  }
  return around < 0 ? palette.page : categoryOf(palette, scene.faceOf(around).category).frame;
}
