/**
 * Prints all descriptions of a page, for tests/standalone: reads `{"blocks": [base64], "counts":
 * [number], "elements": base64}` and writes one JSON list.
 */

import { Block } from "../../src/standalone/block";
import { Facts } from "../../src/standalone/facts";
import { serve } from "./serve";

await serve(async (request, write) => {
  const asked = JSON.parse(request);
  const index = await Block.read("descriptions", asked.elements);
  const elements = index.integers("elements");
  const facts = new Facts(async (number) => asked.blocks[number], asked.counts, elements);
  const found: Array<string | null> = [];
  for (const element of elements) found.push(await facts.describe(element));
  write(JSON.stringify(found));
});
