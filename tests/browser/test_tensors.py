"""The tensor panel in JupyterLab: from a node to its weight, sample, whole, grid and channels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save_model

from .notebook_page import NotebookPage
from .own_page import open_page
from .servers import Server, run_server, write_notebook

pytestmark = pytest.mark.browser

LARGE = (4096, 4000)  # four times as many elements as are read at once
#: each piece takes its time, so that there is some to see the progress and to cancel it
CELL = """\
import time
import netloupe
from netloupe.explorer.session.background import Background

def note_slowly(work, what, share):
    if share is not None:
        time.sleep(0.4)
    work.note(what, share)

if not hasattr(Background, "note"):  # the kernel may have run this cell before
    Background.note = Background._note
    Background._note = note_slowly
ex = netloupe.explore("weights.onnx")
ex
"""
PLOT = ".nl-inspector-plot"
STATE = ".nl-inspector-state"

#: notes every text that the line beside the progress has ever had
WATCH = """() => {
    window.seenStates = [];
    new MutationObserver(() => {
        for (const found of document.querySelectorAll('.nl-inspector-state')) {
            const text = found.textContent.trim();
            if (text && window.seenStates.at(-1) !== text) window.seenStates.push(text);
        }
    }).observe(document.body, {childList: true, subtree: true, characterData: true});
}"""


def write_model(path: Path) -> None:
    """Write a large weight, a float weight quantized per channel, and a stored int8 weight."""
    rng = np.random.default_rng(5)
    kernel = rng.normal(size=(24, 8, 3, 3)).astype(np.float32)
    kernel *= np.linspace(0.2, 1.4, 24, dtype=np.float32).reshape(24, 1, 1, 1)
    scale = np.abs(kernel).max(axis=(1, 2, 3)) / 100
    packed = np.clip(np.rint(rng.normal(0, 40, size=(24, 16))), -128, 127).astype(np.int8)
    arrays = {
        "large": rng.standard_normal(LARGE, np.float32),
        "kernel": kernel,
        "scale": scale,
        "zero": np.zeros(24, np.int8),
        "packed": packed,
        "packed_scale": np.float32(0.02),
        "packed_zero": np.int8(3),
    }
    nodes = [
        helper.make_node("MatMul", ["x", "large"], ["y"], "project"),
        helper.make_node("QuantizeLinear", ["kernel", "scale", "zero"], ["q"], "quantize", axis=0),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["k"], "restore", axis=0),
        helper.make_node(
            "DequantizeLinear", ["packed", "packed_scale", "packed_zero"], ["p"], "unpack"
        ),
    ]
    graph = helper.make_graph(
        nodes,
        "weights",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, LARGE[0]])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "ykp"],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()],
    )
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)]), str(path))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("lab")
    write_model(folder / "weights.onnx")
    write_notebook(folder / "weights.ipynb", CELL)
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with run_server("lab", folder) as running:
        yield running


def open_notebook(page: Any, server: Server) -> NotebookPage:
    opened = NotebookPage(page, server, "weights.ipynb")
    page.evaluate(WATCH)
    return opened


@pytest.fixture(scope="module")
def light(browser: Any, server: Server) -> Iterator[NotebookPage]:
    """A page of JupyterLab for all tests of a light one."""
    with open_page(browser, "reduce") as page:
        yield open_notebook(page, server)


@pytest.fixture
def notebook(light: NotebookPage) -> NotebookPage:
    """The cell run anew: another explorer of a model of which nothing was read."""
    light.run_anew(0)
    return light


def wait_until_read(page: Any) -> None:
    """Wait until nothing is read any more, and what is shown answers the last question."""
    page.wait_for_selector(STATE, state="detached")
    page.wait_for_selector(f"{PLOT}:not(.nl-inspector-stale)")


def list_statistics(page: Any) -> dict[str, str]:
    """Return the rows of the inspector's tables."""
    rows = page.locator(".nl-inspector-facts tr").all()
    return {
        row.locator("th").inner_text().strip(): row.locator("td").inner_text().strip()
        for row in rows
    }


def read_picture(page: Any) -> str:
    """Return the picture that is shown, decoded by the browser: its size and its bytes."""
    return str(
        page.evaluate(
            """async () => {
                for (let tries = 0; ; tries++) {
                    try {
                        const image = document.querySelector(".nl-inspector-plot");
                        await image.decode();
                        const { src } = image;
                        const data = await (await fetch(src)).arrayBuffer();
                        const digest = await crypto.subtle.digest("SHA-256", data);
                        if (image.src !== src || !image.naturalWidth) throw new Error("changed");
                        const size = `${image.naturalWidth}x${image.naturalHeight}`;
                        return `${size} ${Array.from(new Uint8Array(digest)).join(" ")}`;
                    } catch (error) {  // another picture takes its place meanwhile
                        if (tries > 50) throw error;
                        await new Promise((resolve) => setTimeout(resolve, 100));
                    }
                }
            }"""
        )
    )


def wait_for_another_picture(page: Any, last: str) -> str:
    """Return the picture once it is another one."""
    for _ in range(100):
        found = read_picture(page)
        if found != last:
            return found
        page.wait_for_timeout(100)
    raise AssertionError("the picture stays the same")


def choose_view(page: Any, label: str) -> None:
    page.locator(".nl-inspector select").first.select_option(label=label)


