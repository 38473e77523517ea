/**
 * The entry: joins the picture, the controls around it and the kernel.
 *
 * The kernel's side is widgets/canvas.py, with traits of the same names.
 */

import { FocusBar, WrapOffer } from "./chips";
import { Help, Question } from "./dialogs";
import { Strip, makeElement, makeToolbar } from "./elements";
import { hideStaticPicture } from "./fallback";
import { followGestures } from "./gestures";
import { Highlights } from "./highlights";
import { type Command, readKey } from "./keys";
import { Menu } from "./menu";
import { thingMenu, viewMenu } from "./menus";
import { type WidgetModel, readText } from "./model";
import { Page } from "./page";
import type { Hit } from "./pick";
import { Progress } from "./progress";
import type { Hit as Found } from "./protocol";
import { type Request, Requests } from "./requests";
import { type Paths, type Scene, isChip } from "./scene";
import { SearchBox } from "./search";
import { Selection } from "./selection";
import { nameOf, tooltipOf } from "./speech";
import { type Arrival, Stage } from "./stage";
import { Steppers } from "./steppers";
import { paletteOf, watchPixelRatio } from "./theme";
import { Hint, Tooltip } from "./tips";
import type { Point } from "./viewport";

const FIRST_HOPS = 2;

export class CanvasView {
  private readonly tooltip = new Tooltip();
  private readonly hint = new Hint();
  private readonly strip = new Strip();
  private readonly progress = new Progress();
  private readonly giveBack = (): void => this.page.focus();
  private readonly help = new Help(this.giveBack);
  private readonly menu = new Menu(this.giveBack);
  private readonly question = new Question(this.giveBack);
  private readonly stage: Stage;
  private readonly page: Page;
  private readonly requests: Requests;
  private readonly selection: Selection;
  private readonly highlights: Highlights;
  private readonly search: SearchBox;
  private readonly focusBar = new FocusBar({
    hops: (hops) => this.focusOn(readText(this.model, "focus"), hops),
    leave: () => this.leaveFocus(),
  });
  private readonly offer = new WrapOffer(() => void this.ask({ type: "wrap", wrap: true }));
  private readonly steppers = new Steppers({
    shown: (path, index) => void this.ask({ type: "shown", path, index }, path),
    unroll: (path) => void this.ask({ type: "unroll", path }, path),
    fold: (path) => void this.ask({ type: "fold", path }, path),
  });
  private hits: { found: Found[]; current: string | null } = { found: [], current: null };
  private ready = false;
  private disposed = false;

  constructor(
    private readonly model: WidgetModel,
    parent: HTMLElement,
  ) {
    this.stage = new Stage(paletteOf("light"), () => this.onPainted());
    this.page = new Page(model, {
      enter: (path) => void this.ask({ type: "enter", path }),
      themed: (palette) => this.stage.setPalette(palette),
    });
    this.highlights = new Highlights(this.stage);
    const { host, live } = this.page;
    this.selection = new Selection(model, this.stage, host, live, () =>
      this.highlights.follow(this.selection),
    );
    this.search = new SearchBox({
      search: (text, regex) => this.requests.search(text, regex),
      reveal: (path) => void this.ask({ type: "reveal", path }),
      mark: (found, current) => {
        this.hits = { found, current: current?.shown ?? current?.path ?? null };
        this.markHits();
      },
      leave: this.giveBack,
    });
    this.requests = new Requests(model, this.strip, this.progress, this.question, {
      show: (scene, arrival) => this.showScene(scene, arrival),
      centre: (path) => void this.stage.centre(path),
      absent: () => {
        if (!this.stage.scene) this.page.showAbsence(true);
      },
    });
    this.build(parent);
    this.follow();
    void this.requests.askFirstScene();
  }

  dispose(): void {
    this.disposed = true;
    this.selection.dispose();
    this.tooltip.hide();
    this.hint.hide();
    this.progress.hide();
    this.search.dispose();
    this.requests.close();
    this.stage.dispose();
    this.page.dispose();
  }

  // ------------------------------------------------------------------ the page

