"""Runs workers, and keeps an account of what the mutants brought to light."""

from __future__ import annotations

import json
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .mutants import READERS, make_mutant
from .seeds import Files

#: a mutant without an answer for so long hangs
MOST_WAITED = 60.0
#: until its first mutant a worker imports all and reads the seeds, beside whatever else runs
_MOST_STARTING = 600.0
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Finding:
    """The first mutant that brought something to light."""

    kind: str  #: the name of an exception, ``slow``, ``memory``, ``hangs`` or ``crashes``
    place: str
    reader: str
    number: int
    text: str


@dataclass(slots=True)
class Account:
    """What came of a run."""

    seed: str
    tried: Counter[str] = field(default_factory=Counter)
    opened: Counter[str] = field(default_factory=Counter)
    findings: dict[tuple[str, str], Finding] = field(default_factory=dict)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __str__(self) -> str:
        total, opened = self.tried.total(), self.opened.total()
        lines = [f"{total} mutants of seed {self.seed!r}, {opened} opened"]
        for reader in self.tried:
            lines.append(f"  {reader:<26} {self.tried[reader]:>7} {self.opened[reader]:>7} opened")
        for key, finding in self.findings.items():
            lines.append(
                f"FOUND {finding.kind} at {finding.place}, {self.counts[key]} times; first by "
                f"`python tests/fuzz.py --reader '{finding.reader}' --seed {self.seed} "
                f"--only {finding.number}`"
            )
            lines += [f"    {line}" for line in finding.text.splitlines()]
        return "\n".join(lines)


def run(
    seconds: float,
    seed: str,
    *,
    readers: Sequence[str] = READERS,
    corpus: bool = False,
    keep: Path | None = None,
    waits: float = MOST_WAITED,
    most: int | None = None,
    target: str = "tests.fuzzing.target.try_files",
) -> Account:
    """Try mutants of all readers in turn for a time.

    Parameters
    ----------
    seconds
        How long.
    seed
        Of the chance that makes mutants.
    readers
        Whose mutants.
    corpus
        Whether small files beside the repository are seeds, too.
    keep
        Folder for the files of each finding's first mutant, with the traceback.
    waits
        Seconds without an answer after which a mutant is said to hang.
    most
        How many mutants at most; None for as many as there is time for.
    target
        Dotted name of the function that each mutant is given to.
    """
    account = Account(seed)
    deadline = time.monotonic() + seconds
    index = 0
    while (left := deadline - time.monotonic()) > 0 and (most is None or index < most):
        order = {
            "readers": list(readers),
            "first": index,
            "most": most,
            "seconds": left,
            "seed": seed,
            "corpus": corpus,
            "target": target,
        }
        tried = _follow(order, account, keep, waits)
        if not tried:  # the worker did not come so far as to begin
            break
        index += tried
    return account


def _follow(order: dict[str, Any], account: Account, keep: Path | None, waits: float) -> int:
    """Run one worker to its end; return how many mutants it tried."""
    readers = order["readers"]
    reader, number = readers[0], 0
    tried = 0
    is_trying = False

    def note(kind: str, place: str, text: str) -> None:
        _note(account, Finding(kind, place, reader, number, text), order["corpus"], keep)

    with tempfile.TemporaryFile() as errors:
        worker = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-m", "tests.fuzzing.worker", json.dumps(order)],
            cwd=_ROOT,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        try:
            for words in _read_lines(worker, waits):
                if words[0] == "begin":
                    tried += 1
                    number, place = divmod(words[1], len(readers))
                    reader = readers[place]
                    account.tried[reader] += 1
                    is_trying = True
                elif words[0] == "finding":
                    note(*words[1:])
                    is_trying = words[1] != "memory"  # after that the worker ends
                elif words[0] == "end":
                    is_trying = False
                    account.opened[reader] += words[1]
                else:
                    note("hangs", reader, f"no answer for {waits:g} s")
                    is_trying = False
                    worker.kill()
        finally:
            worker.kill()
            status = worker.wait()
            if worker.stdout is not None:
                worker.stdout.close()
        if is_trying or (status not in (0, -signal.SIGKILL)):
            errors.seek(0)
            text = errors.read().decode("utf-8", "replace")[-20_000:]
            note("crashes", reader, f"the process ended with status {status}\n{text}")
    return tried


def _read_lines(worker: subprocess.Popen[bytes], waits: float) -> Iterator[list[Any]]:
    """Yield what a worker writes; ``["hangs"]`` where it is silent for too long."""
    stream = worker.stdout
    assert stream is not None
    rest, patience = b"", max(waits, _MOST_STARTING)
    while True:
        if not select.select([stream], [], [], patience)[0]:
            yield ["hangs"]
            return
        piece = stream.read1(2**16)  # type: ignore[attr-defined]  # a buffered reader
        if not piece:
            return
        *lines, rest = (rest + piece).split(b"\n")
        patience = waits
        yield from map(json.loads, lines)


def _note(account: Account, finding: Finding, corpus: bool, keep: Path | None) -> None:
    key = finding.kind, finding.place
    account.counts[key] += 1
    if key in account.findings:
        return
    account.findings[key] = finding
    print(f"found {finding.kind} at {finding.place} ({finding.reader}, {finding.number})")
    sys.stdout.flush()
    if keep is not None:
        files = make_mutant(finding.reader, account.seed, finding.number, corpus)
        _keep(files, finding, keep / f"{len(account.findings):03}-{finding.kind}")


def _keep(files: Files, finding: Finding, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    head = f"reader {finding.reader}, mutant {finding.number}\n{finding.place}\n"
    (folder / "finding.txt").write_text(head + finding.text)
