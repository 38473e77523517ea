/** "Open in notebook": a cell that explores a model, in a notebook that is open or in a new one. */

import type { Application, NotebookModule, NotebookPanel } from "./jupyterlab";

/** Where a file is, seen from the folder of a notebook; both as the server names them. */
export function relativePath(notebook: string, file: string): string {
  const folder = split(notebook).slice(0, -1);
  const parts = split(file);
  let common = 0;
  while (common < Math.min(folder.length, parts.length - 1) && folder[common] === parts[common]) {
    common++;
  }
  return [...folder.slice(common).map(() => ".."), ...parts.slice(common)].join("/");
}

function split(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

/** The cell that explores a file from a notebook; a JSON text is one of Python too. */
export function writeCell(notebook: string, file: string): string {
  return `import netloupe\nex = netloupe.explore(${JSON.stringify(relativePath(notebook, file))})\nex`;
}

/** Put the cell below the active one of a notebook, which comes to the front. */
export function insertCell(
  app: Application,
  { NotebookActions }: NotebookModule,
  panel: NotebookPanel,
  file: string,
): void {
  NotebookActions.insertBelow(panel.content);
  const cell = panel.content.activeCell;
  cell?.model.sharedModel.setSource(writeCell(panel.context.localPath, file));
  app.shell.activateById(panel.id);
}

/** Make a notebook with the cell beside a file, and open it. */
export async function makeNotebook(app: Application, file: string): Promise<void> {
  const { contents, kernelspecs } = app.serviceManager;
  const folder = split(file).slice(0, -1).join("/");
  const { path } = await contents.newUntitled({ path: folder, type: "notebook" });
  await kernelspecs.ready;
  const name = kernelspecs.specs?.default ?? "python3";
  const spec = kernelspecs.specs?.kernelspecs[name];
  const kernelspec = {
    name,
    display_name: spec?.display_name ?? name,
    language: spec?.language ?? "python",
  };
  await contents.save(path, {
    type: "notebook",
    format: "json",
    content: {
      cells: [
        {
          cell_type: "code",
          execution_count: null,
          id: "explore",
          metadata: {},
          outputs: [],
          source: writeCell(path, file),
        },
      ],
      metadata: { kernelspec },
      nbformat: 4,
      nbformat_minor: 5,
    },
  });
  await app.commands.execute("docmanager:open", { path });
}
