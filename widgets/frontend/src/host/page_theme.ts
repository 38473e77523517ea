/** What the page around the canvas looks like, and on what screen it is. */

import type { ThemeName } from "../scene/options";

/**
 * What the page around the canvas looks like: JupyterLab's word, VS Code's, marimo's, Colab's, then
 * the system's.
 */
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
  for (const theme of [body.dataset.theme, document.documentElement.getAttribute("theme")]) {
    if (theme === "light" || theme === "dark") return theme;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Call `changed` whenever the page may have changed its theme; returns what stops it. */
export function watchTheme(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  const attributeFilter = ["class", "data-jp-theme-light", "data-theme", "theme"];
  for (const element of [document.body, document.documentElement]) {
    observer.observe(element, { attributes: true, attributeFilter });
  }
  const query = matchMedia("(prefers-color-scheme: dark)");
  query.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    query.removeEventListener("change", changed);
  };
}

/** In a frame of JupyterLab, look as that does from now on. */
export function followSurroundings(): void {
  const around = findSurroundings();
  if (!around) return;
  const copy = (): void => {
    const { jpThemeLight } = around.dataset;
    if (jpThemeLight !== undefined) document.body.dataset.jpThemeLight = jpThemeLight;
  };
  copy();
  new MutationObserver(copy).observe(around, {
    attributes: true,
    attributeFilter: ["data-jp-theme-light"],
  });
}

/** The page that this one is a frame of; null where it stands alone, or in a page of others. */
function findSurroundings(): HTMLElement | null {
  if (window.parent === window) return null;
  try {
    return window.parent.document.body;
  } catch {
    return null; // of another origin
  }
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
