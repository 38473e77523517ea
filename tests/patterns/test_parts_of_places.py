"""Parts of a value: along which axis they lie, and whether they are a series or one row."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.patterns import find_graph_context, recognise
from netloupe.explorer.readers.load import load


def _tell(text: str) -> str:
    graph = load(onnx.parser.parse_model(text)).graph
    found = recognise([*graph.nodes], find_graph_context(graph))
    return found.text if found is not None else ""


_PARTIAL = """
    <ir_version: 10, opset_import: ["" : 21]>
    main (float[1, 12, 10, 10] x) => (float[1, 12, 10, 10] y)
    <int64[4] wide = {IN, IN, 3, 3}, int64[2] sizes = {FIRST, REST}>
    {
      kernel = ConstantOfShape (wide)
      part, others = Split <axis = AXIS> (x, sizes)
      near = Conv <pads = [1, 1, 1, 1]> (part, kernel)
      y = Concat <axis = AXIS> (near, others)
    }
"""


@pytest.mark.parametrize(
    ("axis", "first", "rest", "told"),
    [(1, 4, 8, "Partial convolution, 3×3, 4 channels"), (2, 9, 1, ""), (3, 4, 6, "")],
)
def test_a_partial_convolution_is_of_channels(axis: int, first: int, rest: int, told: str) -> None:
    """One of all places but a row, such as a class token, takes all channels."""
    text = _PARTIAL.replace("AXIS", str(axis)).replace("FIRST", str(first))
    text = text.replace("REST", str(rest)).replace("IN", str(4 if axis == 1 else 12))
    assert (_tell(text) == told) if told else ("Partial" not in _tell(text))


def _write_slices(starts: list[int], length: int, axis: int) -> str:
    lines = ["along = Constant <value = int64[1] {1}> ()"]
    for number, start in enumerate(starts):
        lines += [
            f"s{number} = Constant <value = int64[1] {{{start}}}> ()",
            f"e{number} = Constant <value = int64[1] {{{start + length}}}> ()",
            f"p{number} = Slice (x, s{number}, e{number}, along)",
        ]
    parts = ", ".join(f"p{number}" for number in range(len(starts)))
    return "\n".join([*lines, f"y = Concat <axis = {axis}> ({parts})"])


@pytest.mark.parametrize(
    ("starts", "length", "axis", "told"),
    [
        ([6, 7, 8, 9, 10], 1, 1, "Slice, last 5 of 11"),
        ([0, 2, 4], 2, 1, "Slice, first 6 of 11"),
        ([2, 4, 6], 2, 1, "Slice, 2 … 7 of 11"),
        ([6, 7, 8, 9, 10], 1, 0, "Chunks, 5 of 1"),
        ([0, 3, 6], 2, 1, "Chunks, 3 of 2, hop 3"),
    ],
)
def test_neighbours_that_are_joined_as_they_were_are_one_slice(
    starts: list[int], length: int, axis: int, told: str
) -> None:
    text = f"""
        <ir_version: 10, opset_import: ["" : 21]>
        main (float[4, 11] x) => (float[n, m] y) {{ {_write_slices(starts, length, axis)} }}
    """
    assert _tell(text) == told
