"""What a page shows before its kernel is there, and after the kernel is gone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netloupe.widgets.fallback import static_bundle

from .notebook_page import CANVAS, NotebookPage
from .servers import ROOT, Server, run_server, write_notebook

pytestmark = pytest.mark.browser

DEMO = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

#: buttons that a kernel would answer; tabs and filters of what is listed need none
_NEEDING_A_KERNEL = (
    ".nl-inspector button:enabled:visible:not([role=tab]):not(.nl-review-chip), "
    ".nl-review-marks:enabled, .nl-review-note:enabled"
)
#: the bar of opening is shown of however short a time
OPENING = """\
import netloupe
from netloupe.widgets import opening
opening.PATIENCE_SECONDS = 0
ex = netloupe.explore("digits_cnn.onnx")
ex
"""
#: the model counts as large; what is read of it comes just after the state of all widgets
LATE = """\
import threading
import ipywidgets
import netloupe
from netloupe.explorer.session import overview

asked = threading.Event()
answer, describe = ipywidgets.Widget._handle_control_comm_msg, overview.describe_model

def answer_and_tell(message):
    answer(message)
    asked.set()

def describe_late(model):
    asked.wait(60)
    return describe(model)

ipywidgets.Widget._handle_control_comm_msg = staticmethod(answer_and_tell)
overview.describe_model = describe_late
overview._MOST_AT_ONCE = 0
netloupe.explore("digits_cnn.onnx")
"""
#: holds the state of all widgets until it is released, and notes who opens widgets and when the
#: first scene is painted; a slow page may ask again, and what answers later is not held
HOLD_STATE = """
const Real = window.WebSocket;
window.heard = [];
window.held = [];
let isReleased = false;
window.release = () => {
  isReleased = true;
  for (const deliver of held) deliver();
};
const read = (data) =>
  typeof data === "string" ? data : new TextDecoder("latin1").decode(data);
window.WebSocket = class extends Real {
  send(data) {
    if (/"type": ?"painted"/.test(read(data))) heard.push("painted");
    super.send(data);
  }
  set onmessage(listener) {
    super.onmessage = (event) => {
      const text = read(event.data);
      // the first is the message's own, the next that of what it answers
      if (/"msg_type": ?"(\\w+)"/.exec(text)?.[1] === "comm_open") heard.push("opened");
      const deliver = () => listener.call(this, event);
      if (!isReleased && text.includes('"update_states"')) held.push(deliver);
      else deliver();
    };
  }
};
"""
HOLD_MILLISECONDS = 1_500
EXPLORE = 'import netloupe\nnetloupe.explore("digits_cnn.onnx")'
#: a part of the canvas's code
CODE = "nl-steppers"
#: notes what the page asks the kernel for, and how often it is brought the canvas's code
LISTEN = """
const Real = window.WebSocket;
window.asked = [];
window.brought = 0;
const read = (data) =>
  typeof data === "string" ? data : new TextDecoder("latin1").decode(data);
