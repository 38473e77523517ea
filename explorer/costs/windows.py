"""Convolutions and pooling: the shapes of their results, and multiplications (MACs).

Sources: ONNX operator specification (Conv-22, ConvTranspose-22, MaxPool-22, AveragePool-22,
DeformConv-22, CausalConvWithState-27), ContribOperators of ONNX Runtime, and
``conv_pool_op_base.h`` of Caffe2. Padding counts as if it were data, and a bias as none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .facts import Dim, Dims, Fact, Use
from .polynomial import Amount, divide_down, multiply_all

#: values of Caffe2's argument legacy_pad
_LEGACY_PADDING = {0: "NOTSET", 1: "VALID", 2: "SAME_UPPER", 3: "CAFFE"}


class KernelPath(NamedTuple):
    """How a kernel moves: an entry for each spatial dimension."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    padding: str
    rounds_up: bool


def read_window(use: Use, rank: int, kernel: tuple[int, ...] | None) -> KernelPath | None:
    """Return how the kernel of an ONNX operator moves over so many dimensions.

    Parameters
    ----------
    use
        The use of the operator.
    rank
        The number of spatial dimensions.
    kernel
        The kernel that the weights have; the attribute where None.
    """
    stated = use.integers("kernel_shape")
    pads = _read_list(use, "pads", 2 * rank, 0)
    window = KernelPath(
        stated if stated is not None else kernel or (),
        _read_list(use, "strides", rank, 1),
        _read_list(use, "dilations", rank, 1),
        pads[:rank],
        pads[rank:],
        use.text("auto_pad", "NOTSET"),
        use.integer("ceil_mode", 0) == 1,
    )
    return _check(window, rank, kernel)


def read_caffe2_window(use: Use, rank: int, kernel: tuple[int, ...] | None) -> KernelPath | None:
    """Return the same of an operator of Caffe2, whose arguments have several spellings."""
    found: dict[str, tuple[int, ...]] = {}
    for name, default in (("kernel", 0), ("stride", 1), ("dilation", 1)):
        each = tuple(use.integer(f"{name}_{axis}", -1) for axis in ("h", "w"))
        both = use.integer(name, default)
        found[name] = use.integers(f"{name}s") or (
            tuple(size for size in each if size is not None)
            if rank == 2 and -1 not in each
            else (default if both is None else both,) * rank
        )
    sides = tuple(use.integer(f"pad_{side}", -1) or 0 for side in "tlbr")
    pads = use.integers("pads") or (
        sides if rank == 2 and -1 not in sides else (use.integer("pad", 0) or 0,) * 2 * rank
    )
    padding = _LEGACY_PADDING.get(use.integer("legacy_pad", 0) or 0, "")
    if kernel is not None and not any(found["kernel"]):
        found["kernel"] = kernel
    window = KernelPath(
        found["kernel"],
        found["stride"],
        found["dilation"],
        pads[:rank],
        pads[rank:],
        padding,
        padding == "CAFFE",
    )
    return _check(window, rank, kernel)


def _read_list(use: Use, name: str, count: int, default: int) -> tuple[int, ...]:
    if not use.is_stated(name):
        return (default,) * count
    return use.integers(name) or ()


def _check(window: KernelPath, rank: int, kernel: tuple[int, ...] | None) -> KernelPath | None:
    """Return a window whose parts fit one another; else None."""
    lists = (window.kernel, window.strides, window.dilations, window.begins, window.ends)
    if any(len(entries) != rank for entries in lists) or (kernel or window.kernel) != window.kernel:
        return None
    if min((*window.kernel, *window.strides, *window.dilations), default=1) < 1:
        return None
    return window


def slide(spatial: Sequence[Dim], window: KernelPath) -> Dims:
    """Return how often a kernel fits along each dimension."""
    found = []
    for axis, size in enumerate(spatial):
        stride = window.strides[axis]
        reach = (window.kernel[axis] - 1) * window.dilations[axis] + 1
        if size is None or window.padding not in ("NOTSET", "VALID", "CAFFE"):
            same = size is not None and window.padding.startswith("SAME")
            found.append(divide_down(size + stride - 1, stride) if same and size else None)
            continue
        is_padded = window.padding != "VALID"
        begin, end = (window.begins[axis], window.ends[axis]) if is_padded else (0, 0)
        room = size + begin + end - reach
        if isinstance(room, int) and room < 0:
            found.append(None)
        elif not window.rounds_up or stride == 1:
            found.append(divide_down(room, stride) + 1)
        else:
            found.append(_round_up(size, room, begin, stride, window.padding))
    return tuple(found)


