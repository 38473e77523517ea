"""A notebook that was executed keeps the explorer, and a page made of it by nbconvert shows it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest

from tests.browser.servers import ROOT
from tests.notebooks.running import Execute, export_page, run_kernel

MODEL = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"
CANVAS = '[data-netloupe="canvas"]'
API = f"document.querySelector('{CANVAS}').netloupe"
STACK = "main/blocks/0-3/"
INSIDE = "main/blocks/0/first/"
MOST_BYTES = 1_000_000
TEMPLATES = ["lab", "classic", "reveal"]
CELLS = {
    "one": ['import netloupe\nnetloupe.explore("digits_cnn.onnx")'],
    "two": [
        f"""import netloupe
ex = netloupe.explore("digits_cnn.onnx", expand="none")
ex.open("{STACK}")
ex.select("{STACK}")
ex""",
        'netloupe.explore("digits_cnn.onnx", theme="dark", expand="all")',
    ],
    "faulty": ['import netloupe\nnetloupe.explore("faulty.onnx")'],
    "picture": ['import netloupe\nnetloupe.explore("digits_cnn.onnx", saved="picture")'],
    # the last, as it changes a setting
    "large": [
        """import netloupe
from netloupe.widgets import saving
saving.MOST_NODES = 50
netloupe.explore("digits_cnn.onnx")"""
    ],
}

#: a node that nothing uses
FAULTY = """<ir_version: 10, opset_import: ["": 21]>
faulty (float[4] x) => (float[4] y) { [used] y = Relu (x)  [unused] z = Exp (x) }"""

# the kernel's own modules warn of what a test of notebooks cannot change
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

#: opens a page of a notebook, changed by a function, without a network
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Notebooks as ``jupyter nbconvert --execute`` leaves them: no browser has asked for any."""
    home = tmp_path_factory.mktemp("home")
    shutil.copy(MODEL, home)
    onnx.save(onnx.parser.parse_model(FAULTY), home / "faulty.onnx")
    with run_kernel(home, home) as run:
        yield {name: execute(cells, run) for name, cells in CELLS.items()}


def execute(cells: list[str], run: Execute) -> Any:
    import nbformat.v4

    notebook: Any = nbformat.v4.new_notebook(  # type: ignore[no-untyped-call]
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells]  # type: ignore[no-untyped-call]
    )
    run(notebook)
    return notebook


def list_outputs(notebook: Any) -> list[dict[str, Any]]:
    """Return the data of what stands below the widgets."""
    return [
        output.data
        for cell in notebook.cells
        for output in cell.outputs
        if 'class="nl-static"' in output.get("data", {}).get("text/html", "")
    ]


@pytest.fixture
def opened(page: Any, executed: dict[str, Any], tmp_path: Path) -> Open:
    def show(name: str, template: str = "lab", change: Callable[[str], str] = str) -> Any:
        file = tmp_path / "page.html"
        file.write_text(change(export_page(executed[name], template)), encoding="utf-8")
        page.context.set_offline(True)
        # scripts of the templates are asked of the network, and do not come
        page.goto(file.as_uri(), wait_until="commit")
        return page

    return show


def find_explorers(page: Any) -> list[Any]:
    """Return the frames of explorers, once each is painted."""
    page.wait_for_selector(".nl-static iframe")
    frames = [element.content_frame() for element in page.query_selector_all(".nl-static iframe")]
    for frame in frames:
        frame.wait_for_selector(f'{CANVAS}[data-ready="true"]')
        settle(frame)
    return frames


def settle(frame: Any) -> None:
    frame.wait_for_function(f"() => !{API}.stats().busy")


def list_paths(frame: Any) -> list[str]:
    found: list[str] = frame.evaluate(f"{API}.paths()")
    return found


def click(page: Any, frame: Any, path: str, *, times: int = 1) -> None:
    """Click on a box inside a frame, through the page around it."""
    frame.frame_element().evaluate("(element) => element.scrollIntoView({ block: 'center' })")
    around = frame.frame_element().bounding_box()
    place = frame.evaluate(f"(path) => {API}.locate(path)", path)
    assert place, path
    page.mouse.click(around["x"] + place["x"], around["y"] + place["y"], click_count=times)
    settle(frame)


