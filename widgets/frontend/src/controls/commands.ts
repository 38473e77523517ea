/** What the keys do: each command of the keyboard, carried out. */

import type { Host } from "../host/host";
import type { Stage } from "../paint/stage";
import type { Actions } from "./actions";
import type { FocusBar } from "./bars";
import type { ContextMenu } from "./context_menu";
import type { Help } from "./dialogs";
import type { Highlights } from "./highlights";
import { type Command, isOffered, readKey } from "./keys";
import type { Legend } from "./legend";
import type { SearchBox } from "./search_box";
import type { Selection } from "./selection";
import type { Strip } from "./strip";
import type { Taking } from "./taking";
import type { Hint } from "./tips";

export interface CommandParts {
  readonly host: Host;
  readonly stage: Stage;
  readonly selection: Selection;
  readonly highlights: Highlights;
  readonly actions: Actions;
  readonly search: SearchBox;
  readonly help: Help;
  readonly legend: Legend;
  readonly menu: ContextMenu;
  readonly hint: Hint;
  readonly strip: Strip;
  readonly focusBar: FocusBar;
  readonly taking: Taking;
}

function isTextField({ tagName }: Element): boolean {
  return tagName === "INPUT" || tagName === "TEXTAREA";
}

export class Commands {
  constructor(private readonly parts: CommandParts) {}

  /** Do what a key means here; others are left to the page. */
  onKey(event: KeyboardEvent): void {
    // outside of its shadow root an event seems to come from the host
    const target = event.composedPath()[0] as Element;
    const onButton = target.closest("button, input") !== null;
    // a field that is typed into has its own keys
    if (event.key === "Tab" || isTextField(target)) return;
    const command = readKey(event);
    if (!command || !isOffered(command, this.parts.host)) return;
    if (onButton && command.do === "toggle") return;
    if (command.do === "copy" && !this.copies()) return; // the browser copies a text
    event.preventDefault();
    this.run(command);
  }

  /** Whether Ctrl C means what is selected in the picture: no text is. */
  private copies(): boolean {
    return this.parts.selection.path !== "" && (document.getSelection()?.isCollapsed ?? true);
  }

  private run(command: Command): void {
    const { stage, selection, highlights, actions, search, help, menu, taking } =
      this.parts;
    switch (command.do) {
      case "walk":
        selection.walk(command.arrow);
        break;
      case "zoom":
        stage.camera.zoom(command.factor);
        break;
      case "toggle":
        if (selection.box !== undefined) actions.toggle(selection.box);
        break;
      case "leave":
        this.leave();
        break;
      case "search":
        search.focus();
        break;
      case "fit":
        stage.camera.fit();
        break;
      case "close-up":
        stage.camera.zoomTo(selection.paths);
        break;
      case "reset":
        stage.camera.actualSize();
        break;
      case "first":
        selection.goToFirst();
        break;
      case "place":
        highlights.step(command.by);
        break;
      case "producer":
        highlights.goToProducer();
        break;
      case "trace":
        highlights.toggle(command.kind, selection.paths);
        break;
      case "focus":
        actions.focusOn(selection.path);
        break;
      case "help":
        help.toggle();
        break;
      case "menu":
        menu.showSelected();
        break;
      case "undo":
        actions.undo();
        break;
      case "redo":
        actions.redo();
        break;
      case "copy":
        void taking.copyText(Promise.resolve(selection.paths.join("\n")));
        break;
    }
  }

  /** Escape: put away what lies over the picture, else close the group around the selection. */
  private leave(): void {
    const { host, highlights, actions, search, help, legend, hint, strip, focusBar } = this.parts;
    if (help.isShown) help.hide();
    else if (search.isOpen) search.leave();
    else if (hint.isShown || strip.isShown) {
      hint.hide();
      strip.clear();
    } else if (legend.isShown) legend.hide();
    else if (highlights.isShown) highlights.clear();
    else if (focusBar.isShown && host.can("focus")) actions.leaveFocus();
    else actions.closeAround();
  }
}
