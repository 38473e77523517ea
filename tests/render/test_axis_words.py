"""What operators do along axes is told by sizes; the number of an axis only where none is known."""

from __future__ import annotations

import re

import onnx.defs
import pytest

from netloupe.explorer.render.axis_words import tell_axes
from tests.onnx_text import load_text
from tests.render.test_size_words import say

#: operators with axes that a picture tells otherwise: by weights, scales, results or other words
_OTHERS = {
    *("CenterCropPad", "ConcatFromSequence", "DFT", "DequantizeLinear", "Flatten", "Pad"),
    *("LayerNormalization", "MeanVarianceNormalization", "OneHot", "QuantizeLinear", "Resize"),
    *("RMSNormalization", "SplitToSequence", "Squeeze", "TensorScatter", "Unique", "Unsqueeze"),
}


def say_of(body: str, dims: str = "2, 6, 9", stored: str = "") -> str:
    """Return the facts on the box of a node ``n`` that takes a value ``x`` of some sizes."""
    stored = f"<{stored}>" if stored else ""
    return " · ".join(say(f"g (float[{dims}] x) => (y) {stored} {{ [n] {body} }}")[1:])


@pytest.mark.parametrize(
    ("body", "dims", "said"),
    [
        ("y = Softmax <axis = 1> (x)", "2, 6, 9", "over 6"),
        ("y = Softmax (x)", "2, 6, 9", "over 9"),
        ("y = LogSoftmax <axis = -2> (x)", "2, 6, T", "over 6"),
        ("y = Hardmax <axis = -1> (x)", "2, 6, T", "over T"),
        ("y = ArgMax <axis = 2> (x)", "2, 6, 9", "over 9"),
        ("y = ArgMin (x)", "4, 6", "over 4"),
        ("y = LpNormalization <axis = 1> (x)", "2, 6, 9", "over 6"),
        ("y = ReduceMax (x)", "2, 6, 9", "over all values"),
        ("y = ReduceMax (x)", "9", "over 9"),
        ("y = Transpose <perm = [0, 2, 1]> (x)", "2, 6, 9", "6 × 9 → 9 × 6"),
        ("y = Transpose <perm = [2, 0, 1]> (x)", "3, 6, 9", "3 × 6 × 9 → 9 × 3 × 6"),
        ("y = Transpose (x)", "3, 6", "3 × 6 → 6 × 3"),
        ("y = Transpose <perm = [0, 2, 1]> (x)", "2, 6, T", "6 × T → T × 6"),
        # equal sizes do not tell which axis goes where
        ("y = Transpose <perm = [0, 2, 1]> (x)", "2, 6, 6", "perm [0, 2, 1]"),
        ("y = Concat <axis = 1> (x, x)", "2, 6, 9", "6 + 6 → 12"),
        ("y = Concat <axis = 1> (x, x, x)", "2, 6, 9", "3 × 6 → 18"),
        ("y = Concat <axis = -1> (x, x)", "2, 6, T", "T + T"),
        ("y = Softmax <axis = 1> (x)", "2, ?, 9", "axis 1"),
        ("y = Transpose <perm = [0, 2, 1]> (x)", "2, ?, 9", "perm [0, 2, 1]"),
        ("y = Concat <axis = 1> (x, x)", "2, ?, 9", "axis 1"),
    ],
)
def test_axes_are_told_by_their_sizes(body: str, dims: str, said: str) -> None:
    assert say_of(body, dims) == said


def test_an_older_softmax_is_over_its_axis_and_all_behind() -> None:
    text = """<ir_version: 7, opset_import: ["": 11]>
    g (float[2, 6, 9] x) => (y) { [n] y = Softmax <axis = 1> (x) }"""
    assert say(text)[1:] == ["over 6 × 9"]


