/**
 * Composes neighbourhoods of a page's elements and prints the scenes, for tests/standalone: reads
 * `{"block": base64, "before": [text], "links": base64, "direction": …, "asked": [[path, hops]],
 * "opened": bool}` and writes a line for each: the scene, and the paths of what is outside.
 */

import { Block } from "../../src/standalone/block";
import { Book } from "../../src/standalone/book";
import { Composer } from "../../src/standalone/compose";
import { Links } from "../../src/standalone/links";
import { Neighbourhood } from "../../src/standalone/neighbourhood";
import { Openings } from "../../src/standalone/opened";
import { Places } from "../../src/standalone/places";
import { SceneWriter } from "../../src/standalone/write_scene";
import { serve } from "./serve";

await serve(async (request, write) => {
  const asked = JSON.parse(request);
  const block = await Block.read("levels", asked.block);
  const book = new Book(block, asked.direction, asked.before);
  const links = new Links(await Block.read("links", asked.links));
  const places = new Places(book);

  for (const [path, hops] of asked.asked) {
    const seeds = links.findSeeds(...places.listGroups(path));
    const part = new Neighbourhood(book, links.findNeighbourhood(seeds, hops));
    const root = asked.opened ? new Openings(part, new Places(part)).openAll().root : part.root;
    const { header, buffers } = new SceneWriter(part).write(new Composer(part).compose(root), []);
    const written = buffers.map((each) =>
      Buffer.from(each.buffer, each.byteOffset, each.byteLength).toString("base64"),
    );
    write(JSON.stringify([header, written, [...part.outside]]));
  }
});
