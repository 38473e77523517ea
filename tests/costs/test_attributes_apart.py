"""Nodes that differ in an attribute alone: what follows of one is not said of the other."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.checks import check
from netloupe.explorer.costs.costs import analyze
from netloupe.explorer.costs.facts import Dims
from tests.onnx_text import load_text

_HEADER = (
    '<ir_version: 10, opset_import: ["": 21, "ai.onnx.ml": 3, "com.microsoft": 1, "own": 1]>\n'
)


def find_dims(text: str) -> dict[str, Dims | None]:
    """Return the shapes of the outputs of a model."""
    model = load_text(text)
    found = analyze(model)
    facts = found.frames_of(model.graph)[0].facts
    return {value.name: found.facts.of(facts[value]).dims for value in model.graph.outputs}


def test_groups_of_transposed_convolutions() -> None:
    calls = "".join(f"y{g} = ConvTranspose <group = {g}> (x, w)\n" for g in (1, 2, 4))
    outputs = ", ".join(f"float[1, C{g}, 9, 9] y{g}" for g in (1, 2, 4))
    text = f"{_HEADER}g (float[1,4,8,8] x, float[4,3,2,2] w) => ({outputs}) {{\n{calls}}}"
    assert find_dims(text) == {f"y{g}": (1, 3 * g, 9, 9) for g in (1, 2, 4)}


def test_columns_of_packed_weights() -> None:
    calls = "".join(
        f"y{n} = com.microsoft.MatMulNBits <K = 64, N = {n}, block_size = 32> (x, w, s)\n"
        for n in (16, 32)
    )
    text = f"""{_HEADER}g (float[2, 64] x, uint8[A, B, C] w, float[D] s)
    => (float[2, E] y16, float[2, F] y32) {{\n{calls}}}"""
    assert find_dims(text) == {"y16": (2, 16), "y32": (2, 32)}


def test_linear_models_of_one_input() -> None:
    def call(count: int) -> str:
        learned = ", ".join(["0.5"] * 5 * count)
        attributes = f"coefficients = [{learned}], targets = {count}"
        return f"y{count} = ai.onnx.ml.LinearRegressor <{attributes}> (x)"

    text = f"""{_HEADER}g (float[3, 5] x) => (float[3, A] y1, float[3, B] y2) {{
    {call(1)}\n{call(2)} }}"""
    model = load_text(text)
    assert model.costs().macs == 3 * 5 * 1 + 3 * 5 * 2


@pytest.mark.parametrize(("op_type", "attribute"), [("Conv", "group"), ("LSTM", "hidden_size")])
def test_calls_of_functions_that_are_named_as_operators(op_type: str, attribute: str) -> None:
    text = f"""{_HEADER}g (float[1, 8] x) => (float[A, B] y0, float[C, D] y1) {{
        y0 = own.{op_type} <{attribute} = 0> (x)
        y1 = own.{op_type} <{attribute} = 1> (x)
    }}
    <domain: "own", opset_import: ["": 21]>
    {op_type} <{attribute}> (x) => (y) {{ y = Concat <axis: int = @{attribute}> (x, x) }}"""
    assert onnx.parser.parse_model(text).functions
    assert find_dims(text) == {"y0": (2, 8), "y1": (1, 16)}


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("Conv <group = 2> (x, w)", "Conv <group = 4> (x, w)", "is for 8 with group 4"),
        ("ConvTranspose <group = 2> (x, v)", "ConvTranspose <group = 3> (x, v)", "by group 3"),
    ],
)
def test_the_second_of_two_that_are_nearly_alike_is_judged(
    right: str, wrong: str, said: str
) -> None:
    text = f"""{_HEADER}g (float[1,4,8,8] x, float[6,2,1,1] w, float[4,2,1,1] v)
    => (float[1, A, 8, 8] one, float[1, B, 8, 8] two) {{ one = {right} two = {wrong} }}"""
    (found,) = check(load_text(text), select=["NL-T14"])
    assert said in found.message
    assert found.count == 1
