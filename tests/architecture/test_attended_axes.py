"""A sentence says along which axes of a map attentions go."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper

from tests.unrolled import Writer

_WIDTH, _HEIGHT, _ROW = 8, 4, 6
_COLUMNS = [0, 3, 2, 1], [_ROW, _HEIGHT, _WIDTH]
_ROWS = [0, 2, 3, 1], [_HEIGHT, _ROW, _WIDTH]


def shape(writer: Writer, *dims: int) -> str:
    name = "to" + "_".join(map(str, dims))
    if all(tensor.name != name for tensor in writer.tensors):
        writer.tensors.append(numpy_helper.from_array(np.array(dims), name))
    return name


def attend(writer: Writer, value: str, way: tuple[list[int], list[int]], name: str) -> str:
    """Add an attention along one axis of a map, and the sum with what it took."""
    order, rows = way
    turned = writer.add("", "Transpose", value, perm=order)
    taken = writer.add("", "Reshape", turned, shape(writer, *rows))
    query, key, mixed = (
        writer.add("", "MatMul", taken, writer.weight(f"{name}.{one}", _WIDTH, _WIDTH))
        for one in "qkv"
    )
    keys = writer.add("", "Transpose", key, perm=[0, 2, 1])
    scores = writer.add("", "MatMul", query, keys)
    shares = writer.add("", "Softmax", scores, axis=-1)
    mixed = writer.add("", "MatMul", shares, mixed)
    mixed = writer.add("", "MatMul", mixed, writer.weight(f"{name}.o", _WIDTH, _WIDTH))
    apart = writer.add("", "Reshape", mixed, shape(writer, 1, *rows))
    back = writer.add("", "Transpose", apart, perm=[*map(order.index, range(4))])
    return writer.add("", "Add", value, back)


@pytest.mark.parametrize(
    ("ways", "told"),
    [
        ([_COLUMNS, _ROWS], "along height or width"),
        ([_COLUMNS, _COLUMNS], "along height"),
    ],
)
def test_attentions_along_axes(ways: list[tuple[list[int], list[int]]], told: str) -> None:
    writer = Writer("plain")
    writer.inputs = {"x": [1, _WIDTH, _HEIGHT, _ROW]}
    weight = writer.weight("kernel", _WIDTH, _WIDTH, 3, 3)
    value = writer.add("", "Conv", "x", weight, pads=[1] * 4)
    for number, way in enumerate(ways):
        value = attend(writer, value, way, f"a{number}")
    last = writer.weight("last", _WIDTH, _WIDTH, 3, 3)
    writer.outputs = [writer.add("", "Conv", value, last, pads=[1] * 4)]
    sentence = writer.load().architecture.sentence or ""
    assert told in sentence
    assert ("or width" in sentence) == ("width" in told)
