/** What is typed in netloupe does nothing in the notebook around it. */

const KEPT_EVENTS = ["keydown", "keyup", "keypress", "copy", "cut", "paste"];

/** Let key events end at an element. */
export function keepKeys(element: HTMLElement): void {
  // JupyterLab looks at keys before they come here; this tells it that they are not meant for it.
  element.dataset.lmSuppressShortcuts = "true";
  for (const kept of KEPT_EVENTS) {
    element.addEventListener(kept, (event) => event.stopPropagation());
  }
}
