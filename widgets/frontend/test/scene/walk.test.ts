import { describe, expect, test } from "vitest";
import { readKey } from "../../src/controls/keys";
import { Routes } from "../../src/scene/routes";
import { endOf, firstBox, neighbours, walkFrom } from "../../src/scene/walk";
import { C, CONV, G, RELU, X, Y, readScene } from "../small";

const scene = readScene();
const routes = new Routes(scene);

test("edges lead through the walls of open groups, both ways", () => {
  expect(neighbours(routes, X, "forward").sort()).toEqual([C, CONV]);
  expect(neighbours(routes, CONV, "forward")).toEqual([RELU]);
  expect(neighbours(routes, RELU, "forward")).toEqual([Y]);
  expect(neighbours(routes, Y, "back").sort()).toEqual([C, RELU]);
  expect(neighbours(routes, CONV, "back")).toEqual([X]);
});

test("an open group's own neighbours are outside of it", () => {
  expect(neighbours(routes, G, "forward")).toEqual([Y]);
  expect(neighbours(routes, G, "back")).toEqual([X]);
});

test("an open group is entered where it begins, and left the way one came in", () => {
  expect(walkFrom(routes, G, "ArrowDown")).toBe(CONV);
  expect(walkFrom(routes, CONV, "ArrowUp", G)).toBe(G);
  expect(walkFrom(routes, CONV, "ArrowUp", X)).toBe(X);
  const turned = new Routes(readScene({ direction: "LR" }));
  expect([CONV, RELU]).toContain(walkFrom(turned, G, "ArrowRight"));
});

describe("arrow keys", () => {
  test("down goes to the consumer most straight below, up comes back", () => {
    expect(walkFrom(routes, X, "ArrowDown")).toBe(CONV);
    expect(walkFrom(routes, CONV, "ArrowUp")).toBe(X);
    expect(walkFrom(routes, X, "ArrowUp")).toBeUndefined();
  });
  test("the way back leads where one came from", () => {
    expect(walkFrom(routes, Y, "ArrowUp")).toBe(RELU);
    expect(walkFrom(routes, Y, "ArrowUp", C)).toBe(C);
  });
  test("left and right go to siblings beside", () => {
    expect(walkFrom(routes, G, "ArrowRight")).toBe(C);
    expect(walkFrom(routes, C, "ArrowLeft")).toBe(G);
    expect(walkFrom(routes, C, "ArrowRight")).toBeUndefined();
    expect(walkFrom(routes, CONV, "ArrowRight")).toBeUndefined();
  });
  test("from left to right, the keys turn with the graph", () => {
    const turned = new Routes(readScene({ direction: "LR" }));
    expect([CONV, C]).toContain(walkFrom(turned, X, "ArrowRight"));
    expect(walkFrom(turned, CONV, "ArrowLeft")).toBe(X);
  });
});

test("the first box is where the graph begins; a value has ends", () => {
  expect(firstBox(scene)).toBe(X);
  expect(endOf(routes, "main/%t", "forward")).toBe(RELU);
  expect(endOf(routes, "main/%t", "back")).toBe(CONV);
  expect(endOf(routes, "main/%y", "forward")).toBe(Y);
  expect(endOf(routes, "main/%nothing", "back")).toBeUndefined();
});

test("keys with a modifier are left to the page", () => {
  const key = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
  expect(readKey({ ...key, key: "f" })).toEqual({ do: "fit" });
  expect(readKey({ ...key, key: "f", ctrlKey: true })).toBeNull();
  expect(readKey({ ...key, key: "q" })).toBeNull();
  expect(readKey({ ...key, key: "ArrowUp" })).toEqual({ do: "walk", arrow: "ArrowUp" });
});

test("what is undone and redone in editors is so here", () => {
  const key = { ctrlKey: true, metaKey: false, altKey: false, shiftKey: false };
  expect(readKey({ ...key, key: "z" })).toEqual({ do: "undo" });
  expect(readKey({ ...key, key: "Z", shiftKey: true })).toEqual({ do: "redo" });
  expect(readKey({ ...key, key: "y" })).toEqual({ do: "redo" });
  expect(readKey({ ...key, key: "z", ctrlKey: false, metaKey: true })).toEqual({ do: "undo" });
  expect(readKey({ ...key, key: "z", altKey: true })).toBeNull();
  expect(readKey({ ...key, key: "z", ctrlKey: false })).toEqual({ do: "close-up" });
});
