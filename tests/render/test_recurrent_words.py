"""A box of several parts says whether recurrent layers among them go both ways, and how wide."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper

from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.view import View
from tests.unrolled import Writer


def tell(ways: tuple[str, ...], *, last: int = 8, hidden: int = 16) -> list[str]:
    """Return what is written on the boxes of blocks of a recurrent and a linear layer."""
    writer = Writer()
    writer.inputs = {"x": [20, 1, 8]}
    writer.tensors.append(numpy_helper.from_array(np.array([20, 1, -1]), "shape"))
    value = writer.add("first", "MatMul", "x", writer.weight("first", 8, 8))
    value = writer.add("first", "Relu", value)
    for number, direction in enumerate(ways):
        scope = f"blocks.{number}"
        count = 2 if direction == "bidirectional" else 1
        weights = (
            writer.weight(f"{scope}.w", count, 4 * hidden, 8),
            writer.weight(f"{scope}.r", count, 4 * hidden, hidden),
        )
        value = writer.add(
            f"{scope}/rnn", "LSTM", value, *weights, hidden_size=hidden, direction=direction
        )
        value = writer.add(f"{scope}/rnn", "Transpose", value, perm=[0, 2, 1, 3])
        value = writer.add(f"{scope}/rnn", "Reshape", value, "shape")
        width = last if number == len(ways) - 1 else 8
        matrix = writer.weight(f"{scope}.m", count * hidden, width)
        value = writer.add(f"{scope}/linear", "MatMul", value, matrix)
    writer.outputs = [value]
    book = FaceBook("facts")
    items = View(writer.load()).root.children
    return [run.text for item in items for run in book.face(item).texts]


def test_a_box_tells_both_ways() -> None:
    assert "8 → 2 × 16 → 8 · bidirectional" in tell(("bidirectional",))


def test_a_box_tells_what_is_inside_of_one_way() -> None:
    told = tell(("forward",))
    assert "8 → 16 → 8" in told
    assert not any("bidirectional" in text for text in told)


def test_a_stack_tells_both_ways_of_all_blocks() -> None:
    assert "8 → 8 · bidirectional, 2 × 16" in tell(("bidirectional",) * 3)


@pytest.mark.parametrize("ways", [("bidirectional", "forward"), ("bidirectional", "reverse")])
def test_one_block_of_two_is_not_all(ways: tuple[str, ...]) -> None:
    told = tell(ways)
    assert sum("bidirectional" in text for text in told) == 1


def test_width_that_another_layer_has_too_is_none_of_both_ways() -> None:
    assert "8 → 32 · bidirectional, 2 × 16" in tell(("bidirectional",), last=32)
