"""From the command to the first picture: many starts of ``netloupe open`` and of a Voilà dashboard.

Run ``python tests/benchmarks/starts.py [--starts 20] [--nodes 100000] [MODEL]``. Half of the starts
of each go on beside three busy processes. What counts is the slowest start against the median of
its own half: above three times that something waited for what never came. Needs Chromium and
Voilà.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.large_graphs import DecoderWriter  # noqa: E402
from tests.browser.servers import make_environment, run_server, write_notebook  # noqa: E402
from tests.conftest import find_chromium  # noqa: E402
from tests.processes import started  # noqa: E402

BUSY = 3
MOST_TIMES = 3.0
READY = '[data-netloupe="canvas"][data-ready="true"]'
SECONDS = 300.0


@contextlib.contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Keep so many processes busy."""
    workers = [multiprocessing.Process(target=spin, daemon=True) for _ in range(count)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        for worker in workers:
            worker.kill()
            worker.join()


def spin() -> None:
    """Compute for ever."""
    while True:
        sum(range(100_000))


def show(browser: Any, address: str) -> None:
    """Load an address in a page of its own and wait until the first picture is painted."""
    context = browser.new_context(viewport={"width": 1500, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(SECONDS * 1_000)
    page.goto(address)
    page.wait_for_selector(READY)
    context.close()


def time_window(browser: Any, model: Path, folder: Path) -> float:
    """Return the seconds from ``netloupe open`` to its first picture."""
    start = time.monotonic()
    command = [sys.executable, "-m", "netloupe", "open", str(model), "--no-browser"]
    environment = make_environment(folder)
    with started(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found, "netloupe open says no address"
        show(browser, found[0])
        seconds = time.monotonic() - start
        process.send_signal(signal.SIGINT)
        process.wait(SECONDS)
    return seconds


def time_dashboard(browser: Any, model: Path, folder: Path) -> float:
    """Return the seconds from the request for a dashboard to its first picture."""
    write_notebook(folder / "dashboard.ipynb", f"import netloupe\nnetloupe.explore({str(model)!r})")
    with run_server("voila", folder) as server:
        start = time.monotonic()
        show(browser, server.page("dashboard.ipynb"))
        return time.monotonic() - start


def measure(name: str, start: Callable[[Path], float], count: int) -> bool:
    """Print how long starts take, quiet and busy; return whether none took far too long."""
    is_even = True
    for half, busy in (("alone", 0), (f"beside {BUSY} busy processes", BUSY)):
        times = []
        with busy_processes(busy):
            for _ in range(count):
                folder = Path(tempfile.mkdtemp())
                times.append(start(folder))
                shutil.rmtree(folder, ignore_errors=True)
        median = statistics.median(times)
        ratio = max(times) / median
        is_even &= ratio <= MOST_TIMES
        listed = " ".join(f"{seconds:.1f}" for seconds in times)
        print(f"{name}, {half}: median {median:.1f} s, slowest {ratio:.2f} × that  ({listed})")
    return is_even


def main() -> int:
    """Measure both; the exit status tells whether a start took far too long."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", nargs="?", type=Path, help="a model (default: one is made)")
    parser.add_argument("--starts", type=int, default=20, help="of each, half of them busy")
    parser.add_argument("--nodes", type=int, default=100_000, help="of the model that is made")
    given = parser.parse_args()
    chromium = find_chromium()
    if chromium is None:
        parser.error("no Chromium is installed")
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        model = given.model
        if model is None:
            model = Path(folder) / "decoder.onnx"
            model.write_bytes(DecoderWriter(is_named=True).model(given.nodes).SerializeToString())
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        count = max(1, given.starts // 2)
        results = [
            measure("netloupe open", lambda place: time_window(browser, model, place), count),
            measure("Voilà", lambda place: time_dashboard(browser, model, place), count),
        ]
        browser.close()
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