@pytest.mark.parametrize("name", ["one", "two"])
def test_what_is_stored_is_no_larger_than_a_megabyte(executed: dict[str, Any], name: str) -> None:
    outputs = list_outputs(executed[name])
    assert len(outputs) == len(CELLS[name])
    for data in outputs:
        assert data["text/html"].count("<iframe") == 1
        assert len(json.dumps(data, ensure_ascii=False).encode()) < MOST_BYTES


def test_of_a_large_model_the_picture_is_kept_and_how_to_get_the_page_said(
    executed: dict[str, Any],
) -> None:
    [data] = list_outputs(executed["large"])
    assert "<iframe" not in data["text/html"]
    assert "model.to_html" in data["text/html"]
    assert "<img" in data["text/html"]


def test_nothing_but_the_picture_is_kept_where_that_is_wanted(executed: dict[str, Any]) -> None:
    [data] = list_outputs(executed["picture"])
    assert "<iframe" not in data["text/html"]
    assert "model.to_html" not in data["text/html"]
    assert "<img" in data["text/html"]


@pytest.mark.browser
@pytest.mark.parametrize("template", TEMPLATES)
def test_the_page_shows_the_explorer(opened: Open, template: str) -> None:
    page = opened("one", template)
    [explorer] = find_explorers(page)
    # the widget, which needs a kernel or a network, does not stand above it
    box = page.locator(".nl-static").bounding_box()
    outputs = page.locator(".jp-OutputArea-child, .output_area")
    heights = [output.bounding_box()["height"] for output in outputs.all() if output.is_visible()]
    # what is left of the bar of opening has only the margins of an output
    [height] = [height for height in heights if height > 20]
    assert height - box["height"] < 30

    # open a group
    closed = "main/blocks/0/excite/"
    before = list_paths(explorer)
    click(page, explorer, closed, times=2)
    inside = [path for path in list_paths(explorer) if path not in before]
    assert any(path.startswith(closed) for path in inside)

    # search, and select what is found
    explorer.focus(CANVAS)
    page.keyboard.press("/")
    page.keyboard.type("ReduceMean")
    explorer.get_by_text("hits").first.wait_for()
    page.keyboard.press("Enter")
    explorer.wait_for_selector(f'{CANVAS}[data-selected^="main/"]')
    selected = explorer.get_attribute(CANVAS, "data-selected")
    assert selected in list_paths(explorer)
    inspector = explorer.locator(".nl-inspector")
    inspector.get_by_text("ReduceMean").first.wait_for()

    # select something else, of all that there is
    page.keyboard.press("Escape")
    explorer.focus(CANVAS)
    page.keyboard.press("f")
    settle(explorer)
    click(page, explorer, "main/%image")
    explorer.wait_for_selector(f'{CANVAS}[data-selected="main/%image"]')
    inspector.get_by_text("image", exact=True).first.wait_for()


@pytest.mark.browser
def test_the_page_lists_what_rules_find(opened: Open) -> None:
    [explorer] = find_explorers(opened("faulty"))
    explorer.get_by_role("tab", name="Review").click()
    rows = explorer.locator('[data-netloupe="review"] li')
    rows.first.click()
    explorer.wait_for_selector(f'{CANVAS}[data-selected="main/unused"]')
    explorer.get_by_role("button", name="accept with note").click()
    explorer.get_by_label("Why NL-G01 is well so").fill("known")
    explorer.get_by_role("button", name="accept", exact=True).click()
    explorer.get_by_text("Notes are lost when this page is closed.").wait_for()
    # all that stands in the frame was read
    assert explorer.get_by_text("cut short").count() == 0


@pytest.mark.browser
@pytest.mark.parametrize("width", [620, 1500])
def test_the_frame_is_as_large_as_what_is_in_it(opened: Open, page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 1000})
    [explorer] = find_explorers(opened("one"))
    inner, needed, across = explorer.evaluate(
        "() => { const { scrollHeight, scrollWidth } = document.documentElement;"
        " return [innerHeight, scrollHeight, scrollWidth - innerWidth]; }"
    )
    assert across <= 0
    assert 0 <= inner - needed < 20
    assert explorer.locator(".nl-inspector").is_visible()