  private build(parent: HTMLElement): void {
    const { page, stage, highlights } = this;
    const toolbar = makeToolbar({
      zoom: (factor) => stage.zoom(factor),
      fit: () => stage.fit(),
      zoomToSelection: () => stage.zoomTo(this.selection.paths),
      expand: (mode) => void this.ask({ type: "expand", mode }),
      turn: () => this.turn(),
      help: () => this.help.toggle(),
      menu: (button) => this.showViewMenu(button),
    });
    const corner = makeElement("div", "nl-corner");
    corner.append(this.search.element, page.breadcrumb);
    const top = makeElement("div", "nl-top");
    top.append(corner, toolbar);
    const over = makeElement("div", "nl-over");
    over.append(this.strip.element, top);
    const bars = makeElement("div", "nl-bars");
    bars.append(this.offer.element, this.focusBar.element, highlights.chip.element, highlights.bar.element);
    page.host.append(
      ...[stage.canvas, this.steppers.element, over, bars, stage.minimap.canvas],
      ...[this.hint.element, this.tooltip.element, this.progress.element],
      ...[this.menu.element, this.help.element, this.question.element, page.absent, page.live],
    );
    parent.append(page.host);
    Object.defineProperty(page.host, "netloupe", { value: this.face(), configurable: true });
  }

  /** What scripts and tests may ask the host element. */
  private face(): object {
    const { stage } = this;
    return {
      paths: () => stage.scene?.paths() ?? [],
      edges: () => stage.scene?.edgePaths() ?? [],
      locate: (path: string) => {
        const place = stage.locate(path);
        if (!place) return null;
        const { left, top } = stage.canvas.getBoundingClientRect();
        return { x: left + place.x, y: top + place.y };
      },
      stats: () => ({
        nodes: stage.scene?.boxCount ?? 0,
        edges: stage.scene?.edgeCount ?? 0,
        visible: stage.visible,
        frameMs: stage.frameMs,
        zoom: stage.view.zoom,
        lit: stage.lit?.count ?? null,
        busy: stage.isBusy,
      }),
    };
  }

  private follow(): void {
    const { page, stage } = this;
    const { host } = page;
    page.onTrait("selection", () => this.selection.follow());
    page.onTrait("selected_paths", () => this.selection.follow());
    page.onTrait("hover", () => stage.markHover(readText(this.model, "hover")));
    page.onTrait("focus", () => this.applyFocus());
    page.onTrait("hops", () => this.applyFocus());
    this.applyFocus();
    const onKey = (event: KeyboardEvent): void => this.onKey(event);
    host.addEventListener("keydown", onKey);
    const onPress = (): void => {
      page.focus();
      this.hint.hide();
    };
    stage.canvas.addEventListener("pointerdown", onPress);
    page.later(() => {
      host.removeEventListener("keydown", onKey);
      stage.canvas.removeEventListener("pointerdown", onPress);
    });
    page.later(stage.minimap.follow((point) => stage.centreOnPoint(point)));
    page.later(
      followGestures(stage.canvas, {
        pan: (dx, dy) => stage.pan(dx, dy),
        zoom: (pivot, factor) => stage.zoom(factor, pivot),
        click: (point, second) => this.onClick(point, second),
        doubleClick: (point) => this.onDoubleClick(point),
        menu: (point) => this.onMenu(point),
        hover: (point) => this.onHover(point),
        takesWheel: () => host.contains(document.activeElement),
        wheelPassed: () => this.hint.show("Click to zoom with the wheel"),
      }),
    );
    const observer = new ResizeObserver(() => this.measure());
    observer.observe(host);
    page.later(() => observer.disconnect());
    page.later(watchPixelRatio(() => this.measure()));
    this.measure();
  }

  private measure(): void {
    if (this.disposed) return;
    const { clientWidth: width, clientHeight: height } = this.page.host;
    this.stage.resize({ width, height }, window.devicePixelRatio || 1);
  }

  private onPainted(): void {
    this.steppers.place(this.stage.view, this.stage.size);
    if (this.ready) return;
    this.ready = true;
    this.page.host.dataset.ready = "true";
    this.page.later(hideStaticPicture(readText(this.model, "static_id")));
  }

  // ------------------------------------------------------------------ the kernel

  private ask(content: Request, kept?: string): Promise<void> {
    return this.requests.ask(content, kept);
  }

