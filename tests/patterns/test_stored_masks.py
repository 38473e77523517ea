"""Which tokens a stored mask hides is known by its numbers, and by nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.patterns.stored_positions import StoredMask, read_stored_mask
from netloupe.explorer.readers.load import load

Array = np.ndarray[Any, Any]

_TRIANGLE = np.tril(np.ones((6, 6), np.bool_))
_CAUSAL = StoredMask(hides=True, is_causal=True)
_LOW = np.finfo(np.float32).min


def read(mask: Array) -> StoredMask | None:
    """Return what is said of a stored operand."""
    graph = helper.make_graph(
        [helper.make_node("Identity", ["mask"], ["y"])],
        "g",
        [],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(mask, "mask")],
    )
    return read_stored_mask(load(helper.make_model(graph)).graph.nodes[0].input(0))


@pytest.mark.parametrize(
    "mask",
    [
        _TRIANGLE,
        ~_TRIANGLE,
        _TRIANGLE[None, None].astype(np.uint8),
        np.where(_TRIANGLE, np.float32(0), _LOW),
        np.where(_TRIANGLE, np.float32(0.3), np.float32(-np.inf)),
        # four keys of a memory are before all of the others
        np.concatenate([np.ones((6, 4), np.bool_), _TRIANGLE], 1),
        np.tril(np.ones((2000, 2000), np.bool_)),
    ],
)
def test_a_triangle_is_causal(mask: Array) -> None:
    assert read(mask) == _CAUSAL


def test_a_band_below_the_diagonal_is_a_window() -> None:
    band = _TRIANGLE & ~np.tril(_TRIANGLE, -3)
    assert read(band) == StoredMask(hides=True, is_causal=True, window=3)
    assert read(np.where(band, np.float32(0), _LOW)) == StoredMask(True, True, 3)


@pytest.mark.parametrize(
    "mask",
    [
        # each token but itself, and itself alone
        ~np.eye(6, dtype=np.bool_),
        np.eye(6, dtype=np.bool_),
        # the next one is seen, too, or one before is not
        np.tril(np.ones((6, 6), np.bool_), 1),
        _TRIANGLE & ~np.eye(6, k=-2, dtype=np.bool_),
        # blocks of three, two ways
        np.kron(np.eye(2), np.ones((3, 3))).astype(np.bool_),
        np.stack([_TRIANGLE, _TRIANGLE.T]),
    ],
)
def test_other_squares_hide_something_else(mask: Array) -> None:
    assert read(mask) == StoredMask(hides=True)


def test_a_bias_hides_nothing() -> None:
    assert read(np.zeros((1, 1, 6, 6), np.float32)) == StoredMask()
    assert read(np.random.default_rng(0).normal(size=(2, 6, 6)).astype(np.float32)) == StoredMask()


@pytest.mark.parametrize("mask", [np.arange(36).reshape(6, 6), np.ones(6), np.ones((6, 2))])
def test_what_is_no_mask_is_not_read(mask: Array) -> None:
    assert read(mask) is None
