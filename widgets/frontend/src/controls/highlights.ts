/** What is lit while all else is dimmed: the places of values, or what was traced. */

import type { Stage } from "../paint/stage";
import type { Paths } from "../scene/scene";
import { type Lit, type Trace, light } from "../scene/trace";
import { type Places, consumerAt, lightPlaces, placesOf } from "../scene/uses";
import { PlaceBar, TraceChip } from "./bars";
import type { Selection } from "./selection";
import { nameOf } from "./speech";

export class Highlights {
  readonly chip = new TraceChip(() => this.clear());
  readonly bar = new PlaceBar({
    step: (by) => this.step(by),
    producer: () => this.goToProducer(),
  });
  private trace: Trace | null = null;
  private traced: Lit | null = null;
  private places: Places | null = null;
  /** whether the places are lit: an ordinary edge from one box to another says all by itself */
  private areLit = false;
  /** which consumer and which producer was jumped to last; -1 for none */
  private current = -1;
  private source = -1;

  constructor(private readonly stage: Stage) {}

  get isShown(): boolean {
    return this.trace !== null;
  }

  /** The selection or the scene is another: find the values' places and light what is to be. */
  follow(selection: Selection): void {
    const { routes } = this.stage;
    const same = this.places !== null && sameAs(this.places.at, selection.paths);
    const found = routes ? placesOf(routes, selection.paths) : null;
    this.source = -1;
    this.places = found;
    this.areLit = found !== null && (found.stubbed || found.consumers.length > 1);
    if (this.places && routes) {
      const at = consumerAt(routes, this.places, selection.holder ?? -1);
      this.current = at >= 0 || !same ? at : this.current;
    }
    this.show();
  }

  /** The scene is another: find out anew what is traced in it. */
  retrace(): void {
    const { routes } = this.stage;
    this.traced = this.trace && routes ? light(routes, this.trace) : null;
    if (!this.traced) this.trace = null;
    this.show();
  }

  /** Light up what is upstream or downstream of a path; once more puts it out. */
  toggle(kind: "up" | "down", path: Paths): void {
    const { trace } = this;
    const here = trace !== null && sameAs(trace.path, path) && trace.other === undefined;
    if (path.length === 0) return;
    if (!here) {
      this.start({ kind, path });
      return;
    }
    const lit = { up: trace.kind !== "down", down: trace.kind !== "up" };
    lit[kind] = !lit[kind];
    if (!lit.up && !lit.down) this.clear();
    else this.start({ kind: lit.up && lit.down ? "both" : lit.up ? "up" : "down", path });
  }

  /** Light up the paths between two things. */
  between(path: Paths, other: Paths): void {
    if (path.length === 0 || other.length === 0 || sameAs(path, other)) return;
    this.start({ kind: "between", path, other });
  }

  clear(): void {
    this.trace = this.traced = null;
    this.show();
  }

  step(by: 1 | -1): void {
    const { places } = this;
    const count = places?.consumers.length ?? 0;
    if (!places || count === 0) return;
    this.source = -1;
    if (this.current < 0) this.current = by > 0 ? 0 : count - 1;
    else this.current = (this.current + by + count) % count;
    this.stage.jumpTo(places.consumers[this.current]);
    this.show();
  }

  /** Go to what gives the value; of several, to the next one each time. */
  goToProducer(): void {
    const { places } = this;
    if (!places || places.producers.length === 0) return;
    this.current = -1;
    this.source = (this.source + 1) % places.producers.length;
    this.stage.jumpTo(places.producers[this.source]);
    this.show();
  }

  private start(trace: Trace): void {
    this.trace = trace;
    this.retrace();
  }

  private show(): void {
    const { stage, trace, traced, places } = this;
    const { scene } = stage;
    if (!scene) return;
    if (trace && traced) {
      stage.light(traced);
      this.chip.show(describeTrace(trace, traced.count));
    } else {
      const lit = places && this.areLit ? lightPlaces(scene, places) : null;
      if (!lit || !sameLit(stage.lit, lit)) stage.light(lit);
      this.chip.hide();
    }
    if (places && this.areLit) {
      const { consumers, producers, at } = places;
      this.bar.show(nameOf(at), this.current, consumers.length, producers.length);
    } else {
      this.bar.hide();
    }
  }
}

function describeTrace(trace: Trace, count: number): string {
  const name = nameOf(trace.path);
  const boxes = count === 1 ? "1 box" : `${count.toLocaleString("en")} boxes`;
  switch (trace.kind) {
    case "up":
      return `Upstream of ${name} · ${boxes}`;
    case "down":
      return `Downstream of ${name} · ${boxes}`;
    case "both":
      return `Up and downstream of ${name} · ${boxes}`;
    case "between": {
      const other = nameOf(trace.other ?? "");
      return count === 0 ? `No path between ${name} and ${other}` : `${name} ⇢ ${other} · ${boxes}`;
    }
  }
}

function sameAs(one: Paths, other: Paths): boolean {
  const [first, second] = [[one].flat(), [other].flat()];
  return first.length === second.length && first.every((path, k) => path === second[k]);
}

function sameLit(one: Lit | null, other: Lit): boolean {
  if (!one || one.boxes.length !== other.boxes.length) return false;
  return (
    one.boxes.every((lit, k) => lit === other.boxes[k]) &&
    one.edges.every((lit, k) => lit === other.edges[k])
  );
}
