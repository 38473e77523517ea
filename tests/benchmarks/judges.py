"""``check`` beside onnx's full check and ONNX Runtime's loading, over all models that there are.

Run ``python tests/benchmarks/judges.py`` (about ten minutes), or with files or folders of your own
as arguments. Without any it takes the models of the tests, those of the folder beside the
repository, the ones that the onnx package ships, and its tests of operators, which are made.
It prints how many models each refuses, those that a judge refuses and ``check`` finds nothing in,
those that ONNX Runtime has no kernel for where ``check`` says nothing of it, and those that both
accept and ``check`` calls an error; it ends with 1 where any of these is not none. ``check`` takes
the installed ONNX Runtime for its target.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import onnx

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.corpus import CORPUS, MADE, write_made
from tests.judges import (
    Judgement,
    Judges,
    explain,
    judge,
    list_missed,
    list_without_kernel,
    list_wronged,
)

#: larger files are left out
_LARGEST = 30_000_000
_DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"


def list_files(folder: Path) -> Iterator[Path]:
    """Yield the models of the tests, made in a folder, and those that are there."""
    for name in MADE:
        write_made(name, folder / "made")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numbers that are not finite, which are meant
        from onnx.backend.test.case.node import collect_testcases

        cases = folder / "node"
        cases.mkdir()
        for case in collect_testcases(None):
            if case.model is not None:
                (cases / f"{case.name}.onnx").write_bytes(case.model.SerializeToString())
    for root in (folder, _DATA, CORPUS):
        yield from sorted(root.rglob("*.onnx"))


def judge_all(paths: list[Path]) -> list[Judgement]:
    """Return what all three say of files; what is large is left out."""
    found = []
    with Judges(60.0) as judges:
        for number, path in enumerate(paths):
            if path.is_file() and path.stat().st_size <= _LARGEST:
                found.append(judge(str(path), path.resolve(), judges))
            if not number % 100:
                print(f"{number:,} of {len(paths):,}", file=sys.stderr, flush=True)
    return found


def report(judgements: list[Judgement]) -> int:
    """Print the table; return 1 where judges and ``check`` differ in what nothing accounts for."""
    rows = {
        "models": len(judgements),
        "refused by onnx.checker, full_check": sum(bool(each.checker) for each in judgements),
        "not loaded by ONNX Runtime": sum(bool(each.runtime) for each in judgements),
        "not opened by netloupe": sum(bool(each.refused) for each in judgements),
        "with an error of check": sum(bool(each.errors) for each in judgements),
    }
    for name, count in rows.items():
        print(f"{name:40} {count:6,}")
    reasons = Counter(
        explain(said) for each in judgements for said in (each.checker, each.runtime) if said
    )
    print("refusals that say nothing against the model:")
    for reason, count in reasons.most_common():
        if reason:
            print(f"  {count:6,}  {reason}")
    missed, wronged = [*list_missed(judgements)], [*list_wronged(judgements)]
    print(f"refused, and nothing found: {len(missed):,}")
    for each, why in missed:
        print(f"  {each.name}: {' '.join(why.split())[:200]}")
    lacking = [*list_without_kernel(judgements)]
    print(f"without a kernel, and nothing said of it: {len(lacking):,}")
    for each in lacking:
        print(f"  {each.name}: {' '.join(each.runtime.split())[:200]}")
    print(f"accepted by both, with an error of check: {len(wronged):,}")
    for each, errors in wronged:
        print(f"  {each.name}: {', '.join(errors)}")
    return int(bool(missed or wronged or lacking))


def main() -> int:
    """Judge the files that are named, or all that there are."""
    named = [Path(name) for name in sys.argv[1:]]
    if named:
        inside = [sorted(each.rglob("*.onnx")) if each.is_dir() else [each] for each in named]
        return report(judge_all([path for paths in inside for path in paths]))
    with tempfile.TemporaryDirectory() as folder:
        return report(judge_all([*list_files(Path(folder))]))


if __name__ == "__main__":
    sys.exit(main())
