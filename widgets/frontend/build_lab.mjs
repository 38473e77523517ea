// Bundles src/lab/extension.ts into ../labextension, as JupyterLab finds it once it is installed: a script
// whose name changes with its content, since browsers keep it, and the package.json that names it.
// The output depends on nothing but the sources and the locked versions.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const home = "../labextension";
const { version, license } = JSON.parse(readFileSync("package.json", "utf8"));

const { outputFiles } = await build({
  entryPoints: ["src/lab/extension.ts"],
  bundle: true,
  write: false,
  format: "iife",
  target: "es2020",
  minify: true,
  charset: "utf8",
});
const script = outputFiles[0].contents;
const name = `remoteEntry.${createHash("sha256").update(script).digest("hex").slice(0, 16)}.js`;
rmSync(`${home}/static`, { recursive: true, force: true });
mkdirSync(`${home}/static`, { recursive: true });
writeFileSync(`${home}/static/${name}`, script);

const described = {
  name: "netloupe",
  version,
  description: "A visual explorer for neural-network graph files: the viewer in JupyterLab.",
  license,
  // what JupyterLab compares with its own versions
  dependencies: {
    "@jupyterlab/application": "^4.2.0",
    "@jupyterlab/apputils": "^4.3.0",
    "@jupyterlab/docregistry": "^4.2.0",
    "@jupyterlab/notebook": "^4.2.0",
    "@jupyterlab/ui-components": "^4.2.0",
    "@lumino/widgets": "^2.3.0",
  },
  jupyterlab: {
    extension: true,
    discovery: { server: { base: { name: "netloupe" }, managers: ["pip"] } },
    _build: { load: `static/${name}`, extension: "./extension" },
  },
};
writeFileSync(`${home}/package.json`, `${JSON.stringify(described, null, 2)}\n`);