@pytest.mark.browser
def test_two_explorers_of_one_model_show_what_each_showed(opened: Open) -> None:
    page = opened("two")
    first, second = find_explorers(page)
    assert first.get_attribute(CANVAS, "data-selected") == STACK
    assert second.get_attribute(CANVAS, "data-selected") == ""
    assert INSIDE in list_paths(first)
    assert "main/stem/0/" not in list_paths(first)
    assert "main/stem/0/" in list_paths(second)
    themes = [frame.evaluate("document.documentElement.dataset.theme") for frame in (first, second)]
    assert themes == ["light", "dark"]
    # and neither knows of the other
    click(page, second, "main/%image")
    second.wait_for_selector(f'{CANVAS}[data-selected="main/%image"]')
    assert first.get_attribute(CANVAS, "data-selected") == STACK


@pytest.mark.browser
def test_the_page_in_the_frame_reaches_nothing_around_it(opened: Open) -> None:
    page = opened("one")
    [explorer] = find_explorers(page)
    assert explorer.evaluate("origin") == "null"
    assert (
        explorer.evaluate(
            "() => { try { return parent.document.title } catch (error) { return error.name } }"
        )
        == "SecurityError"
    )
    # copying needs a permission that the frame hands on
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    explorer.focus(CANVAS)
    assert explorer.evaluate("navigator.clipboard.writeText('x').then(() => 'copied', String)") == (
        "copied"
    )


@pytest.mark.browser
@pytest.mark.parametrize("template", TEMPLATES)
def test_without_scripts_the_picture_is_seen_once(
    browser: Any, executed: dict[str, Any], tmp_path: Path, template: str
) -> None:
    file = tmp_path / "page.html"
    file.write_text(export_page(executed["one"], template), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(file.as_uri(), wait_until="domcontentloaded")
    [picture] = page.locator(".nl-static img").all()
    picture.scroll_into_view_if_needed()
    assert picture.bounding_box()["height"] > 500
    assert page.get_by_text("The graph as it was saved.").is_visible()
    assert not page.locator(".nl-static iframe").is_visible()
    context.close()


@pytest.mark.browser
def test_where_no_script_may_run_the_picture_is_seen_through_the_frame(
    opened: Open, tmp_path: Path
) -> None:
    forbid = '<head><meta http-equiv="Content-Security-Policy" content="script-src \'none\'">'
    page = opened("one", change=lambda text: text.replace("<head>", forbid, 1))
    page.wait_for_load_state("domcontentloaded")
    [frame] = page.locator(".nl-static iframe").all()
    assert frame.is_visible()
    assert not page.get_by_text("The graph as it was saved.").is_visible()
    picture = page.locator(".nl-static img").bounding_box()
    seen = page.evaluate("({ x, y }) => document.elementFromPoint(x + 20, y + 20).tagName", picture)
    assert seen == "IFRAME"
    # as much of it as the frame is high, in the same pixels as without the frame
    through = page.locator(".nl-static").screenshot()
    frame.evaluate("(frame) => (frame.style.visibility = 'hidden')")
    assert page.locator(".nl-static").screenshot() == through
    page.locator(".nl-static img").evaluate("(picture) => (picture.style.visibility = 'hidden')")
    assert page.locator(".nl-static").screenshot() != through


@pytest.mark.browser
def test_where_frames_are_taken_out_the_picture_is_seen_once(opened: Open) -> None:
    def sanitize(text: str) -> str:
        text = re.sub(r"(?s)<iframe\b.*?</iframe>", "", text)
        inside = text.index('<div class="nl-static"')
        return text[:inside] + re.sub(r"(?s)<(style|noscript)\b.*?</\1>", "", text[inside:])

    page = opened("one", change=sanitize)
    page.wait_for_load_state("domcontentloaded")
    [picture] = page.locator(".nl-static img").all()
    assert picture.bounding_box()["height"] > 500
    assert page.locator(".nl-static").inner_text().startswith("The graph as it was saved.")
    assert len(page.locator(".nl-static").inner_text()) < 200


@pytest.mark.browser
def test_where_tags_are_escaped_no_page_is_seen_as_text(
    page: Any, executed: dict[str, Any]
) -> None:
    page.set_content(export_page(executed["one"], sanitize_html=True))
    said = page.locator(".nl-static").inner_text()
    assert said.strip() == "The graph is explored where the notebook is run."
