/** Still pictures: what is in them, and that no name gets out of its text. */

import { afterEach, expect, test, vi } from "vitest";
import { NO_PAINTS } from "../../src/paint/paints";
import { choosePngScale, clipTo, drawSvg, wholeOf } from "../../src/paint/still";
import { SvgContext, escapeText } from "../../src/paint/svg_context";
import { paletteOf } from "../../src/paint/theme";
import { Picker } from "../../src/scene/pick";
import type { Scene } from "../../src/scene/scene";
import { makeScene, readScene } from "../small";

const EVIL = `</text><script>alert("1")</script>&amp;'\u0000\u001b\ud800 ok`;

function draw(scene: Scene, part = wholeOf(scene), title = "m"): string {
  const context = { measureText: (text: string) => ({ width: text.length * 7 }) };
  vi.stubGlobal("document", { createElement: () => ({ getContext: () => context }) });
  const still = { scene, picker: new Picker(scene), palette: paletteOf("dark"), paints: NO_PAINTS };
  return drawSvg(still, part, title);
}
const textsOf = (svg: string): string[] =>
  [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map((found) => found[1]);

afterEach(() => vi.unstubAllGlobals());

test("every text on a face is in the picture, and the ground has the colour of the theme", () => {
  const scene = readScene();
  const svg = draw(scene);
  const texts = textsOf(svg);
  for (let box = 0; box < scene.boxCount; box++) {
    for (const run of scene.faceOf(box).texts) expect(texts).toContain(escapeText(run[2]));
  }
  expect(svg).toContain(`fill="${paletteOf("dark").page}"`);
  expect(svg).toContain(`viewBox="0 0 ${scene.width} ${scene.height}"`);
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
});

test("a name stays a text, whatever it is", () => {
  const scene = makeScene([{ path: EVIL, at: [0, 0, 90, 40] }], [], { width: 100, height: 50 });
  const svg = draw(scene, wholeOf(scene), EVIL);
  expect(svg).not.toContain("<script");
  expect(svg).not.toMatch(/[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]/);
  expect(svg).toContain("&lt;/text&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;amp;&#39;");
});

test("only what lies in the part is drawn", () => {
  const scene = makeScene(
    [
      { path: "near", at: [0, 0, 90, 40] },
      { path: "far", at: [0, 400, 90, 40] },
    ],
    [],
    { width: 100, height: 450 },
  );
  const part = clipTo(scene, { x: -50, y: -50, width: 200, height: 150 })!;
  expect(part).toEqual({ x: 0, y: 0, width: 100, height: 100 });
  const texts = textsOf(draw(scene, part));
  expect(texts).toContain("near");
  expect(texts).not.toContain("far");
  expect(clipTo(scene, { x: 300, y: 0, width: 10, height: 10 })).toBeNull();
});

test("a PNG has two pixels for each, and less where it would be too large", () => {
  expect(choosePngScale({ x: 0, y: 0, width: 800, height: 600 })).toBe(2);
  expect(choosePngScale({ x: 0, y: 0, width: 100_000, height: 10 })).toBeCloseTo(0.16);
  expect(choosePngScale({ x: 0, y: 0, width: 8_000, height: 8_000 })).toBeCloseTo(1);
});

test("shapes are written as they are drawn", () => {
  const context = new SvgContext();
  context.fillStyle = "#123456";
  context.beginPath();
  context.roundRect(0, 0, 10, 6, [8, 2, 0, 0]);
  context.fill();
  context.globalAlpha = 0.5;
  context.setLineDash([2, 1]);
  context.beginPath();
  context.moveTo(5, 5);
  context.arc(2, 5, 3);
  context.stroke();
  expect(context.elements.split("\n")).toEqual([
    '<path d="M3 0H8a2 2 0 0 1 2 2V6H0V3a3 3 0 0 1 3 -3z" fill="#123456"/>',
    '<path d="M5 5M-1 5a3 3 0 1 1 6 0a3 3 0 1 1 -6 0z" fill="none" stroke="#000" stroke-width="1"' +
      ' stroke-dasharray="2 1" opacity="0.5"/>',
  ]);
});
