/** A composed picture as a message of a scene: see explorer/render/wire.py for what it holds. */

import { NODE, REPEAT } from "../scene/scene";
import { VERSION } from "../scene/wire_header";
import type { Levels, Form, FormBox } from "./book";
import { type Composed, flagsOf } from "./compose";

export interface WrittenScene {
  readonly header: Record<string, unknown>;
  readonly buffers: [Float32Array, Int32Array, Uint8Array];
}

/** Writes the scenes of one canvas, each by what is new since the one before. */
export class SceneWriter {
  private number = 0;
  private labels = new Map<string, number>();
  private known = new Map<number, Counts>();
  private isNew = true;

  constructor(private readonly book: Levels) {}

  write(root: Composed, notices: readonly string[]): WrittenScene {
    const since = this.isNew ? null : this.number;
    const faces = this.isNew ? this.book.faces : [];
    this.isNew = false;
    this.number++;
    const news = new News(this.labels.size);
    const kept = new Map<number, Counts>();
    const counts = this.add(root, news, kept);
    this.known = kept;
    const { width, height } = root.inside;
    const header = {
      ...{ version: VERSION, number: this.number, since, width, height },
      ...{ direction: this.book.direction, wrapped: false, extreme: false, notices, root: root.id },
      ...{ counts, faces, labels: [...this.labels.keys()].slice(news.labelsBefore) },
      ...{ forms: news.forms, levels: news.levels },
    };
    return { header, buffers: news.join() };
  }

  /** Write what is not known of a level and those inside it, the inner ones first. */
  private add(composed: Composed, news: News, kept: Map<number, Counts>): Counts {
    const done = kept.get(composed.id);
    if (done) return done;
    const boxes = [...composed.inner.keys()].sort((a, b) => a - b);
    const inner = boxes.map((box) => composed.inner.get(box)!);
    const counts = {
      boxes: composed.level.form.boxes.length,
      ports: listPorts(composed.level.form).length,
      edges: composed.edges.filter((edge) => edge.isDrawn).length,
      levels: 1,
    };
    for (const each of inner) {
      const within = this.add(each, news, kept);
      counts.boxes += within.boxes;
      counts.ports += within.ports;
      counts.edges += within.edges;
      counts.levels += within.levels;
    }
    kept.set(composed.id, counts);
    if (!this.known.has(composed.id)) this.addLevel(composed, inner, news);
    return counts;
  }

  private addLevel(composed: Composed, inner: readonly Composed[], news: News): void {
    const { level, inside, edges } = composed;
    const { form } = level;
    const names = [...level.names];
    const integers: number[] = [];
    form.boxes.forEach((box, number) => {
      const open = composed.inner.get(number);
      const rows = listRows(box, level.names, open);
      const face = open ? open.level.frameNumber : box.face;
      integers.push(box.path, box.key, face, flagsOf(box, open !== undefined));
      integers.push(names.length, rows.length);
      names.push(...rows);
    });
    const ports = listPorts(form);
    integers.push(...ports.map((port) => form.ports[port]));
    const bundles: number[] = [];
    const { starts, points } = inside.edges;
    const labels = new Float32Array(2 * edges.length);
    edges.forEach(({ isDrawn, flags, bundle, label }, edge) => {
      const { path, source, target } = form.edges[edge];
      const count = isDrawn ? 2 * (starts[edge + 1] - starts[edge]) : 0;
      integers.push(path, label ? this.numberLabel(label.text) : -1, source, target, flags);
      integers.push(2 * starts[edge], count);
      if (label) labels.set([label.x, label.y], 2 * edge);
      if (bundle.length === 0) return;
      bundles.push(edge, names.length, bundle.length);
      names.push(...bundle);
    });
    integers.push(...bundles);
    news.addForm(
      [form.boxes.length, ports.length, edges.length, points.length, bundles.length / 3],
      [inside.boxes, ports.flatMap((port) => [inside.ports[2 * port], inside.ports[2 * port + 1]]), labels, points],
      integers,
    );
    news.addLevel(composed.id, names, inner.map((each) => each.id));
  }

  private numberLabel(text: string): number {
    const known = this.labels.get(text);
    if (known !== undefined) return known;
    this.labels.set(text, this.labels.size);
    return this.labels.size - 1;
  }
}

/** The ports that are drawn: those where something runs on inside. */
function listPorts({ ports, inputs, used, given }: Form): number[] {
  return [...ports.keys()].filter((port) => port < used || (port >= inputs && port < inputs + given));
}

interface Counts {
  boxes: number;
  ports: number;
  edges: number;
  levels: number;
}

/** What the rows of a box stand for; of an open repeat or call other things. */
function listRows(box: FormBox, names: readonly string[], open: Composed | undefined): string[] {
  if (open && (box.flags & (REPEAT | NODE)) !== 0) return [...open.level.rows];
  return open && !open.level.form.isTerminal ? [] : box.rows.map((name) => names[name]);
}

/** What one message brings. */
class News {
  readonly forms: number[][] = [];
  levels = 0;
  private readonly floats: ArrayLike<number>[] = [];
  private readonly shapes: number[][] = [];
  private readonly table: number[] = [];
  private readonly names: Uint8Array[] = [];
  private nameBytes = 0;
  private readonly encoder = new TextEncoder();

  constructor(readonly labelsBefore: number) {}

  addForm(counts: number[], floats: ArrayLike<number>[], integers: number[]): void {
    this.floats.push(...floats);
    this.shapes.push(integers);
    this.forms.push(counts);
  }

  /** Add a level that has the form added last. */
  addLevel(id: number, names: readonly string[], inner: readonly number[]): void {
    const written = this.encoder.encode(JSON.stringify(names));
    this.forms[this.forms.length - 1].unshift(id); // each level brings a form of its own
    this.table.push(id, id, this.nameBytes, written.length, inner.length, ...inner);
    this.names.push(written);
    this.nameBytes += written.length;
    this.levels++;
  }

  join(): [Float32Array, Int32Array, Uint8Array] {
    const floats = new Float32Array(this.floats.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of this.floats) {
      floats.set(part, at);
      at += part.length;
    }
    const count = this.shapes.reduce((sum, part) => sum + part.length, this.table.length);
    const integers = new Int32Array(count);
    at = 0;
    for (const part of [...this.shapes, this.table]) {
      integers.set(part, at);
      at += part.length;
    }
    const names = new Uint8Array(this.nameBytes);
    at = 0;
    for (const part of this.names) {
      names.set(part, at);
      at += part.length;
    }
    return [floats, integers, names];
  }
}
