/**
 * What stands in a page for its script, as explorer/standalone/document.py writes it: behind the
 * script, so that a large page is seen while its last blocks are still being read.
 */

import { BlockError } from "./block";

/** The text of what the page is told first; BlockError where the page ends before it does. */
export async function findData(): Promise<string> {
  return read(await wait("#nl-data"), "beginning");
}

/** The text of a block, once all of it has been read; BlockError where the page ends before. */
export async function findBlock(name: string): Promise<string> {
  return read(await wait(`script[data-block="${name}"]`), name);
}

/** Whether the page ends before what stands last in it; known when all has been read. */
export async function isCutShort(): Promise<boolean> {
  return (await wait("noscript")) === null;
}

function read(element: Element | null, name: string): string {
  if (element) return element.textContent ?? "";
  throw new BlockError(`This file is damaged: it has no ${name}. It seems to have been cut short.`);
}

/** Wait until all of an element has been read, or all of the page: then it may be missing. */
function wait(selector: string): Promise<Element | null> {
  return new Promise((resolve) => {
    const look = (): void => {
      const element = document.querySelector(selector);
      if (document.readyState === "loading" && !element?.nextSibling) return;
      observer.disconnect();
      document.removeEventListener("DOMContentLoaded", look);
      resolve(element);
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true });
    document.addEventListener("DOMContentLoaded", look);
    look();
  });
}
