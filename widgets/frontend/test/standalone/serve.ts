/**
 * Lets a script of tests/standalone answer one request after another, as starting Node.js and
 * warming code up takes longer than most answers. Each line of standard input is a request in
 * JSON; what is written for it follows behind a line that says how many lines these are.
 */

import { createInterface } from "node:readline";

type Answer = (request: string, write: (line: string) => void) => Promise<void>;

/** Answer all requests, until no more come. */
export async function serve(answer: Answer): Promise<void> {
  for await (const request of createInterface({ input: process.stdin })) {
    const lines: string[] = [];
    await answer(request, (line) => lines.push(line));
    process.stdout.write(`${[lines.length, ...lines].join("\n")}\n`);
  }
}
