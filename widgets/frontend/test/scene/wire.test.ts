import { expect, test } from "vitest";
import { ARROW, CAPTURED, CONTROL, GROUP, INPUT } from "../../src/scene/scene";
import { LevelStore, StaleError } from "../../src/scene/wire";
import { WireError } from "../../src/scene/wire_header";
import * as small from "../small";
import { C, CONV, G, RELU, T, X, Y, readEncoded, readScene, shifted } from "../small";

const decodeScene = (header: unknown, buffers: any) => new LevelStore().receive(header, buffers);

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
  expect([scene.sourceOf(T), scene.targetOf(T)]).toEqual([CONV, RELU]);
  expect([scene.sourceOf(small.X_INSIDE), scene.targetOf(small.Y_INSIDE)]).toEqual([G, G]);
  expect([small.X_TO_G, small.Y_OUT, small.X_TO_C, small.Z].map((edge) => scene.edgeFlags(edge))).toEqual([
    0,
    ARROW,
    ARROW | CAPTURED,
    ARROW | CONTROL,
  ]);
  expect([scene.edgeLabel(T), scene.edgeLabel(0)]).toEqual(["float32[1, 8]", ""]);
  const points = scene.points.subarray(scene.pointsStart(T), scene.pointsEnd(T));
  expect([...points]).toEqual([150, 180, 150, 215, 150, 215, 150, 250]);
  expect([scene.labels[T * 2], scene.labels[T * 2 + 1]]).toEqual([150, 215]);
});

test("elements are found by path", () => {
  const scene = readScene();
  expect(scene.boxesAt("main/a")).toEqual([CONV]);
  expect(scene.boxesAt("main/nothing")).toEqual([]);
  expect(scene.edgesAt("main/%x")).toEqual([0, 2, 4]);
  expect(scene.edgesAt(["main/%z2", "main/%x", "main/%z"])).toEqual([small.Z, 0, 2, 4]);
  expect([scene.edgePath(small.Z), scene.edgePathsOf(small.Z)]).toEqual([
    "main/%z",
    ["main/%z", "main/%z2"],
  ]);
  expect(scene.edgePathsOf(T)).toEqual(["main/%t"]);
  expect([...scene.edgesOf(G)].sort()).toEqual([0, 1, 4, 6]);
  expect(scene.rowsAt("main/%w")).toEqual([{ box: CONV, target: [0, 30, 45, "main/%w"] }]);
  expect(scene.edgePaths()).toEqual(["main/%x", "main/%y", "main/%z", "main/%z2", "main/%t"]);
});

test("a face keeps texts and badges, and absent fields get defaults", () => {
  const { header, bytes } = readEncoded();
  const bare = header.faces.map(({ form, category }: any) => ({ form, category }));
  const scene = decodeScene({ ...header, faces: bare }, bytes.map(shifted));
  expect(scene.faceOf(CONV)).toMatchObject({ targets: [], texts: [], stack: 0 });
  expect(readScene().faceOf(CONV).badges).toEqual([[60, 5, 34, 15, "int8", 0]]);
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
  expect(refused({ ...header, version: 1 })).toContain("version 1");
  expect(refused({ ...header, counts: { boxes: -1 } })).toContain("count its boxes");
  expect(refused({ ...header, counts: { ...header.counts, edges: 8 } })).toContain("size");
  expect(refused({ ...header, faces: null })).toContain("no faces");
  expect(refused({ ...header, faces: [] })).toContain("refers to something");
  expect(refused({ ...header, root: 77 })).toContain("no outermost level");
  expect(refused({ ...header, forms: [[1, 2]] })).toContain("how large its forms");
  expect(refused({ ...header, forms: header.forms.slice(1) })).not.toBe("");
  expect(refused({ ...header, levels: 5 })).toContain("shorter");
  expect(refused({ ...header, levels: 1 })).toContain("longer");
  expect(refused(header, views.slice(0, 1))).toContain("1 buffers");
  expect(refused(header, [shifted(bytes[0].subarray(1)), views[1], views[2]])).toContain("damaged");
  const names = Uint8Array.from(bytes[2]).fill(33);
  expect(refused(header, [views[0], views[1], shifted(names)])).toContain("names are damaged");
});

