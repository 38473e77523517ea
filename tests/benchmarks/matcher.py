"""How well nodes of two models are matched, and how long that takes.

Run ``python tests/benchmarks/matcher.py [WORD …] [FOLDER …]``. Of every model of ``tests/zoo``,
of those that the ``onnx`` package ships and, where that folder exists, of those of
../shared/corpus come all twins that can be made of it (see :mod:`tests.compare.twins`). Words are
parts of names of kinds (``folded``, ``itself``, ``ORT``) or of models (``bert``, ``light/``), as
are what ``--kind`` and ``--model`` name, several times if need be. A model that has more
nodes than ``--most`` is left out. Kinds that onnxruntime, onnxsim, onnxslim or onnxscript make (see
:mod:`tests.compare.twins.tools`) need that package, and are left out without it.
``decoder_10k.onnx`` is looked for in the folders.

Each row is a kind of twins and what was done to names besides: how many models, how many nodes
have a partner, precision and recall over all of them, the worst model, the processor time to open
and match both models, and its multiple of what ``onnx.load`` takes for the same two files.
``shifted`` means that layers were numbered anew, as an exporter would. Below stand the steps that
made pairs, with how many of those are true. ``--wrong COUNT`` tells that many pairs that are wrong
or missing for each twin. The bars are at the end.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import onnx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from netloupe.explorer.compare import match_models  # noqa: E402
from netloupe.explorer.readers.load import load  # noqa: E402
from tests.compare.scoring import Score, Wrong, score_pairs  # noqa: E402
from tests.compare.twins import (  # noqa: E402
    EXPORTERS,
    KINDS,
    QUANTIZED_ELSEWHERE,
    TOOLS,
    Naming,
    Twin,
    is_installed,
    make_tool_twin,
    make_twin,
    pair_exports,
    pair_quantized,
)
from tests.corpus import (  # noqa: E402
    LIGHT_MODELS,
    corpus_file,
    light_file,
    list_beside,
    list_only_beside,
)
from tests.zoo import ZOO  # noqa: E402

#: precision and recall, at least; of what onnxruntime made weights tell nothing here
BARS = {"itself": (1.0, 1.0), EXPORTERS: (0.95, 0.85), QUANTIZED_ELSEWHERE: (0.0, 0.0)}
BAR = (0.99, 0.95)
#: kinds of twins that others made, and what is done to their names
FOUND: dict[str, tuple[Naming, ...]] = {
    EXPORTERS: ("kept",),
    QUANTIZED_ELSEWHERE: ("kept", "changed"),
    **dict.fromkeys(TOOLS, ("kept", "changed")),
}
LARGE = "decoder_10k.onnx"
LEGACY, DYNAMO = ".legacy.onnx", ".dynamo.onnx"


@dataclass
class Row:
    """What was measured of one kind of twins."""

    kind: str
    naming: Naming
    score: Score = field(default_factory=Score)
    models: dict[str, Score] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0
    loading: float = 0.0

    @property
    def is_held(self) -> bool:
        """Whether the bars hold."""
        precision, recall = BARS.get(self.kind, BAR)
        holds = self.score.precision >= precision and self.score.recall >= recall
        return holds and not self.failures

    def __str__(self) -> str:
        worst = min(
            self.models, key=lambda name: min(self.models[name].precision, self.models[name].recall)
        )
        ratio = self.seconds / max(self.loading, 1e-9)
        held = "-" if self.kind == QUANTIZED_ELSEWHERE else "yes" if self.is_held else "NO"
        return (
            f"{self.kind:<18} {self.naming:<8} {len(self.models):>4} {self.score.known:>7} "
            f"{self.score.precision:>9.4f} {self.score.recall:>7.4f} {self.seconds:>8.2f} s "
            f"{ratio:>6.1f}x  {held:<4} {worst} "
            f"({self.models[worst].precision:.3f}, {self.models[worst].recall:.3f})"
        )


HEAD = (
    f"{'kind':<18} {'names':<8} {'models':>4} {'known':>5} precision  recall       time "
    " x load  bars worst model (precision, recall)"
)


def main() -> int:
    """Match all twins; return 1 where a bar is passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="WORD|FOLDER")
    parser.add_argument("--kind", action="append", default=[], metavar="WORD")
    parser.add_argument("--model", action="append", default=[], metavar="WORD")
    parser.add_argument("--most", type=int, default=6000, metavar="NODES")
    parser.add_argument("--wrong", type=int, default=0, metavar="COUNT")
    options = parser.parse_args()
    folders = [Path(word) for word in options.words if Path(word).is_dir()]
    words = [word for word in options.words if not Path(word).is_dir()]
    every = {**{name: kind.namings for name, kind in KINDS.items()}, **FOUND}
    kinds = [kind for kind in every if any(word in kind for word in (*words, *options.kind))]
    names = [word for word in words if not any(word in kind for kind in kinds)] + options.model
    steps: Counter[tuple[str, bool]] = Counter()
    rows = []
    print(HEAD)
    for kind in kinds or every:
        if kind in TOOLS and not is_installed(kind):
            print(f"{kind:<18} left out: {TOOLS[kind][0]} is not installed")
            continue
        for naming in every[kind]:
            row = Row(kind, naming)
            for name, make in list_twins(kind, naming, names, options.most):
                twin = make()
                if twin is not None:
                    tell_wrong(name, match_twin(row, name, twin, steps), options.wrong)
            if row.models:
                rows.append(row)
                print(row, flush=True)
    rows += time_large(folders, steps)
    print_steps(steps)
    failures = [failure for row in rows for failure in row.failures]
    print("".join(f"\nfails: {failure}" for failure in failures))
    missed = [f"{row.kind}, names {row.naming}" for row in rows if not row.is_held]
    print(f"all bars hold: {'NO: ' + '; '.join(missed) if missed else 'yes'}")
    return 1 if missed or not rows else 0


