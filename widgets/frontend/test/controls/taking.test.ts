/** Which formats are offered, and what files are called. */

import { expect, test } from "vitest";
import { listFormats } from "../../src/controls/save_dialog";
import { nameFile } from "../../src/controls/taking";
import { KERNEL } from "../../src/host/anywidget";
import { hostThatCan } from "../hosts";

test("PDF and pages are offered where the host writes them", () => {
  const namesOf = (host: typeof KERNEL): string[] => listFormats(host).map(([format]) => format);
  expect(namesOf(KERNEL)).toEqual(["svg", "png", "pdf", "html"]);
  expect(namesOf(hostThatCan("open", "command"))).toEqual(["svg", "png"]);
});

test("pictures are called after the model's file, with nothing in it that leads elsewhere", () => {
  expect(nameFile("gpt2.legacy.onnx", "svg")).toBe("gpt2.legacy.svg");
  expect(nameFile("net.pbtxt.gz", "png")).toBe("net.png");
  expect(nameFile("", "pdf")).toBe("model.pdf");
  expect(nameFile("../..\\a:b\u202egnp.onnx", "svg")).toBe(".._.._a_b_gnp.svg");
  expect(nameFile(`${"x".repeat(500)}.onnx`, "svg")).toHaveLength(104);
});
