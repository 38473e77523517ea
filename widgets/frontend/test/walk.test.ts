import { describe, expect, test } from "vitest";
import { endOf, firstBox, neighbours, walkFrom } from "../src/walk";
import { readKey } from "../src/keys";
import { C, CONV, G, RELU, X, Y, readScene } from "./small";

const scene = readScene();

test("edges lead through the walls of open groups, both ways", () => {
  expect(neighbours(scene, X, "forward").sort()).toEqual([CONV, C]);
  expect(neighbours(scene, CONV, "forward")).toEqual([RELU]);
  expect(neighbours(scene, RELU, "forward")).toEqual([Y]);
  expect(neighbours(scene, Y, "back").sort()).toEqual([RELU, C]);
  expect(neighbours(scene, CONV, "back")).toEqual([X]);
});

test("an open group's own neighbours are outside of it", () => {
  expect(neighbours(scene, G, "forward")).toEqual([Y]);
  expect(neighbours(scene, G, "back")).toEqual([X]);
});

describe("arrow keys", () => {
  test("down goes to the consumer most straight below, up comes back", () => {
    expect(walkFrom(scene, X, "ArrowDown")).toBe(CONV);
    expect(walkFrom(scene, CONV, "ArrowUp")).toBe(X);
    expect(walkFrom(scene, X, "ArrowUp")).toBeUndefined();
  });
  test("the way back leads where one came from", () => {
    expect(walkFrom(scene, Y, "ArrowUp")).toBe(RELU);
    expect(walkFrom(scene, Y, "ArrowUp", C)).toBe(C);
  });
  test("left and right go to siblings beside", () => {
    expect(walkFrom(scene, G, "ArrowRight")).toBe(C);
    expect(walkFrom(scene, C, "ArrowLeft")).toBe(G);
    expect(walkFrom(scene, C, "ArrowRight")).toBeUndefined();
    expect(walkFrom(scene, CONV, "ArrowRight")).toBeUndefined();
  });
  test("from left to right, the keys turn with the graph", () => {
    const turned = readScene({ direction: "LR" });
    expect([CONV, C]).toContain(walkFrom(turned, X, "ArrowRight"));
    expect(walkFrom(turned, CONV, "ArrowLeft")).toBe(X);
  });
});

test("the first box is where the graph begins; a value has ends", () => {
  expect(firstBox(scene)).toBe(X);
  expect(endOf(scene, "main/%t", "forward")).toBe(RELU);
  expect(endOf(scene, "main/%t", "back")).toBe(CONV);
  expect(endOf(scene, "main/%y", "forward")).toBe(Y);
  expect(endOf(scene, "main/%nothing", "back")).toBeUndefined();
});

test("keys with a modifier are left to the page", () => {
  const key = { ctrlKey: false, metaKey: false, altKey: false };
  expect(readKey({ ...key, key: "f" })).toEqual({ do: "fit" });
  expect(readKey({ ...key, key: "f", ctrlKey: true })).toBeNull();
  expect(readKey({ ...key, key: "q" })).toBeNull();
  expect(readKey({ ...key, key: "ArrowUp" })).toEqual({ do: "walk", arrow: "ArrowUp" });
});
