"""What a closed box says of a module whose only module with layers has a class of its author."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping.inner_parts import list_inner_stages
from netloupe.explorer.grouping.tree import build_group_tree
from netloupe.explorer.model import Model
from netloupe.explorer.patterns import WORK, Ingredient
from netloupe.explorer.render.contents_words import write_contents

from .test_class_pieces import Typed, mix


def wrap(kind: str, *, beside: bool = False) -> Model:
    """Return a mixing in a module of a class that a norm, and perhaps a layer, stands around."""
    net = Typed()
    x = net.take("x", (1, 6, 8))
    net.within(0, ("stem", "Stem"))
    start = len(net.nodes)
    normed = net.norm(x, 8)
    normed = net.linear(normed, 8, 8) if beside else normed
    net.within(start, ("block", "PreNorm"))
    start = len(net.nodes)
    mixed = mix(net, normed)
    net.within(start, ("block", "PreNorm"), ("block.fn", kind))
    start = len(net.nodes)
    given = net.linear(net.add("Relu", net.add("Add", x, mixed)), 8, 8)
    net.within(start, ("head", "Head"))
    return net.finish(given)


@pytest.mark.parametrize(
    ("kind", "beside", "told"),
    [
        ("OddMixing", False, "OddMixing"),
        ("OddMixing", True, "PreNorm"),  # it is not all that works
    ],
)
def test_a_module_is_called_as_the_only_one_in_it_with_layers(
    kind: str, beside: bool, told: str
) -> None:
    tree = build_group_tree(wrap(kind, beside=beside).graph)
    stages = list_inner_stages(tree.root)
    assert told in stages.names
    assert ({"OddMixing", "PreNorm"} - {told}).isdisjoint(stages.names)


def test_the_class_stands_before_what_is_counted() -> None:
    tree = build_group_tree(wrap("OddMixing").graph)
    group = next(one for path, one in tree.groups.items() if path.endswith("/block/"))

    def write(most: int) -> str:
        return write_contents(
            group.contents,
            lambda text: len(text) <= most,
            find_stages=lambda: list_inner_stages(group),
        ).parts

    assert write(60).startswith("OddMixing: ")
    assert not write(12).startswith("OddMixing: ")


def test_a_layer_is_no_class() -> None:
    parts = [
        Ingredient("Einsum", "Einsum", WORK, before=frozenset({0, 1})),
        *(Ingredient("Linear", "linear", WORK) for _ in range(3)),
    ]
    assert ":" not in write_contents(parts, lambda text: len(text) <= 40).parts
