// Bundles src/canvas.ts, with its style sheet as text, and src/description.ts into ../static. The
// output depends on nothing but the sources and the locked versions, so that the committed bundles
// can be compared with it.
import { readFileSync } from "node:fs";
import { build, transform } from "esbuild";

/** A style sheet that is imported becomes its minified text. */
const styleSheets = {
  name: "style sheets as text",
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const text = readFileSync(path, "utf8");
      const { code } = await transform(text, { loader: "css", minify: true, charset: "utf8" });
      return { contents: code, loader: "text" };
    });
  },
};

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
  plugins: [styleSheets],
  footer: { js: `/*! Bundled here:\n\n${licence}\n*/` },
  logLevel: "info",
});
await build({
  entryPoints: { description: "src/description.ts" },
  outdir: "../static",
  bundle: true,
  format: "esm",
  target: "es2020",
  minify: true,
  charset: "utf8",
  logLevel: "info",
});
