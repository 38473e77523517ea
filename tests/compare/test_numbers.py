"""How far numbers are apart, however they are stored."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from onnx import helper, numpy_helper

from netloupe.explorer.compare.numbers import compare_numbers
from netloupe.explorer.model import Tensor
from netloupe.explorer.readers.load import load
from netloupe.proto import caffe2_pb2

NUMBERS = [0.0, -0.0, 0.25, -3.0, 1e-30, 3e38, np.inf, -np.inf, np.nan]
COUNTS = [1, 2, 1_000, 2**18 + 3]


def fill(number: float, count: int) -> Tensor:
    """Return a tensor that a net fills with one number."""
    net = caffe2_pb2.NetDef(name="net")
    operator = net.op.add(type="ConstantFill", output=["w"])
    operator.arg.add(name="shape", ints=[count])
    operator.arg.add(name="value", f=number)
    tensor = load(net).tensor("w")
    assert isinstance(tensor, Tensor)
    return tensor


def store(number: float, count: int) -> Tensor:
    """Return a tensor that has the same numbers, each by itself."""
    array = np.full(count, number, np.float32)
    graph = helper.make_graph([], "graph", [], [], [numpy_helper.from_array(array, "w")])
    tensor = load(helper.make_model(graph)).tensor("w")
    assert isinstance(tensor, Tensor)
    return tensor


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("one", NUMBERS)
def test_fills_are_as_far_apart_as_their_numbers(one: float, count: int) -> None:
    for other in NUMBERS:
        found = compare_numbers(fill(one, count), fill(other, count))
        expected = compare_numbers(store(one, count), store(other, count))
        assert found is not None
        assert expected is not None
        assert dataclasses.asdict(found) == pytest.approx(dataclasses.asdict(expected))


@pytest.mark.parametrize("count", COUNTS)
def test_equal_pieces_count_as_every_piece_does(count: int) -> None:
    # the first piece is equal in both, the last is not
    left = np.random.default_rng(count).standard_normal(count).astype(np.float32)
    left[0] = np.nan
    right = left.copy()
    right[-1] += 1
    graphs = [
        helper.make_graph([], "graph", [], [], [numpy_helper.from_array(array, "w")])
        for array in (left, right)
    ]
    tensors = [load(helper.make_model(graph)).tensor("w") for graph in graphs]
    found = compare_numbers(*tensors)
    a, b = (np.nan_to_num(array.astype(np.float64)) for array in (left, right))
    if count == 1:  # of NaN nothing is left
        assert (found.changed, found.relative, found.cosine) == (0, 0.0, None)
        return
    assert (found.count, found.changed, found.unbounded) == (count, 1, 0)
    assert found.relative == pytest.approx(np.linalg.norm(b - a) / np.linalg.norm(a))
    assert found.cosine == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
