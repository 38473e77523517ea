/**
 * Prints all descriptions of a page, for tests/standalone: reads `{"blocks": [base64], "counts":
 * [number], "elements": base64}` from standard input and writes one JSON list.
 */

import { readFileSync } from "node:fs";
import { Block } from "../../src/standalone/block";
import { Facts } from "../../src/standalone/facts";

const asked = JSON.parse(readFileSync(0, "utf8"));
const index = await Block.read("descriptions", asked.elements);
const elements = index.integers("elements");
const facts = new Facts(async (number) => asked.blocks[number], asked.counts, elements);
const found: Array<string | null> = [];
for (const element of elements) found.push(await facts.describe(element));
console.log(JSON.stringify(found));
