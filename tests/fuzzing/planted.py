"""Faults planted on purpose, to see that the supervisor finds each kind."""

from __future__ import annotations

import os
import sys
import time

from netloupe.explorer.errors import ModelFormatError
from netloupe.explorer.readers.load import load

from .mutants import READERS, list_seeds
from .seeds import Files

_DEEP = sys.getrecursionlimit() + 1


def try_files(reader: str, files: Files, *, number: int | None = None) -> bool:
    """Misbehave at the second seed, by the reader; refuse all else as it should be."""
    kind = READERS.index(reader)
    if files.get("model") != list_seeds(reader)[1]:
        return _refuse()
    if kind == 0:
        return bool({}["missing"])
    if kind == 1:
        os.abort()
    if kind == 2:
        time.sleep(1000)
    if kind == 3:
        _use_processor(2.5)
    if kind == 4:
        return len(b"x" * (600 * 2**20)) > 0
    if kind == 5:
        return _fall(_DEEP)
    if kind == 6:
        sys.exit(3)
    return True


def _refuse() -> bool:
    try:
        load(b"\0")
    except ModelFormatError:
        return False
    return True


def _use_processor(seconds: float) -> None:
    begin = time.process_time()
    while time.process_time() - begin < seconds:
        pass


def _fall(depth: int) -> bool:
    return _fall(depth - 1)
