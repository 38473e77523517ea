"""How well notes find their elements again in another version of a model.

Run ``python tests/benchmarks/anchors.py [WORD …]``. Of models of ``tests/zoo`` and small ones of
the ``onnx`` package come the twins of ``tests/benchmarks/matcher.py``; words are parts of names of
kinds or models. In the left model of each some nodes are noted, in the right one they are looked
for by what the notes tell alone, without the left model.

Each row is a kind of twins and what was done to names besides: how many nodes were noted, the share
of those that are said to be somewhere for certain (exact or moved), which share of these is right,
the share of uncertain ones that have the right one among their candidates, how many noted nodes
are gone and how many of these notes are said to be somewhere for certain, and the processor time
per note. A note on the wrong node is the worst that can be, and so is one of a block that was
removed on the block that has its name now: the bar is 0.99 of what is certain, both taken together.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import onnx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from netloupe.explorer.model import Model  # noqa: E402
from netloupe.explorer.notes.anchor import AnchorMaker  # noqa: E402
from netloupe.explorer.notes.clues import ClueIndex  # noqa: E402
from netloupe.explorer.notes.locate import Locator  # noqa: E402
from netloupe.explorer.readers.load import load  # noqa: E402
from tests.compare.twins import KINDS, Naming, Twin, make_twin  # noqa: E402
from tests.corpus import LIGHT_MODELS, corpus_file, light_file  # noqa: E402
from tests.zoo import ZOO  # noqa: E402

BAR = 0.99
#: so many nodes of a model are noted, and models of more nodes are left out
_MOST_NOTED, _MOST_NODES = 80, 2_500


@dataclass
class Count:
    """What became of the notes of one kind of twins."""

    noted: int = 0
    certain: int = 0
    right: int = 0
    uncertain: int = 0
    among: int = 0
    gone: int = 0
    misplaced: int = 0
    seconds: float = 0.0

    @property
    def precision(self) -> float:
        """Which share of what is certain is right; all where nothing is."""
        certain = self.certain + self.misplaced
        return self.right / certain if certain else 1.0


def note_twin(twin: Twin, count: Count, told: list[str]) -> None:
    """Note nodes of the left model of a twin, and look for them in the right one."""
    left, right = read_twin(twin)
    chosen = _choose(sorted(path for path, now in twin.truth.items() if now))
    start = time.process_time()
    maker, locator = AnchorMaker(ClueIndex(left)), Locator(ClueIndex(right))
    for path in chosen:
        found = locator.locate(maker.make(path))
        count.noted += 1
        if found.path:
            count.certain += 1
            count.right += found.path in twin.truth[path]
            if found.path not in twin.truth[path]:
                told.append(f"{path} -> {found.path} ({found.reason})")
        elif found.state == "uncertain":
            count.uncertain += 1
            count.among += bool({*found.candidates} & twin.truth[path])
    for path in _choose(sorted(path for path, now in twin.truth.items() if not now)):
        found = locator.locate(maker.make(path))
        count.gone += 1
        if found.path:
            count.misplaced += 1
            told.append(f"{path}, which is gone -> {found.path} ({found.reason})")
    count.seconds += time.process_time() - start


def _choose(paths: list[str]) -> list[str]:
    return random.Random(0).sample(paths, min(len(paths), _MOST_NOTED))


def read_twin(twin: Twin) -> tuple[Model, Model]:
    """Return both models as they are read from files."""
    with tempfile.TemporaryDirectory() as folder:
        models = []
        for name, proto in (("left", twin.left), ("right", twin.right)):
            path = Path(folder) / f"{name}.onnx"
            path.write_bytes(proto.SerializeToString())
            models.append(load(path.read_bytes()))
    return models[0], models[1]


def main() -> int:
    """Look for notes in all twins; return 1 where the bar is passed."""
    words = sys.argv[1:]
    kinds = [kind for kind in KINDS if any(word in kind for word in words)] or [*KINDS]
    files = {name: corpus_file(name) for name in ZOO}
    files |= {f"light/{name}": light_file(name) for name in LIGHT_MODELS}
    named = [word for word in words if not any(word in kind for kind in kinds)]
    files = {
        name: file
        for name, file in files.items()
        if (not named or any(word in name for word in named))
        and load(file).node_count <= _MOST_NODES
    }
    print(f"{'kind':<20} {'names':<8} noted certain  right  among  misplaced     time")
    whole = Count()
    for kind in kinds:
        for naming in KINDS[kind].namings:
            count = look_at(kind, naming, files)
            for field in ("noted", "certain", "right", "uncertain", "among", "gone", "misplaced"):
                setattr(whole, field, getattr(whole, field) + getattr(count, field))
    print(f"all: {whole.certain / max(whole.noted, 1):.3f} certain, {whole.precision:.4f} right")
    return 1 if whole.precision < BAR else 0


def look_at(kind: str, naming: Naming, files: dict[str, Path]) -> Count:
    """Look for notes in the twins of one kind, and print what came of it."""
    count, told = Count(), list[str]()
    for file in files.values():
        twin = make_twin(kind, onnx.load(file), naming)
        if twin is not None:
            note_twin(twin, count, told)
    gone = f"{count.misplaced:>4} of {count.gone}"
    if count.noted:
        among = count.among / count.uncertain if count.uncertain else 1.0
        print(
            f"{kind:<20} {naming:<8} {count.noted:>5} {count.certain / count.noted:>7.3f} "
            f"{count.precision:>6.4f} {among:>6.3f} {gone:<12} "
            f"{1e3 * count.seconds / count.noted:>5.1f} ms",
            flush=True,
        )
        for line in told[:5]:
            print(f"    {line}")
    return count


if __name__ == "__main__":
    sys.exit(main())
