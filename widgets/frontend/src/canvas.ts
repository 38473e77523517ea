/**
 * The entry: joins the picture, the controls around it and the kernel.
 *
 * The kernel's side is widgets/canvas.py, with traits of the same names.
 */

import {
  Progress,
  Strip,
  fillBreadcrumb,
  makeElement,
  makeToolbar,
  readCrumbs,
} from "./elements";
import { hideStaticPicture } from "./fallback";
import { followGestures } from "./gestures";
import { readKey } from "./keys";
import { type WidgetModel, readText } from "./model";
import { type Hit as Found, Connection, NoAnswerError, type Push, describe } from "./protocol";
import { SearchBox } from "./search";
import { describeSelection, tooltipOf } from "./speech";
import { type Arrival, Stage } from "./stage";
import {
  type ThemeName,
  detectTheme,
  paletteOf,
  setVariables,
  watchPixelRatio,
  watchTheme,
} from "./theme";
import { Hint, Tooltip } from "./tips";
import type { Point } from "./viewport";
import { endOf, firstBox, walkFrom } from "./walk";
import { decodeScene } from "./wire";

/** How long the first scene may take before we say that there is no kernel. */
const FIRST_ANSWER = 8_000;
const ANSWER = 30_000;
const HOVER_PAUSE = 90;
/** for a page that holds nothing else */
const WINDOW_HEIGHT = "calc(100vh - 24px)";
const LEAST_HEIGHT = 120;

export class CanvasView {
  private readonly host = makeElement("div", "nl-canvas");
  private readonly live = makeElement("div", "nl-unseen");
  private readonly tooltip = new Tooltip();
  private readonly hint = new Hint();
  private readonly breadcrumb = makeElement("nav", "nl-breadcrumb");
  private readonly absent = makeElement("div", "nl-absent");
  private readonly strip = new Strip();
  private readonly progress = new Progress();
  private readonly search: SearchBox;
  private readonly stage: Stage;
  private readonly connection: Connection;
  private readonly stops: Array<() => void> = [];
  private selection = "";
  /** indexes of the box that was clicked or walked to last, and of the one before */
  private chosen = -1;
  private came = -1;
  private hits: { found: Found[]; current: string | null } = { found: [], current: null };
  private hoverTimer: ReturnType<typeof setTimeout> | undefined;
  private underWay: string[] = [];
  private ready = false;
  private disposed = false;

  constructor(
    private readonly model: WidgetModel,
    parent: HTMLElement,
  ) {
    this.stage = new Stage(paletteOf(this.themeName()), () => this.onPainted());
    this.search = new SearchBox({
      search: (text, regex) => this.askHits(text, regex),
      reveal: (path) => void this.ask({ type: "reveal", path }),
      mark: (found, current) => {
        this.hits = { found, current: current?.shown ?? current?.path ?? null };
        this.markHits();
      },
      leave: () => this.host.focus({ preventScroll: true }),
    });
    this.connection = new Connection(model, (push, buffers) => this.onPush(push, buffers));
    this.build(parent);
    this.follow();
    this.selection = readText(model, "selection");
    void this.askFirstScene();
  }

  dispose(): void {
    this.disposed = true;
    for (const stop of this.stops) stop();
    clearTimeout(this.hoverTimer);
    this.tooltip.hide();
    this.hint.hide();
    this.progress.hide();
    this.search.dispose();
    this.connection.close();
    this.stage.dispose();
    this.host.remove();
  }

  // ------------------------------------------------------------------ the page

  private build(parent: HTMLElement): void {
    const { host, stage } = this;
    host.dataset.netloupe = "canvas";
    host.dataset.selected = "";
    // Keys typed here are ours, not JupyterLab's.
    host.dataset.lmSuppressShortcuts = "true";
    host.tabIndex = 0;
    host.setAttribute("role", "application");
    this.live.setAttribute("aria-live", "polite");
    this.absent.hidden = true;
    this.absent.textContent = "No kernel: static picture below";
    this.breadcrumb.setAttribute("aria-label", "Graphs");
    const toolbar = makeToolbar({
      zoom: (factor) => stage.zoom(factor),
      fit: () => stage.fit(),
      expand: (mode) => void this.ask({ type: "expand", mode }),
    });
    const corner = makeElement("div", "nl-corner");
    corner.append(this.search.element, this.breadcrumb);
    const top = makeElement("div", "nl-top");
    top.append(corner, toolbar);
    const over = makeElement("div", "nl-over");
    over.append(this.strip.element, top);
    host.append(stage.canvas, over, stage.minimap.canvas);
    host.append(this.hint.element, this.tooltip.element);
    host.append(this.progress.element, this.absent, this.live);
    parent.append(host);
    this.applyTheme();
    this.applySize();
    this.applyTitle();
    this.applyBreadcrumb();
    Object.defineProperty(host, "netloupe", { value: this.face(), configurable: true });
  }

