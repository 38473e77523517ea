"""Nodes between named layers that take nothing from these do not break what repeats."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.model import Node

from .test_repeats import Builder, repeats
from .test_tree import check_tree, outline

_MIXERS = {
    "a": ("Sigmoid", "Softplus", "Exp", "Log"),
    "b": ("Tanh", "Elu", "Abs", "Sqrt"),
    "c": ("Relu", "Selu", "Sin", "Cos"),
}


def write_layers(kinds: str, masks: dict[int, str]) -> GroupTree:
    """Return the groups of layers of some kinds, with three nodes of a mask behind some of them.

    The masks are made of an input, or of what the layer before them gives; all the layers behind
    them take them.
    """
    builder = Builder()
    x, mask = builder.add("Exp", "x", name="/Exp"), "x"
    for number, kind in enumerate(kinds):
        inner = x
        for op in _MIXERS[kind]:
            inner = builder.add(op, inner, name=f"/layers.{number}/{op}")
        inner = builder.add("Mul", inner, mask, name=f"/layers.{number}/Mul")
        x = builder.add("Add", x, inner, name=f"/layers.{number}/Add")
        if number in masks:
            mask = x if masks[number] == "stream" else "x"
            for op in ("Floor", "Sign", "Not"):
                mask = builder.add(op, mask, name=f"/{op}_{number}")
    tree = build_group_tree(builder.load(builder.add("Neg", x, name="/out/Neg")), "names")
    check_tree(tree)
    return tree


def list_between(tree: GroupTree) -> list[Node]:
    """Return the nodes of masks that are in no group."""
    masks = ("Floor", "Sign", "Not")
    children = tree.root.children
    return [child for child in children if isinstance(child, Node) and child.op_type in masks]


@pytest.mark.parametrize("turns", [2, 3, 5])
@pytest.mark.parametrize("period", ["a", "ab", "aab", "aaab", "abac"])
@pytest.mark.parametrize("behind", ["first", "middle", "both"])
def test_a_mask_between_layers_does_not_break_their_turns(
    turns: int, period: str, behind: str
) -> None:
    middle = (turns * len(period) - 1) // 2
    places = {"first": [0], "middle": [middle], "both": [0, middle]}[behind]
    tree = write_layers(period * turns, dict.fromkeys(places, "input"))
    whole = write_layers(period * turns, {})
    (repeat,), (expected,) = repeats(tree), repeats(whole)
    assert len(repeat.children) == len(expected.children) == turns
    assert repeat.label == expected.label
    assert [outline(tree, block) for block in repeat.children if isinstance(block, Group)] == [
        outline(whole, block) for block in expected.children if isinstance(block, Group)
    ]
    assert len(list_between(tree)) == 3 * len({*places})
    assert all(tree.position_of(node) < repeat.low for node in list_between(tree))


@pytest.mark.parametrize("period", ["aab", "aaab"])
def test_what_takes_from_the_layers_stays_between_them(period: str) -> None:
    """A mask that is made of the second layer's result belongs where it is."""
    tree = write_layers(2 * period, {1: "stream"})
    nodes = list_between(tree)
    assert len(nodes) == 3
    order = [child.label if isinstance(child, Group) else child for child in tree.root.children]
    layers = [label for label in order[: order.index(nodes[0])] if isinstance(label, str)]
    assert layers[-1] in {"layers.1", "layers.0 … layers.1"}
    assert len({*repeats(tree)}) != 1 or len(next(repeats(tree)).children) < 2 * len(period)


def test_what_stands_before_each_layer_stays_with_it() -> None:
    """Where the layers repeat with the nodes between them, these belong to the repeat."""
    builder = Builder()
    x = builder.add("Exp", "x", name="/Exp")
    for number in range(5):
        bias = builder.add("Floor", "x", name=f"/Floor_{number}")
        inner = builder.add("Tanh", x, name=f"/layers.{number}/Tanh")
        inner = builder.add("Mul", inner, bias, name=f"/layers.{number}/Mul")
        x = builder.add("Add", x, inner, name=f"/layers.{number}/Add")
    tree = build_group_tree(builder.load(builder.add("Neg", x, name="/out/Neg")), "names")
    check_tree(tree)
    (repeat,) = repeats(tree)
    assert len(repeat.children) == 5
    assert sum(node.op_type == "Floor" for node in tree.order[repeat.low : repeat.high]) >= 4
