/**
 * Composes states of a page's levels and prints the scenes, for tests/standalone: reads
 * `{"block": base64, "direction": …, "states": [{key: [state, {key: …}]}]}` as a request
 * and writes one line for each state: header, buffers, and where `legend`, a block in base64, and
 * `paints` are given what the legend says.
 */

import { Block } from "../../src/standalone/block";
import { Book } from "../../src/standalone/book";
import { Composer, type Opened } from "../../src/standalone/compose";
import { LegendWords } from "../../src/standalone/legend";
import { SceneWriter } from "../../src/standalone/write_scene";
import { serve } from "./serve";

interface State {
  [key: string]: [number, State];
}

await serve(async (request, write) => {
  const asked = JSON.parse(request);
  const book = new Book(await Block.read("levels", asked.block), asked.direction);
  const composer = new Composer(book);
  const writer = new SceneWriter(book);
  const legend = asked.legend && new LegendWords(await Block.read("legend", asked.legend));

  function open(number: number, state: State): Opened {
    const level = book.level(number);
    const inner = new Map<number, Opened>();
    level.form.boxes.forEach((box, place) => {
      const wanted = state[level.names[box.key]];
      const insides = level.insides.get(place);
      if (!wanted || !insides) return;
      const levels = book.listStates(insides);
      inner.set(place, open(levels[wanted[0] < 0 ? levels.length - 1 : wanted[0]], wanted[1]));
    });
    return { level: number, inner };
  }

  for (const state of asked.states) {
    const composed = composer.compose(open(0, state));
    const { header, buffers } = writer.write(composed, book.notices);
    const written = buffers.map((part) =>
      Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString("base64"),
    );
    const said = legend ? legend.list(book, composed, asked.paints, "dark") : [];
    write(JSON.stringify([header, written, said]));
  }
});
