"""In a level of very many boxes what follows a layer without weights joins its box."""

from __future__ import annotations

from random import Random

import pytest

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Node

from .test_spilled_ideas import build, list_operators

_BENT = "[Relu_#] x+ = Relu (d#)"
_POOLED = "[MaxPool_#] x+ = MaxPool <kernel_shape = [1, 1]> (d#)"
_JOINED = "[Resize_#] r# = Resize (d#, , once) [Concat_#] x+ = Concat <axis = 2> (r#, x#)"


def _build(levels: int, follow: str) -> list[Group | Node]:
    """Return the children of a network of unlike stages, with something behind each of them."""
    draw = Random(3)
    stages = ""
    for n in range(levels):
        first, second = draw.sample(["Tanh", "Elu", "Selu", "Softplus", "Softsign", "Erf"], 2)
        stages += (
            f"[s{n}__Conv] a{n} = Conv (x{n}, k)  [s{n}__{first}] b{n} = {first} (a{n})"
            f"[s{n}__{second}] c{n} = {second} (b{n})  [s{n}__Conv_1] d{n} = Conv (c{n}, k)"
        ) + follow.replace("#", str(n)).replace("x+", f"x{n + 1}")
    root = build(f"""
        crowd (float[1, 4, 64, 64] x0) => (float y)
        <int64[4] shape = {{4, 4, 1, 1}}, float[4] once = {{1, 1, 2, 2}}>
        {{ [make] k = ConstantOfShape (shape)  {stages}  [last__Conv] y = Conv (x{levels}, k) }}
    """).root
    return root.children


def _count(children: list[Group | Node], op_type: str) -> int:
    return sum(isinstance(child, Node) and child.op_type == op_type for child in children)


@pytest.mark.parametrize(
    ("follow", "op_type"), [(_BENT, "Relu"), (_POOLED, "MaxPool"), (_JOINED, "Resize")]
)
def test_what_follows_a_stage_joins_it_where_there_are_very_many(follow: str, op_type: str) -> None:
    few = _build(9, follow)
    assert _count(few, op_type) >= 4
    many = _build(24, follow)
    assert _count(many, op_type) < 4  # beside a stack they stay
    last = next(child for child in many if isinstance(child, Group) and child.label == "s23")
    assert op_type in list_operators(last)


def test_a_map_that_several_take_joins_what_puts_it_together() -> None:
    """That a stage gives to others, too, keeps a resizing from it."""
    follow = (
        "[Resize_#] r# = Resize (d#, , once) [side_#__Conv] o# = Conv (d#, k)"
        "[Concat_#] x+ = Concat <axis = 2> (r#, o#)"
    )
    many = _build(24, follow)
    labels = [child.label for child in many if isinstance(child, Group)]
    assert labels.count("Resize · Concat") > 8
    assert _count(many, "Resize") < 4  # beside a stack they stay
    # a sum is drawn as a circle, and joins nothing
    summed = _build(24, follow.replace("Concat <axis = 2>", "Add").replace("Concat_", "Add_"))
    assert _count(summed, "Resize") > 8
