"""What Upsample and Resize of several versions say of where their results are sampled.

Which elements are taken follows from mode, scales and two attributes that came with Resize 11.
Before, positions were ``asymmetric``; the nearest element was the one below, and the one above
along axes that get shorter. That is how ONNX Runtime computes them; the specification of these
versions does not say (Operators.md and Changelog.md: Upsample 7 and 9, Resize 10, 11 and 19).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from netloupe.explorer.dataflow import find_operand
from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import Node, Tensor, TensorType, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor

#: attributes that :func:`compare_sampling` tells of
SAMPLING_ATTRIBUTES = frozenset({"coordinate_transformation_mode", "nearest_mode"})
_COORDINATES, _NEAREST = "coordinate_transformation_mode", "nearest_mode"
_CROP = "tf_crop_and_resize"
_MIXED = "ceil along axes that get shorter, floor along others"
#: axes of unknown length are tried with so many lengths, which show what repeats along an axis
_LENGTHS, _MOST_LENGTHS = 8, 64
_MOST_POSITIONS = 1 << 16
_MOST_SCALES = 64
_NEAR = 1e-6

Floats = np.ndarray[tuple[int], np.dtype[np.float32]]


class Sampling(NamedTuple):
    """Where a node samples what it takes.

    Parameters
    ----------
    mode
        ``nearest``, ``linear`` or ``cubic``.
    coordinates, nearest
        What holds, stated or not.
    scales
        By axis; None where they are not stored.
    """

    mode: object
    coordinates: object
    nearest: object
    scales: Floats | None


class SamplingChange(NamedTuple):
    """An attribute of two nodes that sample: what both state or imply, and whether that matters."""

    attribute: str
    left: object
    right: object
    is_same: bool


def are_resampling(left: Node, right: Node) -> bool:
    """Return whether two nodes are Upsample or Resize, and both of ONNX."""
    return _is_resampling(left) and _is_resampling(right)


def _is_resampling(node: Node) -> bool:
    return not node.domain and node.operator.has("resamples") and node.function is None


def find_unused_roi(node: Node) -> Value | None:
    """Return the operand ``roi`` of a Resize that crops nothing, and so does not read it."""
    if not _is_resampling(node) or _find_coordinates(node) == _CROP:
        return None
    return find_operand(node, "region")


def list_unread_regions(left: Node, right: Node) -> Iterator[Tensor]:
    """Yield the initializers of two nodes that are only a ``roi`` that nothing reads."""
    if are_resampling(left, right):
        for node in (left, right):
            tensor = _find_unread_region(node)
            if tensor is not None:
                yield tensor


def _find_unread_region(node: Node) -> Tensor | None:
    value = find_unused_roi(node)
    tensor = None if value is None else value.initializer
    if value is None or not isinstance(tensor, Tensor) or value.is_output:
        return None
    others = (user for user in value.users if find_unused_roi(user) is not value)
    is_taken_twice = any(user.inputs.count(value) > 1 for user in value.users)
    return None if next(others, None) is not None or is_taken_twice else tensor


def compare_sampling(left: Node, right: Node) -> Iterator[SamplingChange]:
    """Yield the attributes of where nodes sample that differ, or that only one of both states."""
    one, other = _read(left), _read(right)
    is_same = _are_at_same_places(one, other, left, right)
    is_nearest = "nearest" in (one.mode, other.mode)
    for name, first, second in (
        (_COORDINATES, one.coordinates, other.coordinates),
        (_NEAREST, one.nearest, other.nearest),
    ):
        stated = [name in node.attributes for node in (left, right)]
        if first != second:
            is_read = name == _COORDINATES or is_nearest
            yield SamplingChange(name, first, second, is_same or not is_read)
        elif stated[0] != stated[1]:
            before, after = (first, None) if stated[0] else (None, second)
            yield SamplingChange(name, before, after, True)


# reading


def _read(node: Node) -> Sampling:
    stated = node.attributes.get("mode")
    mode = "nearest" if stated is None else stated.value
    scales = _read_scales(node)
    if scales is not None:
        scales = _spread_scales(node, scales)
    return Sampling(
        "linear" if mode == "bilinear" else mode,
        _find_coordinates(node),
        _find_nearest(node, scales),
        scales,
    )


def _states_sampling(node: Node) -> bool:
    """Return whether a node is a Resize since 11, which states where it samples."""
    return node.operator.operands.find("region") is not None


def _find_coordinates(node: Node) -> object:
    stated = node.attributes.get(_COORDINATES)
    if stated is not None:
        return stated.value
    return "half_pixel" if _states_sampling(node) else "asymmetric"


def _find_nearest(node: Node, scales: Floats | None) -> object:
    stated = node.attributes.get(_NEAREST)
    if stated is not None:
        return stated.value
    if _states_sampling(node):
        return "round_prefer_floor"
    if scales is None or not (scales < 1).any():
        return "floor"
    return _MIXED if (scales > 1).any() else "ceil"


def _read_scales(node: Node) -> Floats | None:
    """Return what the attribute or stored operand holds; None for what is not known."""
    stated = node.attributes.get("scales")
    found: object = None if stated is None else stated.value
    operand = find_operand(node, "scales")
    tensor = None if operand is None else find_stored_tensor(operand)
    if tensor is not None and len(tensor.dims) == 1 and tensor.size <= _MOST_SCALES:
        try:
            found = tensor.numpy() if tensor.dtype.is_float else None
        except TensorDataError:
            return None
    if not isinstance(found, tuple | np.ndarray) or not len(found):
        return None
    try:
        with np.errstate(over="ignore"):
            return np.asarray(found, np.float32)
    except (OverflowError, TypeError, ValueError):
        return None


def _spread_scales(node: Node, scales: Floats) -> Floats | None:
    """Return a scale for each axis, 1 for those that are not named by ``axes``."""
    stated = node.attributes.get("axes")
    if stated is None:
        return scales
    lengths, axes = _find_lengths(node), stated.value
    if lengths is None or not isinstance(axes, tuple) or len(axes) != len(scales):
        return None
    spread = np.ones(len(lengths), np.float32)
    for axis, scale in zip(axes, scales, strict=True):
        if not isinstance(axis, int) or not -len(lengths) <= axis < len(lengths):
            return None
        spread[axis] = scale
    return spread


def _find_lengths(node: Node) -> tuple[int | None, ...] | None:
    value = node.input(0)
    kind = value.type if value is not None else None
    if not isinstance(kind, TensorType) or kind.shape is None:
        return None
    sizes = (dim.value for dim in kind.shape)
    return tuple(size if isinstance(size, int) and size >= 0 else None for size in sizes)


# positions


def _are_at_same_places(one: Sampling, other: Sampling, left: Node, right: Node) -> bool:
    """Return whether two nodes certainly sample the same places."""
    if one.mode != other.mode:
        return False
    is_nearest = one.mode == "nearest"
    if one.coordinates == other.coordinates and (not is_nearest or one.nearest == other.nearest):
        return True
    if one.mode not in ("nearest", "linear"):
        return False
    if one.scales is None or other.scales is None or not np.array_equal(one.scales, other.scales):
        return False
    scales = one.scales
    lengths = _find_lengths(left) or _find_lengths(right) or (None,) * len(scales)
    if len(lengths) != len(scales) or not np.isfinite(scales).all() or (scales <= 0).any():
        return False
    axes = zip(scales, lengths, strict=True)
    if any(length is not None and _find_width(scale, length) == 0 for scale, length in axes):
        return True  # nothing is sampled
    for scale, length in zip(scales, lengths, strict=True):
        tried = _choose_lengths(float(scale), one, other) if length is None else [length]
        for size in tried:
            sides = [_find_positions(each, scale, size) for each in (one, other)]
            if sides[0] is None or sides[1] is None:
                return False
            if not np.allclose(sides[0], sides[1], rtol=_NEAR, atol=_NEAR):
                return False
        if not tried:
            return False
    return True


def _choose_lengths(scale: float, one: Sampling, other: Sampling) -> Sequence[int]:
    """Return lengths that stand for all: none where positions do not repeat soon.

    They do not for some scales; nor where they depend on the whole length, between the corners, or
    around the centre where the scaled length is rounded.
    """
    inverse = 1 / scale
    coordinates = {one.coordinates, other.coordinates}
    is_whole = scale >= 1 and scale == round(scale)
    if "align_corners" in coordinates or ("half_pixel_symmetric" in coordinates and not is_whole):
        return ()
    if not 1 / _MOST_LENGTHS < scale < _MOST_POSITIONS:
        return ()
    if scale != round(scale) and inverse != round(inverse):
        return ()
    return range(1, 1 + min(max(_LENGTHS, math.ceil(2 * inverse)), _MOST_LENGTHS))


def _find_width(scale: np.float32, length: int) -> int:
    with np.errstate(over="ignore"):
        width = np.float32(scale * np.float32(length))
    return int(min(width, np.float32(2 * _MOST_POSITIONS)))


def _find_positions(sampling: Sampling, scale: np.float32, length: int) -> Floats | None:
    """Return where along an axis is sampled, in 32 bits as runtimes do; None if not known."""
    width = _find_width(scale, length)
    if length <= 0 or width > _MOST_POSITIONS:
        return None
    x = np.arange(width, dtype=np.float32)
    if scale == 1:
        return x  # an axis that keeps its length is copied
    half, last = np.float32(0.5), np.float32(length - 1)
    match sampling.coordinates:
        case "asymmetric":
            found = x / scale
        case "half_pixel":
            found = (x + half) / scale - half
        case "pytorch_half_pixel":
            found = (x + half) / scale - half if width > 1 else x * 0
        case "half_pixel_symmetric":
            adjusted = np.float32(width) / np.float32(scale * np.float32(length))
            centre = np.float32(length) / 2
            found = centre * (1 - adjusted) + (x + half) / scale - half
        case "tf_half_pixel_for_nn":
            found = (x + half) / scale
        case "align_corners":
            found = x * last / np.float32(width - 1) if width > 1 else x * 0
        case _:  # such as a crop, which takes other elements
            return None
    return _choose_elements(sampling, found.astype(np.float32), scale, last)


def _choose_elements(
    sampling: Sampling, positions: Floats, scale: np.float32, last: np.float32
) -> Floats | None:
    if sampling.mode == "linear":
        return np.clip(positions, 0, last)
    nearest = sampling.nearest
    if nearest == _MIXED:
        nearest = "ceil" if scale < 1 else "floor"
    match nearest:
        case "floor":
            found = np.floor(positions)
        case "ceil":
            found = np.ceil(positions)
        case "round_prefer_floor":
            found = np.ceil(positions - np.float32(0.5))
        case "round_prefer_ceil":
            found = np.floor(positions + np.float32(0.5))
        case _:
            return None
    return np.clip(found, 0, last)