def _round_up(size: Amount, room: Amount, begin: int, stride: int, padding: str) -> Dim:
    """Return how often a kernel fits, the last one reaching beyond the end.

    Versions of ONNX differ about one that would begin beyond the end: None there. Caffe2 leaves
    it away where there is padding.
    """
    count = divide_down(room + stride - 1, stride) + 1
    begins = (count - 1) * stride
    is_outside = isinstance(begins - size, int) and begins >= size + begin  # type: ignore[operator]
    if not is_outside:
        return count if isinstance(begins - size, int) or not begin else None
    return (count - 1 if begin else count) if padding == "CAFFE" else None


class Operands(NamedTuple):
    """Which operands of a convolution are its data and weights, and what gives its type."""

    data: int = 0
    weights: int = 1
    dtype: int = 0


def convolve(use: Use, places: Operands) -> Fact:
    """Return the result of a convolution of ONNX's layout: batch, channels, spatial."""
    data, weights = use.operand(places.data), use.operand(places.weights)
    dtype = use.operand(places.dtype).dtype
    kernel = _read_kernel(weights.dims)
    if data.dims is None or weights.dims is None or len(data.dims) < 3 or kernel is None:
        return Fact(None, dtype)
    window = read_window(use, len(data.dims) - 2, kernel)
    if window is None:
        return Fact(None, dtype)
    return Fact((data.dims[0], weights.dims[0], *slide(data.dims[2:], window)), dtype)


def count_convolution(use: Use, result: Fact, places: Operands) -> Amount | None:
    """Return MACs: each result is a sum over the channels of its group and the kernel."""
    return _scale(result, use.dims(places.weights))


def _scale(result: Fact, weights: Dims | None) -> Amount | None:
    size = result.size
    if size is None or not weights:
        return None
    known = tuple(dim for dim in weights[1:] if dim is not None)
    return size * multiply_all(known) if len(known) == len(weights) - 1 else None


def _read_kernel(weights: Dims | None) -> tuple[int, ...] | None:
    if weights is None or len(weights) < 3:
        return None
    kernel = tuple(size for size in weights[2:] if isinstance(size, int))
    return kernel if len(kernel) == len(weights) - 2 else None


def transpose_convolution(use: Use) -> Fact:
    """Return the result of ConvTranspose."""
    data, weights = use.operand(0), use.operand(1)
    kernel = _read_kernel(weights.dims)
    if data.dims is None or weights.dims is None or len(data.dims) < 3 or kernel is None:
        return Fact(None, data.dtype)
    rank = len(data.dims) - 2
    window = read_window(use, rank, kernel)
    group = use.integer("group", 1)
    per_group = weights.dims[1]
    channels = None if group is None or per_group is None else per_group * group
    spatial: list[Dim] = [None] * rank
    stated = use.integers("output_shape")
    more = _read_list(use, "output_padding", rank, 0)
    if stated is not None:
        spatial = [*stated[-rank:]] if len(stated) in (rank, rank + 2) else spatial
    elif window is not None and len(more) == rank:
        for axis, size in enumerate(data.dims[2:]):
            stride, reach = window.strides[axis], (window.kernel[axis] - 1) * window.dilations[axis]
            if size is None:
                continue
            if window.padding.startswith("SAME"):
                spatial[axis] = size * stride
                continue
            pads = window.begins[axis] + window.ends[axis] if window.padding == "NOTSET" else 0
            spatial[axis] = (size - 1) * stride + more[axis] + reach + 1 - pads
    return Fact((data.dims[0], channels, *spatial), data.dtype)


def count_transposed(use: Use, result: Fact) -> Amount | None:
    """Return MACs of ConvTranspose: each element of the data meets every kernel of its group."""
    return _scale(use.operand(0), use.dims(1))


def pool(use: Use) -> Fact:
    """Return the first result of MaxPool, AveragePool or LpPool."""
    data = use.operand(0)
    kernel = use.integers("kernel_shape")
    if data.dims is None or kernel is None or len(data.dims) != len(kernel) + 2:
        return Fact(None, data.dtype)
    window = read_window(use, len(kernel), kernel)
    spatial = (None,) * len(kernel) if window is None else slide(data.dims[2:], window)
    return Fact((*data.dims[:2], *spatial), data.dtype)


def pool_all(use: Use) -> Fact:
    """Return the result of pooling over everything but batch and channels."""
    data = use.operand(0)
    if data.dims is None or len(data.dims) < 2:
        return Fact(None, data.dtype)
    return Fact((*data.dims[:2], *(1 for _ in data.dims[2:])), data.dtype)