  private showScene(scene: Scene, arrival: Arrival & { select?: Paths }): void {
    this.page.showAbsence(false);
    this.measure();
    this.selection.forgetBoxes();
    this.steppers.take(scene);
    this.offer.show(scene.extreme && !scene.wrapped);
    this.stage.show(scene, arrival);
    this.tooltip.hide();
    if (arrival.select !== undefined) this.selection.choose([arrival.select].flat());
    else this.selection.select(this.selection.paths);
    this.highlights.retrace();
    this.markHits();
    this.search.refresh();
  }

  private markHits(): void {
    const shown = this.hits.found.flatMap((hit) => hit.shown ?? []);
    this.stage.markHits(shown, this.hits.current);
  }

  private applyFocus(): void {
    const path = readText(this.model, "focus");
    this.focusBar.show(path ? nameOf(path) : "", Number(this.model.get("hops")) || 0);
  }

  private focusOn(path: string, hops: number): void {
    if (path) void this.ask({ type: "focus", path, hops });
  }

  private leaveFocus(): void {
    void this.ask({ type: "unfocus" });
  }

  private turn(): void {
    const turned = readText(this.model, "direction") === "LR" ? "TB" : "LR";
    this.model.set("direction", turned);
    this.model.save_changes();
  }

  // ------------------------------------------------------------------ the pointer

  private onHover(point: Point | null): void {
    const { scene } = this.stage;
    const hit = point && this.stage.hitAt(point);
    this.stage.canvas.classList.toggle("nl-over-something", Boolean(hit));
    this.tooltip.hide();
    if (hit && point && scene) {
      this.tooltip.showSoon(tooltipOf(scene, hit), point, this.page.host);
    }
    this.selection.hover(hit?.paths ?? []);
  }

  /** @param second the click is the second of two ends */
  private onClick(point: Point, second: boolean): void {
    this.tooltip.hide();
    const hit = this.stage.hitAt(point);
    if (second && hit && this.selection.path) {
      this.highlights.between(this.selection.paths, hit.paths);
      return;
    }
    this.selection.choose(hit?.paths ?? [], hit?.kind === "box" ? hit.index : -1);
  }

  private onDoubleClick(point: Point): void {
    const hit = this.stage.hitAt(point);
    const { scene } = this.stage;
    // the row of folded shape arithmetic leads to its nodes, others belong to their box
    if (scene && hit?.kind === "row" && isChip(scene, hit.index, hit.top)) {
      void this.ask({ type: "open", path: hit.path }, scene.pathOf(hit.index));
    } else if (hit && (hit.kind === "box" || hit.kind === "row")) {
      this.toggle(hit.index);
    }
  }

  private onMenu(point: Point): void {
    this.tooltip.hide();
    const hit = this.stage.hitAt(point);
    if (hit) this.showThingMenu(hit, point);
    else this.showViewMenu(point);
  }

  private toggle(box: number): void {
    const { scene } = this.stage;
    if (!scene || !(scene.isOpenable(box) || scene.isOpen(box))) return;
    const path = scene.pathOf(box);
    // closed, a repeat stands for all its repetitions again
    if (scene.isOpen(box) && this.selection.box === box) this.selection.choose([path], box);
    void this.ask({ type: "toggle", path }, path);
  }

  // ------------------------------------------------------------------ menus

  private showThingMenu(hit: Hit, point: Point): void {
    const { scene } = this.stage;
    if (!scene) return;
    const { path, paths } = hit;
    const box = hit.kind === "box" ? hit.index : -1;
    const repeat = box >= 0 ? scene.pathOf(box) : path;
    const selected = this.selection.paths;
    const groups = thingMenu(scene, box, path, this.selection.path, {
      toggle: () => this.toggle(box),
      fold: () => void this.ask({ type: "fold", path: repeat }, repeat),
      unroll: () => void this.ask({ type: "unroll", path: repeat }, repeat),
      focus: () => this.focusOn(path, FIRST_HOPS),
      trace: (kind) => {
        this.selection.choose(paths, box);
        this.highlights.toggle(kind, paths);
      },
      between: () => this.highlights.between(selected, paths),
      closeUp: () => this.stage.zoomTo(paths),
      copyPath: () =>
        void navigator.clipboard?.writeText(paths.join("\n")).catch(() => undefined),
    });
    this.menu.show(groups, point, this.page.host);
  }

