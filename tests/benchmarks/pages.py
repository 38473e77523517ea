"""Pages that stand alone: their size, and how long they take to be written and to be painted.

Run ``python tests/benchmarks/pages.py [FOLDER …]``. Models are looked for in these folders, among
the demo models and, where that folder exists, in ../shared/corpus/exported; what is not found is
left out. ``decoder_10k.onnx`` and ``decoder_100k.onnx`` are synthetic decoders of 10,000 and
100,000 nodes. Of each model stand the bytes of the page, the processor time to write it with its
multiple of what ``onnx.load`` takes for the same file, and the time from navigation to the first
painted picture in a new Chromium, the median of five. Beside them stand the bars.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import onnx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import netloupe  # noqa: E402 - after the path
from tests.conftest import find_chromium  # noqa: E402

ROUNDS = 5
CANVAS = '[data-netloupe="canvas"]'


class Bars(NamedTuple):
    """Megabytes, seconds to write, milliseconds to paint."""

    size: float
    writing: float
    painting: float


MODELS: dict[str, Bars | None] = {
    "digits_cnn.onnx": None,
    "gpt2.legacy.onnx": Bars(0.8, 1.5, 300),
    "unet.dynamo.onnx": None,
    "decoder_10k.onnx": Bars(2.0, 5.0, 400),
    "decoder_100k.onnx": Bars(15.0, 30.0, 600),
}
FOLDERS = (
    ROOT / "demo_notebooks" / "models",
    ROOT.parent / "shared" / "corpus" / "exported",
)


def main() -> int:
    """Measure all pages; return 1 where a bar is passed."""
    folders = [*map(Path, sys.argv[1:]), *FOLDERS]
    is_held = True
    print("model                  bytes        write  x onnx.load   paint")
    with tempfile.TemporaryDirectory() as folder:
        for name, bars in MODELS.items():
            model = next((each / name for each in folders if (each / name).exists()), None)
            if model is None:
                print(f"{name:<18} not found")
                continue
            page = Path(folder) / f"{name}.html"
            writing = measure(lambda: netloupe.load(model).to_html(page))  # noqa: B023
            peer = measure(lambda: onnx.load(model))  # noqa: B023
            painting = measure_painting(page)
            size = page.stat().st_size / 1e6
            said = ""
            if bars is not None:
                found = (size, writing, painting)
                holds = all(each <= bar for each, bar in zip(found, bars, strict=True))
                is_held &= holds
                said = f"{'yes' if holds else 'NO'} (bars {bars.size:g} MB, {bars.writing:g} s, "
                said += f"{bars.painting:g} ms)"
            print(
                f"{name:<18} {size:7.3f} MB {writing:8.2f} s {writing / peer:8.1f}x "
                f"{painting:8.0f} ms  {said}"
            )
    return 0 if is_held else 1


def measure(work: Callable[[], Any]) -> float:
    """Return the processor time that something takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure_painting(page: Path) -> float:
    """Return the milliseconds from navigation to the first painted picture, the median."""
    from playwright.sync_api import sync_playwright

    times = []
    with sync_playwright() as playwright:
        for _ in range(ROUNDS):
            browser = playwright.chromium.launch(
                executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"]
            )
            shown = browser.new_page(viewport={"width": 1400, "height": 860})
            shown.add_init_script(
                "new MutationObserver((_, seen) => {"
                f"  if (!document.querySelector('{CANVAS}[data-ready]')) return;"
                "   window.paintedAt = performance.now(); seen.disconnect();"
                "}).observe(document, { subtree: true, childList: true, attributes: true });"
            )
            shown.goto(page.as_uri())
            shown.wait_for_function("() => window.paintedAt !== undefined")
            times.append(shown.evaluate("window.paintedAt"))
            browser.close()
    return statistics.median(times)


if __name__ == "__main__":
    sys.exit(main())
