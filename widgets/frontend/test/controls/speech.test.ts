import { expect, test } from "vitest";
import { tooltipOf } from "../../src/controls/speech";
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
