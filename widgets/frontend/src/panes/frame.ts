/** Making the frame of a pane of what the page holds. */

import { ADDRESS, PANE, type Pane } from "./pane";

/** what of the window the explorer leaves free in a page of its own */
const AROUND = 24;
const STYLE =
  "<style>body{margin:0!important;overflow:hidden}" +
  // on paper the whole picture is in the frame
  "@media print{html{--nl-paper-height:100vh}}</style>";

export interface FrameParts {
  /** what stands ahead of the data in every page, with the script */
  readonly head: string;
  /** what the script is told, as JSON */
  readonly data: string;
  /** the elements of the blocks */
  readonly blocks: string;
  /** what is to be seen at first; "" for what the page opens */
  readonly address: string;
  /** call something when something else is seen */
  seen(address: string): void;
}

/** Put a frame into an element; resolves once its first picture is painted. */
export function makeFrame(place: Element, name: string, parts: FrameParts): Promise<Pane> {
  const frame = document.createElement("iframe");
  frame.title = name;
  frame.style.height = `calc(100% + ${AROUND}px)`;
  const { head, data, blocks } = parts;
  if (parts.address) frame.dataset.address = parts.address;
  frame.addEventListener(ADDRESS, (event) => parts.seen((event as CustomEvent<string>).detail));
  frame.srcdoc =
    `${head.replace("</head>", () => `${STYLE}</head>`)}` +
    `<script type="application/json" id="nl-data">${data}</script>\n${blocks}` +
    "<noscript></noscript></body></html>";
  return new Promise((resolve) => {
    frame.addEventListener(PANE, (event) => resolve((event as CustomEvent<Pane>).detail));
    place.replaceChildren(frame);
  });
}
