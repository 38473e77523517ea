/**
 * The levels of a page with what is in a neighbourhood alone, and what gives values to it. A group
 * of which only a part is in it is open and holds that part; one that is in it as a whole stays as
 * it is, and so does what is outside of it and gives values to it. The empty room between what is
 * left is squeezed out; what is above or beside what stays so.
 */

import type { Face } from "../scene/face";
import sizes from "../scene/sizes";
import { CONSTANT, GROUP, INPUT, NODE, OPENABLE, OUTPUT, REPEAT } from "../scene/scene";
import type { Integers } from "./block";
import {
  type Form,
  type FormBox,
  type FormEdge,
  type Insides,
  type Levels,
  type PreparedLevel,
  isStub,
} from "./book";
import type { Opened } from "./compose";
import { squeeze } from "./squeeze";

/** How many of the nodes that a level shows, in all groups inside, are in the neighbourhood. */
interface Tally {
  readonly found: number;
  readonly total: number;
}

/** Which values pass the border of a part of a group. */
interface Borders {
  readonly needs: ReadonlySet<string>;
  readonly gives: ReadonlySet<string>;
}

export class Neighbourhood implements Levels {
  readonly direction: Levels["direction"];
  readonly faces: Face[];
  readonly notices: Levels["notices"];
  readonly texts: Levels["texts"];
  /** what is open at first */
  readonly root: Opened;
  /** paths of what is outside and shown since it gives values to what is inside */
  readonly outside = new Set<string>();
  private free: number;
  private readonly parts = new Map<number, { level: PreparedLevel; whole: number }>();
  /** by the number of a face that of it without the sign that its box can be opened */
  private readonly closed = new Map<number, number>();
  private readonly tallies = new Map<number, Tally>();
  private readonly borders = new Map<number, Borders>();

  /** @param nodes numbers of the paths of the nodes in it */
  constructor(
    private readonly book: Levels,
    private readonly nodes: ReadonlySet<number>,
  ) {
    this.direction = book.direction;
    this.faces = [...book.faces];
    this.notices = book.notices;
    this.texts = book.texts;
    // the numbers behind those of the book are for its parts
    this.free = [...book.listLevels()].length;
    this.root = this.cut(0, 0, new Set());
  }

  /** Whether a level is a part of one. */
  isPart(number: number): boolean {
    return this.parts.has(number);
  }

  level(number: number): PreparedLevel {
    return this.parts.get(number)?.level ?? this.book.level(number);
  }

  listLevels(): Iterable<number> {
    const found = new Set([0]);
    for (const number of found) {
      for (const insides of this.level(number).insides.values()) {
        for (const state of this.listStates(insides)) found.add(state);
      }
    }
    return found;
  }

  listNames(number: number): Integers {
    return this.book.listNames(this.parts.get(number)?.whole ?? number);
  }

  listStates(insides: Insides): number[] {
    return this.parts.has(insides.first) ? [insides.first] : this.book.listStates(insides);
  }

  /** The level that shows all that is in a box. */
  private insideOf(level: PreparedLevel, box: number): number | null {
    const insides = level.insides.get(box);
    if (!insides) return null;
    const states = this.book.listStates(insides);
    return states[states.length - 1];
  }

  /** How much of a box is in the neighbourhood. */
  private tallyBox(level: PreparedLevel, box: number): Tally {
    const { flags, path } = level.form.boxes[box];
    if ((flags & NODE) !== 0) {
      const number = this.book.listNames(level.number)[path];
      return { found: Number(this.nodes.has(number)), total: 1 };
    }
    if ((flags & GROUP) === 0) return NOTHING;
    const inside = this.insideOf(level, box);
    if (inside === null) {
      throw new Error("What is around this cannot be shown: some groups are not in this file.");
    }
    return this.tally(inside);
  }

