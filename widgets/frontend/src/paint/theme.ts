/** Colours, from the same file as every other writer, and which of them the page wants. */

import themes from "../../../../explorer/render/themes.json";

export interface Category {
  tint: string;
  border: string;
  text: string;
}
export type Palette = Omit<typeof themes.light, "categories"> & {
  categories: Record<string, Category>;
};
export type ThemeName = "light" | "dark";

export const FONT = '"DejaVu Sans", Verdana, "Segoe UI", Helvetica, Arial, sans-serif';

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

/** What the page around the canvas looks like: JupyterLab's word, VS Code's, then the system's. */
export function detectTheme(): ThemeName {
  const body = document.body;
  const lab = body.dataset.jpThemeLight;
  if (lab === "true") return "light";
  if (lab === "false") return "dark";
  const classes = body.classList;
  if (classes.contains("vscode-dark")) return "dark";
  if (classes.contains("vscode-high-contrast")) {
    return classes.contains("vscode-high-contrast-light") ? "light" : "dark";
  }
  if (classes.contains("vscode-light") || classes.contains("vscode-high-contrast-light")) {
    return "light";
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Call `changed` whenever the page may have changed its theme; returns what stops it. */
export function watchTheme(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.body, {
    attributes: true,
    attributeFilter: ["class", "data-jp-theme-light", "data-vscode-theme-kind"],
  });
  const query = matchMedia("(prefers-color-scheme: dark)");
  query.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    query.removeEventListener("change", changed);
  };
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

/** Call `changed` when the window moves to a screen of another density; returns what stops it. */
export function watchPixelRatio(changed: () => void): () => void {
  let query: MediaQueryList | null = null;
  const listen = (): void => {
    query?.removeEventListener("change", onChange);
    query = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    query.addEventListener("change", onChange);
  };
  const onChange = (): void => {
    changed();
    listen();
  };
  listen();
  return () => query?.removeEventListener("change", onChange);
}
