"""Room for everything at every width of a page, and the explorer in a dashboard of Voilà."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import netloupe

from .geometry import find_faults
from .hostile_style import HOSTILE
from .notebook_page import CANVAS, NotebookPage
from .servers import ROOT, Server, run_server, write_notebook
from .stand import Stand

pytestmark = pytest.mark.browser

Resize = Callable[..., None]
CNN = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"

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
from netloupe.widgets.cell_runner import find_cell_runner
print('seen by a', find_cell_runner())
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
def opened() -> Iterator[netloupe.Explorer]:
    explorer = netloupe.explore(CNN)
    yield explorer
    explorer.close()


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
    assert colours == ["rgb(163, 174, 187)", "rgb(20, 24, 30)"]


def test_bars_chips_and_trail_stand_beside_the_picture(
    page: Any, opened: netloupe.Explorer, resize: Resize
) -> None:
    stand = Stand(page, opened, HOSTILE)
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
