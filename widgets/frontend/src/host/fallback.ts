/**
 * What stands below the widget for viewers without a kernel, a picture and maybe the explorer in a
 * page: hidden once ours stands.
 */

const KEPT = "[data-netloupe-static]";

/** Hide what an id stands for, also where it appears or changes later; returns what stops it. */
export function hideStaticPicture(id: string): () => void {
  if (!id) return () => undefined;
  const hide = (pictures: Iterable<HTMLElement>): void => {
    for (const picture of pictures) {
      if (picture.dataset.netloupeStatic === id) hidePicture(picture);
    }
  };
  hide(document.querySelectorAll<HTMLElement>(KEPT));
  const observer = new MutationObserver((changes) => {
    for (const { addedNodes } of changes) {
      for (const node of addedNodes) {
        if (node instanceof HTMLElement) hide([node, ...node.querySelectorAll<HTMLElement>(KEPT)]);
      }
    }
  });
  observer.observe(document.body, { childList: true, subtree: true });
  return () => observer.disconnect();
}

function hidePicture(picture: HTMLElement): void {
  picture.style.display = "none";
  // what it holds would run although nobody sees it
  for (const frame of picture.querySelectorAll("iframe")) frame.remove();
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
