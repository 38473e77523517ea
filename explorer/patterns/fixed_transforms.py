"""Products with stored sines, which are Fourier transforms, and with banks of filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from netloupe.explorer.arrays import sort_distinct
from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import find_source
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Value
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import LAYOUT_TRAITS

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_int, read_ints
from .weight_sizes import read_features, read_kernel

#: of fewer samples any numbers look like waves; of larger matrices none are read
_LEAST_SAMPLES, _LEAST_ROWS, _MOST_READ = 32, 4, 1 << 21
#: a window spreads a wave over the frequencies beside its own, and hardly further; it may have been
#: trained on
_LEAST_OF_WAVE, _LEAST_OF_MOST, _BESIDE = 0.75, 0.9, 2
#: so many rows are waves; the sine of no frequency is none
_LEAST_OF_ROWS = 0.97
#: so many of the rows have frequencies of their own: sine and cosine share one
_LEAST_DISTINCT = 0.4
#: a bank of filters has so many zeros
_LEAST_OF_ZEROS = 0.6
_BOTH = 2
_BANK = "Filter bank"
#: what matrices of waves that are computed go through
_HANDING = (*LAYOUT_TRAITS, "joins", "multiplies_elements")

Matrix = npt.NDArray[np.float64]
Judgement = TypeVar("Judgement", str, bool)


def find_fixed_transforms(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find products with stored waves: the discrete Fourier transform, of frames where they slide.

    So exporters without an operator for it write a short-time transform as a convolution (K. Cheuk
    and others, nnAudio, 2020, section III), and the inverse one as transposed convolutions of real
    and imaginary parts, whose frames overlap and are added; behind the former often stands a bank
    of triangular filters (S. Davis and P. Mermelstein, 1980, section II).
    """
    operations = blocks.operations
    yield from _find_inverse(blocks)
    for number, kind in enumerate(operations.kinds):
        if kind not in ("Conv", "Gemm") or len(operations.operands[number]) != 1:
            continue
        values = operations.fixed(number)
        if not values:
            continue
        rows = read_features(operations.nodes[number])[1]
        samples, slides = _read_samples(operations, number)
        is_computed = kind == "Gemm" and _is_computed(values[0])
        if is_computed:
            samples, rows = _read_computed(values[0])
        if not _may_transform(rows, samples):
            continue
        name = "DFT" if is_computed else _judge_matrix(values[0], rows, samples, _name_matrix)
        if not name:
            continue
        facts = [f"{samples:,} → {rows:,}"]
        if name == "DFT" and slides:
            name, facts = "STFT", [f"window {samples:,}", f"hop {slides:,}"]
        layer = blocks.owner[number]
        is_layer = layer is not None and layer.kind == "linear"
        numbers = layer.numbers if layer is not None and is_layer else frozenset({number})
        end = layer.end if layer is not None and is_layer else number
        block = "filter bank" if name == _BANK else "transform"
        yield FoundBlock(block, name, numbers, end, tuple(facts))


