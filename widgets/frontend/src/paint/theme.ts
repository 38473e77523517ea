/** Colours, from the same file as every other writer, and which of them the page wants. */

import themes from "../../../../explorer/render/themes.json";
import type { ThemeName } from "../scene/options";

export interface Category {
  tint: string;
  border: string;
  text: string;
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

export function categoryOf(palette: Palette, name: string): Category {
  return palette.categories[name] ?? palette.categories.other;
}

/** Colours of an open group with `depth` others around it; deep ones repeat the last two. */
export function frameOf(palette: Palette, depth: number): { fill: string; border: string } {
  return palette.frames[frameLevel(palette.frames.length, depth)];
}

/** The style sheet's word for the ground of an open group. */
export function groundOf(depth: number): string {
  return `var(--nl-frame-${frameLevel(paletteOf("light").frames.length, depth)})`;
}

function frameLevel(levels: number, depth: number): number {
  const last = levels - 1;
  return depth <= last ? depth : last - ((depth - last) % 2);
}

/** Give the style sheet the colours of a theme. */
export function setVariables(frame: HTMLElement, name: ThemeName, palette: Palette): void {
  const variables = {
    "--nl-page": palette.page,
    "--nl-body": palette.body,
    "--nl-ink": palette.ink,
    "--nl-muted": palette.muted,
    "--nl-line": palette.frames[0].border,
    "--nl-quiet": palette.frames[1].fill,
    "--nl-accent": palette.accent,
    "--nl-hit": palette.hit,
    ...Object.fromEntries(palette.frames.map(({ fill }, level) => [`--nl-frame-${level}`, fill])),
  };
  for (const [key, value] of Object.entries(variables)) frame.style.setProperty(key, value);
  frame.style.colorScheme = name;
}
