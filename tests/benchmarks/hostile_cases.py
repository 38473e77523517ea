"""Small hostile files: the processor time of all that a review asks of each.

Run ``python tests/benchmarks/hostile_cases.py [WORD …]``; with words only the files are measured
whose names contain one of them. Of every file of ``tests/cases`` the commands run in this process
that a review runs, the file against itself where there are two, and notes are made and found again.
Processor time is held to the bar of 10 seconds, as in ``hostile_models.py``, which measures models
that hold very many of one thing. What passes it is measured up to three times and the least
counts. The peer is Python adding up ten million numbers one by one. The exit status is 1 where a
bar is passed.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import netloupe  # noqa: E402 - after the path
from netloupe.commands.cli import main as run_command  # noqa: E402
from tests.benchmarks.hostile_models import ROUNDS, SECONDS, measure_adding  # noqa: E402
from tests.cases import CASES  # noqa: E402
from tests.corpus import corpus_file  # noqa: E402

#: so many of the slowest are shown
_SHOWN = 20


def list_works(file: Path, folder: Path) -> dict[str, Callable[[], object]]:
    """Return what is measured of a file, by the words of the command line."""
    path = str(file)
    commands = {
        "info": ["info", path],
        "check": ["check", path],
        "text": ["text", path],
        "audit": ["audit", path],
        "audit --float": ["audit", path, "--float", path],
        "diff": ["diff", path, path],
        "report --against": ["report", path, "--against", path, "-o", str(folder / "report.md")],
    }
    works: dict[str, Callable[[], object]] = {
        name: partial(run_command, words) for name, words in commands.items()
    }
    return {**works, "notes": partial(make_notes, file, folder / "notes.jsonl")}


def make_notes(file: Path, notes: Path) -> None:
    """Note a few elements of a model, and find them again; nothing where it does not open."""
    notes.unlink(missing_ok=True)
    try:
        model = netloupe.load(file)
    except netloupe.NetloupeError:
        return
    model.notes.open(notes)
    paths = [path for path, _ in zip(model, range(40), strict=False) if len(path) < 4_000]
    for path in paths[:: max(1, len(paths) // 4)]:
        model.notes.add(path, "odd")
    again = netloupe.load(file)
    again.notes.open(notes)
    len([note.state for note in again.notes])


def measure(work: Callable[[], object]) -> float:
    """Return the seconds of the processor that a work takes; what it writes is thrown away."""
    least = float("inf")
    for _ in range(ROUNDS):
        begin = time.process_time()
        with redirect_stdout(io.TextIOWrapper(io.BytesIO())), redirect_stderr(io.StringIO()):
            work()
        least = min(least, time.process_time() - begin)
        if least <= SECONDS:
            break
    return least


def main() -> int:
    """Measure all works on all files; return 1 where one takes longer than the bar."""
    words = sys.argv[1:]
    found: list[tuple[float, str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(CASES):
            if words and not any(word in name for word in words):
                continue
            file = corpus_file(name)
            for work, run in list_works(file, Path(folder)).items():
                found.append((measure(run), work, name))
    found.sort(reverse=True)
    adding = measure_adding()
    print(f"{len(found)} works; the peer, ten million additions: {adding:.2f} s")
    print(f"{'seconds':>8} {'of the bar':>10} {'x peer':>7}  command, file")
    for seconds, work, name in found[:_SHOWN]:
        share = seconds / SECONDS
        print(f"{seconds:>8.2f} {share:>10.0%} {seconds / adding:>7.1f}  {work}, {name}")
    passed = [entry for entry in found if entry[0] > SECONDS]
    print(f"{len(passed)} of {len(found)} take longer than {SECONDS:g} s")
    return 1 if passed else 0


if __name__ == "__main__":
    sys.exit(main())
