"""Networks that give the density of a normalizing flow are called so, and no others."""

from __future__ import annotations

import math

import pytest

from tests.flows import make_undone
from tests.onnx_text import load_text

_CONSTANT = -4 * math.log(2 * math.pi)


@pytest.mark.parametrize(
    ("scaled", "summed", "constant", "is_flow"),
    [
        ("z = Div (x, scale)", "logs = Log (scale)", _CONSTANT, True),
        ("logs = Tanh (made)  factor = Exp (logs)  z = Mul (x, factor)", "", _CONSTANT, True),
        # logarithms of what nothing is scaled by, and a sum of squares that is no density
        ("z = Add (x, scale)", "logs = Log (scale)", _CONSTANT, False),
        ("z = Div (x, scale)", "logs = Log (scale)", -3.0, False),
    ],
)
def test_a_density_and_the_logarithms_of_scales(
    scaled: str, summed: str, constant: float, *, is_flow: bool
) -> None:
    weights = ", ".join(map(str, range(64)))
    model = load_text(
        f"""
        <ir_version: 10, opset_import: ["": 21]>
        graph (float[4, 8] x) => (float[4] y)
        <float[8, 8] first = {{{weights}}}, float[8, 8] second = {{{weights}}}, float two = {{2}},
         float half = {{0.5}}, float constant = {{{constant}}}, int64[1] last = {{1}}> {{
            h = MatMul (x, first)   a = Relu (h)   made = MatMul (a, second)
            scale = Sigmoid (made)  {scaled}       {summed}
            squares = Pow (z, two)  halves = Mul (squares, half)
            total = ReduceSum <keepdims = 0> (halves, last)   density = Sub (constant, total)
            sum = ReduceSum <keepdims = 0> (logs, last)       y = Sub (density, sum)
        }}
        """
    )
    assert model.architecture.sentence.startswith("Normalizing flow") == is_flow


@pytest.mark.parametrize(
    ("binned", "summed", "is_spline"),
    [
        ("bins = Softmax (made)", "logs = Log (slopes)", True),
        ("bins = Softmax (made)", "all = Log (slopes)  logs = Where (inside, all, zero)", True),
        ("bins = Sigmoid (made)", "logs = Log (slopes)", False),  # of no bins
        ("bins = Softmax (made)", "logs = Abs (slopes)", False),
    ],
)
def test_slopes_of_splines_are_those_of_a_flow(
    binned: str, summed: str, *, is_spline: bool
) -> None:
    """C. Durkan and others, Neural Spline Flows, 2019, section 3.1."""
    weights = ", ".join(map(str, range(64)))
    model = load_text(
        f"""
        <ir_version: 10, opset_import: ["": 21]>
        graph (float[4, 8] x) => (float[4] y)
        <float[8, 8] first = {{{weights}}}, float[8, 8] second = {{{weights}}}, float two = {{2}},
         float half = {{0.5}}, float constant = {{{_CONSTANT}}}, int64[1] last = {{1}},
         float zero = {{0}}, int64 axis = {{1}}> {{
            h = MatMul (x, first)   a = Relu (h)   made = MatMul (a, second)
            {binned}   edges = CumSum (bins, axis)   far = Sub (x, edges)   z = Add (far, edges)
            square = Mul (far, far)   slopes = Add (square, bins)   inside = Less (x, two)
            {summed}
            squares = Pow (z, two)  halves = Mul (squares, half)
            total = ReduceSum <keepdims = 0> (halves, last)   density = Sub (constant, total)
            sum = ReduceSum <keepdims = 0> (logs, last)       y = Add (density, sum)
        }}
        """
    )
    told = model.architecture.sentence
    assert told.startswith("Normalizing flow of monotone splines") == is_spline


def test_what_each_layer_of_a_stack_is_used_for_is_told_of_each() -> None:
    """Not of all layers together, as if these were used again and again one after another."""
    sentence = make_undone(layers=6).architecture.sentence
    assert "6 steerers (each " in sentence
    assert sentence.count("each used 4 times") == 1