@pytest.mark.parametrize(
    ("body", "stored", "said"),
    [
        ("y = ReduceMean <keepdims = 0> (x, a)", "int64[1] a = {1}", "over 6"),
        ("y = ReduceSum (x, a)", "int64[2] a = {1, 2}", "over 6 × 9"),
        ("y = ReduceSum (x, a)", "int64[3] a = {0, 1, 2}", "over all values"),
        ("y = CumSum (x, a)", "int64 a = {2}", "over 9"),
        ("y, i = TopK (x, k)", "int64[1] k = {4}", "4 largest of 9"),
        ("y, i = TopK <axis = 1, largest = 0> (x, k)", "int64[1] k = {1}", "smallest of 6"),
        ("y, i = TopK (x, k)", "int64[1] k = {9}", "all 9, largest first"),
        ("y = Tile (x, t)", "int64[3] t = {1, 4, 1}", "×4"),
        ("y = Tile (x, t)", "int64[3] t = {1, 4, 2}", "×4 × 2"),
        ("y = Expand (x, t)", "int64[4] t = {5, 2, 6, 9}", "to 5 × 2 × 6 × 9"),
        ("y = Gather <axis = 1> (x, i)", "int64[3] i = {0, 1, 2}", "first 3 of 6"),
        ("y = Gather <axis = 1> (x, i)", "int64[3] i = {1, 3, 5}", "every 2nd of 6, from the 2nd"),
        ("y = Gather <axis = 1> (x, i)", "int64[3] i = {5, 0, 2}", "3 of 6"),
        ("y = Gather <axis = 1> (x, i)", "int64[3] i = {5, 0, 5}", "3 picks of 6"),
        ("y = Gather <axis = 1> (x, i)", "int64[6] i = {5, 4, 3, 2, 1, 0}", "6 reversed"),
        ("y = Gather <axis = 1> (x, i)", "int64[6] i = {5, 4, 3, 2, 0, 1}", "6 in another order"),
        ("y = Gather <axis = 1> (x, i)", "int64[1] i = {1}", "second of 6"),
        ("y = GatherElements <axis = 1> (x, i)", "int64[2, 1, 9] i", "from 6"),
    ],
)
def test_operands_of_axes_and_counts_are_told_by_sizes(body: str, stored: str, said: str) -> None:
    if "=" not in stored:
        text = f"g (float[2, 6, 9] x, {stored}) => (y) {{ [n] {body} }}"
        assert say(text)[1:] == [said]
        return
    assert say_of(body, stored=stored) == said


@pytest.mark.parametrize(
    ("start", "end", "step", "said"),
    [
        (0, 64, 2, "every 2nd of 64"),
        (1, 64, 2, "every 2nd of 64, from the 2nd"),
        (0, 63, 2, "every 2nd of 64"),  # the last is left out anyway
        (0, 62, 2, "0 … 60 of 64, every 2nd"),
        (-1, -(2**63) + 1, -1, "64 reversed"),
        (2, 64, 1, "last 62 of 64"),
        (63, 64, 1, "last of 64"),
        (12, -12, 1, "12 … 51 of 64"),
    ],
)
def test_slices_are_told_by_what_is_taken(start: int, end: int, step: int, said: str) -> None:
    stored = f"int64[1] s = {{{start}}}, int64[1] e = {{{end}}}, int64[1] a = {{1}}"
    stored += f", int64[1] t = {{{step}}}"
    assert say_of("y = Slice (x, s, e, a, t)", "2, 64", stored) == said


def test_a_slice_says_as_many_places_as_it_takes() -> None:
    """All starts, ends and steps of a short axis: what is said has to be what Python takes."""
    size = 7
    for start in range(-size, size):
        for end in range(-size, size + 2):
            for step in (1, 2, 3):
                taken = [*range(size)][start:end:step]
                if not taken or taken == [*range(size)]:
                    continue
                stored = f"int64[1] s = {{{start}}}, int64[1] e = {{{end}}}, int64[1] a = {{0}}"
                stored += f", int64[1] t = {{{step}}}"
                said = say_of("y = Slice (x, s, e, a, t)", str(size), stored)
                assert _read(said, size) == taken, (start, end, step, said)