test("no index out of range gets through", () => {
  const { header, bytes } = readEncoded();
  const count = bytes[1].length / 4;
  const store = new LevelStore();
  for (let at = 0; at < count; at++) {
    for (const value of [-7, 100_000]) {
      const integers = new DataView(Uint8Array.from(bytes[1]).buffer);
      integers.setInt32(at * 4, value, true);
      let scene;
      try {
        scene = store.receive(header, [shifted(bytes[0]), integers, shifted(bytes[2])]);
      } catch (error) {
        expect(error).toBeInstanceOf(WireError);
        continue;
      }
      // what got through are flags: they refer to nothing
      expect(scene.paths().length).toBeGreaterThan(0);
      expect([...Array(scene.boxCount).keys()].every((box) => scene.faceOf(box))).toBe(true);
      expect(scene.points.every(Number.isFinite)).toBe(true);
    }
  }
});

// ------------------------------------------------------------------ what only changes

/** Messages of a group `a/` inside the outermost level, written as wire.py says. */
function message(
  fields: Record<string, unknown>,
  floats: number[],
  integers: number[],
  names: string[][],
): [Record<string, unknown>, ArrayBufferView[]] {
  const texts = names.map((list) => new TextEncoder().encode(JSON.stringify(list)));
  let at = 0;
  // NaN stands for where a level's names begin and for how many bytes they have
  const places = texts.flatMap((text) => [(at += text.length) - text.length, text.length]);
  const filled = integers.map((number) => (Number.isNaN(number) ? places.shift()! : number));
  const bytes = new Uint8Array(at);
  at = 0;
  for (const text of texts) {
    bytes.set(text, at);
    at += text.length;
  }
  const header = {
    ...{ version: 5, width: 500, height: 500, direction: "TB", wrapped: false, extreme: false },
    ...{ notices: [], faces: [], labels: [], forms: [], levels: 0, ...fields },
  };
  return [header, [Float32Array.from(floats), Int32Array.from(filled), bytes]];
}

const CLOSED = message(
  {
    ...{ number: 1, since: null, root: 1, counts: { boxes: 2, ports: 0, edges: 1 } },
    ...{ faces: [{ outline: "group" }, {}], labels: ["f32"], levels: 1, forms: [[1, 2, 0, 1, 8, 0]] },
  },
  [10, 20, 100, 50, 10, 200, 100, 50, 60, 135, 60, 70, 60, 100, 60, 150, 60, 200],
  [0, 0, 0, 10, 0, 0, 1, 1, 1, 4, 0, 0, 2, 0, 0, 1, 1, 0, 8, 1, 1, NaN, NaN, 0],
  [["a/", "b", "%v"]],
);

const OPENED = message(
  {
    ...{ number: 2, since: 1, root: 3, counts: { boxes: 3, ports: 1, edges: 2 } },
    ...{ faces: [{ outline: "frame" }], levels: 2, forms: [[2, 1, 1, 1, 8, 0], [3, 2, 0, 1, 8, 0]] },
  },
  [
    ...[5, 30, 90, 40, 45, 120, 45, 95, 45, 70, 45, 80, 45, 100, 45, 120],
    ...[10, 20, 100, 120, 10, 300, 100, 50, 60, 220, 60, 140, 60, 200, 60, 250, 60, 300],
  ],
  [
    ...[0, 0, 1, 4, 1, 2, 3, 3, -1, 0, -1, 0, 0, 8],
    ...[0, 0, 2, 11, 0, 0, 1, 1, 1, 4, 0, 0, 2, 0, 0, 1, 1, 0, 8],
    ...[2, 2, NaN, NaN, 0, 3, 3, NaN, NaN, 1, 2],
  ],
  [
    ["a/n", "%w1", "%w2", "%v"],
    ["a/", "b", "%v"],
  ],
);