  /** What scripts and tests may ask the host element. */
  private face(): object {
    return {
      paths: () => this.stage.scene?.paths() ?? [],
      edges: () => this.stage.scene?.edgePaths() ?? [],
      locate: (path: string) => {
        const place = this.stage.locate(path);
        if (!place) return null;
        const { left, top } = this.stage.canvas.getBoundingClientRect();
        return { x: left + place.x, y: top + place.y };
      },
      stats: () => ({
        nodes: this.stage.scene?.boxCount ?? 0,
        edges: this.stage.scene?.edgeCount ?? 0,
        visible: this.stage.visible,
        frameMs: this.stage.frameMs,
      }),
    };
  }

  private follow(): void {
    const { host, stage, stops } = this;
    const onTrait = (name: string, changed: () => void): void => {
      this.model.on(`change:${name}`, changed);
      stops.push(() => this.model.off(`change:${name}`, changed));
    };
    onTrait("selection", () => this.select(readText(this.model, "selection")));
    onTrait("hover", () => stage.markHover(readText(this.model, "hover")));
    onTrait("theme", () => this.applyTheme());
    onTrait("title", () => this.applyTitle());
    onTrait("height", () => this.applySize());
    onTrait("breadcrumb", () => this.applyBreadcrumb());
    stops.push(watchTheme(() => this.applyTheme()));
    const onKey = (event: KeyboardEvent): void => this.onKey(event);
    host.addEventListener("keydown", onKey);
    const onPress = (): void => {
      host.focus({ preventScroll: true });
      this.hint.hide();
    };
    stage.canvas.addEventListener("pointerdown", onPress);
    stops.push(() => {
      host.removeEventListener("keydown", onKey);
      stage.canvas.removeEventListener("pointerdown", onPress);
    });
    stops.push(stage.minimap.follow((point) => stage.centreOnPoint(point)));
    stops.push(
      followGestures(stage.canvas, {
        pan: (dx, dy) => stage.pan(dx, dy),
        zoom: (pivot, factor) => stage.zoom(factor, pivot),
        click: (point) => this.onClick(point),
        doubleClick: (point) => this.onDoubleClick(point),
        hover: (point) => this.onHover(point),
        takesWheel: () => host.contains(document.activeElement),
        wheelPassed: () => this.hint.show("Click to zoom with the wheel"),
      }),
    );
    const observer = new ResizeObserver(() => this.measure());
    observer.observe(host);
    stops.push(() => observer.disconnect());
    stops.push(watchPixelRatio(() => this.measure()));
    this.measure();
  }

  private measure(): void {
    if (this.disposed) return;
    const { clientWidth: width, clientHeight: height } = this.host;
    this.stage.resize({ width, height }, window.devicePixelRatio || 1);
  }

  private onPainted(): void {
    if (this.ready) return;
    this.ready = true;
    this.host.dataset.ready = "true";
    this.stops.push(hideStaticPicture(readText(this.model, "static_id")));
  }

  private themeName(): ThemeName {
    const wanted = readText(this.model, "theme");
    return wanted === "light" || wanted === "dark" ? wanted : detectTheme();
  }

  private applyTheme(): void {
    const name = this.themeName();
    if (this.host.dataset.theme === name) return;
    this.host.dataset.theme = name;
    const palette = paletteOf(name);
    setVariables(this.host, palette);
    this.stage.setPalette(palette);
    if (readText(this.model, "shown_theme") !== name) {
      this.model.set("shown_theme", name);
      this.model.save_changes();
    }
  }

  private applySize(): void {
    const height = Number(this.model.get("height"));
    this.host.style.height =
      height === 0
        ? WINDOW_HEIGHT
        : `${Math.max(LEAST_HEIGHT, Number.isFinite(height) ? height : 560)}px`;
  }

