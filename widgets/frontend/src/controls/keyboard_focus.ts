/** Keeps the keyboard with the canvas when the control that had it goes away. */

/**
 * Give the keyboard back when the control that has it is removed, hidden or disabled; browsers
 * would leave it with nobody, and no key would do anything any more.
 *
 * @param frame holds the controls
 * @param giveBack gives the keyboard to the canvas
 * @returns what ends it
 */
export function keepFocus(frame: HTMLElement, giveBack: () => void): () => void {
  let holder: Element | null = null;
  const takeNote = (event: FocusEvent): void => {
    holder = event.composedPath()[0] as Element;
  };
  const forget = (): void => {
    // what is about to be removed loses the keyboard first; the observer is asked before this
    const left = holder;
    setTimeout(() => {
      const active = (frame.getRootNode() as Document | ShadowRoot).activeElement;
      if (holder === left && active !== left) holder = null;
    });
  };
  const observer = new MutationObserver(() => {
    if (!holder || canHold(holder)) return;
    holder = null;
    giveBack();
  });
  frame.addEventListener("focusin", takeNote);
  frame.addEventListener("focusout", forget);
  observer.observe(frame, {
    ...{ childList: true, subtree: true },
    ...{ attributes: true, attributeFilter: ["hidden", "disabled"] },
  });
  return () => {
    frame.removeEventListener("focusin", takeNote);
    frame.removeEventListener("focusout", forget);
    observer.disconnect();
  };
}

function canHold(control: Element): boolean {
  return control.isConnected && control.closest("[hidden], [disabled]") === null;
}
