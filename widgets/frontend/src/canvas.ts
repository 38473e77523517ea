/**
 * Joins the picture, the controls around it and the host behind it; and is the entry for notebooks.
 *
 * There the host is a kernel, whose side is widgets/canvas.py, with traits of the same names.
 */

import { Actions } from "./controls/actions";
import { type FocusActions, FocusBar, WrapOffer } from "./controls/bars";
import { Page } from "./controls/canvas_element";
import { Commands } from "./controls/commands";
import { ContextMenu } from "./controls/context_menu";
import { Help, Question } from "./controls/dialogs";
import { iconLink, makeElement } from "./controls/elements";
import { followGestures } from "./controls/gestures";
import { Highlights } from "./controls/highlights";
import { keepFocus } from "./controls/keyboard_focus";
import { Legend } from "./controls/legend";
import { Moments } from "./controls/moments";
import { Panes } from "./controls/panes";
import { Progress } from "./controls/progress_bar";
import { type Arrived, Requests } from "./controls/requests";
import { makeScriptApi } from "./controls/script_api";
import { type SearchActions, SearchBox } from "./controls/search_box";
import { CopyByHand, SaveDialog } from "./controls/save_dialog";
import { Selection } from "./controls/selection";
import { nameOf, tooltipOf } from "./controls/speech";
import { type StepperActions, Steppers } from "./controls/steppers";
import { Strip } from "./controls/strip";
import { Taking } from "./controls/taking";
import { Hint, Tooltip } from "./controls/tips";
import { type Toolbar, type ToolbarActions, makeToolbar } from "./controls/toolbar";
import { makeWidget } from "./host/anywidget";
import type { CanvasConnection } from "./host/connection";
import { hideStaticPicture } from "./host/fallback";
import type { HistoryState, SearchHit } from "./host/messages";
import { watchPixelRatio } from "./host/page_theme";
import { CANVAS_TRAITS } from "./host/traits";
import { Stage } from "./paint/stage";
import { paletteOf } from "./paint/theme";
import { type Viewport, toScene } from "./paint/viewport";
import { followPrinting } from "./host/printing";
import type { Point, Rectangle, Size, WindowPlace } from "./scene/geometry";
import type { ThemeName } from "./scene/options";
import { layPaints } from "./scene/paints_by_path";
import type { Scene } from "./scene/scene";

/** Of so many pixels a legend leaves enough of the picture; where there are less it is folded. */
const LEAST_FOR_LEGEND = 760;
const EMPTY = "Nothing to draw: this graph has no nodes, inputs or outputs.";
/** Pixels of a printed picture for each of the window's. */
const PAPER_RATIO = 3;
/** How long the first scene waits for the canvas to have a size, in milliseconds. */
const TIME_TO_APPEAR = 250;
/** After so long what waits for the first frame begins without it: nobody may be looking. */
const TIME_TO_BE_PAINTED = 1_000;
/** What is gone to must not be under any of these. */
const COVERS =
  ".nl-search-line, .nl-search-panel, .nl-breadcrumb, .nl-toolbar, .nl-strip > *, .nl-chip, .nl-legend";

export class CanvasView {
  private readonly tooltip = new Tooltip();
  private readonly hint = new Hint();
  private readonly strip = new Strip();
  private readonly progress = new Progress();
  private readonly giveBack = (): void => this.page.focus();
  private readonly help: Help;
  private readonly byHand = new CopyByHand(this.giveBack);
  private readonly question = new Question(this.giveBack);
  private readonly legend = new Legend({
    ask: () => this.requests.legend(this.page.themeName),
    colour: (overlay) => this.actions.ask({ type: "overlay", overlay }),
    weigh: (place) => this.stage.measureUnder(place),
    left: this.giveBack,
  });
  private readonly stage: Stage;
  private readonly page: Page;
  private readonly panes: Panes;
  private readonly requests: Requests;
  private readonly selection: Selection;
  private readonly highlights: Highlights;
  private readonly search: SearchBox;
  private readonly focusBar: FocusBar;
  private readonly steppers: Steppers;
  private readonly toolbar: Toolbar;
  private readonly actions: Actions;
  private readonly taking: Taking;
  private readonly saving: SaveDialog;
  private readonly menu: ContextMenu;
  private readonly commands: Commands;
  private readonly offer = new WrapOffer(() => this.actions.ask({ type: "wrap", wrap: true }));
  /** what the picture has for itself */
  private readonly room = makeElement("div", "nl-room");
  private readonly zoom = makeElement("span", "nl-zoom");
  /** what is said where there is nothing to draw */
  private readonly blank = makeElement("p", "nl-blank");
  private readonly moments = new Moments();
  private history: HistoryState = { moment: 0, undo: false, redo: false };
  private hits: { found: SearchHit[]; current: string | null } = { found: [], current: null };
  private ready = false;
  private isToldPainted = false;
  /** whether there is anything to colour by */
  private hasOverlays = false;
  /** whether the legend of new colours is shown with the next frame, when there is a picture */
  private legendIsDue = false;
  private disposed = false;
  private readonly watchers: Array<() => void> = [];