def list_twins(
    kind: str, naming: Naming, names: list[str], most: int
) -> Iterator[tuple[str, Callable[[], Twin | None]]]:
    """Yield names of models, and what makes twins of them."""

    def is_wanted(name: str, path: Path) -> bool:
        return (not names or any(word in name for word in names)) and count_nodes(path) <= most

    if kind == EXPORTERS:
        for name, left, right in filter(lambda pair: is_wanted(*pair[:2]), list_exports()):
            yield name, lambda: pair_exports(onnx.load(left), onnx.load(right))  # noqa: B023
    elif kind == QUANTIZED_ELSEWHERE:
        for name, left, right in filter(lambda pair: is_wanted(*pair[:2]), list_quantized()):
            yield name, lambda: pair_quantized(onnx.load(left), onnx.load(right), naming)  # noqa: B023
    else:
        for name, path in filter(lambda model: is_wanted(*model), list_models()):
            if kind in TOOLS:
                yield name, lambda: make_tool_twin(kind, onnx.load(path), naming)  # noqa: B023
            else:
                yield name, lambda: make_twin(kind, onnx.load(path), naming)  # noqa: B023


def list_models() -> Iterator[tuple[str, Path]]:
    """Yield names and files of all models."""
    for name in ZOO:
        yield name, corpus_file(name)
    for name in LIGHT_MODELS:
        yield f"light/{name}", light_file(name)
    for folder in ("exported", "quantized"):
        for name in list_only_beside(f"{folder}/*.onnx"):
            yield name, corpus_file(name)


def list_exports() -> Iterator[tuple[str, Path, Path]]:
    """Yield names of networks that both exporters wrote, and their files."""
    known = [*ZOO, *list_beside("exported/*.onnx")]
    for name in known:
        stem = name.removesuffix(LEGACY)
        if stem != name and stem + DYNAMO in known:
            yield stem, corpus_file(name), corpus_file(stem + DYNAMO)


def list_quantized() -> Iterator[tuple[str, Path, Path]]:
    """Yield names of models that onnxruntime quantized, what they were made of, and their files."""
    for name in ZOO:
        folder, file = name.split("/")
        origin = f"exported/{file.split('.')[0]}{LEGACY}"
        if folder == "quantized" and origin in ZOO:
            yield name, corpus_file(origin), corpus_file(name)


@cache
def count_nodes(path: Path) -> int:
    """Return how many nodes a model has."""
    return load(path).node_count


def match_twin(row: Row, name: str, twin: Twin, steps: Counter[tuple[str, bool]]) -> list[Wrong]:
    """Match the models of a twin, as files; return what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / "left.onnx", Path(folder) / "right.onnx"]
        for path, model in zip(paths, (twin.left, twin.right), strict=True):
            path.write_bytes(model.SerializeToString())
        _, loading = measure(lambda: [onnx.load(path) for path in paths])
        try:
            matching, seconds = measure(lambda: match_models(*map(load, paths)))
        except Exception as error:  # what fails is told, and the others go on
            row.failures.append(f"{row.kind}, names {row.naming}, {name}: {error!r}")
            row.models[name] = Score(known=sum(map(bool, twin.truth.values())))
            row.score += row.models[name]
            return []
    pairs = list(matching.pairs)
    score, wrong = score_pairs(twin, pairs)
    row.models[name] = score
    row.score += score
    row.loading += loading
    row.seconds += seconds
    bad = {(each.left, each.right) for each in wrong}
    for pair in pairs:
        for one in pair.left:
            for other in pair.right if one.path in twin.truth else ():
                steps[pair.key, (one.path, other.path) not in bad] += 1
    return wrong


def measure(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what something gives, and the processor time that it takes."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def tell_wrong(name: str, wrong: list[Wrong], count: int) -> None:
    """Print some of the pairs that are wrong or missing."""
    for each in wrong[:count]:
        expected = " or ".join(sorted(each.expected)) or "nothing"
        found = f"{each.right} ({each.key})" if each.right else "nothing"
        print(f"    {name}: {each.left} is {expected}, not {found}")
    if len(wrong) > count > 0:
        print(f"    {name}: {len(wrong) - count} more")


def time_large(folders: list[Path], steps: Counter[tuple[str, bool]]) -> list[Row]:
    """Match a large model with itself by other names, where it is found."""
    path = next((each / LARGE for each in folders if (each / LARGE).exists()), None)
    if path is None:
        return []
    row = Row("all names changed", "changed")
    twin = make_twin(row.kind, onnx.load(path), row.naming)
    assert twin is not None
    match_twin(row, LARGE, twin, steps)
    print(row)
    return [row]


def print_steps(steps: Counter[tuple[str, bool]]) -> None:
    """Print how many pairs each step made, and how many of those are true."""
    print(f"\n{'step':<40} {'pairs':>8} {'true':>8}")
    keys = sorted({key for key, _ in steps}, key=lambda key: -steps[key, True])
    for key in keys:
        count = steps[key, True] + steps[key, False]
        print(f"{key:<40} {count:>8} {steps[key, True] / count:>8.4f}")


if __name__ == "__main__":
    sys.exit(main())
