"""Modules that call another one whose name says nothing, with a norm and a sum around it."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, find_tree
from netloupe.explorer.model import Node
from tests.unrolled import WIDTH, Writer


def find_block(outer: str, inner: str, *, beside: str = "LayerNormalization") -> list[str]:
    """Return what one of three blocks shows: a norm, what a module calls, a sum.

    Parameters
    ----------
    outer
        What is around, in the block; "" for the block itself.
    inner
        The name of what is called.
    beside
        What stands before it.
    """
    writer = Writer()
    writer.inputs = {"x": [WIDTH, WIDTH]}
    value = "x"
    for number in range(3):
        block = "/".join(filter(None, (f"layers.{number}", outer)))
        called = f"{block}/{inner}"
        scale = writer.weight(f"s{number}", WIDTH)
        taken = [value, scale] if beside == "LayerNormalization" else [value]
        given = writer.add(block if outer else f"{block}/norm", beside, *taken)
        for name in ("key", "value", "out"):
            weight = writer.weight(f"{name}{number}", WIDTH, WIDTH)
            given = writer.add(f"{called}/{name}", "MatMul", given, weight)
            given = writer.add(f"{called}/{name}", "Sin", given)
            given = writer.add(called, "Cos" if name == "key" else "Exp", given)
        value = writer.add(f"layers.{number}", "Add", value, given)
        if outer:
            weight = writer.weight(f"second{number}", WIDTH, WIDTH)
            value = writer.add(f"layers.{number}/second", "MatMul", value, weight)
    writer.outputs = [writer.add("head", "MatMul", value, writer.weight("h", WIDTH, WIDTH))]
    model = writer.load()
    root = find_tree(model, model.graph).root
    stack = next(one for one in root.inner_groups() if one.kind == "repeat")
    block = stack.children[stack.exemplar]
    assert isinstance(block, Group)
    return [one.operator.form if isinstance(one, Node) else one.label for one in block.children]


_SPREAD = ["LayerNormalization", "key", "Cos", "value", "Exp", "out", "Exp", "Add"]


@pytest.mark.parametrize("inner", ["fn", "net", "fn.module", "layers"])
def test_what_a_block_calls_is_in_its_frame(inner: str) -> None:
    assert find_block("", inner) == _SPREAD


def test_a_name_that_says_something_stays() -> None:
    assert find_block("", "mixer") == ["LayerNormalization", "mixer", "Add"]


def test_one_frame_of_two_has_the_outer_name() -> None:
    assert find_block("first", "fn") == ["LayerNormalization", "first", "Add", "MatMul"]


def test_what_computes_beside_it_keeps_both() -> None:
    assert find_block("first", "fn", beside="Erf") == ["first", "Add", "MatMul"]
