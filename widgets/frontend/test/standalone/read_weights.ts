/**
 * Prints what a page says of weights, for tests/standalone: reads `{"blocks": [base64], "counts":
 * [number]}` and writes one JSON list.
 */

import { Weights } from "../../src/standalone/weights";
import { serve } from "./serve";

await serve(async (request, write) => {
  const asked = JSON.parse(request);
  const weights = new Weights(asked.counts, (block) => asked.blocks[block]);
  const total = asked.counts.reduce((sum: number, count: number) => sum + count, 0);
  const found = [];
  for (let k = 0; k < total; k++) {
    const { words, histogram } = await weights.read(k);
    found.push({ words, facts: histogram?.facts, counts: histogram && [...histogram.counts] });
  }
  write(JSON.stringify(found));
});
