/** The static picture below the widget, for viewers without a kernel: hidden once ours stands. */

const WATCH_MILLISECONDS = 6000;

/** Hide the static picture, also one that appears a little later; returns what stops it. */
export function hideStaticPicture(id: string): () => void {
  if (!id) return () => undefined;
  const hide = (): void => {
    for (const picture of document.querySelectorAll<HTMLElement>("[data-netloupe-static]")) {
      if (picture.dataset.netloupeStatic === id) hidePicture(picture);
    }
  };
  hide();
  const observer = new MutationObserver(hide);
  observer.observe(document.body, { childList: true, subtree: true });
  const timer = setTimeout(() => observer.disconnect(), WATCH_MILLISECONDS);
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}

function hidePicture(picture: HTMLElement): void {
  picture.style.display = "none";
  const output = picture.closest<HTMLElement>(".jp-OutputArea-child");
  if (output && holdsNothingElse(output, picture)) output.style.display = "none";
}

function holdsNothingElse(output: HTMLElement, picture: HTMLElement): boolean {
  const solid = "img, svg, canvas, video, iframe, input, button, [data-netloupe]";
  for (const element of output.querySelectorAll(solid)) {
    if (!picture.contains(element)) return false;
  }
  const walker = document.createTreeWalker(output, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (picture.contains(node) || parent?.closest("style, .jp-OutputPrompt")) continue;
    if (node.textContent?.trim()) return false;
  }
  return true;
}