def _read(said: str, size: int) -> list[int]:
    """Return which places a text tells."""
    every = [*range(size)]
    words = {"first": 1, "second": 2}
    if match := re.fullmatch(rf"(\d+) … (\d+) of {size}(?:, every (\d)..)?", said):
        first, last, step = match.groups()
        return every[int(first) : int(last) + 1 : int(step or 1)]
    if match := re.fullmatch(rf"every (\d).. of {size}(?:, from the (\d)..)?", said):
        return every[int(match[2] or 1) - 1 :: int(match[1])]
    if match := re.fullmatch(rf"(first|last) (\d+) of {size}", said):
        return every[: int(match[2])] if match[1] == "first" else every[-int(match[2]) :]
    match = re.fullmatch(rf"(\w+) of {size}", said)
    assert match is not None, said
    if match[1] == "last":
        return [size - 1]
    return [(words.get(match[1]) or int(match[1][:-2])) - 1]


@pytest.mark.parametrize(
    ("axes", "said"), [("{2, 3}", "over all 8 × 8 places"), ("{1, 3}", "over 4 × 8")]
)
def test_places_of_maps_are_those_beside_the_channels(axes: str, said: str) -> None:
    text = f"""
    g (float[2, 3, 8, 8] x, float[4, 3, 1, 1] w) => (y) <int64[2] a = {axes}> {{
      c = Conv (x, w)
      [n] y = ReduceMean <keepdims = 0> (c, a)
    }}
    """
    assert say(text)[1:] == [said]


def test_what_gets_an_axis_to_be_joined_along_it_is_a_stack() -> None:
    text = """
    g (float[2, 9] x, float[2, 9] z) => (y) <int64[1] a = {1}, int64[1] b = {2}> {
      p = Unsqueeze (x, a)
      q = Unsqueeze (z, OTHER)
      [n] y = Concat <axis = 1> (p, q)
    }
    """
    assert "stack of 2" in say_whole(text.replace("OTHER", "a"))
    mixed = text.replace("[2, 9] z", "[2, 1] z").replace("OTHER", "b")
    assert "stack of 2" not in say_whole(mixed.replace("[2, 9] x", "[2, 1] x"))


def say_whole(text: str) -> str:
    nodes = load_text(text).graph.nodes
    return " · ".join(tell_axes(next(node for node in nodes if node.name == "n")))


def _list_with_axes() -> list[str]:
    found = set()
    for schema in onnx.defs.get_all_schemas():
        operands = {formal.name for formal in schema.inputs}
        if not schema.domain and {"axis", "axes", "perm"} & {*schema.attributes, *operands}:
            found.add(schema.name)
    return sorted(found - _OTHERS)


_INTEGER = {"axes": "{1}", "axis": "{1}", "starts": "{1}", "ends": "{3}", "K": "{2}"}


@pytest.mark.parametrize("op_type", _list_with_axes())
def test_no_operator_tells_the_number_of_an_axis_whose_size_is_known(op_type: str) -> None:
    """Every operator of the specification that has axes, as its schema describes it."""
    schema = onnx.defs.get_schema(op_type)
    operands, stored, given = [], [], ["float[2, 6, 9] x"]
    for formal in schema.inputs:
        if formal.name in _INTEGER:
            shape = "" if op_type in ("CumSum", "CumProd") else "[1]"
            stored.append(f"int64{shape} {formal.name} = {_INTEGER[formal.name]}")
            operands.append(formal.name)
        elif formal.name in ("indices", "condition"):
            kind = "bool[6]" if formal.name == "condition" else "int64[2, 6, 9]"
            given.append(f"{kind} {formal.name}")
            operands.append(formal.name)
        elif formal.option == onnx.defs.OpSchema.FormalParameterOption.Optional:
            operands.append("")
        else:
            operands.append("x")
    attributes = []
    if "axis" in schema.attributes:
        attributes.append("axis = 1")
    if "perm" in schema.attributes:
        attributes.append("perm = [0, 2, 1]")
    if op_type == "Split":
        attributes.append("num_outputs = 2")
    if op_type == "Concat":
        operands = ["x", "x"]
    results = "y, z" if op_type in ("Split", "TopK") else "y"
    told = f"<{', '.join(attributes)}>" if attributes else ""
    text = f"""
    g ({", ".join(given)}) => (y) {f"<{', '.join(stored)}>" if stored else ""} {{
      [n] {results} = {op_type} {told} ({", ".join(operands).rstrip(", ")})
    }}
    """
    said = " · ".join(say(text)[1:])
    assert said
    assert not re.search(r"\b(axis|axes|perm)\b", said), said
