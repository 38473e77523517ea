// Bundles the entries of src that are named below, with their style sheets as text, and the style
// sheet of the page around them into ../../explorer/page. The output depends on nothing but the
// sources and the locked versions, so that the committed bundles can be compared with it.
import { readFileSync, writeFileSync } from "node:fs";
import { build, transform } from "esbuild";

/** A style sheet that is imported becomes its minified text. */
const styleSheets = {
  name: "style sheets as text",
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      return { contents: await minify(readFileSync(path, "utf8")), loader: "text" };
    });
  },
};

async function minify(text) {
  return (await transform(text, { loader: "css", minify: true, charset: "utf8" })).code;
}

const licence = ["flatbush", "flatqueue"]
  .map((name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}`)
  .join("\n\n");

const common = {
  outdir: "../../explorer/page",
  bundle: true,
  format: "esm",
  target: "es2020",
  minify: true,
  charset: "utf8",
  plugins: [styleSheets],
  logLevel: "info",
};
await build({
  ...common,
  entryPoints: { canvas: "src/canvas.ts" },
  legalComments: "inline",
  footer: { js: `/*! Bundled here:\n\n${licence}\n*/` },
});
// a page that stands alone has its script in itself, ahead of the data
await build({
  ...common,
  entryPoints: { page: "src/page.ts" },
  format: "iife",
  target: "es2022",
  legalComments: "inline",
  footer: { js: `/*! Bundled here:\n\n${licence}\n*/` },
});
await build({ ...common, entryPoints: { description_text: "src/description_text.ts" } });
// the module of a widget in a notebook, which brings one of the others once in a page
await build({ ...common, entryPoints: { shared_code: "src/host/shared_code.ts" } });
// what stands around an explorer in a report
await build({
  ...common,
  entryPoints: { report: "src/report_page.ts" },
  format: "iife",
  target: "es2022",
});
// what keeps two explorers side by side at the same place
await build({
  ...common,
  entryPoints: { panes: "src/panes_page.ts" },
  format: "iife",
  target: "es2022",
});
// the page on which a model is chosen, whose style sheet is its own
await build({
  ...common,
  entryPoints: { start: "src/start_page.ts" },
  format: "iife",
  target: "es2022",
});
writeFileSync("../../explorer/page/start.css", await minify(readFileSync("src/start.css", "utf8")));
await build({ ...common, entryPoints: { review_panel: "src/review_panel.ts" } });
// canvas and inspector in one, for notebooks that show no widgets inside of widgets
await build({
  ...common,
  entryPoints: { page_widget: "src/page_widget.ts" },
  target: "es2022",
  legalComments: "inline",
  footer: { js: `/*! Bundled here:\n\n${licence}\n*/` },
});

// In the page around, important rules in a layer win over all others, whatever these select.
const page = ["explorer", "inspector"]
  .map((name) => readFileSync(`src/${name}.css`, "utf8").replace(/;$/gm, " !important;"))
  .join("");
writeFileSync("../../explorer/page/explorer.css", await minify(`@layer netloupe {\n${page}}\n`));
