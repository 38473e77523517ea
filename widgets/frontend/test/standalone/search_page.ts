/**
 * Searches a page for tests/standalone: reads
 * `{"levels": base64, "search": base64, "queries": [[text, whether it is an expression]]}` and and writes for each query one line: the answer of the page with everything
 * closed, and how many milliseconds that took.
 */

import type { HitsMessage } from "../../src/host/messages";
import { Block } from "../../src/standalone/block";
import { Book } from "../../src/standalone/book";
import { SearchIndex } from "../../src/standalone/search";
import { StaticHost } from "../../src/standalone/static_host";
import { serve } from "./serve";

await serve(async (request, write) => {
  const asked = JSON.parse(request);
  const book = new Book(await Block.read("levels", asked.levels), "TB");
  const host = new StaticHost({
    ...{ first: {}, command: { text: "", expand: "" }, traits: {} },
    readBook: () => Promise.resolve(book),
    readLegend: () => Promise.reject(new Error("no legend is asked for")),
    readSearch: async () =>
      new SearchIndex(await Block.read("search", asked.search), book.texts),
  });
  const answers: ((message: HitsMessage) => void)[] = [];
  host.onMessage((message) => answers.shift()?.(message as HitsMessage));

  for (const [text, regex] of asked.queries) {
    const begin = performance.now();
    const answer = new Promise((resolve) => answers.push(resolve));
    host.send({ type: "search", text, regex, id: "1" });
    const written = await answer;
    write(JSON.stringify([written, Math.round(performance.now() - begin)]));
  }
});
