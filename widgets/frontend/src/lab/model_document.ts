/** The document that shows a model: the page that the server extension gives, in a frame. */

import type {
  Application,
  Context,
  DocRegistryModule,
  DocumentWidget,
  LuminoWidgets,
  ServicesModule,
  UiComponents,
  Widget,
  WidgetFactory,
} from "./jupyterlab";
import { DEFAULT_TYPES, MODEL_FACTORY, OTHER_TYPES, VIEWER } from "./model_files";

export const OPEN_IN_NOTEBOOK = "netloupe:open-in-notebook";
export const OPEN_IN_NEW_NOTEBOOK = "netloupe:open-in-new-notebook";
export const RELOAD = "netloupe:reload";

/** a header, which no link can send, nor a frame: netloupe/lab/handlers.py */
const ASKED_BY = "X-Netloupe";
/** the server's own files, as they are or edited together; others are not on its disk */
const OWN_DRIVES: ReadonlySet<string> = new Set(["", "RTC"]);

/** The address of a model's page: its path is one part of it, as a query that needs no base. */
export function pageAddress(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/$/, "")}/netloupe/page?path=${encodeURIComponent(path)}`;
}

/** The frame with the page of a model. */
export class ModelFrame {
  readonly element = document.createElement("div");
  private readonly frame = document.createElement("iframe");
  private asked = 0;

  constructor(
    private readonly app: Application,
    private readonly services: ServicesModule,
    private readonly context: Context,
  ) {
    const { element, frame } = this;
    element.dataset.netloupe = "document";
    frame.title = "Explorer";
    frame.style.cssText = "display: block; width: 100%; height: 100%; border: 0;";
    element.style.background = "var(--jp-layout-color1)";
    element.append(frame);
    void this.load();
    context.pathChanged.connect(() => void this.load());
  }

  /** Show the model as its file now is. */
  async load(): Promise<void> {
    const asked = ++this.asked;
    try {
      const page = await this.fetchPage();
      if (asked !== this.asked) return;
      // the page itself is never navigated to: behind a JupyterHub none may be framed
      this.frame.srcdoc = page;
      if (this.frame.parentElement !== this.element) this.element.replaceChildren(this.frame);
    } catch (error) {
      if (asked === this.asked) this.say(error instanceof Error ? error.message : String(error));
    }
  }

  /** @throws Error where there is none */
  private async fetchPage(): Promise<string> {
    const { contents, serverSettings } = this.app.serviceManager;
    const { path, localPath } = this.context;
    const drive = contents.driveName(path);
    if (!OWN_DRIVES.has(drive)) {
      throw new Error(
        `${localPath} is on the drive "${drive}". The explorer reads files of the Jupyter ` +
          "server itself: copy the model there.",
      );
    }
    const { ServerConnection } = this.services;
    const address = pageAddress(serverSettings.baseUrl, localPath);
    const init = { headers: { [ASKED_BY]: "netloupe" } };
    const answer = await ServerConnection.makeRequest(address, init, serverSettings);
    // another page may come in its place, such as that of a login
    if (answer.headers.get(ASKED_BY) === "netloupe") return answer.text();
    throw new Error(
      `The Jupyter server does not give the explorer (status ${answer.status}). Log in again; ` +
        "where that does not help, `jupyter server extension list` in its environment tells " +
        "whether netloupe.lab is enabled.",
    );
  }

  private say(text: string): void {
    const message = document.createElement("p");
    message.setAttribute("role", "alert");
    message.tabIndex = -1;
    message.style.cssText = "margin: 24px; color: var(--jp-error-color1);";
    message.textContent = text;
    const hadFocus = this.element.contains(document.activeElement);
    this.element.replaceChildren(message);
    if (hadFocus) message.focus();
  }

  /** Call something when the user goes into the page: JupyterLab learns nothing of that. */
  onEntered(entered: () => void): void {
    this.frame.addEventListener("load", () => {
      this.frame.contentWindow?.addEventListener("focus", entered);
    });
  }

  /** Give the keyboard to the page, or to what is said in its place. */
  focus(): void {
    (this.element.firstElementChild as HTMLElement | null)?.focus();
  }
}

/** Make what makes the documents. */
export function makeViewerFactory(
  app: Application,
  { ABCWidgetFactory, DocumentWidget: Document }: DocRegistryModule,
  { Widget: Plain }: LuminoWidgets,
  { CommandToolbarButton }: UiComponents,
  services: ServicesModule,
  icon: unknown,
): WidgetFactory {
  class ModelDocument extends Document {
    constructor(
      private readonly frame: ModelFrame,
      options: { content: Widget; context: Context },
    ) {
      super(options);
    }

    reload(): void {
      void this.frame.load();
    }

    protected onActivateRequest(): void {
      this.frame.focus();
    }
  }

  class ViewerFactory extends ABCWidgetFactory {
    protected createNewWidget(context: Context): DocumentWidget {
      // JupyterLab keeps a copy of each file that it opens, in case it is saved: this one never is
      context.createCheckpoint = () => Promise.resolve({});
      const frame = new ModelFrame(app, services, context);
      const content = new Plain({ node: frame.element });
      content.addClass("jp-IFrame"); // which lets tabs be dragged over it
      const made = new ModelDocument(frame, { content, context });
      made.title.icon = icon;
      for (const id of [OPEN_IN_NOTEBOOK, RELOAD]) {
        made.toolbar.addItem(id, new CommandToolbarButton({ commands: app.commands, id }));
      }
      frame.onEntered(() => {
        if (app.shell.currentWidget !== made) app.shell.activateById(made.id);
      });
      return made;
    }
  }

  return new ViewerFactory({
    name: VIEWER,
    label: "Explorer (netloupe)",
    modelName: MODEL_FACTORY,
    fileTypes: [...DEFAULT_TYPES, ...OTHER_TYPES],
    defaultFor: DEFAULT_TYPES,
    readOnly: true,
  });
}

/** Whether a document shows a model, and can be told to show it anew. */
export function canReload(widget: unknown): widget is DocumentWidget & { reload(): void } {
  return typeof (widget as { reload?: unknown } | null)?.reload === "function";
}
