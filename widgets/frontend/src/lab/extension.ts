/**
 * The JupyterLab extension: a double click on a model opens the explorer, which the server extension
 * (netloupe/lab/) gives. JupyterLab loads this file as what webpack calls a remote container.
 */

import type {
  Application,
  ApplicationModule,
  AppUtils,
  DocRegistryModule,
  LayoutRestorer,
  LuminoWidgets,
  NotebookModule,
  NotebookTracker,
  Palette,
  Plugin,
  ServicesModule,
  UiComponents,
} from "./jupyterlab";
import {
  canReload,
  makeViewerFactory,
  OPEN_IN_NEW_NOTEBOOK,
  OPEN_IN_NOTEBOOK,
  RELOAD,
} from "./model_document";
import { addFileTypes, makeModelFactory, VIEWER } from "./model_files";
import { ICON } from "./icon";
import { insertCell, makeNotebook } from "./notebook_cell";
import { type Container, loadShared, needShared, type SharedPackages } from "./shared_modules";

/** Load what is used of JupyterLab, and return the plugin. */
async function makePlugin(packages: SharedPackages): Promise<Plugin> {
  const [registry, lumino, ui, services, utils, application, notebooks] = await Promise.all([
    needShared<DocRegistryModule>(packages, "@jupyterlab/docregistry"),
    needShared<LuminoWidgets>(packages, "@lumino/widgets"),
    needShared<UiComponents>(packages, "@jupyterlab/ui-components"),
    needShared<ServicesModule>(packages, "@jupyterlab/services"),
    needShared<AppUtils>(packages, "@jupyterlab/apputils"),
    needShared<ApplicationModule>(packages, "@jupyterlab/application"),
    loadShared<NotebookModule>(packages, "@jupyterlab/notebook"),
  ]);
  const optional = [utils.ICommandPalette, application.ILayoutRestorer];
  if (notebooks) optional.push(notebooks.INotebookTracker);
  return {
    id: "netloupe:models",
    description: "Opens neural-network graph files in the netloupe explorer.",
    autoStart: true,
    requires: [],
    optional,
    activate(app, palette, restorer, tracker) {
      const icon = new ui.LabIcon({ name: "netloupe:model", svgstr: ICON });
      addFileTypes(app.docRegistry, icon);
      app.docRegistry.addModelFactory(makeModelFactory(registry));
      const factory = makeViewerFactory(app, registry, lumino, ui, services, icon);
      const shown = new utils.WidgetTracker({ namespace: "netloupe" });
      factory.widgetCreated.connect((_factory, widget) => {
        void shown.add(widget);
        widget.context.pathChanged.connect(() => void shown.save(widget));
      });
      app.docRegistry.addWidgetFactory(factory);
      if (restorer) {
        void (restorer as LayoutRestorer).restore(shown, {
          command: "docmanager:open",
          args: (widget) => ({ path: widget.context.path, factory: VIEWER }),
          name: (widget) => widget.context.path,
        });
      }
      addCommands(app, utils, shown, notebooks, tracker as NotebookTracker | null, icon);
      for (const command of [OPEN_IN_NOTEBOOK, OPEN_IN_NEW_NOTEBOOK, RELOAD]) {
        (palette as Palette | null)?.addItem({ command, category: "netloupe" });
      }
    },
  };
}

function addCommands(
  app: Application,
  utils: AppUtils,
  shown: { readonly currentWidget: unknown },
  notebooks: NotebookModule | null,
  tracker: NotebookTracker | null,
  icon: unknown,
): void {
  /** The model that is in front. */
  const current = () => {
    const { currentWidget } = shown;
    return canReload(currentWidget) && !currentWidget.isDisposed ? currentWidget : null;
  };
  const isEnabled = (): boolean => current() !== null;
  const open = async (inNew: boolean): Promise<void> => {
    const file = current()?.context.localPath;
    if (file === undefined) return;
    const panel = inNew ? null : tracker?.currentWidget;
    try {
      if (notebooks && panel) insertCell(app, notebooks, panel, file);
      else await makeNotebook(app, file);
    } catch (error) {
      await utils.showErrorMessage("The notebook cannot be made", String(error));
    }
  };
  app.commands.addCommand(OPEN_IN_NOTEBOOK, {
    label: "Open in notebook",
    caption: "Insert a cell that explores this model into the current notebook, or into a new one",
    isEnabled,
    execute: () => open(false),
  });
  app.commands.addCommand(OPEN_IN_NEW_NOTEBOOK, {
    label: "Open in new notebook",
    caption: "Make a notebook beside this model, with a cell that explores it",
    icon,
    isEnabled,
    execute: () => open(true),
  });
  app.commands.addCommand(RELOAD, {
    label: "Reload",
    caption: "Show the model as its file now is",
    isEnabled,
    execute: () => current()?.reload(),
  });
}

let packages: SharedPackages = {};

const container: Container = {
  init(shared) {
    packages = shared;
  },
  async get(module) {
    if (module !== "./extension") throw new Error(`netloupe has no module ${module}.`);
    const plugin = await makePlugin(packages);
    return () => ({ __esModule: true, default: plugin });
  },
};

const page = window as unknown as { _JUPYTERLAB?: Record<string, Container> };
(page._JUPYTERLAB ??= {}).netloupe = container;
