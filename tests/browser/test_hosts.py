"""The page around the explorer: its rules do not reach in, and keys do not reach out."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import netloupe

from .geometry import find_faults
from .notebook_page import CANVAS, NotebookPage
from .servers import ROOT, Server, run_server, write_notebook
from .stand import Stand

pytestmark = pytest.mark.browser

Open = Callable[..., Stand]
Resize = Callable[..., None]
CNN = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"

#: rules as style sheets of notebooks, themes and resets have them, and worse
HOSTILE = """
dl { margin: 1em 0; } dt { float: left; width: 20%; clear: left; } dd { margin-left: 40px; }
dl dt:first-of-type { margin-top: 30px; }
button, input, select { min-width: 90px; padding: 9px; margin: 5px; border: 3px solid red;
  text-transform: uppercase; letter-spacing: 3px; font: 20px serif; }
input::placeholder { color: transparent; }
ul, li { list-style: square; margin-left: 3em; padding: 8px; }
table, th, td { border: 4px solid green; padding: 12px; font-size: 21px; }
svg, canvas, img { max-width: 50%; border: 2px solid; vertical-align: super; }
nav { display: none; } kbd { float: right; } p { text-indent: 4em; }
[hidden] { display: block; }
* { box-sizing: content-box !important; line-height: 3 !important; margin: 7px !important; }
div { padding: 6px !important; min-height: 40px !important; }
span, button { display: inline !important; color: red !important; float: left !important; }
*::before, *::after { content: "x" !important; }
"""

#: place and size of everything in the canvas, in the order of the document
RECTANGLES = """(host) => [...host.shadowRoot.querySelectorAll("*")]
  .filter((element) => element.getClientRects().length > 0).map((element) => {
  const at = element.getBoundingClientRect(), from = host.getBoundingClientRect();
  return [element.className.baseVal ?? element.className, element.textContent.slice(0, 20),
    ...[at.x - from.x, at.y - from.y, at.width, at.height].map((value) => Math.round(value)),
    getComputedStyle(element).color];
})"""


LAST_ENTRY_IS_IN_SIGHT = """() => {
  const menu = document.querySelector('[data-netloupe="canvas"]').shadowRoot
    .querySelector(".nl-menu");
  const entry = [...menu.querySelectorAll(".nl-menu-entry")].at(-1).getBoundingClientRect();
  const box = menu.getBoundingClientRect();
  return entry.top >= box.top && entry.bottom <= box.bottom;
}"""


@pytest.fixture
def show(page: Any) -> Iterator[Open]:
    opened: list[netloupe.Explorer] = []

    def open_model(style: str = "", **view: Any) -> Stand:
        explorer = netloupe.explore(CNN, **view)
        opened.append(explorer)
        return Stand(page, explorer, style)

    yield open_model
    for explorer in opened:
        explorer.close()


def test_rules_of_the_page_do_not_reach_the_canvas(browser: Any) -> None:
    def look(style: str) -> list[list[object]]:
        explorer = netloupe.explore(CNN)
        own = browser.new_page(viewport={"width": 1200, "height": 800})
        try:
            stand = Stand(own, explorer, style + "#here { width: 1000px !important; }")
            stand.press("/", *"conv")
            stand.press("?")
            return list(own.locator(CANVAS).evaluate(RECTANGLES))
        finally:
            own.close()
            explorer.close()

    alone, hostile = look(""), look(HOSTILE)
    assert len(alone) > 80
    assert hostile == alone


#: what hosts say of their theme, after which ours follows; in the order of who is believed first
THEMES = [
    ("document.documentElement.setAttribute('theme', 'dark')", "dark"),  # Colab
    ("document.body.dataset.theme = 'light'", "light"),  # marimo
    ("document.body.dataset.theme = 'dark'", "dark"),
    ("document.body.className = 'vscode-light'", "light"),
    ("document.body.className = 'vscode-dark'", "dark"),
    ("document.body.className = 'vscode-high-contrast vscode-high-contrast-light'", "light"),
    ("document.body.className = 'vscode-high-contrast'", "dark"),
    ("document.body.dataset.jpThemeLight = 'true'", "light"),
    ("document.body.dataset.jpThemeLight = 'false'", "dark"),
]


def test_the_theme_of_the_host_is_followed(show: Open) -> None:
    stand = show()
    for code, theme in THEMES:
        stand.page.evaluate(code)
        stand.page.wait_for_selector(f'{CANVAS}[data-theme="{theme}"]')


def test_keys_typed_in_the_canvas_end_there(show: Open) -> None:
    stand = show()
    stand.page.evaluate(
        """() => {
          window.heard = [];
          for (const type of ["keydown", "keyup", "keypress", "paste"])
            document.addEventListener(type, (event) => heard.push(`${type} ${event.key}`));
        }"""
    )
    stand.press("/", "d", "d", "Control+z", "Escape", "d", "d", "x", "Control+c", "?", "Enter")
    # the key Ctrl by itself may begin a shortcut of the page
    assert [one for one in stand.page.evaluate("heard") if "Control" not in one] == []
    stand.page.evaluate("() => document.activeElement.blur()")
    stand.page.keyboard.press("d")
    assert stand.page.evaluate("heard")[-3:] == ["keydown d", "keypress d", "keyup d"]


@pytest.fixture(scope="module", params=["lab", "notebook"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp(request.param)
    shutil.copy(CNN, folder)
    cell = f"import netloupe\nnetloupe.explore({CNN.name!r})"
    write_notebook(folder / "keys.ipynb", cell, "1 + 1", "2 + 2")
    with run_server(request.param, folder) as running:
        yield running


def test_keys_typed_in_the_canvas_do_nothing_to_the_notebook(page: Any, server: Server) -> None:
    notebook = NotebookPage(page, server, "keys.ipynb")
    notebook.run_cell(0)
    notebook.wait_for_canvas()
    notebook.settle()

    def cells() -> list[str]:
        return [str(text) for text in page.locator(".jp-Notebook .cm-content").all_inner_texts()]

    before = cells()
    assert len(before) == 3
    box = page.locator(f"{CANVAS} input").first
    for focus in (box.click, lambda: page.evaluate(f"document.querySelector('{CANVAS}').focus()")):
        focus()
        # in a notebook: delete, insert, cut and paste cells, change their kind, undo, run
        for key in ["Control+a", "Control+z", "Shift+Enter", "Control+Enter", *"ddabxvmyz1"]:
            page.keyboard.press(key)
        notebook.settle()
        assert cells() == before
        assert page.evaluate(f"document.activeElement.matches('{CANVAS}')")
    assert page.locator(".jp-OutputArea-executeResult").count() == 0
    assert box.input_value() == "ddabxvmyz1"


WIDTHS = (500, 620, 700, 860, 1000, 1280, 2000)
ZOOMS = (0.5, 1.0, 2.0)
#: where the minimap is waited for, which stands over the picture until it fades
FADING = (500, 1280)

#: a button for each thing that the inspector is to show
SIGHTS = """\
import ipywidgets, netloupe
ex = netloupe.explore("digits_cnn.onnx")
def button(text, path):
    made = ipywidgets.Button(description=text)
    made.on_click(lambda _: ex.select(path))
    return made
