"""Attention says along which axis of a map it goes, where the others are a batch."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper

from netloupe.explorer.patterns import recognise
from tests.unrolled import Writer

_WIDTH = 8


def tell(
    dims: list[int], ways: list[list[int]], back: list[int], *, is_image: bool = True
) -> tuple[str, ...]:
    """Return facts of an attention behind permutations and reshapes of a map, in that order.

    Each of ``ways`` with as many numbers as the value has axes permutes; the others reshape.
    """
    writer = Writer("plain")
    writer.inputs = {"x": dims}
    value, rank = "x", len(dims)
    if is_image:
        kernel = [3] * (len(dims) - 2)
        weight = writer.weight("kernel", _WIDTH, _WIDTH, *kernel)
        value = writer.add("", "Conv", value, weight, pads=[1] * 2 * len(kernel))
    begin = len(writer.nodes)
    for number, way in enumerate([*ways, back]):
        if sorted(way) == [*range(rank)]:
            value = writer.add("", "Transpose", value, perm=way)
        else:
            name = f"shape{number}"
            writer.tensors.append(numpy_helper.from_array(np.array(way), name))
            value = writer.add("", "Reshape", value, name)
            rank = len(way)
    query, key, mixed = (
        writer.add("", "MatMul", value, writer.weight(name, _WIDTH, _WIDTH)) for name in "qkv"
    )
    turned = writer.add("", "Transpose", key, perm=[0, 2, 1])
    scores = writer.add("", "MatMul", query, turned)
    shares = writer.add("", "Softmax", scores, axis=-1)
    mixed = writer.add("", "MatMul", shares, mixed)
    writer.outputs = [writer.add("", "MatMul", mixed, writer.weight("o", _WIDTH, _WIDTH))]
    found = recognise([*writer.load().graph.nodes][begin:])
    assert found is not None
    assert found.name == "Self-attention"
    return found.facts


@pytest.mark.parametrize(
    ("order", "rows", "told"),
    [
        ([0, 3, 2, 1], [6, 4, _WIDTH], "along height"),
        ([0, 2, 3, 1], [4, 6, _WIDTH], "along width"),
    ],
)
def test_rows_and_columns_of_a_map(order: list[int], rows: list[int], told: str) -> None:
    assert told in tell([1, _WIDTH, 4, 6], [order], rows)


def test_frames_of_a_video_are_along_time() -> None:
    dims = [1, _WIDTH, 5, 4, 6]
    assert "along time" in tell(dims, [[0, 3, 4, 2, 1]], [24, 5, _WIDTH])


def test_all_places_of_a_map_are_along_no_axis() -> None:
    told = tell([2, _WIDTH, 4, 6], [[0, 2, 3, 1]], [2, 24, _WIDTH])
    assert not any(fact.startswith(("along", "within", "across")) for fact in told)


def test_axes_of_what_is_no_image_have_no_names() -> None:
    told = tell([1, _WIDTH, 4, 6], [[0, 3, 2, 1]], [6, 4, _WIDTH], is_image=False)
    assert not any(fact.startswith(("along", "within", "across")) for fact in told)


def test_a_map_that_was_cut_before_is_none() -> None:
    told = tell([1, _WIDTH, 4, 24], [[1, _WIDTH, 24, 4], [0, 3, 2, 1]], [4, 24, _WIDTH])
    assert not any(fact.startswith("along") for fact in told)


def test_chunks_of_a_sequence() -> None:
    within = tell([2, 24, _WIDTH], [[2, 4, 6, _WIDTH]], [8, 6, _WIDTH], is_image=False)
    assert "within chunks of 6" in within
    ways = [[2, 4, 6, _WIDTH], [0, 2, 1, 3]]
    assert "across chunks" in tell([2, 24, _WIDTH], ways, [12, 4, _WIDTH], is_image=False)


def test_a_sequence_is_along_no_axis() -> None:
    told = tell([2, 24, _WIDTH], [], [2, 24, _WIDTH], is_image=False)
    assert not any(fact.startswith(("along", "within", "across")) for fact in told)