window.WebSocket = class extends Real {
  send(data) {
    const text = read(data);
    const found = /"(type|ask)": ?"(\\w+)"/.exec(text);
    if (found && text.includes('"custom"')) asked.push(found[2]);
    super.send(data);
  }
  set onmessage(listener) {
    super.onmessage = (event) => {
      if (read(event.data).includes("CODE")) brought++;
      listener.call(this, event);
    };
  }
};
""".replace("CODE", CODE)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("lab")
    shutil.copy(DEMO, folder)
    write_notebook(folder / "opening.ipynb", OPENING)
    write_notebook(folder / "twice.ipynb", EXPLORE, EXPLORE)
    write_saved(folder / "saved.ipynb")
    with run_server("lab", folder) as running:
        yield running


@pytest.fixture(scope="module")
def opened(shared_page: Any, lab: Server) -> NotebookPage:
    """A notebook whose cell has opened a model."""
    notebook = NotebookPage(shared_page, lab, "opening.ipynb")
    notebook.run_cell(0)
    notebook.wait_for_canvas()
    return notebook


def write_saved(path: Path) -> None:
    """Write a notebook as it is saved: a widget that no kernel has any more, and its picture."""
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="800" height="3274">'
        '<rect width="800" height="3274" fill="#d0e0f0"/></svg>'
    )
    write_notebook(path, "ex")
    content = json.loads(path.read_text())
    shown = [{WIDGET_VIEW: {"model_id": "0" * 32, "version_major": 2, "version_minor": 0}}]
    shown.append(static_bundle(svg, "1" * 32))
    content["cells"][0]["outputs"] = [
        {"output_type": "display_data", "metadata": {}, "data": data} for data in shown
    ]
    path.write_text(json.dumps(content))


def test_widget_state_that_comes_late_holds_nothing_up(page: Any, tmp_path: Path) -> None:
    """A page waits two seconds for each widget that it hears of before it has read the state."""
    shutil.copy(DEMO, tmp_path)
    write_notebook(tmp_path / "late.ipynb", LATE)
    page.add_init_script(HOLD_STATE)
    with run_server("voila", tmp_path) as server:
        page.set_default_timeout(120_000)  # Voilà runs the notebook first
        page.goto(server.page("late.ipynb"))
        page.wait_for_function("() => window.held.length > 0")
        page.wait_for_timeout(HOLD_MILLISECONDS)
        page.evaluate("() => window.release()")
        page.wait_for_selector(f'{CANVAS}[data-ready="true"]')
        heard = page.evaluate("() => window.heard")
        assert "opened" not in heard[: heard.index("painted")]
        # what is read afterwards is shown
        page.locator(".nl-inspector").get_by_text("Operators").first.wait_for()


def test_a_page_asks_for_no_first_picture_and_is_brought_the_code_once(
    page: Any, lab: Server
) -> None:
    page.add_init_script(LISTEN)
    notebook = NotebookPage(page, lab, "twice.ipynb")
    painted = f'{CANVAS}[data-ready="true"]'
    for count in (1, 2):
        notebook.run_cell(count - 1)
        page.wait_for_function(
            f"(count) => document.querySelectorAll('{painted}').length === count", arg=count
        )
        # what waited for the picture is there too: its description, and what rules find
        reviews = page.locator('[data-netloupe="review"][data-stage="checked"]')
        reviews.nth(count - 1).wait_for()
        page.locator(".nl-inspector").nth(count - 1).get_by_text("Operators").first.wait_for()
        asked = page.evaluate("() => asked.splice(0)")
        assert asked[0] == "painted"
        assert "scene" not in asked
        assert page.evaluate("() => brought") == 1
    modules = "[...globalThis[Symbol.for('netloupe.modules')].keys()].sort()"
    assert [name.split()[0] for name in page.evaluate(f"() => {modules}")] == [
        *("canvas.js", "description_text.js", "review_panel.js")
    ]
    # a page that is loaded anew asks for what is shown by now, and finds the code
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save').then(() => null)")
    page.reload()
    page.wait_for_function(f"() => document.querySelectorAll('{painted}').length === 2")
    assert "scene" in page.evaluate("() => asked")
    page.locator(".nl-inspector").nth(1).get_by_text("Operators").first.wait_for()


def test_the_bar_of_opening_leaves_nothing(opened: NotebookPage) -> None:
    page = opened.page
    page.wait_for_selector('[data-netloupe="opened"]', state="attached")
    outputs = page.evaluate(
        "() => [...document.querySelectorAll('.jp-OutputArea-output')].map((output) =>"
        " [output.dataset.mimeType, output.getBoundingClientRect().height])"
    )
    # one widget: a bar that is closed would be looked for by a page that is loaded later
    assert [kind for kind, _ in outputs] == ["text/html", None, "text/html"]
    assert [height > 0 for _, height in outputs] == [False, True, False]


def test_after_a_restart_one_sentence_says_what_to_do(opened: NotebookPage) -> None:
    page, notebook = opened.page, opened
    page.get_by_role("menuitem", name="Kernel").click()
    page.get_by_text("Restart Kernel…", exact=True).click()
    page.locator(".jp-Dialog .jp-mod-accept").click()
    sentence = "The kernel that drew this has ended. Run the cell again to go on."
    notebook.wait_for_text(sentence)
    lost = page.evaluate(
        "() => [...document.querySelectorAll('.jupyter-widgets-disconnected')].map((element) =>"
        " getComputedStyle(element, '::before').content)"
    )
    assert lost
    assert set(lost) == {"none"}
    # what cannot be done says the same, and what is drawn stays
    page.get_by_role("button", name="Dismiss").first.click()
    assert page.get_by_text(sentence).count() == 0
    groups = [path for path in notebook.call("paths") if path.endswith("/")]
    visible = next(path for path in groups if notebook.call("locate", path) is not None)
    notebook.click(visible, double=True)
    notebook.wait_for_text(sentence)
    assert page.get_by_text("Cannot send").count() == 0
    assert visible in notebook.call("paths")
    assert page.locator(_NEEDING_A_KERNEL).count() == 0


def test_the_picture_of_a_saved_notebook_is_no_higher_than_a_canvas(
    shared_page: Any, lab: Server
) -> None:
    page = shared_page
    NotebookPage(page, lab, "saved.ipynb")
    page.get_by_text("The graph as it was saved. Run the cell again to explore it.").wait_for()
    picture = page.locator(".nl-static img")
    output = page.locator(".jp-OutputArea-child", has=picture)
    page.wait_for_function(
        "() => document.querySelector('.nl-static img').getBoundingClientRect().height > 3000"
    )
    assert output.bounding_box()["height"] < 720
    picture.evaluate("(image) => image.parentElement.scrollTo(0, 9999)")
    assert picture.evaluate("(image) => image.parentElement.scrollTop") > 2_000
