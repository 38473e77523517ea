"""Nodes that do the same with something else are not the same."""

from __future__ import annotations

import pytest

from netloupe.explorer.compare import diff
from tests.onnx_text import load_text

BASE = """g (float[n] x) => (float[n] y) {
    [a] p = Relu (x) [b] q = Tanh (x) [c] r = Sub (p, q) [d] s = Exp (r) [e] y = Neg (s) }"""


def list_rewired(left: str, right: str) -> list[tuple[str, str, object, object]]:
    found = diff(load_text(left), load_text(right))
    return [
        (one.pair.left[0].path, change.what, change.left, change.right)
        for one in found.nodes
        for change in one.changes
        if not change.aspect
    ]


def test_operands_in_another_order_are_others() -> None:
    swapped = BASE.replace("Sub (p, q)", "Sub (q, p)")
    assert list_rewired(BASE, swapped) == [
        ("main/c", "input 0", "main/a", "main/b"),
        ("main/c", "input 1", "main/b", "main/a"),
    ]
    found = diff(load_text(BASE), load_text(swapped))
    assert found.verdict == "structure"
    assert found.states == {found.right.node("c"): "changed"}


def test_where_the_order_does_not_matter_it_is_one_alone() -> None:
    left = BASE.replace("Sub", "Add")
    right = left.replace("(p, q)", "(q, p)")
    assert not list_rewired(left, right)
    found = diff(load_text(left), load_text(right))
    assert (found.verdict, found.aspects) == ("cosmetic", ["order"])
    assert diff(load_text(left), load_text(right), ignore=["order"]).verdict == "identical"


def test_an_operand_from_another_node_makes_another_structure() -> None:
    right = BASE.replace("Exp (r)", "Exp (p)").replace("Neg (s)", "Sub (s, r)")
    assert diff(load_text(BASE), load_text(right)).verdict == "structure"


@pytest.mark.parametrize("between", ["Identity", "Tanh"])
def test_what_is_put_between_is_told_as_added_alone(between: str) -> None:
    right = BASE.replace("[d] s = Exp (r)", f"[new] r2 = {between} (r) [d] s = Exp (r2)")
    assert not list_rewired(BASE, right)


def test_an_output_that_another_node_gives_is_another_one() -> None:
    outer = """g (float[n] x) => (float[n] y, float[n] z) {
        [a] p = Relu (x) [b] q = Tanh (p) [c] y = Neg (q) [d] z = Exp (p) }"""
    right = outer.replace("y = Neg", "t = Neg").replace("z = Exp", "y = Exp")
    right = right.replace("t = Neg", "z = Neg")
    found = diff(load_text(outer), load_text(right))
    assert [change.what for change in found.about if not change.aspect] == [
        "what gives output y",
        "what gives output z",
    ]
    assert found.verdict == "structure"


def test_another_weight_of_the_same_model_is_another_one() -> None:
    text = """g (float[2] x) => (float[2] y)
        <float[2] u = {1, 2}, float[2] v = {3, 4}>
        { [a] p = Mul (x, u) [b] q = Tanh (p) [c] r = Div (q, v) [d] y = Sub (r, u) }"""
    right = text.replace("Sub (r, u)", "Sub (r, v)")
    assert list_rewired(text, right) == [("main/d", "input 1", "main/%u", "main/%v")]
