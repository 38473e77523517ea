"""Models that hold very many of one thing: time and memory of all that may be asked of them.

Run ``python tests/benchmarks/hostile_models.py [WORDS …]``; with words only the cases are
measured whose names contain one of them. The models of ``tests/hostile_models.py`` are made in
a temporary folder (about 400 MB, removed at the end). Each command has a process of its own.
Seconds of processor time (that of its children included) and the peak of the resident set (Linux)
are held to the bars of 10 seconds and 1 GB, as they are; beside each stands its share of the bar.
What passes the bar of time is measured up to three times and the least counts, for what else runs
on a machine only adds to it. How fast the machine is two peers tell, which decide nothing:
``onnx.load`` of the same file in a process of its own, where onnx reads it, of which each time is
shown as a multiple; and how long Python takes here to add up ten million numbers one by one, at
the end. The last column is the size of what came out.
``panes.html`` is what ``diff --panes`` writes of a model against itself, and ``view`` the first
view of the explorer: from the file to what the browser gets. Panes hold two models, which are
compared field by field, and a report has looked at every number of every weight: these two are
held to the same bars with a hundred thousand elements, which panes have half in each model. The end
tells the worst shares, and the exit status is 1 where a bar is passed.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.hostile_models import CASES, Case  # noqa: E402 - after the path

SECONDS = 10.0
MEGABYTES = 1_000.0
#: a command gets so many times the bar, so that what is far beyond it ends too
PATIENCE = 10
#: how often a command is measured that seems to pass the bar of time
ROUNDS = 3
#: what looks at every element is measured with so many at most; panes hold two models
MOST_ELEMENTS = {"report": 100_000, "panes.html": 50_000}

_VIEW = """
import os, sys
from netloupe.explorer.layout import Composer
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.asked_view import make_view
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.view import ViewOptions
from netloupe.explorer.render.wire import SceneEncoder
view, _ = make_view(load(sys.argv[1]), ViewOptions())
labels = Labels()
scene = Composer().compose(view, labels, wrap="auto")
head, buffers = SceneEncoder(labels.faces).encode(scene)
sys.stdout.write("x" * sum(len(part) for part in buffers))
sys.stdout.flush()
os._exit(0)  # a kernel goes on: that all is taken apart at the end is no part of a first view
"""


_PEER = """
import os, sys
import onnx
onnx.load(sys.argv[1])
os._exit(0)
"""


_MAKE = """
import pathlib, sys
from tests.hostile_models import CASES
case = CASES[sys.argv[1]]
pathlib.Path(sys.argv[2]).write_bytes(case.make(int(sys.argv[3])))
"""


def list_commands(model: Path, name: str, folder: Path) -> dict[str, list[str]]:
    """Return the arguments of Python for everything that is measured."""
    shell = ["-m", "netloupe"]
    return {
        "info": [*shell, "info", str(model)],
        "info --json": [*shell, "info", "--json", str(model)],
        "inspect": [*shell, "inspect", str(model), name],
        "inspect --json": [*shell, "inspect", "--json", str(model), name],
        **{
            kind: [*shell, "render", str(model), "-o", str(folder / f"out.{kind}")]
            for kind in ("svg", "dot", "html")
        },
        "report": [
            *(*shell, "report", str(model), "--format", "html"),
            *("-o", str(folder / "out.report")),
        ],
        "panes.html": [
            *(*shell, "diff", str(model), str(model), "--panes"),
            *("-o", str(folder / "out.panes.html")),
        ],
        "view": ["-c", _VIEW, str(model)],
    }


def measure(arguments: list[str], output: Path) -> tuple[int, float, float]:
    """Run Python; return exit status, seconds of the processor, and megabytes at the peak."""
    longest = int(PATIENCE * SECONDS)
    with output.open("wb") as stdout, (output.parent / "errors").open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, *arguments], cwd=ROOT, stdout=stdout, stderr=stderr
        )
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (longest, longest))
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def measure_adding() -> float:
    """Return the seconds of the processor that adding ten million numbers one by one takes."""
    begin = time.process_time()
    total = 0
    for number in range(10**7):
        total += number
    return time.process_time() - begin


def measure_least(arguments: list[str], output: Path) -> tuple[int, float, float]:
    """Return the least of what :func:`measure` returns; again where it passes the bar of time."""
    rounds: list[tuple[int, float, float]] = []
    for _ in range(ROUNDS):
        rounds.append(measure(arguments, output))
        status, seconds, _ = rounds[-1]
        if status:
            return rounds[-1]
        if seconds <= SECONDS:
            break
    return min(rounds, key=lambda found: found[1])


def measure_peer(model: Path, output: Path) -> float | None:
    """Return the seconds of ``onnx.load``; None where it does not read the file."""
    if model.suffix != ".onnx":
        return None
    status, seconds, _ = measure(["-c", _PEER, str(model)], output)
    return None if status else seconds


def make_model(title: str, count: int, path: Path) -> Path:
    """Write a model of a case with so many of its thing."""
    # in a process of its own: a child's peak of memory begins at what its parent holds
    arguments = [sys.executable, "-c", _MAKE, title, str(path), str(count)]
    subprocess.run(arguments, cwd=ROOT, check=True)
    return path


def find_count(case: Case, command: str) -> int:
    """Return with how many of its thing a case is measured."""
    most = MOST_ELEMENTS.get(command)
    return (
        case.count if most is None or not case.elements else min(case.count, most // case.elements)
    )


def measure_case(title: str, case: Case, folder: Path) -> tuple[float, float]:
    """Print a table of one case; return its largest shares of the bars."""
    model = make_model(title, case.count, folder / f"model.{case.ending}")
    output = folder / "stdout"
    peer = measure_peer(model, output)
    beside = "onnx does not load it" if peer is None else f"onnx.load: {peer:.2f} s"
    print(f"{title} ({model.stat().st_size / 1e6:,.1f} MB; {beside})", flush=True)
    worst = 0.0, 0.0
    for command, arguments in list_commands(model, case.name, folder).items():
        count = find_count(case, command)
        if count < case.count:
            smaller = make_model(title, count, folder / f"smaller.{case.ending}")
            arguments = list_commands(smaller, case.name, folder)[command]
        status, seconds, megabytes = measure_least(arguments, output)
        written = folder / f"out.{command}"
        size = output.stat().st_size + (written.stat().st_size if written.exists() else 0)
        written.unlink(missing_ok=True)
        shares = seconds / SECONDS, megabytes / MEGABYTES
        worst = max(worst[0], shares[0]), max(worst[1], shares[1])
        said = ""
        if status:
            said = f"  exit {status}: " + (folder / "errors").read_text(errors="replace")[-200:]
        if count < case.count:
            said = f"  of {count:,}{said}"
        ratio = "" if peer is None or count < case.count else f"{seconds / peer:.1f}x onnx"
        print(
            f"  {command:<15} {seconds:6.2f} s {shares[0]:6.2f}  {megabytes:7,.0f} MB "
            f"{shares[1]:6.2f}  {ratio:>11}  {size / 1e3:10,.1f} kB{said}",
            flush=True,
        )
    return worst


def main() -> int:
    """Measure the cases that are asked for."""
    words = sys.argv[1:]
    chosen = {
        title: case
        for title, case in CASES.items()
        if not words or any(word in title for word in words)
    }
    worst: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for title, case in chosen.items():
            worst[title] = measure_case(title, case, Path(folder))
    print("largest shares of 10 s and 1 GB")
    for title, (seconds, megabytes) in worst.items():
        print(f"  {title:<28} {seconds:6.2f} {megabytes:6.2f}")
    print(f"adding ten million numbers takes {measure_adding():.2f} s here")
    return int(any(max(shares) > 1 for shares in worst.values()))


if __name__ == "__main__":
    sys.exit(main())