def count_clipped(page: Any) -> list[str]:
    """Return the texts of the panel that are wider than their place, or leave the inspector."""
    return list(
        page.evaluate(
            """() => {
                const inspector = document.querySelector(".nl-inspector");
                const right = inspector.getBoundingClientRect().right + 1;
                return [...inspector.querySelectorAll(
                    ".nl-inspector-controls *, .nl-inspector-plot, .nl-inspector-facts *"
                )].filter((element) => element.getClientRects().length
                    && (element.getBoundingClientRect().right > right
                        || (!["SELECT", "INPUT"].includes(element.tagName)
                            && element.scrollWidth > element.clientWidth + 1
                            && getComputedStyle(element).overflow !== "visible")))
                  .map((element) => `${element.className} ${element.textContent}`);
            }"""
        )
    )


def choose_theme(folder: Path, name: str) -> None:
    """Say which theme JupyterLab has in pages that are opened from now on."""
    settings = folder / ".config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True, exist_ok=True)
    chosen = json.dumps({"theme": f"JupyterLab {name}"})
    (settings / "themes.jupyterlab-settings").write_text(chosen)


def read_ground(page: Any) -> list[int]:
    """Return red, green, blue and alpha of a corner of the picture."""
    return list(
        page.evaluate(
            """async () => {
                const image = document.querySelector(".nl-inspector-plot");
                await image.decode();
                const canvas = document.createElement("canvas");
                [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
                const context = canvas.getContext("2d");
                context.drawImage(image, 0, 0);
                return [...context.getImageData(2, 2, 1, 1).data];
            }"""
        )
    )


def test_a_large_weight_shows_a_sample_and_then_everything(notebook: NotebookPage) -> None:
    page = notebook.page
    notebook.click("main/project")
    notebook.wait_for_text("Operator")
    notebook.click("main/%large")
    notebook.wait_for_text("a sample; reading all 16,384,000")
    sample = read_picture(page)
    wait_until_read(page)
    assert read_picture(page) != sample
    assert "a sample; reading all 16,384,000" in page.evaluate("window.seenStates")
    assert "looked at" not in list_statistics(page)  # it was all of them
    assert float(list_statistics(page)["max"]) > 5
    assert count_clipped(page) == []

    # side by side too, a sample comes first; what was shown before is dimmed until then
    page.evaluate("() => { window.seenStates = []; }")
    whole = read_picture(page)
    choose_view(page, "channels side by side")
    page.wait_for_selector(f"{PLOT}.nl-inspector-stale")
    wait_for_another_picture(page, whole)
    wait_until_read(page)
    assert page.evaluate("window.seenStates").count("a sample; reading all 16,384,000") == 1


def test_reading_a_large_weight_can_be_cancelled(notebook: NotebookPage) -> None:
    page = notebook.page
    notebook.click("main/%large")
    notebook.wait_for_text("a sample; reading all 16,384,000")
    page.get_by_role("button", name="Cancel", exact=True).click()
    button = page.get_by_role("button", name="Read all 16,384,000 elements")
    button.wait_for()
    assert "sample" in list_statistics(page)["looked at"]
    button.click()
    button.wait_for(state="detached")
    wait_until_read(page)
    assert "looked at" not in list_statistics(page)


def test_the_grid_of_stored_numbers_can_be_taken_away(notebook: NotebookPage) -> None:
    page = notebook.page
    notebook.click("main/%packed")
    page.wait_for_selector(PLOT)
    with_grid = read_picture(page)
    box = page.get_by_label("quantization")
    assert box.is_checked()
    box.click()
    without = wait_for_another_picture(page, with_grid)
    box.click()
    assert wait_for_another_picture(page, without) == with_grid
    assert count_clipped(page) == []


def test_channels_of_a_weight_that_is_quantized_per_channel(notebook: NotebookPage) -> None:
    page = notebook.page
    notebook.click("main/%kernel")
    page.wait_for_selector(PLOT)
    seen = [read_picture(page)]
    for view in ("channels side by side", "one channel", "scales"):
        choose_view(page, view)
        seen.append(wait_for_another_picture(page, seen[-1]))
        assert count_clipped(page) == []
        if view == "one channel":
            notebook.wait_for_text("channel 0 of axis 0")
            page.locator(".nl-inspector-controls").get_by_label("channel").fill("7")
            page.keyboard.press("Enter")
            notebook.wait_for_text("channel 7 of axis 0")
            seen.append(wait_for_another_picture(page, seen[-1]))
    assert len(set(seen)) == len(seen)


def test_the_panel_follows_a_dark_notebook(
    page: Any, folder: Path, server: Server, notebook: NotebookPage
) -> None:
    """What a theme changes: colours of the panel and of its pictures, and widths of its texts."""
    notebook.click("main/%packed")
    notebook.page.wait_for_selector(PLOT)
    light = read_picture(notebook.page)
    assert notebook.page.locator(".nl-inspector-dark").count() == 0

    choose_theme(folder, "Dark")
    dark = open_notebook(page, server)
    dark.run_cell(0)
    dark.wait_for_canvas()
    dark.settle()
    page.wait_for_selector(".nl-inspector-dark")
    dark.click("main/%packed")
    page.wait_for_selector(PLOT)
    assert read_picture(page) != light
    red, _, _, alpha = read_ground(page)
    assert alpha < 10 or red < 60
    assert count_clipped(page) == []
    dark.click("main/%kernel")
    page.get_by_text("main/%kernel").first.wait_for()
    choose_view(page, "channels side by side")
    assert count_clipped(page) == []
