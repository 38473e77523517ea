"""What the numbers of a stored kernel tell of a convolution: that it is masked, zero or blurs."""

from __future__ import annotations

from typing import Any

import numpy as np

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Graph, Tensor, Value

MASKED, ZERO, BLURRING = "masked", "zero", "blurring"
#: a zero kernel at the end of a residual branch: how that begins, which no figure tells
BEGUN_AT_ZERO = "zero at the start"
#: larger kernels are not read
_MOST_NUMBERS = 1 << 18
#: nor those of graphs with more nodes
_MOST_NODES = 20_000
#: where so many other kernels are zero, too, numbers are left out of the file
_LEAST_OTHERS = 4
_LEAST_AXES = 3
_ROUNDING = 1e-4

_Array = np.ndarray[Any, Any]


def read_kernel_form(graph: Graph, value: Value | None) -> str:
    """Return ``masked``, ``zero`` or ``blurring`` for a kernel of such numbers; else "".

    * masked: nothing behind the middle counts, in the order of lines (A. van den Oord and others,
      Pixel Recurrent Neural Networks, 2016, figure 4);
    * zero: a layer that begins with giving nothing (L. Zhang and others, Adding Conditional Control
      to Text-to-Image Diffusion Models, 2023, section 3.1);
    * blurring: each channel alone by one kernel of positive numbers that add up to 1 (R. Zhang,
      Making Convolutional Networks Shift-Invariant Again, 2019, section 3.2).
    """
    array = _read(value) if len(graph.nodes) <= _MOST_NODES else None
    if array is None or array.ndim < _LEAST_AXES:
        return ""
    places = array.shape[2:]
    if not array.any():
        return ZERO if {*places} == {1} and _has_numbers(graph, value) else ""
    if max(places) == 1 or any(size % 2 == 0 for size in places):
        return ""
    flat = array.reshape(*array.shape[:2], -1)
    if _blurs(flat):
        return BLURRING
    middle = flat.shape[-1] // 2
    is_masked = not flat[..., middle + 1 :].any() and flat[..., :middle].any()
    return MASKED if is_masked and len(places) > 1 else ""


def _read(value: Value | None) -> _Array | None:
    """Return the numbers of a kernel; None where it is none of floating-point numbers, or large.

    Exporters store one of several equal kernels, and copy it for the others.
    """
    stored = find_source(value, "copies") if value is not None else None
    tensor = stored.initializer if stored is not None else None
    if not isinstance(tensor, Tensor) or not 0 < tensor.size <= _MOST_NUMBERS:
        return None
    if not tensor.type.dtype.is_float:
        return None
    try:
        return np.asarray(tensor.numpy())
    except (NetloupeError, ValueError):  # what a file lacks is told elsewhere
        return None


def _has_numbers(graph: Graph, value: Value | None) -> bool:
    """Return whether other kernels of a graph have numbers that are not zero."""
    others = 0
    seen = {value and find_source(value, "copies")}
    for node in graph.nodes:
        kernel = node.input(1) if node.operator.has("convolves") else None
        stored = find_source(kernel, "copies") if kernel is not None else None
        if stored is not None and stored not in seen:
            seen.add(stored)
            array = _read(stored)
            if array is not None and array.any():
                return True
            others += array is not None
            if others >= _LEAST_OTHERS:
                return False
    return False


def _blurs(flat: _Array) -> bool:
    """Return whether each channel alone is convolved by the same even kernel that adds up to 1."""
    if flat.shape[1] != 1 or flat.shape[0] < 2:
        return False
    first = flat[0, 0].astype(np.float64)
    is_one = bool((first > 0).all()) and abs(float(first.sum()) - 1) < _ROUNDING
    is_even = np.allclose(first, first[::-1], atol=_ROUNDING)
    return is_one and bool(is_even) and bool(np.allclose(flat, flat[:1], atol=_ROUNDING))
