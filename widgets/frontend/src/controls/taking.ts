/** Takes what is shown along: as a file, or on the clipboard. */

import type { Traits } from "../host/connection";
import { messageOf } from "../host/conversation";
import type { Host } from "../host/host";
import type { CanvasTraits } from "../host/traits";
import type { Stage } from "../paint/stage";
import { clipTo, drawPng, drawSvg, wholeOf } from "../paint/still";
import type { Rectangle } from "../scene/geometry";
import type { ThemeName } from "../scene/options";
import type { Requests } from "./requests";
import type { CopyByHand, Wanted } from "./save_dialog";
import type { Strip } from "./strip";
import type { Hint } from "./tips";

const TYPES = {
  svg: "image/svg+xml",
  png: "image/png",
  pdf: "application/pdf",
  html: "text/html",
} as const;
/** A download has begun after so many milliseconds. */
const DOWNLOADED = 60_000;

export interface TakingParts {
  readonly host: Host;
  readonly traits: Traits<CanvasTraits>;
  readonly stage: Stage;
  readonly requests: Requests;
  readonly strip: Strip;
  readonly hint: Hint;
  readonly byHand: CopyByHand;
  theme(): ThemeName;
}

export class Taking {
  constructor(private readonly parts: TakingParts) {}

  /** Let the browser download a picture. */
  async save(wanted: Wanted): Promise<void> {
    try {
      const picture = await this.draw(wanted);
      download(nameFile(this.parts.traits.get("file_name"), wanted.format), picture);
    } catch (error) {
      this.parts.strip.showError(messageOf(error));
    }
  }

  /** Copy what is seen in the window. */
  async copyPicture(format: "svg" | "png"): Promise<void> {
    const picture = this.draw({ format, seen: true });
    if (format === "svg") {
      await this.copyText(picture.then((blob) => blob.text()));
      return;
    }
    try {
      await write({ [TYPES.png]: picture });
      this.parts.hint.show("Copied");
    } catch {
      await this.tell(picture, () =>
        this.parts.strip.showError(
          "The browser does not let this page copy pictures. Save the picture instead.",
        ),
      );
    }
  }

  async copyCommand(): Promise<void> {
    const asked = this.parts.requests.command(this.parts.theme());
    await this.copyText(asked.then((command) => command.text));
    const left = await asked.then((command) => command.left, () => []);
    if (left.length === 0) return;
    this.parts.strip.showNotice(`The command does not say ${left.join("; nor ")}.`);
  }

  /** Copy a text that is there, or on its way; where that is not allowed it is shown. */
  async copyText(text: Promise<string>): Promise<void> {
    const blob = text.then((written) => new Blob([written], { type: "text/plain" }));
    try {
      // now, while the browser knows that the user wants it, and not when the text is there
      await write({ "text/plain": blob });
      this.parts.hint.show("Copied");
    } catch {
      await this.tell(text, (written) => this.parts.byHand.show(written));
    }
  }

  /** Say that something was not copied: since it could not be made, or else in another way. */
  private async tell<Made>(made: Promise<Made>, refused: (made: Made) => void): Promise<void> {
    try {
      refused(await made);
    } catch (error) {
      this.parts.strip.showError(messageOf(error));
    }
  }

  private async draw({ format, seen }: Wanted): Promise<Blob> {
    const { host, stage, requests, strip, traits } = this.parts;
    const { still } = stage;
    if (!still) throw new Error("There is no picture yet.");
    const part: Rectangle | null = seen ? clipTo(still.scene, stage.part) : wholeOf(still.scene);
    if (!part) throw new Error("Nothing of the picture is in the window.");
    if (host.can("picture")) {
      const { x, y, width, height } = part;
      const { bytes, notices } = await requests.picture({
        ...{ type: "picture", format, theme: this.parts.theme() },
        ...(seen ? { part: [x, y, width, height] } : {}),
      });
      for (const notice of notices) strip.showNotice(notice);
      return new Blob([bytes as BlobPart], { type: TYPES[format] });
    }
    if (format === "png") {
      const [blob, notice] = await drawPng(still, part);
      if (notice) strip.showNotice(notice);
      return blob;
    }
    if (format !== "svg") throw new Error(`Nothing here can write ${format.toUpperCase()}.`);
    return new Blob([drawSvg(still, part, traits.get("title"))], { type: TYPES.svg });
  }
}

/** Let the browser download something as a file. */
export function download(name: string, content: Blob | string): void {
  const blob = typeof content === "string" ? new Blob([content], { type: "text/plain" }) : content;
  const link = document.createElement("a");
  const address = URL.createObjectURL(blob);
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), DOWNLOADED);
}

/** The name of a picture's file, after that of its model. */
export function nameFile(model: string, format: string): string {
  const stem = model
    .replace(/\.(gz|bz2|xz)$/i, "")
    .replace(/(.)\.[^.]*$/, "$1")
    // what file systems take for something else, or do not take
    .replace(/[\x00-\x1f\x7f-\x9f\\/:*?"<>|\u202a-\u202e\u2066-\u2069]/g, "_")
    .slice(0, 100);
  return `${stem || "model"}.${format}`;
}

/** @throws where the browser does not allow it, or what is to be copied is not to be had */
async function write(kinds: Record<string, Promise<Blob>>): Promise<void> {
  if (!navigator.clipboard?.write || typeof ClipboardItem === "undefined") {
    throw new Error("There is no clipboard.");
  }
  await navigator.clipboard.write([new ClipboardItem(kinds)]);
}
