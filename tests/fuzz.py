"""Mutation fuzzing of all readers: whatever the bytes, nothing but a NetloupeError comes out.

    python tests/fuzz.py --seconds 60                     mutants of all readers in turn
    python tests/fuzz.py --reader 'onnx JSON' --seed 7    of one reader, as in an earlier run
    python tests/fuzz.py --reader gzip --seed 7 --only 41 one mutant again, with its traceback
    python tests/fuzz.py --reader onnx --replay FILE …    the files of a finding
    python tests/fuzz.py --atheris --reader onnx          guided by coverage (pip install atheris)

Each mutant is opened, and of what opens a part of the elements is described; summary, findings,
statistics, audits, differences, pictures, reports and more have their turns, each with one mutant
of so many (``PERIODS`` in ``tests/fuzzing/target.py``). ``--only`` and ``--replay`` look in every
way. Found are exceptions that are no NetloupeError, crashes, hangs, and mutants that take more than
2 s or 400 MiB. With ``--keep FOLDER`` the files of each finding are written there. Exit status 1
where anything was found.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(_ROOT)  # run as a script, the tests' own folder stands there


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; return the exit status."""
    from tests.fuzzing.mutants import READERS, make_mutant
    from tests.fuzzing.supervisor import run

    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        epilog=f"Readers: {', '.join(READERS)}.",
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", default=choose_seed())
    parser.add_argument("--reader", choices=READERS, metavar="NAME")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="this mutant alone")
    parser.add_argument("--replay", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--inline-seeds", action="store_true", help="leave out the files of ../shared/corpus"
    )
    parser.add_argument("--atheris", action="store_true")
    parsed = parser.parse_args(arguments)
    reader, corpus = parsed.reader or READERS[0], not parsed.inline_seeds
    if parsed.atheris:
        from tests.fuzzing.guided import fuzz_guided

        fuzz_guided(reader, parsed.seconds, corpus)
    if parsed.replay or parsed.only is not None:
        from tests.fuzzing.target import try_files

        if parsed.replay:
            files = {path.name: path.read_bytes() for path in parsed.replay}
        else:
            files = make_mutant(reader, parsed.seed, parsed.only, corpus)
        print("opened" if try_files(reader, files) else "refused")
        return 0
    account = run(
        parsed.seconds,
        parsed.seed,
        readers=[reader] if parsed.reader else READERS,
        corpus=corpus,
        keep=parsed.keep,
    )
    print(account)
    return 1 if account.findings else 0


def choose_seed() -> str:
    """Return a seed: at a desk a new one each time, where CI judges a change always the same."""
    return "0" if os.environ.get("CI") else os.urandom(4).hex()


if __name__ == "__main__":
    sys.exit(main())
