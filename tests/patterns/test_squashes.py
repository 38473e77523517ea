"""Squashing of capsules, in every order in which programs write it."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.patterns import recognise
from netloupe.explorer.readers.load import load

_SQUARE = "q = Mul (x, x) s = ReduceSum (q, last) above = Add (s, one)"
_FORMS = {
    # as most programs have it, and as legacy exports of those with x.norm()
    "a share of the direction": f"{_SQUARE} a = Div (s, above) b = Mul (a, x) r = Sqrt (s) "
    "e = Add (r, least) y = Div (b, e)",
    "the share last": f"{_SQUARE} r = Sqrt (s) u = Div (x, r) a = Div (s, above) y = Mul (a, u)",
    "one divisor": f"{_SQUARE} e = Add (s, least) r = Sqrt (e) b = Mul (x, s) d = Mul (above, r) "
    "y = Div (b, d)",
    "reduced": f"{_SQUARE} r = Sqrt (s) a = Div (r, above) y = Mul (x, a)",
    "a power": f"{_SQUARE} r = Pow (s, half) a = Div (r, above) y = Mul (x, a)",
    "its length": "n = ReduceL2 (x, last) s = Pow (n, two) above = Add (s, one) a = Div (s, above) "
    "u = Div (x, n) y = Mul (a, u)",
    "its length twice": "n = ReduceL2 (x, last) s = Mul (n, n) above = Add (one, s) "
    "a = Div (s, above) m = ReduceL2 (x, last) k = Max (m, least) u = Div (x, k) y = Mul (a, u)",
    "an operator for squares": "s = ReduceSumSquare (x, last) above = Add (s, one) r = Sqrt (s) "
    "i = Reciprocal (above) a = Mul (r, i) y = Mul (x, a)",
}


def name(body: str) -> str:
    """Return what nodes in ONNX's text form are."""
    text = (
        '<ir_version: 8, opset_import: ["": 18]> g (float[2, 10, 16] x) => (float[2, 10, 16] y) '
        "<float one = {1}, float two = {2}, float half = {0.5}, float least = {0.00001}, "
        f"int64[1] last = {{-1}}, int64[1] first = {{1}}> {{ {body} }}"
    )
    found = recognise(list(load(onnx.parser.parse_model(text).SerializeToString()).graph.nodes))
    return found.name if found is not None else ""


@pytest.mark.parametrize("form", _FORMS)
def test_a_squash_is_told_in_all_forms(form: str) -> None:
    assert name(_FORMS[form]) == "Squash"


@pytest.mark.parametrize(
    "body",
    [
        # of the length, not its square
        "n = ReduceL2 (x, last) above = Add (n, one) y = Div (x, above)",
        # a length of other elements
        (
            "n = ReduceL2 (x, last) s = ReduceSumSquare (x, first) above = Add (s, one) "
            "a = Div (n, above) y = Mul (x, a)"
        ),
        # what is large keeps nothing from 0
        f"{_SQUARE} r = Sqrt (s) e = Add (r, half) a = Div (e, above) y = Mul (x, a)",
        # the length alone
        f"{_SQUARE} a = Div (s, above) y = Mul (x, a)",
        # longer than 1
        f"{_SQUARE} r = Sqrt (s) a = Mul (r, above) y = Mul (x, a)",
    ],
)
def test_what_else_is_made_of_a_length_is_no_squash(body: str) -> None:
    assert name(body) != "Squash"
