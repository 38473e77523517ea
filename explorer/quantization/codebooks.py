"""Weights whose codes stand for the entries of a code book: MatMulBnb4 of ONNX Runtime.

B holds N x K codes of four bits, the first of each byte in its high half, cut into blocks one after
the other; absmax has the largest magnitude of each block (ContribOperators, MatMulBnb4).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from netloupe.explorer.model import Node, Tensor
from netloupe.explorer.tensors.elements import Elements

from .layout import read_integer

#: Dettmers et al. 2023 (arXiv:2305.14314), appendix E: quantiles of a normal distribution
_NF4 = (
    *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453),
    *(-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0),
    *(0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
    *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
)
#: bitsandbytes: the sign, and one of eight magnitudes
_FP4_MAGNITUDES = (0.0, 0.0625 / 12, 8 / 12, 1.0, 4 / 12, 6 / 12, 2 / 12, 3 / 12)
_FP4 = (*_FP4_MAGNITUDES, *(-each for each in _FP4_MAGNITUDES))


def find_codebook(node: Node) -> npt.NDArray[np.float64]:
    """Return the real numbers that the sixteen codes stand for, for a largest magnitude of 1."""
    is_normal = read_integer(node, "quant_type", 1) == 1
    return np.array(_NF4 if is_normal else _FP4, np.float64)


def count_codebook_weights(node: Node, tensor: Tensor) -> tuple[int, int] | None:
    """Return the shape [N, K] of the weights; None where attributes and bytes disagree."""
    rows, columns = read_integer(node, "N") or 0, read_integer(node, "K") or 0
    block_size = read_integer(node, "block_size") or 0
    if min(rows, columns, block_size) <= 0 or tensor.dtype.name != "uint8":
        return None
    return (rows, columns) if tensor.size == (rows * columns + 1) // 2 else None


def unpack_codebook(stored: Elements, size: int) -> Elements:
    """Return codes one by one out of bytes that have the first of two in the high half."""

    def take(start: int, stop: int) -> np.ndarray[Any, Any]:
        first = start // 2
        packed = stored.take(first, -(-stop // 2))
        codes = np.empty((packed.size, 2), np.uint8)
        codes[:, 0], codes[:, 1] = packed >> 4, packed & 15
        return codes.reshape(-1)[start - 2 * first : stop - 2 * first]

    return Elements(np.dtype(np.uint8), size, take)