  private tally(number: number): Tally {
    const known = this.tallies.get(number);
    if (known) return known;
    const level = this.book.level(number);
    let [found, total] = [0, 0];
    level.form.boxes.forEach((_, box) => {
      const part = this.tallyBox(level, box);
      found += part.found;
      total += part.total;
    });
    this.tallies.set(number, { found, total });
    return { found, total };
  }

  /** Whether a box is in the neighbourhood as a whole, in part or not at all. */
  private shareOf(level: PreparedLevel, box: number): "whole" | "part" | "none" {
    const { found, total } = this.tallyBox(level, box);
    return found === 0 ? "none" : found === total ? "whole" : "part";
  }

  /** Whether something in a box takes what comes along an edge. */
  private takes(level: PreparedLevel, { target, enters }: FormEdge): boolean {
    if (target < 0) return false;
    const share = this.shareOf(level, target);
    if (share !== "part") return share === "whole";
    return this.bordersOf(this.insideOf(level, target)!).needs.has(level.names[enters]);
  }

  /** Whether something in a box gives what goes along an edge. */
  private gives(level: PreparedLevel, { source, leaves }: FormEdge): boolean {
    if (source < 0) return false;
    const share = this.shareOf(level, source);
    if (share !== "part") return share === "whole";
    return this.bordersOf(this.insideOf(level, source)!).gives.has(level.names[leaves]);
  }

  private bordersOf(number: number): Borders {
    const known = this.borders.get(number);
    if (known) return known;
    const level = this.book.level(number);
    const [needs, gives] = [new Set<string>(), new Set<string>()];
    for (const edge of level.form.edges) {
      if (edge.source < 0 && this.takes(level, edge)) needs.add(portName(level, edge.leaves));
      const out = level.form.inputs + edge.enters;
      if (edge.target < 0 && this.gives(level, edge)) gives.add(portName(level, out));
    }
    const borders = { needs, gives };
    this.borders.set(number, borders);
    return borders;
  }

  /** A box as it is shown here: what is outside cannot be opened, and no part has other states. */
  private look(box: FormBox, share: "whole" | "part" | "none", isShown: boolean): FormBox {
    if (share === "part") return { ...box, flags: box.flags & ~REPEAT };
    const isOutside = share === "none" && isShown && (box.flags & (GROUP | NODE)) !== 0;
    if (!isOutside || (box.flags & OPENABLE) === 0) return box;
    return { ...box, face: this.close(box.face), flags: box.flags & ~OPENABLE };
  }

  /** The number of a face without the sign that its box can be opened. */
  private close(number: number): number {
    const known = this.closed.get(number);
    if (known !== undefined) return known;
    const face = this.faces[number];
    const texts = face.texts.filter(([, , text]) => text !== sizes.opener);
    this.closed.set(number, this.faces.push({ ...face, texts }) - 1);
    return this.faces.length - 1;
  }

  /** The frame around a part of a level: it does not say that all repetitions are shown. */
  private frame({ frame, frameNumber }: PreparedLevel): Pick<PreparedLevel, "frame" | "frameNumber"> {
    const texts = frame?.texts.filter(([, , , style, anchor]) => !(style === "title-muted" && anchor === "end"));
    if (!frame || !texts || texts.length === frame.texts.length) return { frame, frameNumber };
    this.faces.push({ ...frame, texts });
    return { frame: this.faces[this.faces.length - 1], frameNumber: this.faces.length - 1 };
  }

