/** What is searched, as explorer/search/query.py takes it: words, or a regular expression. */

/** longer texts are matched by their beginning only, so that no expression runs for ever */
const LONGEST = 400;
/** an attribute with its value is one word, blanks and all: `axes = [1, 2]` */
const WORD = /[^\s=]+\s*=\s*(?:\[[^\]]*\]?|\S+)|\S+/g;
/** words are looked for so many at a time, each a bit of one number */
const BITS = 30;

/** What is to be found. Each of its rounds tells of some words, as bits, which a text has. */
export interface Query {
  readonly rounds: readonly Round[];
}

export interface Round {
  /** the bits of all words */
  readonly all: number;
  /** The words that are in a text. */
  find(text: Text): number;
  /** Whether any word is found in a text so that it ends behind a position. */
  findEnd(text: string, start: number): boolean;
}

/** A text, with what it is compared by. */
export class Text {
  private foldedText: string | null = null;
  private cutText: string | null = null;

  constructor(readonly text: string) {}

  /** the text in which words are looked for */
  get folded(): string {
    if (this.foldedText === null) {
      const { text } = this;
      const lines = text.length > LONGEST ? text.split("\n").map(cut).join("\n") : text;
      this.foldedText = fold(lines);
    }
    return this.foldedText;
  }

  /** the text that an expression is tried on */
  get cut(): string {
    return (this.cutText ??= cut(this.text));
  }
}

/** @throws Error for an invalid regular expression */
export function makeQuery(text: string, regex: boolean): Query {
  if (regex) return { rounds: [new Expression(text)] };
  const words = [...new Set((text.match(WORD) ?? []).map(cleanWord))];
  const rounds: Round[] = [];
  for (let at = 0; at < words.length; at += BITS) {
    rounds.push(new Words(words.slice(at, at + BITS)));
  }
  return { rounds };
}

class Words implements Round {
  readonly all: number;

  constructor(private readonly words: readonly string[]) {
    this.all = 2 ** words.length - 1;
  }

  find({ folded }: Text): number {
    let found = 0;
    for (let k = 0; k < this.words.length; k++) {
      if (folded.includes(this.words[k])) found |= 1 << k;
    }
    return found;
  }

  findEnd(text: string, start: number): boolean {
    return this.words.some((word) =>
      fold(text.slice(Math.max(start - word.length + 1, 0))).includes(word),
    );
  }
}

class Expression implements Round {
  readonly all = 1;
  private readonly pattern: RegExp;

  constructor(text: string) {
    this.pattern = compile(text);
  }

  find({ cut }: Text): number {
    return this.pattern.test(cut) ? 1 : 0;
  }

  findEnd(text: string, start: number): boolean {
    const begin = Math.max(text.length - LONGEST, 0);
    const pattern = new RegExp(this.pattern, `${this.pattern.flags}g`);
    for (const found of text.slice(begin).matchAll(pattern)) {
      if (begin + found.index + found[0].length > start) return true;
    }
    return false;
  }
}

function compile(text: string): RegExp {
  try {
    return new RegExp(text, "iu");
  } catch {
    // by code points more is refused, as the escape in `a\-b`
  }
  try {
    return new RegExp(text, "i");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const reason = why.replace(/^[^]*\/[a-z]*: /, "");
    throw new Error(`the regular expression '${text}' is not valid: ${lowerFirst(reason)}.`);
  }
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, "");
}

function cleanWord(word: string): string {
  const at = word.indexOf("=");
  const isAttribute = at >= 0 && at + 1 < word.length;
  return fold(isAttribute ? `${word.slice(0, at).trim()} = ${word.slice(at + 1).trim()}` : word);
}

/** A text without a difference between capitals and small letters. */
function fold(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
  return text.toUpperCase().toLowerCase().replace(/ς/g, "σ");
}

function cut(text: string): string {
  return text.length > LONGEST ? Array.from(text).slice(0, LONGEST).join("") : text;
}