ipywidgets.HBox([button("node", "main/node_conv2d_5"),
                 button("weight", ex.model["main/node_conv2d_5"].inputs[1].path)])
"""


#: tells by what it is executed
WHERE = """\
import netloupe
from netloupe.widgets.surroundings import find_surroundings
print('seen by a', find_surroundings())
"""


@pytest.fixture(scope="module")
def voila(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("voila")
    shutil.copy(CNN, folder)
    write_notebook(folder / "sights.ipynb", SIGHTS, "ex")
    write_notebook(folder / "board.ipynb", WHERE)
    with run_server("voila", folder) as running:
        yield running


@pytest.fixture
def resize(page: Any) -> Resize:
    """Gives the page a width in CSS pixels after the browser's zoom."""
    session = page.context.new_cdp_session(page)  # what it sets holds as long as it does

    def resize(width: int, zoom: float = 1.0) -> None:
        session.send(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": zoom, "mobile": False},
        )
        page.wait_for_function(
            "([width, zoom]) => innerWidth === width && devicePixelRatio === zoom",
            arg=[width, zoom],
        )
        page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 60)))"
        )

    return resize


def test_nothing_overlaps_and_nothing_is_cut(page: Any, voila: Server, resize: Resize) -> None:
    notebook = NotebookPage(page, voila, "sights.ipynb")
    notebook.wait_for_canvas()
    page.wait_for_function(
        "() => document.querySelector('.nl-inspector')?.textContent.includes('digits_cnn')"
    )
    page.add_style_tag(content=HOSTILE)
    faults: dict[str, list[str]] = {}

    def look(what: str, width: int, zoom: float = 1.0) -> None:
        found = find_faults(page, after_fading=width in FADING)
        if found:
            faults[f"{what}, {width} pixels at {zoom:.0%}"] = found

    for width in WIDTHS:
        for zoom in ZOOMS if width in (500, 1000, 2000) else (1.0,):
            resize(width, zoom)
            look("the model", width, zoom)
    page.locator('button[title="weight"]').click()
    page.wait_for_selector(".nl-inspector-plot")
    for width in WIDTHS:
        resize(width)
        look("a weight", width)
        for key, over in (("m", ".nl-menu"), ("?", ".nl-help"), ("/", ".nl-search-panel")):
            page.evaluate(f"() => document.querySelector('{CANVAS}').focus()")
            page.keyboard.press(key)
            if key == "/":
                page.keyboard.type("conv")
            page.wait_for_selector(f"{CANVAS} {over}")
            look(over, width)
            page.keyboard.press("Escape")
    assert faults == {}
    # the page's rules have not moved them against each other
    resize(1280)
    page.wait_for_selector(".nl-explorer:not(.nl-stacked)")
    canvas, inspector = (page.locator(name).bounding_box() for name in (CANVAS, ".nl-inspector"))
    assert canvas["y"] == pytest.approx(inspector["y"], abs=1)


