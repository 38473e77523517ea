/** The colours of the inspector that a review stands in. */

import { paletteOf } from "../paint/theme";

/** Give an element the colours of tones, and follow the theme of the inspector around it. */
export function followTheme(element: HTMLElement, inspector: Element | null): () => void {
  const apply = (): void => {
    const isDark = inspector?.classList.contains("nl-inspector-dark") ?? false;
    const { tones, page } = paletteOf(isDark ? "dark" : "light");
    for (const [name, { strong }] of Object.entries(tones)) {
      element.style.setProperty(`--nl-tone-${name}`, strong);
    }
    element.style.setProperty("--nl-sign", page);
    element.dataset.theme = isDark ? "dark" : "light";
  };
  apply();
  if (!inspector) return () => undefined;
  const observer = new MutationObserver(apply);
  observer.observe(inspector, { attributeFilter: ["class"] });
  return () => observer.disconnect();
}