  private applyTitle(): void {
    const title = readText(this.model, "title") || "Neural network graph";
    this.host.setAttribute("aria-label", title);
  }

  private applyBreadcrumb(): void {
    const crumbs = readCrumbs(this.model.get("breadcrumb"));
    fillBreadcrumb(this.breadcrumb, crumbs, (path) => void this.ask({ type: "enter", path }));
  }

  // ------------------------------------------------------------------ the kernel

  private async askFirstScene(): Promise<void> {
    this.progress.show("Waiting for the kernel …", null);
    try {
      const { reply, buffers } = await this.connection.request({ type: "scene" }, FIRST_ANSWER)
        .reply;
      if (reply.type === "scene") this.showScene(reply, buffers, undefined);
    } catch (error) {
      if (this.disposed || this.stage.scene) return;
      this.absent.hidden = !(error instanceof NoAnswerError);
      if (error instanceof NoAnswerError) this.host.classList.add("nl-no-kernel");
      else this.strip.showError(describe(error));
    } finally {
      this.progress.hide();
    }
  }

  /** Ask for another scene and show it; an error goes to the strip, the picture stays. */
  private async ask(content: { type: string; path?: string; mode?: string }): Promise<void> {
    const { id, reply } = this.connection.request(content, ANSWER);
    this.underWay.push(id);
    try {
      const answer = await reply;
      if (answer.reply.type === "scene") {
        const kept = ["toggle", "open", "close"].includes(content.type) ? content.path : undefined;
        this.showScene(answer.reply, answer.buffers, kept);
      }
    } catch (error) {
      if (!this.disposed) this.strip.showError(describe(error));
    } finally {
      this.underWay = this.underWay.filter((other) => other !== id);
      if (this.underWay.length === 0) this.progress.hide();
    }
  }

  private async askHits(text: string, regex: boolean): Promise<{ hits: Found[]; total: number }> {
    const { reply } = await this.connection.request({ type: "search", text, regex }, ANSWER).reply;
    if (reply.type !== "hits") throw new Error("The kernel sent no hits.");
    return reply;
  }

  private onPush(push: Push, buffers: ArrayBufferView[]): void {
    switch (push.type) {
      case "scene":
        this.showScene(push, buffers, undefined);
        break;
      case "error":
        this.strip.showError(push.message);
        break;
      case "busy": {
        const { id } = push;
        const cancel = id === null ? null : () => this.connection.cancel(id);
        this.progress.show(push.message, cancel);
        break;
      }
      case "idle":
        this.progress.hide();
        break;
      case "center":
        this.stage.centre(push.path);
        break;
    }
  }

  private showScene(
    message: { header: unknown; select?: string } & Arrival,
    buffers: ArrayBufferView[],
    kept: string | undefined,
  ): void {
    if (this.disposed) return;
    let scene;
    try {
      scene = decodeScene(message.header, buffers);
    } catch (error) {
      this.strip.showError(`The picture cannot be drawn: ${describe(error)}`);
      return;
    }
    this.host.classList.remove("nl-no-kernel");
    this.absent.hidden = true;
    this.measure();
    this.came = -1;
    this.chosen = -1;
    this.stage.show(scene, { ...message, anchor: message.anchor ?? kept });
    this.strip.showNotices(scene.notices);
    this.tooltip.hide();
    if (typeof message.select === "string") this.choose(message.select);
    this.select(this.selection);
    this.markHits();
    this.search.refresh();
  }

  // ------------------------------------------------------------------ selection and hover

  /** Select by the user's hand: the kernel learns of it. */
  private choose(path: string): void {
    this.select(path);
    if (readText(this.model, "selection") === path) return;
    this.model.set("selection", path);
    this.model.save_changes();
  }

  private select(path: string): void {
    const changed = path !== this.selection;
    this.selection = path;
    this.host.dataset.selected = path;
    this.stage.markSelection(path);
    if (changed && this.stage.scene) {
      this.live.textContent = describeSelection(this.stage.scene, path);
    }
  }

  private onHover(point: Point | null): void {
    const { scene } = this.stage;
    const hit = point && this.stage.hitAt(point);
    this.stage.canvas.classList.toggle("nl-over-something", Boolean(hit));
    const path = hit?.path ?? "";
    this.tooltip.hide();
    if (hit && point && scene) {
      this.tooltip.showSoon(tooltipOf(scene, hit), point, this.host);
    }
    this.stage.markHover(path);
    clearTimeout(this.hoverTimer);
    this.hoverTimer = setTimeout(() => {
      if (readText(this.model, "hover") === path) return;
      this.model.set("hover", path);
      this.model.save_changes();
    }, HOVER_PAUSE);
  }