def _find_inverse(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Yield transposed convolutions with stored waves, both parts of a sum together."""
    operations = blocks.operations
    hops = {
        number: found
        for number, kind in enumerate(operations.kinds)
        if kind == "ConvTranspose" and (found := _read_overlap(operations, number)) is not None
    }
    told: set[int] = set()
    for number, (samples, hop) in hops.items():
        total = operations.only_user(number)
        parts = [] if total is None else [one for one in operations.givers(total) if one in hops]
        numbers, end = {number}, number
        if total is not None and operations.kinds[total] == "Add" and len(parts) == _BOTH:
            numbers, end = {*parts, total}, total
        if end not in told and all(blocks.owner[one] is None for one in numbers):
            told.add(end)
            facts = (f"window {samples:,}", f"hop {hop:,}")
            yield FoundBlock("transform", "Inverse STFT", frozenset(numbers), end, facts)


def _read_overlap(operations: Operations, number: int) -> tuple[int, int] | None:
    """Return how long frames are that a transposed convolution adds, and how far apart.

    None where its rows are no waves.
    """
    node, values = operations.nodes[number], operations.fixed(number)
    kernel = [size for size in read_kernel(node) if size > 1]
    rows, given = read_features(node)
    if len(kernel) != 1 or given != 1 or len(operations.operands[number]) != 1 or not values:
        return None
    samples, hop = kernel[0], max((*read_ints(node, "strides"), 1))
    if hop >= samples or not _may_transform(rows, samples) or not _fits_frequencies(rows, samples):
        return None
    return (samples, hop) if _judge_matrix(values[0], rows, samples, _holds_waves) else None


def _read_samples(operations: Operations, number: int) -> tuple[int, int]:
    """Return of how many samples each row is, and by how many a convolution slides on; else 0."""
    node = operations.nodes[number]
    if operations.kinds[number] == "Gemm":
        return read_features(node)[0], 0
    kernel = [size for size in read_kernel(node) if size > 1]
    if {*read_kernel(node)} == {1}:  # of frames whose samples are channels
        return (read_features(node)[0], 0) if (read_int(node, "group") or 1) == 1 else (0, 0)
    is_plain = len(kernel) == 1 and read_features(node)[0] == 1
    if not is_plain or (read_int(node, "group") or 1) != 1:
        return 0, 0
    return kernel[0], max((*read_ints(node, "strides"), 1))


def _may_transform(rows: int, samples: int) -> bool:
    if samples < _LEAST_SAMPLES or rows < _LEAST_ROWS or rows * samples > _MOST_READ:
        return False
    # frequencies once or twice, or fewer filters than frequencies
    return _fits_frequencies(rows, samples) or rows < samples // 2


def _fits_frequencies(rows: int, samples: int) -> bool:
    half = samples // 2 + 1
    return rows in (half, 2 * half, half - 1, 2 * half - 2, samples)


def _is_computed(value: Value) -> bool:
    """Return whether a matrix is computed as sines or cosines."""
    source = find_source(value, *_HANDING)
    return bool(source and source.producer and source.producer.operator.has("takes_sine"))


def _read_computed(value: Value) -> tuple[int, int]:
    """Return of how many samples and rows a matrix is that is computed; 0 where it is not known."""
    dims = find_value_facts(value.graph.model).find_dims(value) or ()
    known = [dim for dim in dims if isinstance(dim, int)]
    return (known[0], known[1]) if len(known) == len(dims) == _BOTH else (0, 0)


class _KnownMatrices(dict[tuple[object, ...], object]):
    """What was found of the matrices of a model: every group of nodes around one asks for it."""


def _judge_matrix(
    value: Value, rows: int, samples: int, judge: Callable[[Matrix], Judgement]
) -> Judgement | None:
    """Return what is found of the stored rows of a matrix or kernel; None for what is not read."""
    known = find_kept(value.graph.model, _KnownMatrices, _KnownMatrices)
    key = (value, rows, samples, judge)
    if key not in known:
        matrix = _read_matrix(value, rows, samples)
        known[key] = None if matrix is None else judge(matrix)
    return cast("Judgement | None", known[key])


def _read_matrix(value: Value, rows: int, samples: int) -> Matrix | None:
    source = find_source(value, *LAYOUT_TRAITS)
    tensor = None if source is None else find_stored_tensor(source)
    if tensor is None or not tensor.dtype.is_float or tensor.external is not None:
        return None
    dims = [dim for dim in tensor.dims if dim != 1]
    if sorted(dims) != sorted([rows, samples]):
        return None
    try:
        matrix = tensor.numpy().astype(np.float64).reshape(dims)
    except (NetloupeError, TypeError, ValueError):
        return None
    if not np.isfinite(matrix).all():
        return None
    return matrix if dims == [rows, samples] and tensor.dims[0] == rows else matrix.T


def _name_matrix(matrix: Matrix) -> str:
    if _fits_frequencies(*matrix.shape) and _holds_waves(matrix):
        return "DFT"
    return _BANK if _holds_filters(matrix) else ""


def _holds_waves(matrix: Matrix) -> bool:
    """Return whether each row is a wave of one frequency, most of them of another one."""
    power = np.abs(np.fft.rfft(matrix, axis=1)) ** 2
    total = power.sum(axis=1)
    told = power[total > total.max() * 1e-6]
    if len(told) < _LEAST_ROWS:
        return False
    peaks = told.argmax(axis=1)
    near = np.abs(np.arange(told.shape[1])[None, :] - peaks[:, None]) <= _BESIDE
    share = (told * near).sum(axis=1) / told.sum(axis=1)
    distinct = len(sort_distinct(peaks)) / len(matrix)
    if (share >= _LEAST_OF_WAVE).mean() < _LEAST_OF_ROWS or distinct < _LEAST_DISTINCT:
        return False
    return bool(np.median(share) >= _LEAST_OF_MOST)


def _holds_filters(matrix: Matrix) -> bool:
    """Return whether each row is one hump above zeros, each further on than the one before."""
    is_above = matrix > 0
    if (matrix < 0).any() or is_above.mean() > 1 - _LEAST_OF_ZEROS:
        return False
    humps = is_above[is_above.any(axis=1)]
    if len(humps) < max(_LEAST_ROWS, len(matrix) // 2):
        return False
    first, count = humps.argmax(axis=1), humps.sum(axis=1)
    last = humps.shape[1] - 1 - humps[:, ::-1].argmax(axis=1)
    is_whole = bool((last - first + 1 == count).all())
    if np.median(count) < _BOTH:
        return False  # scales or chooses single features
    return is_whole and bool((np.diff(first) >= 0).all()) and last[-1] > last[0]
