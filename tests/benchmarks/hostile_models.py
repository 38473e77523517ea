"""Models that hold very many of one thing: time and memory of all that may be asked of them.

Run ``python tests/benchmarks/hostile_models.py [WORDS …]``; with words only the cases are
measured whose names contain one of them. The models of ``tests/hostile_models.py`` are made in
a temporary folder (about 400 MB, removed at the end). Each command has a process of its own.
Beside seconds of processor time (that of its children included) and the peak of the resident
set (Linux) stands what share of the bars of 10 seconds and 1 GB these are. The 10 seconds are
those of a machine on which Python adds up ten million numbers, one by one, in 0.67 seconds; how
long that takes here and now is measured around each command, stands beside it, and the share is
in proportion. What passes that bar is measured up to three times and the least share counts, for
what else runs on a machine only adds to it. The last column is the size of what came out.
``view`` is the first view of the explorer: from the file to what the browser gets. The end tells
the worst shares, and the exit status is 1 where a bar is passed.
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
#: what the addition of ten million numbers takes on the machine that the bar of time is for
SECONDS_ADDING = 0.67
#: a command gets so many times the bar, so that what is far beyond it ends too
PATIENCE = 10
#: how often a command is measured that seems to pass the bar of time
ROUNDS = 3

_VIEW = """
import os, sys
from netloupe.explorer.layout import Composer
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.picture import Labels, make_view
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


_MAKE = """
import pathlib, sys
from tests.hostile_models import CASES
case = CASES[sys.argv[1]]
pathlib.Path(sys.argv[2]).write_bytes(case.make(case.count))
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


def measure_share(arguments: list[str], output: Path) -> tuple[float, int, float, float, float]:
    """Run Python; return its share of the bar of time, what :func:`measure` returns, and adding."""
    rounds: list[tuple[float, int, float, float, float]] = []
    for _ in range(ROUNDS):
        before = measure_adding()
        status, seconds, megabytes = measure(arguments, output)
        adding = (before + measure_adding()) / 2
        share = seconds / SECONDS * SECONDS_ADDING / adding
        rounds.append((share, status, seconds, megabytes, adding))
        if status:
            return rounds[-1]
        if share <= 1:
            break
    return min(rounds)


def measure_case(title: str, case: Case, folder: Path) -> tuple[float, float]:
    """Print a table of one case; return its largest shares of the bars."""
    model = folder / f"model.{case.ending}"
    # in a process of its own: a child's peak of memory begins at what its parent holds
    subprocess.run([sys.executable, "-c", _MAKE, title, str(model)], cwd=ROOT, check=True)
    print(f"{title} ({model.stat().st_size / 1e6:,.1f} MB)", flush=True)
    worst = 0.0, 0.0
    for command, arguments in list_commands(model, case.name, folder).items():
        output = folder / "stdout"
        share, status, seconds, megabytes, adding = measure_share(arguments, output)
        written = folder / f"out.{command}"
        size = output.stat().st_size + (written.stat().st_size if written.exists() else 0)
        written.unlink(missing_ok=True)
        shares = share, megabytes / MEGABYTES
        worst = max(worst[0], shares[0]), max(worst[1], shares[1])
        said = ""
        if status:
            said = f"  exit {status}: " + (folder / "errors").read_text(errors="replace")[-200:]
        print(
            f"  {command:<15} {seconds:6.2f} s {shares[0]:7.2f}   {megabytes:7,.0f} MB "
            f"{shares[1]:6.2f}   {size / 1e3:10,.1f} kB   (adding {adding:.2f} s){said}",
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
    return int(any(max(shares) > 1 for shares in worst.values()))


if __name__ == "__main__":
    sys.exit(main())