  private markHits(): void {
    const shown = this.hits.found.flatMap((hit) => hit.shown ?? []);
    this.stage.markHits(shown, this.hits.current);
  }

  private onClick(point: Point): void {
    this.tooltip.hide();
    const hit = this.stage.hitAt(point);
    this.chosen = hit?.kind === "box" ? hit.index : -1;
    this.choose(hit?.path ?? "");
  }

  private onDoubleClick(point: Point): void {
    const { scene } = this.stage;
    const hit = this.stage.hitAt(point);
    if (!scene || !hit || (hit.kind !== "box" && hit.kind !== "row")) return;
    this.toggle(hit.index);
  }

  private toggle(box: number): void {
    const { scene } = this.stage;
    if (!scene || !(scene.isOpenable(box) || scene.isOpen(box))) return;
    void this.ask({ type: "toggle", path: scene.pathOf(box) });
  }

  // ------------------------------------------------------------------ the keyboard

  private onKey(event: KeyboardEvent): void {
    const target = event.target as Element;
    const onButton = target !== this.host && target.closest("button, input") !== null;
    if (event.key === "Tab") return;
    const command = readKey(event);
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
    if (!command || (onButton && command.do === "toggle")) return;
    event.preventDefault();
    const { stage } = this;
    switch (command.do) {
      case "walk":
        this.walk(command.arrow);
        break;
      case "zoom":
        stage.zoom(command.factor);
        break;
      case "toggle": {
        const box = this.selectedBox();
        if (box !== undefined) this.toggle(box);
        break;
      }
      case "leave":
        this.leave();
        break;
      case "search":
        this.search.focus();
        break;
      case "fit":
        stage.fit();
        break;
      case "reset":
        stage.zoomTo(1);
        break;
      case "first":
        this.goTo(stage.scene ? firstBox(stage.scene) : undefined);
        break;
    }
  }

  /** The selected box: of several with that path, the one that was clicked or walked to. */
  private selectedBox(): number | undefined {
    const boxes = this.stage.scene?.boxesAt(this.selection) ?? [];
    return boxes.includes(this.chosen) ? this.chosen : boxes[0];
  }

  private walk(arrow: Parameters<typeof walkFrom>[2]): void {
    const { scene } = this.stage;
    if (!scene) return;
    const box = this.selectedBox() ?? scene.rowsAt(this.selection)[0]?.box;
    if (box !== undefined) {
      const reached = walkFrom(scene, box, arrow, this.came);
      if (reached === undefined) return;
      this.goTo(reached);
      this.came = box;
    } else if (this.selection && scene.edgesAt(this.selection).length > 0) {
      const forward = scene.direction === "TB" ? "ArrowDown" : "ArrowRight";
      this.goTo(endOf(scene, this.selection, arrow === forward ? "forward" : "back"));
    } else {
      this.goTo(firstBox(scene));
    }
  }

  private goTo(box: number | undefined): void {
    const { scene } = this.stage;
    if (!scene || box === undefined) return;
    this.came = -1;
    this.chosen = box;
    this.choose(scene.pathOf(box));
    this.stage.bringIntoSight(box);
  }

  /** Escape: close what lies over the picture, else the group around the selection. */
  private leave(): void {
    const { scene } = this.stage;
    if (this.search.isOpen) {
      this.search.close();
      return;
    }
    if (this.hint.isShown || this.strip.isShown) {
      this.hint.hide();
      this.strip.clear();
      return;
    }
    if (!scene) return;
    const box = this.selectedBox() ?? scene.rowsAt(this.selection)[0]?.box ?? -1;
    const group = box >= 0 && scene.isOpen(box) ? box : box >= 0 ? scene.parentOf(box) : -1;
    if (group < 0) {
      this.choose("");
      return;
    }
    const path = scene.pathOf(group);
    this.choose(path);
    void this.ask({ type: "close", path });
  }
}

export default {
  render({ model, el }: { model: WidgetModel; el: HTMLElement }): () => void {
    const view = new CanvasView(model, el);
    return () => view.dispose();
  },
};
