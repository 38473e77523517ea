"""Stages whose members an author put into lists side by side, or into a list of lists."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from netloupe.explorer.grouping import Group, find_tree
from tests.unrolled import WIDTH, Writer


def find_children(members: Sequence[str]) -> list[str]:
    """Return the labels of the groups of a graph whose modules have some names, in order."""
    writer = Writer()
    writer.inputs = {"x": [WIDTH, WIDTH]}
    value = "x"
    for number, scope in enumerate(members):
        weight = writer.weight(f"w{number}", WIDTH, WIDTH)
        value = writer.add(scope, "MatMul", value, weight)
        # members are unlike, so that none are one stack
        for op_type in ("Tanh", "Sigmoid", "Relu", "Erf", "Sin", "Cos", "Exp")[: 1 + number % 7]:
            value = writer.add(scope, op_type, value)
    writer.outputs = [value]
    model = writer.load()
    root = find_tree(model, model.graph).root
    return [child.label for child in root.children if isinstance(child, Group)]


_IN_TURN = ["patch.0", "block.0.0", "block.0.1", "norm.0", "patch.1", "block.1.0", "norm.1"]


def test_what_lists_number_alike_is_one_stage() -> None:
    assert find_children([*_IN_TURN, "head"]) == ["Stage 1", "Stage 2", "head"]


def test_a_list_of_lists_has_its_own_names() -> None:
    names = ["stem", "downs.0.0", "downs.0.1", "downs.1.0", "downs.1.1", "downs.1.2"]
    assert find_children(names) == ["stem", "downs.0", "downs.1"]


def test_a_number_may_stand_in_the_name_itself() -> None:
    names = [name.replace(".", "", 1) for name in _IN_TURN]
    assert find_children(names) == ["Stage 1", "Stage 2"]


def test_a_stage_without_one_of_the_lists_is_one_too() -> None:
    names = ["block.0.0", "block.0.1", "patch.1", "block.1.0", "patch.2", "block.2.0"]
    assert find_children(names) == ["Stage 1", "Stage 2", "Stage 3"]


@pytest.mark.parametrize(
    "names",
    [
        # not one after the other
        ["patch.0", "patch.1", "block.0.0", "block.0.1", "block.1.0", "block.1.1"],
        # no list in a list: layers and their norms
        ["layer.0", "norm.0", "layer.1", "norm.1"],
        # a stage of one member
        ["block.0.0", "block.1.0", "block.1.1"],
    ],
)
def test_others_are_none(names: list[str]) -> None:
    assert find_children(names) == names
