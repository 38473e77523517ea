/** What travels between a page and the server, as netloupe/live/frames.py describes it. */

const LENGTH = 4;
const ALIGNMENT = 8;

export interface Frame {
  readonly content: Record<string, unknown>;
  readonly buffers: ArrayBufferView[];
}

/** Read what the server has sent; null where it is no frame. */
export function readFrame(data: unknown): Frame | null {
  try {
    if (typeof data === "string") return { content: readContent(data), buffers: [] };
    if (!(data instanceof ArrayBuffer)) return null;
    const end = LENGTH + new DataView(data).getUint32(0, true);
    const content = readContent(new TextDecoder().decode(new Uint8Array(data, LENGTH, end - LENGTH)));
    const lengths = content.buffers;
    if (!Array.isArray(lengths)) return null;
    let at = end;
    const buffers = lengths.map((length: number) => {
      at = Math.ceil(at / ALIGNMENT) * ALIGNMENT;
      const buffer = new DataView(data, at, length);
      at += length;
      return buffer;
    });
    return { content, buffers };
  } catch {
    return null;
  }
}

function readContent(text: string): Record<string, unknown> {
  const content: unknown = JSON.parse(text);
  if (typeof content !== "object" || content === null) throw new TypeError("no frame");
  return content as Record<string, unknown>;
}
