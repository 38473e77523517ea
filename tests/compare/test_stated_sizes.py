"""Sizes of what a model takes and gives: names alone are no difference, more and fewer are one."""

from __future__ import annotations

import itertools

import pytest
from onnx import ModelProto, TensorProto, helper

import netloupe
from netloupe.commands.diff import read_fail_on
from netloupe.explorer.compare import Diff
from netloupe.explorer.describe.difference_json import encode_diff
from netloupe.explorer.describe.differences import format_diff
from netloupe.explorer.review import make_review

Shape = list[int | str | None] | None
#: shapes of one rank, and none
SHAPES: list[Shape] = [
    None,
    *map(list, itertools.product((None, "n", "m", 2), (None, "n", "k", 3))),
]
PAIRS = [*itertools.permutations(SHAPES, 2)]


def make_model(shape: Shape, place: str) -> ModelProto:
    """Make a model that states a shape of its input, its output or an inner value."""
    stated = {name: ["a", "b"] if name != place else shape for name in ("x", "inner", "y")}
    infos = {
        name: helper.make_tensor_value_info(name, TensorProto.FLOAT, one)
        for name, one in stated.items()
    }
    nodes = [helper.make_node("Relu", ["x"], ["inner"]), helper.make_node("Neg", ["inner"], ["y"])]
    graph = helper.make_graph(nodes, "g", [infos["x"]], [infos["y"]], value_info=[infos["inner"]])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])


def describe(shape: Shape) -> tuple[object, ...] | None:
    """Return what a shape says: numbers, sizes that are not known, and which of these are one."""
    if shape is None:
        return None
    first = {name: place for place, name in reversed([*enumerate(shape)]) if name is not None}
    return tuple(
        size if isinstance(size, int) else (place if size is None else first[size], "open")
        for place, size in enumerate(shape)
    )


def compare(one: Shape, other: Shape, place: str) -> Diff:
    return netloupe.diff(make_model(one, place), make_model(other, place))


@pytest.mark.parametrize("place", ["x", "y"])
def test_a_narrower_or_wider_interface_is_another_structure(place: str) -> None:
    """All pairs of shapes: another name alone is one, which names are equal counts."""
    for one, other in PAIRS:
        found = compare(one, other, place)
        is_same = describe(one) == describe(other)
        assert found.verdict == ("cosmetic" if is_same else "structure"), (one, other)
        assert read_fail_on("structure")[0].applies(found) is not is_same
        assert found.aspects == (["names"] if is_same else []), (one, other)
        assert not found.has_same_interface
        # one fact is one entry, in all forms
        assert len(found.entries) == 1 or not is_same, (one, other)
        assert len(encode_diff(found, most=None)["differences"]) == len(found.entries)
        assert len(make_review(diff=found)) == len(found.entries)
        assert ("Only written otherwise" in format_diff(found)) is is_same


def test_a_size_that_is_open_on_one_side_is_told_once() -> None:
    for sides in ((None, 2), (2, None), ("n", None), (None, "n")):
        one, other = ([size, 4] for size in sides)
        for place in ("x", "y"):
            (entry,) = compare(one, other, place).entries
            assert entry.is_real is (2 in sides)


def test_a_size_that_is_stated_of_an_inner_value_is_only_stated() -> None:
    for one, other in PAIRS:
        sizes = [*zip(one or [], other or [], strict=False)]
        is_other = any(type(a) is not type(b) and None not in (a, b) for a, b in sizes)
        found = compare(one, other, "inner")
        # a number where the other has a name holds for that size alone
        assert found.verdict == ("structure" if is_other else "cosmetic"), (one, other)
        assert len(found.entries) == 1 + (len(found.aspects) > 1 and not is_other), found.aspects


def test_a_name_that_stands_at_two_places_says_more_than_none() -> None:
    """That what a model takes and gives are as long as one another is a promise."""
    sides = []
    for size in (None, "n"):
        graph = helper.make_graph(
            [helper.make_node("Relu", ["x"], ["y"])],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [size])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [size])],
        )
        sides.append(helper.make_model(graph, ir_version=8))
    assert netloupe.diff(*sides).verdict == "structure"


@pytest.mark.parametrize("place", ["x", "y"])
@pytest.mark.parametrize("axis", [0, 40, 69])
def test_no_axis_of_a_long_shape_is_left_out(place: str, axis: int) -> None:
    """More axes than texts show are compared nevertheless."""
    shape: list[int | str | None] = [1] * 70
    other = [*shape]
    other[axis] = 2
    found = compare(shape, other, place)
    assert not found.is_compatible
    assert not found.has_same_interface
    assert read_fail_on("structure")[0].applies(found)
