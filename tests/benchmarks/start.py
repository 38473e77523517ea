"""From the command to the picture: `netloupe open`, beside it Netron, and where asked for Voilà.

Run ``python tests/benchmarks/start.py [--starts 5] [--netron PATH] [--voila] [--busy N] [FILE …]``.
Without models: ``digits_cnn``, ``gpt2.legacy`` and decoders of 10,000 and 100,000 nodes. Chromium
runs already, without a window; a page is told the address as soon as the command has printed it.
That page is of a new profile ("fresh"), or of one in which the program was seen before ("used",
whose browser may have kept what may be kept). Programs and profiles take turns, so that a machine
that is busy is so for all of them, and the processor time of the command and of what it starts
stands beside the clock's. The clock runs from just before the command is started until the page's
first frame after it says that the picture is painted: of netloupe ``data-ready`` at the canvas, of
Netron (an installed command, or the one that ``--netron`` names) its graph instead of the sign of
waiting. Both clocks are that of this machine. Names that are no addresses of this machine lead
nowhere, so that nothing waits for the network; Netron's question about cookies is answered
beforehand.

Bars: the median from command to picture in a fresh profile is at most 0.9 s for gpt2.legacy and
2.2 s for the decoder of 100,000 nodes; no start of netloupe takes over twice the median of its
model; and in each kind of profile Netron takes at least 4.5 times as long, the median of the
models. A start without a picture after ``--limit`` seconds counts as if it had ended then, so that
the ratio is the least that Netron takes. Each bar is printed with whether it holds, and the exit
status is 1 where one does not. ``--busy 3`` measures beside three busy processes; no bar is meant
for that, only that no start is over three times the median. Needs Chromium.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.large_graphs import DecoderWriter  # noqa: E402
from tests.browser.servers import make_environment, run_server, write_notebook  # noqa: E402
from tests.conftest import find_chromium  # noqa: E402
from tests.corpus import corpus_file  # noqa: E402
from tests.processes import started  # noqa: E402

#: times its median that a start may take; and beside busy processes
MOST_TIMES, MOST_TIMES_BUSY = 2.0, 3.0
#: how many times netloupe's start Netron's takes at least
LEAST_RATIO = 4.5
#: whether a profile is new for each start
PROFILES = {"fresh": True, "used": False}
#: seconds until the picture, by the names of files
BARS = {"gpt2.legacy.onnx": 0.9, "decoder_100k.onnx": 2.2}
#: seconds in which a browser has opened an empty page
SETTLED = 1.0
DECODERS = {"decoder_10k.onnx": 10_000, "decoder_100k.onnx": 100_000}
NETLOUPE_IS_READY = 'document.querySelector(\'[data-netloupe="canvas"][data-ready="true"]\')'
NETRON_IS_READY = (
    "document.body?.classList.contains('default') && document.querySelector('#target .node')"
)
PAINTED = "painted at "
#: says when a condition has held for a frame
WATCH = """
const look = () => {
  if (CONDITION) requestAnimationFrame(() => console.info("PAINTED" + Date.now()));
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
#: what asks for a name gets an answer at once, and no network is asked
BROWSER = [
    "--no-sandbox",
    "--disable-gpu",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]


class Program(NamedTuple):
    """What shows a model in a browser."""

    name: str
    #: the command line for a model
    command: Callable[[Path], list[str]]
    #: what holds in the page once the picture is there, as JavaScript
    is_ready: str


class Starts(NamedTuple):
    """How long the starts of a program took, in seconds; None for one that ended at the limit.

    Beside them the seconds of processor time, user and system, of each command.
    """

    times: list[float | None]
    processor: list[float]

    @property
    def median(self) -> float | None:
        """The median; None where half of the starts did not end."""
        found = statistics.median([float("inf") if time is None else time for time in self.times])
        return found if found != float("inf") else None

    @property
    def worst(self) -> float | None:
        """The slowest; None where one did not end."""
        known = [time for time in self.times if time is not None]
        return max(known) if len(known) == len(self.times) else None


def netloupe_program() -> Program:
    """Return ``netloupe open`` of this checkout."""

    def command(model: Path) -> list[str]:
        return [sys.executable, "-m", "netloupe", "open", str(model), "--no-browser"]

    return Program("netloupe", command, NETLOUPE_IS_READY)


def netron_program(path: str) -> Program:
    """Return Netron; ``path`` is its command."""

    def command(model: Path) -> list[str]:
        return [path, "--host", "127.0.0.1", str(model)]

    return Program("Netron", command, NETRON_IS_READY)


def open_profile(browser: Any, program: Program) -> Any:
    """Return a new profile, whose pages tell when the program's picture is painted."""
    context = browser.new_context(viewport={"width": 1500, "height": 1000})
    context.add_cookies([{"name": "consent", "value": "1", "domain": "127.0.0.1", "path": "/"}])
    context.add_init_script(
        WATCH.replace("CONDITION", program.is_ready).replace("PAINTED", PAINTED)
    )
    return context


def time_start(
    context: Any, program: Program, model: Path, seconds: float, compiled: Path
) -> tuple[float | None, float]:
    """Return the seconds from the command to the picture, and of processor time.

    The first is None where the picture is not there in time. ``compiled`` is the folder of compiled
    modules.
    """
    folder = Path(tempfile.mkdtemp())
    page = context.new_page()
    try:
        environment = make_command_environment(folder, compiled)
        time.sleep(SETTLED)  # a browser that runs already has nothing to do
        before = measure_children()
        begun = time.time()
        with started(
            program.command(model),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        ) as process:
            seen = show(page, read_address(process), seconds)
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
        return None if seen is None else seen - begun, measure_children() - before
    finally:
        with contextlib.suppress(Exception):
            page.close()
        shutil.rmtree(folder, ignore_errors=True)


def measure_children() -> float:
    """Return the seconds of processor time of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def make_command_environment(folder: Path, compiled: Path) -> dict[str, str]:
    """Return an environment in which modules are compiled once, as installed ones are."""
    environment = {**make_environment(folder), "PYTHONUNBUFFERED": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return {**environment, "PYTHONPYCACHEPREFIX": str(compiled)}


def show(page: Any, address: str, seconds: float) -> float | None:
    """Show an address; return the time of day when the picture was painted, None if too late."""
    from playwright.sync_api import TimeoutError as TooLate

    try:
        # no script is run in the page, since Netron forbids that
        with page.expect_console_message(
            lambda message: message.text.startswith(PAINTED), timeout=seconds * 1_000
        ) as painted:
            page.goto(address, wait_until="commit", timeout=seconds * 1_000)
    except TooLate:
        return None
    return float(painted.value.text.removeprefix(PAINTED)) / 1_000


def read_address(process: subprocess.Popen[str]) -> str:
    """Return the first address that a command prints."""
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        found = re.search(r"http://\S+", line)
        if found:
            return found[0].replace("localhost", "127.0.0.1")
        said.append(line)
    raise RuntimeError("no address is said, but: " + "".join(said))


def measure(
    browser: Any, programs: list[Program], model: Path, count: int, seconds: float
) -> dict[tuple[str, str], Starts]:
    """Start programs in turn, each so many times in each kind of profile.

    A first start of each brings its files into memory, and uses the profile that is used again.

    Returns
    -------
    dict
        By the names of program and profile.
    """
    found = {(one.name, kind): Starts([], []) for one in programs for kind in PROFILES}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as profiles:
        used = {}
        for program in programs:
            used[program.name] = context = open_profile(browser, program)
            profiles.callback(context.close)
            time_start(context, program, model, seconds, Path(folder))
        for _ in range(count):
            for (name, kind), starts in found.items():
                program = next(one for one in programs if one.name == name)
                is_new = PROFILES[kind]
                context = open_profile(browser, program) if is_new else used[name]
                taken, processor = time_start(context, program, model, seconds, Path(folder))
                starts.times.append(taken)
                starts.processor.append(processor)
                if is_new:
                    context.close()
    return found


def tell(seconds: float | None, limit: float) -> str:
    """Return seconds as a cell."""
    return f"not within {limit:g} s" if seconds is None else f"{seconds:.2f} s"


def compare(
    browser: Any,
    programs: list[Program],
    model: Path,
    count: int,
    limit: float,
    most: float,
    ratios: dict[str, list[float]],
) -> bool:
    """Print how long the programs take with a model; return whether the bars hold.

    To ``ratios`` is added, by kind of profile, how many times netloupe's median each other's is.
    """
    found = measure(browser, programs, model, count, limit)
    holds = True
    for (name, kind), starts in found.items():
        line = f"{model.name:<20} {kind:<5} {name:<9} median {tell(starts.median, limit):<17}"
        line += f" worst {tell(starts.worst, limit):<17}"
        line += f" processor {statistics.median(starts.processor):.2f} s;"
        ours = found[programs[0].name, kind]
        if starts is ours:
            bar = BARS.get(model.name)
            if bar is not None and most == MOST_TIMES and PROFILES[kind]:
                is_held = starts.median is not None and starts.median <= bar
                holds &= is_held
                line += f" bar {bar:g} s: {'holds' if is_held else 'DOES NOT HOLD'};"
            ratio = divide(starts.worst, starts.median)
            is_even = ratio is not None and ratio <= most
            holds &= is_even
            told = "none" if is_even else "ONE IS"
            line += f" starts over {most:g} x the median: {told}"
        else:
            ratio = divide(starts.median or limit, ours.median)
            if ratio is not None:
                ratios.setdefault(kind, []).append(ratio)
                least = "" if starts.median is not None else "at least "
                line += f" {least}{ratio:.2f} x netloupe's median"
        print(line, flush=True)
    return holds


def divide(dividend: float | None, divisor: float | None) -> float | None:
    """Return a ratio, where both numbers are known."""
    return None if dividend is None or not divisor else dividend / divisor


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


def time_dashboard(browser: Any, model: Path, folder: Path, seconds: float) -> float:
    """Return the seconds from the request for a Voilà dashboard to its first picture."""
    write_notebook(folder / "dashboard.ipynb", f"import netloupe\nnetloupe.explore({str(model)!r})")
    with run_server("voila", folder) as server:
        context = browser.new_context(viewport={"width": 1500, "height": 1000})
        begun = time.monotonic()
        page = context.new_page()
        page.set_default_timeout(seconds * 1_000)
        page.goto(server.page("dashboard.ipynb"))
        # which looks into shadow trees too, where a notebook has its widgets
        page.wait_for_selector('[data-netloupe="canvas"][data-ready="true"]')
        taken = time.monotonic() - begun
        context.close()
    return taken


def measure_dashboards(browser: Any, model: Path, count: int, seconds: float, most: float) -> bool:
    """Print how long Voilà takes; return whether no start took far longer than the others."""
    times = []
    for _ in range(count):
        folder = Path(tempfile.mkdtemp())
        times.append(time_dashboard(browser, model, folder, seconds))
        shutil.rmtree(folder, ignore_errors=True)
    starts = Starts([*times], [])
    ratio = divide(starts.worst, starts.median) or 0
    print(
        f"{model.name:<20} Voilà     median {tell(starts.median, seconds):<17} "
        f"worst {tell(starts.worst, seconds)}, {ratio:.2f} x the median (from the request on)"
    )
    return ratio <= most


def find_models(given: list[Path], folder: Path) -> list[Path]:
    """Return the models to measure with; decoders are made where none are given."""
    if given:
        return [model.resolve() for model in given]
    models = [ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"]
    models.append(corpus_file("exported/gpt2.legacy.onnx"))
    for name, nodes in DECODERS.items():
        model = folder / name
        model.write_bytes(DecoderWriter(is_named=True).model(nodes).SerializeToString())
        models.append(model)
    return models


def main() -> int:
    """Measure; return 1 where a bar does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--starts", type=int, default=5, help="of each model and program")
    parser.add_argument("--netron", default="netron", help="the command (default: netron)")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds that a start may take")
    parser.add_argument("--voila", action="store_true", help="measure a Voilà dashboard too")
    parser.add_argument("--busy", type=int, default=0, help="busy processes beside it")
    given = parser.parse_args()
    chromium = find_chromium()
    if chromium is None:
        parser.error("no Chromium is installed")
    from playwright.sync_api import sync_playwright

    programs = [netloupe_program()]
    netron = shutil.which(given.netron)
    if netron is None:
        print("Netron is not installed; --netron PATH names its command.")
    else:
        programs.append(netron_program(netron))
    most = MOST_TIMES_BUSY if given.busy else MOST_TIMES
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {given.starts} starts each")
    holds = True
    ratios: dict[str, list[float]] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        busy_processes(given.busy),
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=BROWSER)
        for model in find_models(given.models, Path(folder)):
            holds &= compare(browser, programs, model, given.starts, given.limit, most, ratios)
            if given.voila:
                holds &= measure_dashboards(browser, model, given.starts, given.limit, most)
        browser.close()
    for kind, each in ratios.items():
        line, is_held = judge_ratio(kind, statistics.median(each), is_busy=given.busy > 0)
        holds &= is_held
        print(line)
    return 0 if holds else 1


def judge_ratio(kind: str, ratio: float, *, is_busy: bool) -> tuple[str, bool]:
    """Return what is printed of the median of a kind of profile, and whether its bar holds.

    A busy machine, for which no bar is meant, breaks none.
    """
    line = f"{kind}: Netron takes {ratio:.2f} x as long, the median of models"
    if is_busy:
        return line, True
    is_held = ratio >= LEAST_RATIO
    return f"{line}; bar {LEAST_RATIO:g} x: {'holds' if is_held else 'DOES NOT HOLD'}", is_held


if __name__ == "__main__":
    sys.exit(main())
