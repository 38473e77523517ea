import { describe, expect, it } from "vitest";
import { pageAddress } from "../src/lab/model_document";
import { relativePath, writeCell } from "../src/lab/notebook_cell";
import { chooseVersion, needShared } from "../src/lab/shared_modules";

describe("what JupyterLab shares", () => {
  const version = (loaded?: number) => ({ get: async () => () => "module", loaded });

  it("is taken in its newest version", () => {
    const versions = { "4.2.0": version(), "4.10.0": version(), "4.9.1": version() };
    expect(chooseVersion(versions)).toBe(versions["4.10.0"]);
    const early = { "4.6.0": version(), "4.6.0-rc.1": version() };
    expect(chooseVersion(early)).toBe(early["4.6.0"]);
  });

  it("is taken in the version that is loaded, of which there may be only one", () => {
    const versions = { "4.2.0": version(1), "4.10.0": version() };
    expect(chooseVersion(versions)).toBe(versions["4.2.0"]);
    expect(chooseVersion({})).toBeNull();
  });

  it("is named where it is missing", async () => {
    expect(await needShared({ here: { "1.0.0": version() } }, "here")).toBe("module");
    await expect(needShared({}, "@jupyterlab/docregistry")).rejects.toThrow(
      "netloupe needs @jupyterlab/docregistry",
    );
  });
});

describe("the cell that explores a model", () => {
  it.each([
    ["a.ipynb", "m.onnx", "m.onnx"],
    ["a.ipynb", "models/m.onnx", "models/m.onnx"],
    ["work/a.ipynb", "models/m.onnx", "../models/m.onnx"],
    ["work/deep/a.ipynb", "work/m.onnx", "../m.onnx"],
    ["work/a.ipynb", "work/m.onnx", "m.onnx"],
    ["m.onnx/a.ipynb", "m.onnx", "../m.onnx"],
  ])("of %s names %s as %s", (notebook, file, expected) => {
    expect(relativePath(notebook, file)).toBe(expected);
  });

  it("is Python whatever the name of the file is", () => {
    const cell = writeCell("a.ipynb", 'a"b\\c\n.onnx');
    expect(cell).toBe('import netloupe\nex = netloupe.explore("a\\"b\\\\c\\n.onnx")\nex');
  });
});

it("a model's page is below the base URL, and its whole path in a query", () => {
  expect(pageAddress("http://host/user/me/", "a b/ü#?.onnx")).toBe(
    "http://host/user/me/netloupe/page?path=a%20b%2F%C3%BC%23%3F.onnx",
  );
});
