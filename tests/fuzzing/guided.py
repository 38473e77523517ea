"""Fuzzing guided by coverage, for use by hand (atheris, https://github.com/google/atheris)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from random import Random
from zlib import crc32


def fuzz_guided(reader: str, seconds: float, corpus: bool) -> None:
    """Let atheris look for inputs of a reader that reach code no input has reached; never returns.

    Raises
    ------
    SystemExit
        Where atheris is not installed or the reader needs more than one file.
    """
    try:
        import atheris
    except ImportError:
        raise SystemExit("atheris is not installed: pip install atheris") from None
    with atheris.instrument_imports(include=["netloupe"]):
        from .mutants import MUTATORS, list_seeds
        from .target import try_files
    if reader not in MUTATORS:
        raise SystemExit(f"{reader} needs more than one file. Choose one of {', '.join(MUTATORS)}.")
    seeds = list_seeds(reader, corpus)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        chance = Random(seed)
        if chance.random() < 0.5:
            return bytes(atheris.Mutate(data, most))
        return MUTATORS[reader](chance, data, seeds)[:most]

    def try_input(data: bytes) -> None:
        try_files(reader, {"model": data}, number=crc32(data))

    folder = Path(tempfile.mkdtemp(prefix="netloupe-seeds-"))
    for number, data in enumerate(seeds):
        (folder / f"{number:04}").write_bytes(data)
    options = [f"-max_total_time={seconds:.0f}", "-timeout=20", "-rss_limit_mb=2048"]
    atheris.Setup([sys.argv[0], *options, str(folder)], try_input, custom_mutator=mutate)
    atheris.Fuzz()
