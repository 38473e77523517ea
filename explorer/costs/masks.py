"""Stored numbers told by their elements: masks of attention, switches, and one number alone."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import SparseTensor, Tensor

#: of a larger one no elements are read
_MOST_ELEMENTS = 1 << 18
#: what is added to a score to hide it is no larger: Swin adds -100, others the least number
_HIDES = -100.0
_HEADS = -3


def is_mask(tensor: Tensor | SparseTensor) -> bool:
    """Return whether a tensor that is added to scores only hides some of them.

    It holds 0 and one very negative number alone. Where it only holds 0, or its elements are
    missing or very many, it is taken for a mask if it is the same for all heads: of tables of
    relative positions each head has its own.
    """
    if not isinstance(tensor, Tensor) or not tensor.size:
        return False
    dims = tensor.dims
    is_square = len(dims) == 2 and dims[0] == dims[1]
    is_for_all_heads = is_square or (len(dims) > 2 and dims[_HEADS] == 1)
    if tensor.size > _MOST_ELEMENTS:
        return is_for_all_heads
    try:
        elements = tensor.numpy()
    except NetloupeError:
        return is_for_all_heads
    least = elements.min()
    if least == 0 == elements.max():
        return is_for_all_heads
    return bool(least <= _HIDES and ((elements == 0) | (elements == least)).all())


def is_zero(tensor: Tensor | SparseTensor) -> bool:
    """Return whether a tensor holds zeros alone; False where it is large, or cannot be read."""
    elements = _read(tensor, _MOST_ELEMENTS)
    return elements is not None and not elements.any()


def is_switch(tensor: Tensor | SparseTensor) -> bool:
    """Return whether a tensor holds zeros and ones alone, and both."""
    elements = _read(tensor, _MOST_ELEMENTS)
    if elements is None:
        return False
    zeros, ones = elements == 0, elements == 1
    return bool(zeros.any() and ones.any() and (zeros | ones).all())


def is_even(tensor: Tensor | SparseTensor) -> bool:
    """Return whether a tensor holds one number alone, as before training; False where large."""
    elements = _read(tensor, _MOST_ELEMENTS * 4)
    return elements is not None and elements.size > 1 and bool((elements == elements.flat[0]).all())


def _read(tensor: Tensor | SparseTensor, most: int) -> npt.NDArray[Any] | None:
    """Return the elements of a tensor; None where there are none or many, or they are missing."""
    if not isinstance(tensor, Tensor) or not 0 < tensor.size <= most:
        return None
    try:
        return tensor.numpy()
    except NetloupeError:
        return None
