/**
 * What is typed in netloupe does nothing in the notebook around it; shortcuts that netloupe does not
 * use, such as Ctrl S, do there what they always do.
 */

export type Keystroke = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

/** With Ctrl or Cmd what a browser does with text: these, and moving over it. */
const EDITING = new Set(["a", "c", "v", "x", "z", "y"]);
const MOVING = /^(Arrow|Page|Home$|End$|Backspace$|Delete$)/;
const OTHER_EVENTS = ["copy", "cut", "paste"];

/**
 * Whether a keystroke ends in netloupe.
 *
 * Keys without Ctrl, Cmd or Alt are always kept: in a notebook `x` would cut the cell below the
 * picture. So is Enter, by which it would run.
 *
 * @param isTyping whether the keyboard is in a field for text
 * @param isUsed whether netloupe does something with it
 */
export function isKept(stroke: Keystroke, isTyping: boolean, isUsed: boolean): boolean {
  const { key, ctrlKey, metaKey, altKey } = stroke;
  if (isUsed || key === "Enter") return true;
  if (/^F\d+$/.test(key)) return false;
  const known = key.length === 1 ? key.toLowerCase() : key;
  if (!ctrlKey && !metaKey && !altKey) return true;
  if (!isTyping) return (ctrlKey || metaKey) && !altKey && known === "c";
  // Alt, or Ctrl and Alt, write a letter on many keyboards
  if (altKey) return key.length === 1;
  return EDITING.has(known) || MOVING.test(known);
}

/** Of each element that keeps keys, which of them it uses. */
const keepers = new WeakMap<EventTarget, (stroke: Keystroke) => boolean>();
let isListening = false;

/**
 * Let key events that are meant for netloupe end at an element.
 *
 * @param isUsed whether a keystroke does something there, beside typing
 */
export function keepKeys(
  element: HTMLElement,
  isUsed: (stroke: Keystroke) => boolean = () => false,
): void {
  keepers.set(element, isUsed);
  // JupyterLab looks at keys before they come here; this tells it that they are not meant for it.
  element.dataset.lmSuppressShortcuts = "true";
  if (!isListening) {
    isListening = true;
    for (const name of ["keydown", "keyup"]) window.addEventListener(name, tellLab, true);
  }
  for (const name of ["keydown", "keyup", "keypress"]) {
    element.addEventListener(name, (event) => {
      if (isKeptAt(element, event as KeyboardEvent)) event.stopPropagation();
    });
  }
  for (const name of OTHER_EVENTS) {
    element.addEventListener(name, (event) => event.stopPropagation());
  }
}

/** Tell JupyterLab of each key, ahead of it, whether it is meant for what has the keyboard. */
function tellLab(event: Event): void {
  for (const element of event.composedPath()) {
    if (!keepers.has(element)) continue;
    const { dataset } = element as HTMLElement;
    if (isKeptAt(element, event as KeyboardEvent)) dataset.lmSuppressShortcuts = "true";
    else delete dataset.lmSuppressShortcuts;
  }
}

function isKeptAt(element: EventTarget, event: KeyboardEvent): boolean {
  const target = event.composedPath()[0] as Element;
  const isTyping = target.matches("input, textarea, select, [contenteditable]");
  return isKept(event, isTyping, keepers.get(element)!(event));
}
