import { expect, test } from "vitest";
import { describeSelection, tooltipOf } from "../../src/controls/speech";
import { face, makeScene } from "../small";

test("a tooltip has the whole title where the box has it shortened", () => {
  const scene = makeScene([{ path: "main/a" }, { path: "main/b" }]);
  const faces = [face("Transfor…", { title: "Transformer · TransformerLayer" }), face("b")];
  scene.faceOf = (box: number) => faces[box];
  const linesOf = (index: number, path: string): string[] =>
    tooltipOf(scene, { kind: "box", index, path, paths: [path] });
  expect(linesOf(0, "main/a")).toEqual(["main/a", "Transformer · TransformerLayer"]);
  expect(linesOf(1, "main/b")).toEqual(["main/b"]);
});

test("a node whose box is called something else is told by both names", () => {
  const paths = ["main/node_relu_8", "main/Conv_1", "main/#17:Relu"];
  const scene = makeScene(paths.map((path) => ({ path })));
  const faces = [face("act Relu"), face("Conv_1"), face("Relu")];
  scene.faceOf = (box: number) => faces[box];
  expect(paths.map((path) => describeSelection(scene, [path]))).toEqual([
    "act Relu, node_relu_8, node, 0 inputs, 0 outputs",
    "Conv_1, node, 0 inputs, 0 outputs",
    "Relu, node, 0 inputs, 0 outputs",
  ]);
});
