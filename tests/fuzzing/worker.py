"""The process that tries mutants; it may crash or hang, and the supervisor will know where.

It writes a line of JSON before each mutant (``["begin", index]``), after it
(``["end", opened]``), and for what went wrong (``["finding", kind, place, text]``).
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
import traceback
from pathlib import Path
from typing import Any

_ADDRESS_SPACE = 4 * 2**30
#: processor seconds and memory that one mutant may take
MOST_SECONDS = 2.0
MOST_BYTES = 400 * 2**20
#: a fresh process now and then, so that what leaks does not look like the fault of one mutant
_MOST_MUTANTS = 5000

_ROOT = str(Path(__file__).resolve().parents[2])


def main(order: dict[str, Any]) -> None:
    """Try mutants from a first one on until time is up."""
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    from .mutants import make_mutant

    module, function = order["target"].rsplit(".", 1)
    try_files = getattr(importlib.import_module(module), function)
    readers, first = order["readers"], order["first"]
    deadline = time.monotonic() + order["seconds"]
    # what is loaded once is not charged to the first mutant
    try_files(readers[0], make_mutant(readers[0], order["seed"], 0))
    for index in range(first, first + _MOST_MUTANTS):
        if time.monotonic() > deadline or index == order["most"]:
            return
        reader, number = readers[index % len(readers)], index // len(readers)
        _tell("begin", index)
        files = make_mutant(reader, order["seed"], number, order["corpus"])
        memory, seconds = _peak_bytes(), time.process_time()
        opened = False
        try:
            opened = try_files(reader, files, number=number)
        except BaseException as error:  # whatever it is, it is what we are after
            _tell("finding", type(error).__name__, _find_place(error), _format(error))
        seconds = time.process_time() - seconds
        grown = _peak_bytes() - memory
        if seconds > MOST_SECONDS:
            _tell("finding", "slow", reader, f"took {seconds:.1f} s of processor time")
        if grown > MOST_BYTES:
            _tell("finding", "memory", reader, f"took {grown // 2**20} MiB of memory")
            return  # the peak of a process never falls: the next mutant is for a fresh one
        _tell("end", opened)


def _tell(*words: Any) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def _peak_bytes() -> int:
    """Return the most memory that this process has had; a parent's is not to count."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:  # not on Linux
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def _find_place(error: BaseException) -> str:
    """Return the innermost line of ours that an error passed."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(_ROOT)]
    frame = (ours or frames)[-1]
    return f"{frame.filename.removeprefix(_ROOT).lstrip('/')}:{frame.lineno} {frame.name}"


def _format(error: BaseException) -> str:
    lines = traceback.format_exception(error)
    return "".join(lines if len(lines) < 40 else [*lines[:12], "  …\n", *lines[-20:]])[:20_000]


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
