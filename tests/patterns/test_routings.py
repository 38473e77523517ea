"""Routing by agreement, written with products of matrices; and attention that resembles it."""

from __future__ import annotations

import pytest

from netloupe.explorer.architecture import describe_architecture
from netloupe.explorer.model import Model
from tests.onnx_text import load_text

_SQUASH = """
    p{n} = Pow (s{n}, two)  q{n} = ReduceSum (p{n}, features)  r{n} = Add (q{n}, one)
    t{n} = Div (q{n}, r{n})  u{n} = Sqrt (q{n})  v{n} = Div (t{n}, u{n})  c{n} = Mul (v{n}, s{n})
"""
_UPDATE = """
    m{n} = Transpose <perm = [0, 2, 1]> (c{before})  a{n} = MatMul (votes, m{n})
    b{n} = Add (b{before}, a{n})  w{n} = Softmax <axis = 1> (b{n})
    k{n} = Where (is_padding, none, w{n})  z{n} = Transpose <perm = [0, 2, 1]> (k{n})
    s{n} = MatMul (z{n}, votes)
"""


def route(updates: int, query: str = "") -> Model:
    """Capsules of which each iteration but the first compares votes with the sum before."""
    steps = [_SQUASH.format(n=0)]
    for number in range(1, updates + 1):
        update = _UPDATE.format(n=number, before=number - 1)
        steps += [update.replace(f"(c{number - 1})", f"({query})") if query else update]
        steps.append(_SQUASH.format(n=number))
    return load_text(f"""
        g (float[2, 20, 16] x, bool[2, 20, 1] is_padding) => (float y)
        <int64[2] square = {{16, 16}}, int64[3] scores = {{2, 20, 4}}, float two = {{2}},
         float one = {{1}}, float none = {{0}}, int64[1] features = {{-1}}>
        {{ w = ConstantOfShape (square)  votes = MatMul (x, w)  wq = ConstantOfShape (square)
           other = MatMul (x, wq)  b0 = ConstantOfShape (scores)
           w0 = Softmax <axis = 1> (b0)  z0 = Transpose <perm = [0, 2, 1]> (w0)
           s0 = MatMul (z0, votes)  {"".join(steps)}  y = Identity (c{updates}) }}
    """)


@pytest.mark.parametrize("updates", [1, 2, 4])
def test_iterations_are_counted_with_the_first(updates: int) -> None:
    # S. Sabour and others, Dynamic Routing Between Capsules, 2017, procedure 1
    sentence = describe_architecture(route(updates)).sentence
    assert f"routing by agreement in {updates + 1} iterations" in sentence
    assert "ttention" not in sentence


def test_queries_of_a_layer_are_no_sum_of_what_they_are_compared_with() -> None:
    sentence = describe_architecture(route(1, query="other")).sentence
    assert "routing" not in sentence
