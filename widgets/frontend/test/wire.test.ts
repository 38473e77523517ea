import { expect, test } from "vitest";
import { ARROW, CAPTURED, CONTROL, GROUP, INPUT, WireError, decodeScene } from "../src/wire";
import { C, CONV, G, X, Y, readEncoded, readScene, shifted } from "./small";

test("boxes, ports and edges are what Python wrote", () => {
  const scene = readScene();
  expect([scene.boxCount, scene.portCount, scene.edgeCount]).toEqual([6, 2, 7]);
  expect([scene.width, scene.height, scene.direction]).toEqual([520, 480, "TB"]);
  expect(scene.notices).toEqual(["a small scene"]);
  expect([...scene.boxes.subarray(CONV * 4, CONV * 4 + 4)]).toEqual([100, 120, 100, 60]);
  expect(scene.pathOf(Y)).toBe("main/%y");
  expect(scene.keyOf(Y)).toBe("main/%y output");
  expect(scene.boxByKey("main/%y output")).toBe(Y);
  expect([scene.parentOf(CONV), scene.depthOf(CONV), scene.parentOf(G)]).toEqual([G, 1, -1]);
  expect([scene.isOpen(G), scene.isOpen(C), scene.isOpenable(C)]).toEqual([true, false, true]);
  expect(scene.flagsOf(X) & INPUT).toBe(INPUT);
  expect(scene.flagsOf(C) & GROUP).toBe(GROUP);
  expect([...scene.ports]).toEqual([150, 80, 150, 380]);
  expect([scene.portBox(1), scene.portPath(1)]).toEqual([G, "main/%y"]);
});

test("edges have their ends, flags, labels and points", () => {
  const scene = readScene();
  expect([scene.sourceOf(2), scene.targetOf(2)]).toEqual([2, 3]);
  expect([0, 1, 5, 6].map((edge) => scene.edgeFlags(edge))).toEqual([
    0,
    ARROW,
    ARROW | CAPTURED,
    ARROW | CONTROL,
  ]);
  expect([scene.edgeLabel(2), scene.edgeLabel(0)]).toEqual(["float32[1, 8]", ""]);
  const points = scene.points.subarray(scene.pointsStart(2), scene.pointsEnd(2));
  expect([...points]).toEqual([150, 180, 150, 215, 150, 215, 150, 250]);
  expect([scene.labels[4], scene.labels[5]]).toEqual([150, 215]);
});

test("elements are found by path", () => {
  const scene = readScene();
  expect(scene.boxesAt("main/a")).toEqual([CONV]);
  expect(scene.boxesAt("main/nothing")).toEqual([]);
  expect(scene.edgesAt("main/%x")).toEqual([0, 1, 5]);
  expect([...scene.edgesOf(G)].sort()).toEqual([0, 1, 3, 4]);
  expect(scene.rowsAt("main/%w")).toEqual([{ box: CONV, target: [30, 45, "main/%w"] }]);
  expect(scene.edgePaths()).toEqual(["main/%x", "main/%t", "main/%y", "main/%z"]);
});

test("a face keeps texts and badges, and absent fields get defaults", () => {
  const { header, bytes } = readEncoded();
  const bare = header.faces.map(({ shape, category }: any) => ({ shape, category }));
  const scene = decodeScene({ ...header, faces: bare }, bytes.map(shifted));
  expect(scene.faceOf(CONV)).toMatchObject({ targets: [], texts: [], stack: 0 });
  expect(readScene().faceOf(CONV).badges).toEqual([[60, 5, 34, 15, "int8"]]);
});

test("what does not fit is refused with a reason", () => {
  const { header, bytes } = readEncoded();
  const views = bytes.map(shifted);
  const refused = (changed: unknown, buffers: any = views): string => {
    try {
      decodeScene(changed, buffers);
    } catch (error) {
      expect(error).toBeInstanceOf(WireError);
      return (error as Error).message;
    }
    return "";
  };
  expect(refused(null)).toContain("no header");
  expect(refused({ ...header, version: 2 })).toContain("version 2");
  expect(refused({ ...header, counts: { boxes: -1 } })).toContain("count its boxes");
  expect(refused({ ...header, counts: { ...header.counts, edges: 8 } })).toContain("length");
  expect(refused({ ...header, strings: null })).toContain("no strings");
  expect(refused({ ...header, strings: [] })).toContain("refers to something");
  expect(refused(header, views.slice(0, 1))).toContain("1 buffers");
  expect(refused(header, [shifted(bytes[0].subarray(1)), views[1]])).toContain("damaged");
});

test("indexes out of range are refused", () => {
  const { header, bytes } = readEncoded();
  for (const [at, value] of [
    [0, 999],
    [2, 999],
    [3, 0],
    [6 * 6, 6],
    [6 * 6 + 4 + 2, 77],
    [6 * 6 + 4 + 6, 10_000],
  ]) {
    const integers = new DataView(Uint8Array.from(bytes[1]).buffer);
    integers.setInt32(at * 4, value, true);
    expect(() => decodeScene(header, [shifted(bytes[0]), integers])).toThrow(WireError);
  }
});
