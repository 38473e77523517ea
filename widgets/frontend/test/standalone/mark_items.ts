/**
 * Marks items for tests/standalone: reads
 * `{"levels": base64, "search": base64, "styles": […], "asked": [{"places": …, "levels": […],
 * "notes": [[path]]}]}` as a request, where `levels` has the numbers of the styles of items
 * and of the notes behind them, and writes the marks for each in a line.
 */

import { Block } from "../../src/standalone/block";
import { Book } from "../../src/standalone/book";
import { ItemMarks } from "../../src/standalone/item_marks";
import { SearchIndex } from "../../src/standalone/search";
import { StaticHost } from "../../src/standalone/static_host";
import { serve } from "./serve";

await serve(async (request, write) => {
  const { levels, search, styles, asked } = JSON.parse(request);
  const book = new Book(await Block.read("levels", levels), "TB");
  const host = new StaticHost({
    ...{ first: {}, command: { text: "", expand: "" }, traits: {} },
    readBook: () => Promise.resolve(book),
    readLegend: () => Promise.reject(new Error("no legend is asked for")),
    readSearch: async () => new SearchIndex(await Block.read("search", search), book.texts),
  });
  for (const { places, levels, notes } of asked) {
    const marks = new ItemMarks(places);
    for (const [k, paths] of notes.entries()) {
      for (const path of paths) {
        marks.add(levels.length - notes.length + k, await host.findAround(path));
      }
    }
    write(JSON.stringify(marks.paint(styles, levels)));
  }
});
