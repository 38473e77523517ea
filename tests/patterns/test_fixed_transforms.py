"""Products with stored waves are Fourier transforms; what they are is looked at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.model import Tensor
from netloupe.explorer.patterns import fixed_transforms, recognise
from netloupe.explorer.patterns.fixed_transforms import Matrix, _read_matrix
from netloupe.explorer.readers.load import load


def _tell_matrix(matrix: NDArray[np.float64], *, slides: bool) -> str:
    """Return what a product with a stored matrix is told to be, or a convolution with its rows."""
    samples = matrix.shape[1]
    if slides:
        node = helper.make_node("Conv", ["x", "w"], ["y"], strides=[samples // 2])
        stored, taken = matrix[:, None, :], [1, 1, 10 * samples]
    else:
        node = helper.make_node("MatMul", ["x", "w"], ["y"])
        stored, taken = matrix.T, [7, samples]
    weight = numpy_helper.from_array(np.ascontiguousarray(stored, np.float32), "w")
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, taken)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph([node], "g", inputs, outputs, [weight])
    found = recognise(load(helper.make_model(graph)).graph.nodes)
    return found.text if found is not None else ""


@pytest.mark.parametrize("is_windowed", [False, True])
@pytest.mark.parametrize("is_double", [False, True])
def test_products_with_waves_are_transforms(is_windowed: bool, is_double: bool) -> None:
    angles = 2 * np.pi * np.outer(np.arange(33), np.arange(64)) / 64
    waves = np.concatenate([np.cos(angles), np.sin(angles)]) if is_double else np.cos(angles)
    if is_windowed:
        waves = waves * np.hanning(65)[:-1]
    assert _tell_matrix(waves, slides=True) == "STFT, window 64, hop 32"
    assert _tell_matrix(waves, slides=False) == f"DFT 64 → {len(waves)}"


def test_a_stored_matrix_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    waves = np.cos(2 * np.pi * np.outer(np.arange(33), np.arange(64)) / 64)
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    weight = numpy_helper.from_array(np.ascontiguousarray(waves.T, np.float32), "w")
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [7, 64])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = load(helper.make_model(helper.make_graph([node], "g", inputs, outputs, [weight]))).graph
    read = []

    def note(tensor: Tensor, *sizes: int) -> Matrix | None:
        read.append(tensor.name)
        return _read_matrix(tensor, *sizes)

    monkeypatch.setattr(fixed_transforms, "_read_matrix", note)
    told = [recognise(graph.nodes) for _ in range(3)]
    assert [found.text for found in told if found is not None] == ["DFT 64 → 33"] * 3
    assert read == ["w"]


def _make_filters(reach: float) -> NDArray[np.float64]:
    places, middles = np.arange(64)[None, :], np.arange(2, 62, 4)[:, None]
    return np.maximum(1 - np.abs(places - middles) / reach, 0)


def test_filters_of_one_number_each_are_no_bank() -> None:
    assert _tell_matrix(_make_filters(3.0), slides=False) == "Filter bank 64 → 15"
    assert _tell_matrix(_make_filters(0.5), slides=False) == "Linear 64 → 15"


def _tell_back(parts: Sequence[NDArray[np.float64]], hop: int) -> str:
    """Return what transposed convolutions with stored rows, and their sum, are told to be."""
    nodes, weights = [], []
    for place, rows in enumerate(parts):
        names = [f"x{place}", f"w{place}"]
        nodes.append(helper.make_node("ConvTranspose", names, [f"y{place}"], strides=[hop]))
        stored = np.ascontiguousarray(rows[:, None, :], np.float32)
        weights.append(numpy_helper.from_array(stored, f"w{place}"))
    nodes.append(helper.make_node("Add", ["y0", "y1"], ["y"]))
    inputs = [
        helper.make_tensor_value_info(f"x{place}", TensorProto.FLOAT, [1, len(rows), 9])
        for place, rows in enumerate(parts)
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    found = recognise(load(helper.make_model(graph)).graph.nodes)
    return found.text if found is not None else ""


def test_transposed_convolutions_with_waves_are_the_inverse_transform() -> None:
    angles = 2 * np.pi * np.outer(np.arange(33), np.arange(64)) / 64
    window = np.hanning(65)[:-1]
    parts = [np.cos(angles) * window, np.sin(angles) * window]
    assert _tell_back(parts, 16) == "Inverse STFT, window 64, hop 16"
    # frames that do not overlap, other rows than waves, and waves of one frequency
    learned = np.random.default_rng(0).normal(size=(33, 64))
    for others, hop in (
        (parts, 64),
        ([parts[0], learned], 16),
        ([learned, learned], 16),
        ([np.repeat(rows[3:4], 33, axis=0) for rows in parts], 16),
    ):
        assert not _tell_back(others, hop).startswith("Inverse STFT")


def test_banks_of_filters_and_what_was_learned() -> None:
    places = np.arange(129)
    centres = np.geomspace(4, 120, 20)
    humps = np.maximum(0, 1 - np.abs(places[None, :] - centres[:, None]) / 6)
    assert _tell_matrix(humps, slides=False) == "Filter bank 129 → 20"
    learned = np.random.default_rng(0).normal(size=(33, 64))
    assert _tell_matrix(learned, slides=False) == "Linear 64 → 33"
    assert _tell_matrix(np.abs(learned), slides=False) == "Linear 64 → 33"
    assert "FT" not in _tell_matrix(learned, slides=True)