def convolve_caffe2(use: Use) -> Fact:
    """Return the result of Conv of Caffe2, channels second or last."""
    data, weights = use.operand(0), use.operand(1)
    if data.dims is None or weights.dims is None or len(data.dims) < 3:
        return Fact(None, data.dtype)
    is_last = use.text("order", "NCHW") == "NHWC"
    sizes = weights.dims[1:-1] if is_last else weights.dims[2:]
    kernel = tuple(size for size in sizes if isinstance(size, int))
    rank = len(data.dims) - 2
    window = read_caffe2_window(use, rank, kernel) if len(kernel) == rank else None
    spatial = data.dims[1:-1] if is_last else data.dims[2:]
    found = (None,) * rank if window is None else slide(spatial, window)
    batch, channels = data.dims[0], weights.dims[0]
    dims = (batch, *found, channels) if is_last else (batch, channels, *found)
    return Fact(dims, data.dtype)


def count_caffe2_convolution(use: Use, result: Fact) -> Amount | None:
    """Return MACs of Conv of Caffe2, whose weights begin with the results in both layouts."""
    return _scale(result, use.dims(1))


def transpose_caffe2(use: Use) -> tuple[Fact, Amount | None]:
    """Return result and MACs of ConvTranspose of Caffe2, channels second or last.

    Its weights are ``[C, M, …]`` or ``[C, …, M]`` (``conv_transpose_unpool_op_base.h``); each
    element of the data meets all of its channel's. Padding is taken off, ``adj`` put on.
    """
    data, weights = use.operand(0), use.operand(1)
    macs = _scale(data, weights.dims)
    if data.dims is None or weights.dims is None or len(data.dims) < 3:
        return Fact(None, data.dtype), macs
    is_last = use.text("order", "NCHW") == "NHWC"
    kernel = tuple(
        size
        for size in (weights.dims[1:-1] if is_last else weights.dims[2:])
        if isinstance(size, int)
    )
    rank = len(data.dims) - 2
    spatial: list[Dim] = [None] * rank
    window = read_caffe2_window(use, rank, kernel) if len(kernel) == rank else None
    each = tuple(use.integer(f"adj_{axis}", 0) for axis in ("h", "w"))
    more = use.integers("adjs") or (each if rank == 2 and any(each) else None)
    more = more or (use.integer("adj", 0),) * rank
    sizes = data.dims[1:-1] if is_last else data.dims[2:]
    if window is not None and len(more) == rank and not window.padding.startswith("SAME"):
        for axis, size in enumerate(sizes):
            added = more[axis]
            if size is not None and added is not None:
                pads = window.begins[axis] + window.ends[axis]
                reach = window.kernel[axis]
                spatial[axis] = (size - 1) * window.strides[axis] + added + reach - pads
    group = use.integer("group", 1)
    per_group = weights.dims[-1] if is_last else weights.dims[1]
    channels = None if group is None or per_group is None else per_group * group
    dims = (*spatial, channels) if is_last else (channels, *spatial)
    return Fact((data.dims[0], *dims), data.dtype), macs


def pool_caffe2(use: Use) -> Fact:
    """Return the result of MaxPool or AveragePool of Caffe2."""
    data = use.operand(0)
    if data.dims is None or len(data.dims) < 3:
        return Fact(None, data.dtype)
    is_last = use.text("order", "NCHW") == "NHWC"
    spatial = data.dims[1:-1] if is_last else data.dims[2:]
    rank = len(spatial)
    if use.integer("global_pooling", 0):
        found: Dims = (1,) * rank
    else:
        window = read_caffe2_window(use, rank, None)
        found = (None,) * rank if window is None else slide(spatial, window)
    batch, channels = data.dims[0], data.dims[-1 if is_last else 1]
    dims = (batch, *found, channels) if is_last else (batch, channels, *found)
    return Fact(dims, data.dtype)


def convolve_causally(use: Use) -> tuple[list[Fact | None], Amount | None]:
    """Return results and MACs of CausalConvWithState-27: each channel has a kernel of its own.

    Data are [B, C, L] and the weight is [C, 1, k]; a result for each position, and the last k - 1
    positions as the state. ONNX Runtime's may have channels last, take some channels of several, or
    go along more axes than one: these are not counted.
    """
    data, weight = use.operand(0), use.dims(1)
    is_other = use.integer("channels_last", 0) or use.integer("input_channels", 0)
    if is_other or use.integer("ndim", 1) != 1 or use.integer("state_length", 0):
        return [Fact(None, data.dtype)], None
    results: list[Fact | None] = [Fact(data.dims, data.dtype)]
    if data.dims is None or len(data.dims) != 3 or weight is None or len(weight) != 3:
        return results, None
    kernel = weight[2]
    state = None if kernel is None else kernel - 1
    results.append(Fact((*data.dims[:2], state), data.dtype))
    parts = (*data.dims, kernel)
    known = tuple(part for part in parts if part is not None)
    return results, multiply_all(known) if len(known) == len(parts) else None
