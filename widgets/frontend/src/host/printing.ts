/** Printing the page: what is drawn for a window is drawn for paper meanwhile. */

/** Call something before the page is printed and after; returns what ends that. */
export function followPrinting(before: () => void, after: () => void): () => void {
  window.addEventListener("beforeprint", before);
  window.addEventListener("afterprint", after);
  return () => {
    window.removeEventListener("beforeprint", before);
    window.removeEventListener("afterprint", after);
  };
}