def test_inspector_is_moved_closed_and_put_under_the_canvas(
    page: Any, voila: Server, resize: Resize
) -> None:
    notebook = NotebookPage(page, voila, "sights.ipynb")
    canvas = notebook.wait_for_canvas()
    inspector = page.locator(".nl-inspector")
    resize(1280)

    def width() -> float:
        return float(inspector.bounding_box()["width"])

    before, picture = width(), canvas.bounding_box()["width"]
    handle = page.locator(f"{CANVAS} .nl-side-handle")
    place = handle.bounding_box()
    page.mouse.move(place["x"] + 5, place["y"] + 100)
    page.mouse.down()
    page.mouse.move(place["x"] - 95, place["y"] + 100, steps=4)
    page.mouse.up()
    assert width() == pytest.approx(before + 100, abs=2)
    assert canvas.bounding_box()["width"] == pytest.approx(picture - 100, abs=2)
    handle.focus()
    page.keyboard.press("ArrowRight")
    assert width() == pytest.approx(before + 80, abs=2)
    page.keyboard.press("Home")
    assert width() < before
    handle.dblclick()
    assert width() == pytest.approx(before, abs=2)

    # closed, the canvas has all; opened again it is as before
    page.locator(f'{CANVAS} [title="Inspector"]').click()
    assert not inspector.is_visible()
    assert canvas.bounding_box()["width"] > picture + before - 20
    page.locator(f'{CANVAS} [title="Inspector"]').click()
    assert width() == pytest.approx(before, abs=2)

    # the height of both
    handle = page.locator(f"{CANVAS} .nl-bottom-handle")
    height = inspector.bounding_box()["height"]
    handle.focus()
    page.keyboard.press("ArrowDown")
    assert inspector.bounding_box()["height"] == pytest.approx(height + 20, abs=2)
    place = handle.bounding_box()
    page.mouse.move(place["x"] + 100, place["y"] + 5)
    page.mouse.down()
    page.mouse.move(place["x"] + 100, place["y"] + 85, steps=4)
    page.mouse.up()
    assert inspector.bounding_box()["height"] == pytest.approx(height + 100, abs=2)

    # in a narrow page one is under the other
    resize(600)
    page.wait_for_selector(".nl-explorer.nl-stacked")
    above, below = canvas.bounding_box(), inspector.bounding_box()
    assert below["y"] >= above["y"] + above["height"]
    assert below["width"] == pytest.approx(above["width"], abs=2)
    assert find_faults(page) == []

    # full screen has both
    resize(1280)
    page.wait_for_selector(".nl-explorer:not(.nl-stacked)")
    page.locator(f'{CANVAS} [title="Full screen"]').click()
    page.wait_for_function(
        """() => document.fullscreenElement?.classList.contains("nl-explorer")
          && document.querySelector(".nl-inspector").offsetHeight === innerHeight"""
    )
    # what is between them has the colour of both, not the black of the browser's full screen
    ground = "() => getComputedStyle(document.fullscreenElement).backgroundColor"
    assert page.evaluate(ground) == "rgb(251, 252, 253)"
    page.locator(f'{CANVAS} [title="More"]').click()
    page.locator(".nl-menu-entry", has_text="Dark").click()
    assert page.evaluate(ground) == "rgb(20, 24, 30)"
    page.locator(f'{CANVAS} [title="Full screen"]').click()
    page.wait_for_function("() => document.fullscreenElement === null")