  private showViewMenu(at: Point | HTMLElement): void {
    const { host } = this.page;
    let point: Point;
    if (at instanceof HTMLElement) {
      const [button, page] = [at.getBoundingClientRect(), host.getBoundingClientRect()];
      point = { x: button.right - page.left, y: button.bottom - page.top + 4 };
    } else {
      point = at;
    }
    const wrapped = this.stage.scene?.wrapped ?? false;
    const groups = viewMenu(
      {
        direction: readText(this.model, "direction"),
        theme: readText(this.model, "theme"),
        grouping: readText(this.model, "grouping"),
        wrapped,
        hasSelection: this.selection.path !== "",
      },
      {
        fit: () => this.stage.fit(),
        zoomToSelection: () => this.stage.zoomTo(this.selection.paths),
        expand: (mode) => void this.ask({ type: "expand", mode }),
        group: (grouping) => void this.ask({ type: "group", grouping }),
        turn: () => this.turn(),
        wrap: () => void this.ask({ type: "wrap", wrap: !wrapped }),
        theme: (name) => {
          this.model.set("theme", name);
          this.model.save_changes();
        },
        search: () => this.search.focus(),
        help: () => this.help.toggle(),
      },
    );
    this.menu.show(groups, point, host);
  }

  // ------------------------------------------------------------------ the keyboard

  private onKey(event: KeyboardEvent): void {
    const target = event.target as Element;
    const onButton = target !== this.page.host && target.closest("button, input") !== null;
    if (event.key === "Tab") return;
    const command = readKey(event);
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
    if (!command || (onButton && command.do === "toggle")) return;
    event.preventDefault();
    this.run(command);
  }

  private run(command: Command): void {
    const { stage, selection, highlights } = this;
    switch (command.do) {
      case "walk":
        selection.walk(command.arrow);
        break;
      case "zoom":
        stage.zoom(command.factor);
        break;
      case "toggle":
        if (selection.box !== undefined) this.toggle(selection.box);
        break;
      case "leave":
        this.leave();
        break;
      case "search":
        this.search.focus();
        break;
      case "fit":
        stage.fit();
        break;
      case "close-up":
        stage.zoomTo(selection.paths);
        break;
      case "reset":
        stage.actualSize();
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
        this.focusOn(selection.path, FIRST_HOPS);
        break;
      case "help":
        this.help.toggle();
        break;
      case "menu":
        this.showMenuOfSelection();
        break;
    }
  }

  private showMenuOfSelection(): void {
    const { path, paths, box } = this.selection;
    const place = this.stage.locate(path);
    if (!path || !place) this.showViewMenu({ x: this.stage.size.width, y: 40 });
    else if (box !== undefined) this.showThingMenu({ kind: "box", index: box, path, paths }, place);
    else this.showThingMenu({ kind: "edge", index: -1, path, paths }, place);
  }

  /** Escape: put away what lies over the picture, else close the group around the selection. */
  private leave(): void {
    const { scene } = this.stage;
    if (this.help.isShown) this.help.hide();
    else if (this.search.isOpen) this.search.close();
    else if (this.hint.isShown || this.strip.isShown) {
      this.hint.hide();
      this.strip.clear();
    } else if (this.highlights.isShown) this.highlights.clear();
    else if (this.focusBar.isShown) this.leaveFocus();
    else if (scene) this.closeAround(scene);
  }

  private closeAround(scene: Scene): void {
    const box = this.selection.holder ?? -1;
    const group = box >= 0 && scene.isOpen(box) ? box : box >= 0 ? scene.parentOf(box) : -1;
    if (group < 0) {
      this.selection.choose([]);
      return;
    }
    const path = scene.pathOf(group);
    this.selection.choose([path], group);
    void this.ask({ type: "close", path }, path);
  }
}

export default {
  render({ model, el }: { model: WidgetModel; el: HTMLElement }): () => void {
    const view = new CanvasView(model, el);
    return () => view.dispose();
  },
};