  /** @param parent where on the page the canvas is put */
  /** @param begun called once the first picture has been painted */
  constructor(
    private readonly connection: CanvasConnection,
    parent: HTMLElement,
    private readonly begun: () => void = () => undefined,
  ) {
    const { host, traits } = connection;
    this.help = new Help(host, this.giveBack);
    this.toolbar = makeToolbar(this.toolbarActions(), host);
    this.steppers = new Steppers(host, this.stepperActions());
    this.focusBar = new FocusBar(host.can("focus") ? this.focusActions() : null);
    this.stage = new Stage(paletteOf("light"), () => this.onPainted(), () => this.listCovers());
    this.page = new Page(connection, {
      enter: (path) => this.actions.ask({ type: "enter", path }),
      themed: (palette) => {
        this.stage.setPalette(palette);
        void this.legend.refresh();
      },
    });
    this.highlights = new Highlights(this.stage);
    const { element, frame, live } = this.page;
    this.selection = new Selection(traits, this.stage, element, live, () => {
      this.highlights.follow(this.selection);
      this.steppers.follow(this.selection.holder ?? -1);
    });
    const searching: SearchActions = {
      search: (text, regex) => this.requests.search(text, regex),
      reveal: (path) => this.actions.ask({ type: "reveal", path }),
      mark: (found, current) => {
        this.hits = { found, current: current?.shown ?? current?.path ?? null };
        this.markHits();
      },
      leave: this.giveBack,
    };
    this.search = new SearchBox(searching, host.can("regex"));
    this.requests = new Requests(connection, this.strip, this.progress, this.question, {
      show: (scene, arrival) => this.showScene(scene, arrival),
      absent: () => {
        if (!this.stage.scene) this.page.showAbsence(true);
      },
    });
    const { stage, selection, highlights, search, help, legend } = this;
    this.actions = new Actions(host, traits, stage, selection, highlights, this.requests);
    this.panes = new Panes(traits, element, frame, host.hasInspector, {
      changed: () => this.showPanes(),
    });
    this.page.later(() => this.panes.dispose());
    const { actions, panes, hint, strip, focusBar, byHand, requests } = this;
    const theme = (): ThemeName => this.page.themeName;
    this.taking = new Taking({ host, traits, stage, requests, strip, hint, byHand, theme });
    const { taking } = this;
    this.saving = new SaveDialog(host, (wanted) => void taking.save(wanted), this.giveBack);
    const { saving } = this;
    const history = (): HistoryState => this.history;
    this.menu = new ContextMenu(
      {
        ...{ host, traits, frame, panes, stage, selection, highlights, actions },
        ...{ search, help, legend, history, taking, saving },
      },
      this.giveBack,
    );
    const { menu } = this;
    this.commands = new Commands({
      ...{ host, stage, selection, highlights, actions, search, help, legend, menu, hint, strip },
      ...{ focusBar, taking },
    });
    this.build(parent);
    this.follow();
    void this.requests.showFirstScene(() => this.sized());
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

  private toolbarActions(): ToolbarActions {
    return {
      zoom: (factor) => this.stage.camera.zoom(factor),
      fit: () => this.stage.camera.fit(),
      zoomToSelection: () => this.stage.camera.zoomTo(this.selection.paths),
      expand: (mode) => this.actions.ask({ type: "expand", mode }),
      turn: () => this.actions.turn(),
      fillScreen: () => this.panes.toggleScreen(),
      toggleInspector: () => this.panes.toggleInspector(),
      help: () => this.help.toggle(),
      menu: (button) => this.menu.showBelow(button),
    };
  }

  private stepperActions(): StepperActions {
    return {
      shown: (path, index) => this.actions.ask({ type: "shown", path, index }, path),
      unroll: (path) => this.actions.ask({ type: "unroll", path }, path),
      fold: (path) => this.actions.ask({ type: "fold", path }, path),
    };
  }

  private focusActions(): FocusActions {
    return {
      hops: (hops) => this.actions.focusOn(this.connection.traits.get("focus"), hops),
      leave: () => this.actions.leaveFocus(),
    };
  }

  private build(parent: HTMLElement): void {
    const { page, stage, highlights } = this;
    const top = makeElement("div", "nl-top");
    const { home, remark } = this.connection.host;
    if (home !== undefined) top.append(iconLink("home", "Open another model", home));
    if (this.connection.host.can("search")) top.append(this.search.element);
    top.append(page.breadcrumb, this.toolbar.element);
    this.room.append(
      ...[stage.canvas, this.steppers.element, stage.minimap.canvas, this.tooltip.element],
      ...[this.legend.element, this.blank],
    );
    this.blank.textContent = EMPTY;
    this.blank.hidden = true;
    const bars = makeElement("div", "nl-bars");
    bars.append(
      ...[this.progress.element, this.hint.element, this.offer.element, this.focusBar.element],
      ...[this.steppers.bar, highlights.chip.element, highlights.bar.element],
    );
    const foot = makeElement("div", "nl-foot");
    foot.append(bars, ...(remark ? [makeRemark(...remark)] : []), this.zoom);
    page.frame.append(
      ...[top, this.progress.line, this.room, this.strip.element, foot],
      ...[this.menu.element, this.help.element, this.question.element, page.absent, page.live],
    );
    for (const dialog of [this.saving, this.byHand]) dialog.standIn(page.frame);
    page.frame.after(this.panes.side, this.panes.bottom);
    parent.append(page.element);
    const api = {
      value: makeScriptApi(stage, () => this.requests.isWaiting),
      configurable: true,
    };
    Object.defineProperty(page.element, "netloupe", api);
  }

  private follow(): void {
    const { page, stage } = this;
    const { element } = page;
    page.onTrait("selection", () => this.selection.follow());
    page.onTrait("selected_paths", () => this.selection.follow());
    page.onTrait("hover", () => this.selection.followHover());
    page.onTrait("focus", () => this.applyFocus());
    const { traits } = this.connection;
    const setPaints = (): void => {
      const painted = layPaints(traits.get("paints"), traits.get("coloured"));
      stage.setPaints(layPaints(traits.get("marks"), painted));
    };
    page.onTrait("paints", setPaints);
    page.onTrait("marks", setPaints);
    page.onTrait("coloured", setPaints);
    page.onTrait("overlays", () => this.offerOverlays());
    page.onTrait("overlay", () => this.offerOverlays());
    this.offerOverlays();
    setPaints();
    page.onTrait("changed", () => this.offerReload());
    this.offerReload();
    page.onTrait("hops", () => this.applyFocus());
    this.applyFocus();
    const onKey = (event: KeyboardEvent): void => this.commands.onKey(event);
    element.addEventListener("keydown", onKey);
    const onPress = (): void => {
      page.focus();
      this.hint.hide();
    };
    stage.canvas.addEventListener("pointerdown", onPress);
    page.later(() => {
      element.removeEventListener("keydown", onKey);
      stage.canvas.removeEventListener("pointerdown", onPress);
    });
    page.later(keepFocus(page.frame, this.giveBack));
    page.later(stage.minimap.follow((point) => stage.camera.centreOnPoint(point)));
    page.later(
      followGestures(stage.canvas, {
        pan: (dx, dy) => stage.camera.pan(dx, dy),
        zoom: (pivot, factor) => stage.camera.zoom(factor, pivot),
        click: (point, second) => {
          this.tooltip.hide();
          this.actions.click(point, second);
        },
        doubleClick: (point) => this.actions.doubleClick(point),
        menu: (point) => {
          this.tooltip.hide();
          this.menu.showAt(point);
        },
        hover: (point) => this.onHover(point),
        takesWheel: () => page.hasFocus,
        wheelPassed: () => this.hint.show("Click to zoom with the wheel"),
      }),
    );
    this.showPanes();
    const observer = new ResizeObserver(() => {
      const before = stage.camera.size;
      this.measure();
      const { width, height } = stage.camera.size;
      if (width !== before.width || height !== before.height) this.menu.hide();
    });
    observer.observe(this.room);
    page.later(() => observer.disconnect());
    page.later(watchPixelRatio(() => this.measure()));
    const leavePaper = (): void => {
      stage.leavePaper();
      this.measure();
    };
    page.later(followPrinting(() => this.paintForPaper(), leavePaper));
    this.measure();
  }

  /** The size of the picture once the page has laid it out; null where it stays hidden. */
  private async sized(): Promise<Size | null> {
    const { camera } = this.stage;
    const end = performance.now() + TIME_TO_APPEAR;
    while (camera.isHidden && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, 16));
      this.measure();
    }
    return camera.isHidden ? null : camera.size;
  }

  private measure(): void {
    if (this.disposed) return;
    const { clientWidth: width, clientHeight: height } = this.room;
    this.stage.resize({ width, height }, window.devicePixelRatio || 1);
    this.legend.follow();
  }

  /** Paper is white; but a legend keeps the colours that it explains. */
  private paintForPaper(): void {
    const theme = this.legend.isShown ? this.page.themeName : "light";
    this.page.frame.classList.toggle("nl-dark-paper", theme === "dark");
    this.stage.paintForPaper(paletteOf(theme), PAPER_RATIO);
  }

  private showPanes(): void {
    const { screen, inspector } = this.toolbar;
    // not while it is constructed
    const panes: Panes | undefined = this.panes;
    if (!panes) return;
    screen.hidden = !panes.canFillScreen;
    screen.setAttribute("aria-pressed", String(panes.isScreenFull));
    inspector.hidden = !panes.hasInspector;
    inspector.setAttribute("aria-pressed", String(panes.isInspectorShown));
  }

  /** Where the window stands; null while there is nothing to be seen. */
  get place(): WindowPlace | null {
    return this.stage.camera.place;
  }

  standAt(place: WindowPlace): void {
    this.stage.camera.standAt(place);
  }

  /** What is drawn, and where the window is on it. */
  get picture(): Stage {
    return this.stage;
  }

  /** Give the keyboard to the search box, as its key does. */
  beginSearch(): void {
    if (this.connection.host.can("search")) this.search.focus();
  }

  /** Call something after each frame. */
  onFrame(watch: () => void): void {
    this.watchers.push(watch);
  }

  private onPainted(): void {
    const { view, size } = this.stage.camera;
    this.steppers.place(view, size, this.stage.paints);
    const zoom = `${writeZoom(view.zoom)} %`;
    if (this.zoom.textContent !== zoom) this.zoom.textContent = zoom; // else a frame lays out nothing
    for (const watch of this.watchers) watch();
    if (this.ready) return;
    this.ready = true;
    this.page.element.dataset.ready = "true";
    this.tellPainted();
    this.begun();
    this.showDueLegend();
    this.page.later(hideStaticPicture(this.connection.traits.get("static_id")));
  }

  /** Tell once that the first picture is painted, or that it has waited long enough. */
  private tellPainted(): void {
    if (this.isToldPainted || this.disposed) return;
    this.isToldPainted = true;
    const { camera } = this.stage;
    this.requests.tellPainted(camera.isHidden ? null : camera.size);
  }

  // ------------------------------------------------------------------ the host

  private showScene(scene: Scene, arrival: Arrived): void {
    this.page.showAbsence(false);
    if (!this.isToldPainted) setTimeout(() => this.tellPainted(), TIME_TO_BE_PAINTED);
    this.blank.hidden = scene.boxCount > 0;
    this.measure();
    const view = this.changeMoment(scene, arrival);
    scene.standIn(arrival.places ?? {});
    this.selection.forgetBoxes();
    this.steppers.take(scene);
    this.offer.show(this.connection.host.can("wrap") && scene.extreme && !scene.wrapped);
    this.stage.show(scene, { ...arrival, view });
    this.tooltip.hide();
    if (arrival.select !== undefined) this.selection.choose([arrival.select].flat());
    else this.selection.select(this.selection.paths);
    this.highlights.retrace();
    this.markHits();
    this.search.refresh();
    void this.legend.refresh();
  }

  /** Note where the window stood; return where it stood when the moment now shown was left. */
  private changeMoment(scene: Scene, { history, restore }: Arrived): Viewport | undefined {
    const { stage, moments } = this;
    if (stage.scene && !stage.camera.isHidden) {
      moments.leave(this.history.moment, stage.camera.destination, stage.scene);
    }
    if (history) this.history = history;
    return restore && history ? moments.find(history.moment, scene) : undefined;
  }

  /** What lies over the picture, in its coordinates. */
  private listCovers(): Rectangle[] {
    const at = this.stage.canvas.getBoundingClientRect();
    return [...this.page.frame.querySelectorAll(COVERS)].map((element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return { x: left - at.left, y: top - at.top, width, height };
    });
  }

  private markHits(): void {
    const shown = this.hits.found.flatMap((hit) => hit.shown ?? []);
    this.stage.markHits(shown, this.hits.current);
  }

  /** Offer to read the model again where its files have changed. */
  private offerReload(): void {
    const changed = this.connection.traits.get("changed");
    const message = changed && `${changed}. What is shown is as it was.`;
    const reload = (): void => this.actions.ask({ type: "reload" });
    this.strip.showOffer(message, "Reload", this.connection.host.can("reload") ? reload : null);
  }

  /** Offer what boxes can be coloured by; colours come with their legend. */
  private offerOverlays(): void {
    const { host, traits } = this.connection;
    if (!host.can("overlay")) return;
    const [names, chosen] = [traits.get("overlays"), traits.get("overlay")];
    this.legend.offer(names, chosen);
    const isNew = names.length > 0 && !this.hasOverlays;
    this.hasOverlays = names.length > 0;
    this.legendIsDue = isNew || (this.legendIsDue && this.hasOverlays);
    if (this.ready) this.showDueLegend();
    void this.legend.refresh();
  }

  private showDueLegend(): void {
    if (!this.legendIsDue) return;
    this.legendIsDue = false;
    this.legend.show(this.room.clientWidth < LEAST_FOR_LEGEND);
  }

  private applyFocus(): void {
    const path = this.connection.traits.get("focus");
    this.focusBar.show(path ? nameOf(path) : "", this.connection.traits.get("hops"));
  }

  // ------------------------------------------------------------------ the pointer

  private onHover(point: Point | null): void {
    const { scene } = this.stage;
    const hit = point && this.stage.hitAt(point);
    this.stage.canvas.classList.toggle("nl-over-something", Boolean(hit));
    this.tooltip.hide();
    if (hit && point && scene) {
      this.tooltip.showSoon(tooltipOf(scene, hit), point, this.room);
    }
    this.selection.hover(hit?.paths ?? []);
    this.steppers.hover(point && toScene(this.stage.camera.view, point));
  }
}

/** What is to be known of all that is shown; in full where somebody asks or listens. */
function makeRemark(short: string, full: string): HTMLElement {
  const element = makeElement("span", "nl-remark");
  element.textContent = short;
  element.title = full;
  const unseen = makeElement("span", "nl-unseen");
  unseen.textContent = `. ${full}`;
  element.append(unseen);
  return element;
}

/** A zoom in per cent, with two digits where it is small. */
function writeZoom(zoom: number): string {
  const share = zoom * 100;
  return share >= 10 ? String(Math.round(share)) : String(Number(share.toPrecision(2)));
}

export default makeWidget(CANVAS_TRAITS, (connection: CanvasConnection, parent) => {
  const view = new CanvasView(connection, parent);
  return () => view.dispose();
});
