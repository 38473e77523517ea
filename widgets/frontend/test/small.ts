import { readFileSync } from "node:fs";
import { type Scene, decodeScene } from "../src/wire";

interface Encoded {
  header: Record<string, any>;
  buffers: string[];
}

/** The scene as tests/widgets/test_canvas.py wrote it. */
export function readEncoded(): { header: Record<string, any>; bytes: Uint8Array[] } {
  const file = new URL("scene.json", import.meta.url);
  const { header, buffers } = JSON.parse(readFileSync(file, "utf8")) as Encoded;
  return { header, bytes: buffers.map((text) => Uint8Array.from(Buffer.from(text, "base64"))) };
}

/** A view into a larger message at a place that is no multiple of four. */
export function shifted(bytes: Uint8Array): DataView {
  const message = new Uint8Array(bytes.length + 3);
  message.set(bytes, 1);
  return new DataView(message.buffer, 1, bytes.length);
}

export function readScene(changes: Record<string, unknown> = {}): Scene {
  const { header, bytes } = readEncoded();
  return decodeScene({ ...header, ...changes }, bytes.map(shifted));
}

export const X = 0;
export const G = 1;
export const CONV = 2;
export const RELU = 3;
export const C = 4;
export const Y = 5;
