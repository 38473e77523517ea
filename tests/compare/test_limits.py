"""What is over a limit is never equal for that, and what was cancelled says nothing."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from itertools import count

import numpy as np
import pytest

from netloupe.explorer import compare
from netloupe.explorer.compare import diff
from netloupe.explorer.progress import Cancelled, watched
from netloupe.explorer.readers.load import load
from tests.compare.test_every_place import _EDITS, list_edited, make_base, normalize
from tests.compare.test_taken_in import FOLDED, NORMED, VECTORS, WEIGHTS, make
from tests.compare.test_taken_in import compare as compare_models

#: of so many edits one is tried with each limit
_SHARE = 12


def list_limits() -> Iterator[tuple[str, str]]:
    """Yield the modules that compare, and their limits."""
    for found in pkgutil.iter_modules(compare.__path__, f"{compare.__name__}."):
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            if name.startswith("_MOST_") and isinstance(value, int):
                yield found.name, name


_LIMITS = [*list_limits()]


def test_a_comparison_that_is_ended_says_nothing_and_leaves_nothing_half_done() -> None:
    proto = make_base()
    proto.graph.node[0].attribute[0].t.float_data[3] += 1
    left, right = load(make_base().SerializeToString()), load(proto.SerializeToString())
    for number in count(1):
        steps = count(1)

        def end(_what: str, _share: float | None, steps: count[int] = steps) -> None:
            if next(steps) == number:  # noqa: B023 - of this round
                raise Cancelled

        try:
            with watched(end):
                found = diff(left, right)
        except Cancelled:
            continue
        assert number > 5
        assert found.verdict == "weights"
        assert [one.numbers.changed for one in found.tensors if one.numbers] == [1]
        return


@pytest.fixture(params=[0, 1])
def without_room(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All limits of what is looked at are as low as they can be."""
    for module, name in _LIMITS:
        monkeypatch.setattr(importlib.import_module(module), name, request.param)


def test_there_are_limits() -> None:
    assert len(_LIMITS) > 20


@pytest.mark.usefixtures("without_room")
@pytest.mark.parametrize("part", range(4))
def test_what_is_over_a_limit_is_not_equal(part: int) -> None:
    base = make_base()
    before, known = load(base.SerializeToString()), normalize(base)
    for proto, after, what in list_edited(_EDITS[part :: 4 * _SHARE]):
        is_same = normalize(proto) == known
        assert is_same or diff(before, after).verdict != "identical", what


@pytest.mark.usefixtures("without_room")
@pytest.mark.parametrize("factor", [1.0, 1.5])
def test_a_fold_that_is_too_large_to_be_calculated_is_not_equal(factor: float) -> None:
    mean, variance = VECTORS["c"], np.abs(VECTORS["d"]) + np.float32(0.3)
    scale = VECTORS["a"] / np.sqrt(variance + 1e-5)
    folded = make(
        FOLDED,
        w0=(factor * WEIGHTS["w0"] * scale.reshape(-1, 1, 1, 1)).astype(np.float32),
        folded=(-mean * scale + VECTORS["b"]).astype(np.float32),
    )
    found = compare_models(make(NORMED.format("", 1e-5), c_=mean, d_=variance), folded)
    assert not any(fold.is_equal for fold in found.folds.values())
    assert found.verdict == "structure"
