"""Make the pictures of the documentation from the demo models.

Run ``python tools/make_pictures.py`` in the test environment (``tools/test`` makes it): the SVGs
come from ``netloupe render`` and ``netloupe diff``, the screenshot from a real JupyterLab in
Chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "demo_notebooks" / "models"
PICTURES = ROOT / "docs" / "pictures"

sys.path.insert(0, str(ROOT))

from netloupe.commands.cli import main as run_netloupe  # noqa: E402 - after the path is set

VIEWPORT = {"width": 1280, "height": 800}

#: file name -> arguments of ``netloupe render``
RENDERED = {
    "digits_cnn.svg": ["digits_cnn.onnx", "--expand", "1"],
    "residual_block.svg": ["digits_cnn.onnx", "--focus", "main/blocks/1/", "--hops", "0"],
    "residual_block_dark.svg": [
        "digits_cnn.onnx",
        "--focus",
        "main/blocks/1/",
        "--hops",
        "0",
        "--theme",
        "dark",
    ],
    "quantized_block.svg": ["digits_cnn.qdq.onnx", "--focus", "blocks/0/first", "--hops", "1"],
}

#: file name -> arguments of ``netloupe diff``
COMPARED = {
    "ladder.svg": ["digits_cnn.onnx", "digits_cnn.retrained.onnx", "--ladder"],
}


def render_pictures() -> None:
    """Write the SVGs."""
    for name, (model, *options) in RENDERED.items():
        status = run_netloupe(["render", str(MODELS / model), "-o", str(PICTURES / name), *options])
        if status:
            raise SystemExit(status)
    for name, (old, new, *options) in COMPARED.items():
        both = [str(MODELS / old), str(MODELS / new)]
        status = run_netloupe(["diff", *both, "-o", str(PICTURES / name), *options])
        if status:
            raise SystemExit(status)


def take_screenshot() -> None:
    """Write the picture of the explorer in JupyterLab."""
    from playwright.sync_api import sync_playwright

    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import run_server, write_notebook

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(MODELS / "digits_cnn.onnx", folder)
        cell = 'import netloupe\nex = netloupe.explore("digits_cnn.onnx")\nex'
        write_notebook(folder / "digits.ipynb", cell, 'ex.select("blocks.1.first.conv.weight")')
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        with run_server("lab", folder) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_context(viewport=VIEWPORT).new_page()
            notebook = NotebookPage(page, server, "digits.ipynb")
            page.keyboard.press("Control+b")  # the file browser needs no room here
            for dialog in page.get_by_role("button", name="No", exact=True).all():
                dialog.click()
            notebook.run_cell(0)
            notebook.wait_for_canvas()
            notebook.run_cell(1)
            page.wait_for_timeout(3000)
            page.screenshot(path=PICTURES / "jupyterlab.png")
            browser.close()


if __name__ == "__main__":
    PICTURES.mkdir(parents=True, exist_ok=True)
    render_pictures()
    take_screenshot()
