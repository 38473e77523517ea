"""Branches in which a graph ends stand side by side."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from netloupe.explorer.layout import Composer, LayoutEngine
from netloupe.explorer.layout.level import Child, Level, Wire
from netloupe.explorer.layout.series import cut_series
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.view import View
from tests.onnx_text import load_text


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def make_level(*edges: tuple[int, int]) -> Level:
    count = max(end for edge in edges for end in edge) + 1
    return Level("TB", [Child(40, 20)] * count, wires=[Wire(*edge) for edge in edges])


def list_joints(level: Level) -> list[int]:
    """Return the children at which a level is cut."""
    parts = cut_series(level)
    return [part.children[part.level.last] for part in parts if part.level.last >= 0]


def test_branches_that_end_are_not_cut() -> None:
    stem = (0, 1), (1, 2)
    branches = (2, 3), (3, 4), (2, 5), (5, 6)
    assert list_joints(make_level(*stem, *branches)) == [1, 2]


def test_an_output_along_a_chain_is_no_branch() -> None:
    assert list_joints(make_level((0, 1), (1, 2), (1, 3), (3, 4), (4, 5))) == [1, 3, 4]


def test_a_branch_far_before_the_end_leaves_the_chain_as_it_is() -> None:
    chain = [(n, n + 1) for n in range(40)]
    level = make_level(*chain, (5, 41), (41, 42))
    assert list_joints(level) == list(range(1, 40))


@pytest.mark.parametrize("branches", [2, 3, 4])
def test_heads_of_a_network_stand_in_one_row(engine: LayoutEngine, branches: int) -> None:
    heads = " ".join(f"m{n} = MatMul (h, w)  y{n} = Tanh (m{n})" for n in range(branches))
    outputs = ", ".join(f"float[2, 4] y{n}" for n in range(branches))
    model = load_text(f"""
        g (float[2, 4] x) => ({outputs}) <float[4, 4] w>
        {{ a = MatMul (x, w)  h = Relu (a)  {heads} }}
    """)
    scene = Composer(engine).compose(View(model), Labels("facts"))
    tops = [
        {round(box.y) for box in scene.boxes if box.item.path.endswith(kind)}
        for kind in (":Tanh", *(f"y{n}" for n in range(branches)))
    ]
    assert [len(one) for one in tops] == [1] * (branches + 1)
    assert len(set().union(*tops[1:])) == 1
