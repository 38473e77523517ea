"""What joins a stream and is no feature of it is named where what is done with it tells."""

from __future__ import annotations

import pytest

from netloupe.explorer.view import View
from netloupe.explorer.view.operand_names import name_joining_values
from tests.onnx_text import load_text
from tests.view.test_places_alone import POOLS
from tests.view.test_value_names import Row, make_model


def _layer(number: int, query: str, memory: str) -> list[Row]:
    """Return one layer of attention in a module, whose result has the number behind its own."""
    module, end = f"decoder/layers.{number}", str(number + 1)
    rows: list[Row] = [
        ("MatMul", f"{module}/q", [query, "w"], f"q{end}"),
        ("MatMul", f"{module}/k", [memory, "w"], f"k{end}"),
        ("MatMul", f"{module}/v", [memory, "w"], f"v{end}"),
        ("Transpose", module, [f"k{end}"], f"kt{end}"),
        ("MatMul", module, [f"q{end}", f"kt{end}"], f"s{end}"),
        ("Softmax", module, [f"s{end}"], f"p{end}"),
        ("MatMul", module, [f"p{end}", f"v{end}"], f"o{end}"),
        ("Add", module, [f"o{end}", query], f"h{end}"),
        ("MatMul", f"{module}/out", [f"h{end}", "w"], f"y{end}"),
    ]
    return rows


def _list_names(rows: list[Row], inputs: list[str]) -> dict[str, str]:
    """Return what values are called that closed boxes at the top take beside others."""
    view = View(make_model(rows, inputs, [rows[-1][3]]))
    links = view.links(view.root)
    named = name_joining_values(view, view.root, links)
    return {links[number].value.name: name for number, name in named.items()}


def _encode(taken: str, result: str) -> list[Row]:
    return [
        ("MatMul", "encoder/a", [taken, "w"], f"{result}_a"),
        ("Relu", "encoder", [f"{result}_a"], f"{result}_b"),
        ("MatMul", "encoder/b", [f"{result}_b", "w"], result),
    ]


def test_what_is_attended_to_is_keys_and_values() -> None:
    rows = [*_encode("x", "memory"), ("MatMul", "embed", ["t", "w"], "y0")]
    rows += [row for n in range(3) for row in _layer(n, f"y{n}", "memory")]
    assert _list_names(rows, ["x", "t"]) == {"memory": "keys, values"}


def test_what_asks_is_no_keys_and_values() -> None:
    rows = [*_encode("x", "memory"), ("MatMul", "embed", ["t", "w"], "y0")]
    rows += [row for n in range(3) for row in _layer(n, "memory", f"y{n}")]
    assert "memory" not in _list_names(rows, ["x", "t"])


def test_what_attends_to_itself_is_no_keys_and_values() -> None:
    rows = [*_encode("x", "memory"), ("MatMul", "embed", ["t", "w"], "y0")]
    for number in range(3):
        layer = _layer(number, "memory", "memory")
        layer[7] = ("Add", layer[7][1], [layer[7][2][0], f"y{number}"], layer[7][3])
        rows += layer
    assert "memory" not in _list_names(rows, ["x", "t"])


def test_what_is_added_to_the_scores_is_their_bias() -> None:
    rows = [*_encode("x", "bias"), ("MatMul", "embed", ["t", "w"], "y0")]
    for number in range(3):
        layer = _layer(number, f"y{number}", f"y{number}")
        end = str(number + 1)
        layer.insert(5, ("Add", f"decoder/layers.{number}", [f"s{end}", "bias"], f"b{end}"))
        layer[6] = ("Softmax", layer[6][1], [f"b{end}"], layer[6][3])
        rows += layer
    assert _list_names(rows, ["x", "t"]) == {"bias": "attention bias"}


@pytest.mark.parametrize("place", [0, 1])
def test_indices_are_told_from_what_was_taken(place: int) -> None:
    view = View(load_text(POOLS))
    links = view.links(view.root)
    named = {
        links[n].value.name: name for n, name in name_joining_values(view, view.root, links).items()
    }
    assert named.get(("low", "where")[place], "") == ("", "indices")[place]
