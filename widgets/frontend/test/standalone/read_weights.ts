/**
 * Prints what a page says of weights, for tests/standalone: reads `{"blocks": [base64], "counts":
 * [number]}` from standard input and writes one JSON list.
 */

import { readFileSync } from "node:fs";
import { Weights } from "../../src/standalone/weights";

const asked = JSON.parse(readFileSync(0, "utf8"));
const weights = new Weights(asked.counts, (block) => asked.blocks[block]);
const total = asked.counts.reduce((sum: number, count: number) => sum + count, 0);
const found = [];
for (let k = 0; k < total; k++) {
  const { words, histogram } = await weights.read(k);
  found.push({ words, facts: histogram?.facts, counts: histogram && [...histogram.counts] });
}
console.log(JSON.stringify(found));
