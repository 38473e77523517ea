// Bundles src/canvas.ts and src/canvas.css into ../static. The output depends on nothing but
// the sources and the locked versions, so that the committed bundle can be compared with it.
import { readFileSync } from "node:fs";
import { build } from "esbuild";

const licence = ["flatbush", "flatqueue"]
  .map((name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}`)
  .join("\n\n");

await build({
  entryPoints: { canvas: "src/canvas.ts" },
  outdir: "../static",
  bundle: true,
  format: "esm",
  target: "es2020",
  minify: true,
  charset: "utf8",
  legalComments: "inline",
  footer: { js: `/*! Bundled here:\n\n${licence}\n*/` },
  logLevel: "info",
});
await build({
  entryPoints: { canvas: "src/canvas.css" },
  outdir: "../static",
  minify: true,
  charset: "utf8",
  logLevel: "info",
});
