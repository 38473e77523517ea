import { expect, test } from "vitest";
import { cutNames, namesOf } from "../../src/controls/hit_names";
import type { SearchHit } from "../../src/host/messages";

const kept = (names: string[]) =>
  cutNames(names).map((pieces) => pieces.filter((piece) => piece.kept).map(({ text }) => text));

test("names of different layers keep the number of the layer", () => {
  const names = [3, 7, 11].map((k) => `/model/encoder/layer.${k}/attention/self/query/MatMul`);
  const end = "/self/query/MatMul";
  expect(kept(names)).toEqual([["layer.3", end], ["layer.7", end], ["layer.11", end]]);
});

test.each([
  ["encoder_layer_", "_attention_self_query_kernel_read", ["layer_1", "layer_2"]],
  ["model.layers.", ".self_attn.q_proj.weight.transposed", ["layers.1", "layers.2"]],
  ["h", ".attn.c_attn.a_rather_long_ending", ["h1", "h2"]],
])("numbers in %s… are kept with their word", (head, tail, words) => {
  const names = [1, 2].map((k) => `${head}${k}${tail}`);
  expect(kept(names).map(([word]) => word)).toEqual(words);
});

test("words in which names differ are kept, and nothing but the end where the end differs", () => {
  const rest = "/output/dense/a/long/way/down/MatMul";
  expect(kept([`/bert/query${rest}`, `/bert/key${rest}`]).map(([word]) => word)).toEqual([
    "query",
    "key",
  ]);
  const ends = ["/model/encoder/layer.1/attention/query", "/model/encoder/layer.1/attention/value"];
  expect(kept(ends).every((pieces) => pieces.length === 1)).toBe(true);
});

test("several differences are all kept, and the pieces make the name", () => {
  const names = [1, 2].flatMap((a) =>
    [1, 2].map((b) => `/model/stage.${a}/between/block.${b}/and/a/long/end/of/the/name/Conv`),
  );
  expect(kept(names)[3].slice(0, 2)).toEqual(["stage.2", "block.2"]);
  expect(cutNames(names).map((pieces) => pieces.map(({ text }) => text).join(""))).toEqual(names);
});

test("the same name in two graphs is told apart by the paths", () => {
  const hit = (path: string, title: string): SearchHit => ({ path, title, detail: "", kind: "node", shown: null });
  const hits = [hit("main/Relu", "Relu"), hit("functions/f::g/Relu", "Relu"), hit("main/Add", "Add")];
  expect(namesOf(hits)).toEqual(["main/Relu", "functions/f::g/Relu", "Add"]);
});