const MOVED = message(
  {
    ...{ number: 3, since: 2, root: 4, counts: { boxes: 3, ports: 1, edges: 2 } },
    ...{ levels: 1, forms: [[4, 2, 0, 1, 8, 0]] },
  },
  [50, 60, 100, 120, 10, 300, 100, 50, 60, 220, 60, 140, 60, 200, 60, 250, 60, 300],
  [0, 0, 2, 11, 0, 0, 1, 1, 1, 4, 0, 0, 2, 0, 0, 1, 1, 0, 8, 4, 4, NaN, NaN, 1, 2],
  [["a/", "b", "%v"]],
);

test("opening brings only the new levels; they are put where their box is", () => {
  const store = new LevelStore();
  expect(store.receive(...CLOSED).paths()).toEqual(["a/", "b"]);
  const opened = store.receive(...OPENED);
  expect(opened.paths()).toEqual(["a/", "b", "a/n"]);
  expect([...opened.boxes.subarray(8, 12)]).toEqual([15, 50, 90, 40]);
  expect([opened.parentOf(2), opened.depthOf(2), opened.isOpen(0)]).toEqual([0, 1, true]);
  expect(opened.targetsOf(2)).toEqual([]); // the face has no rows
  expect(opened.rowPathsOf(2)).toEqual(["%w1", "%w2"]);
  expect([...opened.ports]).toEqual([55, 140]);
  expect([opened.sourceOf(1), opened.targetOf(1), opened.edgeLabel(0)]).toEqual([2, 0, "f32"]);
  expect([...opened.points.subarray(8, 10)]).toEqual([55, 90]);
  // a face of the first message and one of the second
  expect([opened.faceOf(2).outline, opened.faceOf(0).outline]).toEqual(["node", "frame"]);
});

test("a level that has only moved is not sent again", () => {
  const store = new LevelStore();
  store.receive(...CLOSED);
  store.receive(...OPENED);
  const moved = store.receive(...MOVED);
  expect([...moved.boxes.subarray(8, 10)]).toEqual([55, 90]);
  expect([...moved.ports]).toEqual([95, 180]);
});

test("what builds on another scene is told apart from what is damaged", () => {
  const store = new LevelStore();
  expect(() => store.receive(...OPENED)).toThrow(StaleError);
  store.receive(...CLOSED);
  expect(() => store.receive(...MOVED)).toThrow(StaleError);
  store.receive(...OPENED);
  expect(() => store.receive({ ...OPENED[0], number: 3, since: 2, root: 9 }, OPENED[1])).toThrow(
    WireError,
  );
  // what failed has changed nothing
  expect(store.receive(...MOVED).boxCount).toBe(3);
});

test("layers that are not reached any more are forgotten, as the kernel supposes", () => {
  const store = new LevelStore();
  store.receive(...CLOSED);
  store.receive(...OPENED);
  const [header, buffers] = CLOSED;
  const faces = { faces: [], labels: [], number: 3, since: 2 };
  expect(store.receive({ ...header, ...faces }, buffers).paths()).toEqual(["a/", "b"]);
  expect(() => store.receive({ ...MOVED[0], number: 4, since: 3 }, MOVED[1])).toThrow("it lacks");
});

test("an edge without points is none: its value runs along another between the same boxes", () => {
  const merged = message(
    {
      ...{ number: 1, since: null, root: 1, counts: { boxes: 2, ports: 0, edges: 1 } },
      ...{ faces: [{ outline: "group" }, {}], labels: ["×2"], levels: 1 },
      forms: [[1, 2, 0, 2, 8, 1]],
    },
    [10, 20, 100, 50, 10, 200, 100, 50, 0, 0, 60, 135, 60, 70, 60, 100, 60, 150, 60, 200],
    [
      ...[0, 0, 0, 10, 0, 0, 1, 1, 1, 4, 0, 0],
      ...[2, -1, 0, 1, 1, 0, 0, 3, 0, 0, 1, 1, 0, 8, 1, 4, 2],
      ...[1, 1, NaN, NaN, 0],
    ],
    [["a/", "b", "%w", "%v", "%v", "%w"]],
  );
  const scene = decodeScene(...merged);
  expect([scene.edgeCount, scene.edgePath(0), scene.edgeLabel(0)]).toEqual([1, "%v", "×2"]);
  expect(scene.edgePathsOf(0)).toEqual(["%v", "%w"]);
  expect(scene.edgesAt("%w")).toEqual([0]);
});
