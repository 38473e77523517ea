/**
 * Tells where a page shows things, for tests/standalone: reads
 * `{"levels": base64, "search": base64, "states": […], "paths": […]}` and
 * writes for each state in a line by path the keys of the boxes that show or hide what is there.
 */

import { Block } from "../../src/standalone/block";
import { Book } from "../../src/standalone/book";
import { Drawing, openKeys } from "../../src/standalone/drawing";
import { Finder } from "../../src/standalone/finder";
import { SearchIndex } from "../../src/standalone/search";
import { serve } from "./serve";

await serve(async (request, write) => {
  const { levels, search, states, paths } = JSON.parse(request);
  const book = new Book(await Block.read("levels", levels), "TB");
  const drawing = new Drawing(book);
  const index = new SearchIndex(await Block.read("search", search), book.texts);
  const finder = new Finder(() => Promise.resolve(index));
  for (const state of states) {
    const root = openKeys(book, 0, state);
    const found: Record<string, readonly string[]> = {};
    for (const path of paths) Object.assign(found, await finder.listPlaces(drawing, root, [path]));
    write(JSON.stringify(found));
  }
});
