"""Fills of one number or text are described by it, and never made as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from netloupe.explorer.model import Tensor
from netloupe.explorer.readers.load import load
from netloupe.explorer.tensors import compute_histogram, compute_statistics, open_elements
from netloupe.explorer.tensors.elements import Elements
from tests.hostile_models import constant_fill, string_fill


def fill(data: bytes) -> Tensor:
    tensor = load(data).tensor("w")
    assert isinstance(tensor, Tensor)
    return tensor


def watch(elements: Elements, most: int) -> Elements:
    def take(start: int, stop: int) -> np.ndarray:  # type: ignore[type-arg]
        assert stop - start <= most
        return taken(start, stop)

    taken = elements.take
    return Elements(elements.dtype, elements.size, take, elements.is_constant)


def test_a_large_fill_is_told_by_one_element() -> None:
    elements = watch(open_elements(fill(constant_fill(2**28))), 1)
    found = compute_statistics(elements)
    assert (found.count, found.minimum, found.maximum, found.mean) == (2**28, 0.25, 0.25, 0.25)
    assert (found.std, found.zeros) == (0.0, 0)
    assert int(compute_histogram(elements, 8).counts.sum()) == 2**28


def test_a_small_fill_is_described_as_its_array_is() -> None:
    tensor = fill(constant_fill(1_000))
    array = tensor.numpy()
    assert array.shape == (1_000,)
    assert (array == 0.25).all()
    assert compute_statistics(open_elements(tensor)) == compute_statistics(array)
    expected = compute_histogram(array, 8)
    found = compute_histogram(open_elements(tensor), 8)
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.edges.tolist() == expected.edges.tolist()


@pytest.mark.parametrize("count", [3, 10**6])
def test_a_fill_of_long_texts_is_decoded_once(count: int) -> None:
    elements = open_elements(fill(string_fill(count)))
    found = compute_statistics(watch(elements, 1))
    assert (found.count, found.distinct) == (count, 1)
    first = elements.take(0, 3)
    assert all(entry is first[0] for entry in first)
