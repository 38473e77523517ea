/** Colours, from the same file as every other writer, and which of them the page wants. */

import themes from "../../../../explorer/render/themes.json";
import type { ThemeName } from "../scene/options";

export interface Category {
  tint: string;
  border: string;
  text: string;
  /** the ground of an open group */
  frame: string;
}
/** A badge, a stub, or what is painted in a tone. */
export interface Pill {
  fill: string;
  border: string;
  text: string;
}
/** What is painted in a tone; rings and the ground of marks are strong. */
export interface Tone extends Pill {
  strong: string;
}
export type Palette = Omit<typeof themes.light, "categories" | "tones"> & {
  categories: Record<string, Category>;
  tones: Record<string, Tone>;
};

export function paletteOf(name: ThemeName): Palette {
  return themes[name];
}

/** Colours that are given as `#rrggbb` in place of a tone, as explorer/render/tones.py makes them. */
const given = new Map<string, Tone>();

/** The colours of a tone, or of `#rrggbb`; nothing for what no theme has. */
export function findTone(palette: Palette, name: string): Tone | undefined {
  if (!name.startsWith("#")) return palette.tones[name];
  let tone = given.get(name);
  if (!tone) {
    const text = luminanceOf(name) > EVEN ? "#000000" : "#ffffff";
    const border = blend(name, text, 0.3);
    tone = { fill: name, border, text, strong: border };
    given.set(name, tone);
  }
  return tone;
}

/** the luminance on which black and white have the same contrast: sqrt(0.05 * 1.05) - 0.05 */
const EVEN = 0.179129;

function channelsOf(colour: string): number[] {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) || 0);
}

/** The relative luminance of a colour, 0 to 1 (WCAG 2.2). */
function luminanceOf(colour: string): number {
  const [red, green, blue] = channelsOf(colour)
    .map((channel) => channel / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function blend(one: string, other: string, share: number): string {
  const [from, to] = [channelsOf(one), channelsOf(other)];
  const mixed = from.map((channel, place) => Math.round(channel + (to[place] - channel) * share));
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

export function categoryOf(palette: Palette, name: string): Category {
  return palette.categories[name] ?? palette.categories.plain;
}

/** The style sheet's word for the ground of an open group. */
export function groundOf(category: string): string {
  return `var(--nl-frame-${category in paletteOf("light").categories ? category : "plain"})`;
}

/** Give the style sheet the colours of a theme. */
export function setVariables(frame: HTMLElement, name: ThemeName, palette: Palette): void {
  const variables = {
    "--nl-page": palette.page,
    "--nl-body": palette.body,
    "--nl-ink": palette.ink,
    "--nl-muted": palette.muted,
    "--nl-line": palette.rule,
    "--nl-quiet": palette.quiet,
    "--nl-chosen": palette.chosen,
    "--nl-accent": palette.accent,
    "--nl-hit": palette.hit,
    ...Object.fromEntries(
      Object.entries(palette.categories).map(([name, { frame }]) => [`--nl-frame-${name}`, frame]),
    ),
  };
  for (const [key, value] of Object.entries(variables)) frame.style.setProperty(key, value);
  frame.style.colorScheme = name;
}