  /**
   * Make the part of a level that is shown.
   *
   * @param number its number from now on
   * @param wanted names of the values that something around it takes
   */
  private cut(number: number, whole: number, wanted: ReadonlySet<string>): Opened {
    const level = this.book.level(whole);
    const { form, names } = level;
    const shares = form.boxes.map((_, box) => this.shareOf(level, box));
    const shown = shares.map((share) => share !== "none");
    const kept = form.edges.map(
      (edge) =>
        this.takes(level, edge) ||
        (edge.target < 0 && wanted.has(portName(level, form.inputs + edge.enters))),
    );
    const paths = new Set<number>();
    form.edges.forEach(({ path, source }, edge) => {
      if (!kept[edge]) return;
      paths.add(path);
      if (source >= 0) shown[source] = true;
    });
    // of what is given, the outputs of the graph are shown too
    form.edges.forEach((edge, k) => {
      if (edge.target < 0 || (form.boxes[edge.target].flags & OUTPUT) === 0) return;
      kept[k] = this.gives(level, edge) || (paths.has(edge.path) && shown[edge.source] === true);
      if (kept[k]) shown[edge.target] = true;
    });
    const provided = form.boxes.map(() => new Set<string>());
    form.edges.forEach(({ source, leaves }, edge) => {
      if (kept[edge] && source >= 0) provided[source].add(names[leaves]);
    });
    const boxes = [...form.boxes.keys()].filter((box) => shown[box]);
    const looks = form.boxes.map((box, k) => this.look(box, shares[k], shown[k]));
    const insides = new Map<number, Insides>();
    const inner = new Map<number, Opened>();
    boxes.forEach((box, place) => {
      const own = level.insides.get(box);
      if (own && shares[box] !== "none") insides.set(place, own);
      if (shares[box] === "part") {
        const inside = this.cut(this.free++, this.insideOf(level, box)!, provided[box]);
        insides.set(place, { first: inside.level, usual: 0 });
        inner.set(place, inside);
      } else if (shares[box] === "none" && !isOfValues(form.boxes[box])) {
        this.outside.add(names[form.boxes[box].path]);
      }
    });
    const part = {
      ...{ ...level, ...this.frame(level), number, insides },
      form: cutForm({ ...form, boxes: looks, placements: form.placements }, boxes, kept, this),
    };
    this.parts.set(number, { level: part, whole });
    return { level: number, inner };
  }
}

const NOTHING: Tally = { found: 0, total: 0 };

function portName({ form, names }: PreparedLevel, port: number): string {
  return names[form.ports[port]];
}

function isOfValues(box: FormBox): boolean {
  return isStub(box) || (box.flags & (INPUT | OUTPUT | CONSTANT)) !== 0;
}

/** A form with some of its boxes and edges, and what of its border these use. */
function cutForm(
  form: Form,
  boxes: readonly number[],
  kept: readonly boolean[],
  { faces, direction }: Pick<Levels, "faces" | "direction">,
): Form {
  const edges = [...form.edges.keys()].filter((edge) => kept[edge]);
  const places = new Map(boxes.map((box, place) => [box, place]));
  const [inputs, outputs] = [new Set<number>(), new Set<number>()];
  for (const edge of edges) {
    const { source, target, leaves, enters } = form.edges[edge];
    if (source < 0) inputs.add(leaves);
    if (target < 0) outputs.add(enters);
  }
  const [ins, outs] = [inputs, outputs].map((ports) => [...ports].sort((a, b) => a - b));
  let squeezed: Form["placements"] | null = null;
  return {
    isTerminal: form.isTerminal,
    ...{ inputs: ins.length, used: ins.length, outputs: outs.length, given: outs.length },
    boxes: boxes.map((box) => form.boxes[box]),
    edges: edges.map((edge) => {
      const { source, target, leaves, enters, ...rest } = form.edges[edge];
      return {
        ...rest,
        source: source < 0 ? source : places.get(source)!,
        target: target < 0 ? target : places.get(target)!,
        leaves: source < 0 ? ins.indexOf(leaves) : leaves,
        enters: target < 0 ? outs.indexOf(enters) : enters,
      };
    }),
    ports: [...ins, ...outs.map((port) => form.inputs + port)].map((port) => form.ports[port]),
    get placements() {
      return (squeezed ??= [squeeze(form, { boxes, edges, ins, outs }, faces, direction)]);
    },
  };
}

