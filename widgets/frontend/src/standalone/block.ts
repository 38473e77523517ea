/** Blocks of a page: columns of numbers and texts, as explorer/standalone/blocks.py writes them. */

const ARRAYS = { 8: Int8Array, 16: Int16Array, 32: Int32Array } as const;
const ALIGNMENT = 4;

export type Integers = Int8Array | Int16Array | Int32Array;

/** A block that cannot be read: damaged, cut short or of something else. */
export class BlockError extends Error {}

export class Block {
  private constructor(
    private readonly name: string,
    private readonly columns: ReadonlyMap<string, Integers | string>,
  ) {}

  /**
   * Unpack a block of a page.
   *
   * @param name for messages: what the block is of
   * @param written the block in base64
   * @throws BlockError where it is damaged
   */
  static async read(name: string, written: string | Promise<string>): Promise<Block> {
    return Block.unpack(name, fromBase64(await written));
  }

  /** Unpack a block, as it is written. */
  static async unpack(name: string, packed: Uint8Array): Promise<Block> {
    let bytes: Uint8Array;
    try {
      const stream = new Blob([packed as BlobPart]).stream();
      const unpacked = stream.pipeThrough(new DecompressionStream("deflate-raw"));
      bytes = new Uint8Array(await new Response(unpacked).arrayBuffer());
    } catch {
      throw new BlockError(`The ${name} of this file cannot be read: the file is damaged.`);
    }
    return new Block(name, readColumns(name, bytes));
  }

  /** A column of integers. */
  integers(column: string): Integers {
    const found = this.columns.get(column);
    if (found === undefined || typeof found === "string") throw this.lack(column);
    return found;
  }

  /** A column of any value, as JSON writes it. */
  value(column: string): unknown {
    const found = this.columns.get(column);
    if (typeof found !== "string") throw this.lack(column);
    try {
      return JSON.parse(found);
    } catch {
      throw this.lack(column);
    }
  }

  /** A column that is a list of texts. */
  list(column: string): string[] {
    const found = this.value(column);
    if (!Array.isArray(found)) throw this.lack(column);
    return found.map(String);
  }

  /**
   * The texts of the block.
   *
   * @param before those whose numbers come before
   */
  texts(before: Texts | null = null): Texts {
    const lengths = this.columns.get("texts_lengths");
    if (lengths === undefined) return Texts.of(this.list("texts"), before);
    const whole = this.columns.get("texts");
    if (typeof whole !== "string" || typeof lengths === "string") throw this.lack("texts");
    return new Texts(whole, lengths, before);
  }

  private lack(column: string): BlockError {
    return new BlockError(`The ${this.name} of this file are damaged: ${column} cannot be read.`);
  }
}

/** Very many texts: one string, of which each is cut when it is asked for. */
export class Texts {
  /** where each begins, and the end of the last */
  private readonly starts: Int32Array;
  private readonly first: number;
  private all: readonly string[] | null = null;

  /**
   * @param whole one text behind the other
   * @param lengths of each
   * @param before those whose numbers come before
   */
  constructor(
    private readonly whole: string,
    lengths: ArrayLike<number>,
    private readonly before: Texts | null = null,
  ) {
    this.first = before?.count ?? 0;
    this.starts = new Int32Array(lengths.length + 1);
    for (let k = 0; k < lengths.length; k++) this.starts[k + 1] = this.starts[k] + lengths[k];
  }

  static of(texts: readonly string[], before: Texts | null = null): Texts {
    return new Texts(texts.join(""), Int32Array.from(texts, ({ length }) => length), before);
  }

  get count(): number {
    return this.first + this.starts.length - 1;
  }

  has(number: number): boolean {
    return number >= 0 && number < this.count;
  }

  /** The text of a number; BlockError where there is none. */
  at(number: number): string {
    if (this.before && number < this.first) return this.before.at(number);
    if (!this.has(number)) throw new BlockError("This file is damaged: a text is missing.");
    return this.whole.slice(this.starts[number - this.first], this.starts[number - this.first + 1]);
  }

  /** All of them, by their numbers. */
  list(): readonly string[] {
    this.all ??= Array.from({ length: this.count }, (_, number) => this.at(number));
    return this.all;
  }
}

function readColumns(name: string, bytes: Uint8Array): Map<string, Integers | string> {
  const fail = (): BlockError =>
    new BlockError(`The ${name} of this file are damaged: their table of contents does not fit.`);
  const end = bytes.indexOf(10);
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(bytes.subarray(0, Math.max(end, 0))));
  } catch {
    throw fail();
  }
  const columns = new Map<string, Integers | string>();
  const listed = (header as { columns?: unknown }).columns;
  if (!Array.isArray(listed)) throw fail();
  let at = end + 1;
  for (const { name: column, kind, bytes: length } of listed) {
    if (typeof column !== "string" || !Number.isInteger(length) || length < 0) throw fail();
    if (at + length > bytes.length) throw fail();
    const part = bytes.slice(at, at + length);
    if (kind === "json" || kind === "texts") {
      columns.set(column, new TextDecoder().decode(part));
    } else {
      const Kind = /^[id](8|16|32)$/.test(kind) ? ARRAYS[kind.slice(1) as unknown as 8] : undefined;
      if (!Kind || length % Kind.BYTES_PER_ELEMENT !== 0) throw fail();
      const numbers = new Kind(part.buffer);
      columns.set(column, kind[0] === "d" ? addSteps(numbers) : numbers);
    }
    at += length + ((ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT);
  }
  return columns;
}

/** The numbers whose steps from each to the next are given. */
function addSteps(steps: Integers): Int32Array {
  const numbers = new Int32Array(steps.length);
  let sum = 0;
  for (let k = 0; k < steps.length; k++) numbers[k] = sum += steps[k];
  return numbers;
}

/** The bytes that base64 stands for; BlockError where it is none. */
function fromBase64(text: string): Uint8Array {
  const native = (Uint8Array as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  try {
    if (native) return native.call(Uint8Array, text);
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let k = 0; k < binary.length; k++) bytes[k] = binary.charCodeAt(k);
    return bytes;
  } catch {
    throw new BlockError("The file is damaged: one of its blocks is no base64.");
  }
}