def test_inspector_begins_at_the_top_and_has_the_colours_of_the_canvas(
    page: Any, voila: Server
) -> None:
    notebook = NotebookPage(page, voila, "sights.ipynb")
    notebook.wait_for_canvas()
    inspector = page.locator(".nl-inspector")
    notebook.wait_for_text("Operator sets")
    inspector.evaluate("(element) => { element.scrollTop = 300; }")
    assert inspector.evaluate("(element) => element.scrollTop") > 100
    page.locator('button[title="node"]').click()
    notebook.wait_for_text("kernel_shape")
    assert inspector.evaluate("(element) => element.scrollTop") == 0

    # forced dark in a light page: page, texts and histogram are dark alike
    page.locator('button[title="weight"]').click()
    page.wait_for_selector(".nl-inspector-plot")
    page.locator(f'{CANVAS} [title="More"]').click()
    page.locator(".nl-menu-entry", has_text="Dark").click()
    page.wait_for_selector(".nl-inspector-dark")
    style = "(element) => getComputedStyle(element)"
    ground = inspector.evaluate(f"({style})(document.querySelector('.nl-inspector')).background")
    assert ground.startswith("rgb(20, 24, 30)")
    page.wait_for_function(
        """() => {
          const image = document.querySelector(".nl-inspector-plot");
          if (!image.complete || !image.naturalWidth) return false;
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
          const context = canvas.getContext("2d");
          context.drawImage(image, 0, 0);
          const [red, , , alpha] = context.getImageData(2, 2, 1, 1).data;
          return alpha < 10 || red < 60;
        }"""
    )
    # what is not typed yet can be read
    colours = page.locator(f"{CANVAS} input").evaluate(
        "(box) => [getComputedStyle(box, '::placeholder').color,"
        " getComputedStyle(box.parentElement).backgroundColor]"
    )
    assert colours == ["rgb(154, 165, 179)", "rgb(20, 24, 30)"]


def test_bars_chips_and_trail_stand_beside_the_picture(show: Open, resize: Resize) -> None:
    stand = show(HOSTILE)
    canvas = stand.explorer.canvas
    body = "Loop_of_all_steps.body"
    stand.explorer.select("main/%relu_3")
    stand.settle()
    stand.press("u")
    canvas.breadcrumb = [["main", "main"], ["a", "If_3.then_branch"], ["b", body]]
    canvas.send({"type": "error", "id": None, "message": "an error that has " + "many words " * 20})
    canvas.send({"type": "busy", "id": None, "message": "Opening", "share": None})
    stand.pump()
    stand.page.locator(".nl-progress").wait_for()
    for width in WIDTHS:
        for zoom in ZOOMS:
            resize(width, zoom)
            found = find_faults(stand.page, after_fading=width in FADING)
            assert found == [], f"{width} pixels at {zoom:.0%}"
            picture = stand.page.locator(".nl-picture").bounding_box()
            for bar in (".nl-top", ".nl-foot", ".nl-strip", ".nl-breadcrumb", ".nl-progress"):
                place = stand.page.locator(bar).bounding_box()
                above = place["y"] + place["height"] <= picture["y"] + 1
                assert above or place["y"] >= picture["y"] + picture["height"] - 1, bar
    # each name of the trail can be read
    resize(500)
    shown = stand.page.locator(".nl-crumb").evaluate_all(
        "(crumbs) => crumbs.map((crumb) => crumb.scrollWidth <= crumb.clientWidth)"
    )
    assert shown
    assert all(shown)


def test_a_dashboard_writes_no_page(page: Any, voila: Server) -> None:
    page.goto(voila.page("board.ipynb"))
    page.get_by_text("seen by a dashboard").wait_for()
