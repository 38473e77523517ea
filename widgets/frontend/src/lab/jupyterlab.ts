/**
 * As much of JupyterLab's interface (4.2 and later) as is used here; its own declarations would bring
 * some hundreds of packages. `tests/browser/test_lab.py` runs it in a real JupyterLab.
 */

export interface Signal<Sender, Args> {
  connect(slot: (sender: Sender, args: Args) => void): boolean;
}

/** @lumino/coreutils */
export type Token = object;

/** @lumino/widgets */
export interface Widget {
  id: string;
  readonly node: HTMLElement;
  readonly isDisposed: boolean;
  readonly isVisible: boolean;
  readonly disposed: Signal<Widget, void>;
  readonly title: { label: string; caption: string; icon: unknown };
  addClass(name: string): void;
}

export interface LuminoWidgets {
  readonly Widget: new (options: { node: HTMLElement }) => Widget;
}

/** @jupyterlab/docregistry */
export interface Context {
  /** with the name of the drive, where it has one */
  readonly path: string;
  readonly localPath: string;
  readonly ready: Promise<void>;
  readonly pathChanged: Signal<Context, string>;
  createCheckpoint(): Promise<object>;
}

export interface DocumentWidget extends Widget {
  readonly context: Context;
  readonly toolbar: { addItem(name: string, item: Widget): boolean };
  readonly content: Widget;
}

export interface FileType {
  readonly name: string;
  readonly displayName: string;
  readonly extensions: readonly string[];
  readonly mimeTypes: readonly string[];
  readonly fileFormat: "base64" | "text";
  readonly contentType: "file";
  readonly icon: unknown;
}

export interface FactoryOptions {
  readonly name: string;
  readonly label: string;
  readonly modelName: string;
  readonly fileTypes: readonly string[];
  readonly defaultFor: readonly string[];
  readonly readOnly: boolean;
}

export interface WidgetFactory {
  readonly widgetCreated: Signal<WidgetFactory, DocumentWidget>;
}

export interface DocRegistryModule {
  readonly ABCWidgetFactory: abstract new (options: FactoryOptions) => WidgetFactory;
  readonly DocumentModel: new (options: { collaborationEnabled?: boolean }) => {
    readOnly: boolean;
  };
  readonly DocumentWidget: new (options: { content: Widget; context: Context }) => DocumentWidget;
}

export interface DocumentRegistry {
  addFileType(type: FileType): unknown;
  addModelFactory(factory: object): unknown;
  addWidgetFactory(factory: WidgetFactory): unknown;
}

/** @jupyterlab/apputils and @jupyterlab/ui-components */
export interface AppUtils {
  readonly ICommandPalette: Token;
  readonly WidgetTracker: new (options: { namespace: string }) => WidgetTracker;
  showErrorMessage(title: string, error: string): Promise<void>;
}

export interface WidgetTracker {
  readonly currentWidget: DocumentWidget | null;
  add(widget: DocumentWidget): Promise<void>;
  save(widget: DocumentWidget): Promise<void>;
}

export interface UiComponents {
  readonly LabIcon: new (options: { name: string; svgstr: string }) => object;
  readonly CommandToolbarButton: new (options: {
    commands: Commands;
    id: string;
    args?: Record<string, string>;
    label?: string;
  }) => Widget;
}

/** @lumino/commands */
export interface Commands {
  addCommand(
    id: string,
    options: {
      label: string;
      caption?: string;
      icon?: unknown;
      isEnabled?: () => boolean;
      isVisible?: () => boolean;
      execute: (args: Record<string, unknown>) => unknown;
    },
  ): unknown;
  execute(id: string, args?: Record<string, unknown>): Promise<unknown>;
}

/** @jupyterlab/application */
export interface ApplicationModule {
  readonly ILayoutRestorer: Token;
}

export interface LayoutRestorer {
  restore(
    tracker: WidgetTracker,
    options: {
      command: string;
      args: (widget: DocumentWidget) => Record<string, unknown>;
      name: (widget: DocumentWidget) => string;
    },
  ): Promise<unknown>;
}

export interface Palette {
  addItem(options: { command: string; category: string }): unknown;
}

export interface ContentsModel {
  readonly path: string;
  readonly type: string;
}

/** @jupyterlab/services */
export interface Contents {
  driveName(path: string): string;
  newUntitled(options: { path: string; type: "notebook" }): Promise<ContentsModel>;
  save(path: string, model: object): Promise<ContentsModel>;
}

export interface ServerSettings {
  readonly baseUrl: string;
}

export interface ServicesModule {
  readonly ServerConnection: {
    /** with what the server wants of whoever is logged in */
    makeRequest(address: string, init: RequestInit, settings: ServerSettings): Promise<Response>;
  };
}

export interface Application {
  readonly docRegistry: DocumentRegistry;
  readonly commands: Commands;
  readonly contextMenu: {
    addItem(options: { command: string; selector: string; rank: number }): unknown;
  };
  readonly shell: {
    readonly currentWidget: Widget | null;
    activateById(id: string): void;
  };
  readonly serviceManager: {
    readonly contents: Contents;
    readonly kernelspecs: { readonly ready: Promise<void>; readonly specs: KernelSpecs | null };
    readonly serverSettings: ServerSettings;
  };
}

export interface KernelSpecs {
  readonly default: string;
  readonly kernelspecs: Record<
    string,
    { readonly display_name: string; readonly language: string } | undefined
  >;
}

/** @jupyterlab/notebook */
export interface NotebookModule {
  readonly INotebookTracker: Token;
  readonly NotebookActions: { insertBelow(notebook: Notebook): void };
}

export interface Notebook extends Widget {
  readonly activeCell: {
    readonly model: { readonly sharedModel: { setSource(text: string): void } };
  } | null;
}

export interface NotebookPanel extends Widget {
  readonly context: Context;
  readonly content: Notebook;
}

export interface NotebookTracker {
  readonly currentWidget: NotebookPanel | null;
}

export interface Plugin {
  readonly id: string;
  readonly description: string;
  readonly autoStart: true;
  readonly requires: Token[];
  readonly optional: Token[];
  activate(app: Application, ...services: unknown[]): void;
}
