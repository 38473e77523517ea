"""Weights of convolutions that ONNX Runtime stores in blocks of channels, and what they were.

Its convolutions of the domain ``com.microsoft.nchwc`` take weights of which so many outputs as a
register of the processor holds are stored together: OIHW becomes OIHWBo where the operand has its
channels one after the other, or each its own; else OIHWBiBo, where so many inputs are together as
well. What fills the last block is 0 (onnxruntime/core/mlas/lib/reorder.cpp: MlasReorderFilterOIHWBo
and MlasReorderFilterOIHWBiBo; core/optimizer/nchwc_transformer.cc).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Graph, Node, Tensor, find_nodes_where
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.notation import write_count
from netloupe.explorer.progress import is_ending, step
from netloupe.explorer.tensors import open_elements

from .activations import BLOCKED_DOMAIN
from .digests import take_places
from .numbers import DifferenceSums, NumberDifference

#: channels of a block: of 128, 256 and 512 bits of float32
_BLOCKS = (4, 8, 16)
#: so many elements are compared; fewer different ones tell nothing
_SAMPLE, _LEAST = 96, 3
#: of so many kinds of dimensions candidates are looked at
_MOST_DIMS = 64
#: so many elements are compared at once
_PIECE = 2**18
#: larger weights are not compared; weights of convolutions have so many axes at least
_MOST_ELEMENTS, _LEAST_AXES = 2**25, 3

_Places = np.ndarray[Any, np.dtype[np.int64]]


class Blocking(NamedTuple):
    """How a weight is stored in blocks.

    Parameters
    ----------
    outputs, inputs
        How many channels are stored together; 1 for inputs that are stored one after the other.
    """

    outputs: int
    inputs: int

    def locate(self, places: tuple[_Places, ...], dims: tuple[int, ...]) -> _Places:
        """Return where the elements at some places of a weight are stored.

        Parameters
        ----------
        places
            Of each axis (output, input, then those of the kernel) the places, shape (count,).
        dims
            The dimensions of the weight as it is stored, channels filled up.
        """
        output, taken, *within = places
        found = output // self.outputs
        found = found * (dims[1] // self.inputs) + taken // self.inputs
        for place, size in zip(within, dims[2:], strict=True):
            found = found * size + place
        return (found * self.inputs + taken % self.inputs) * self.outputs + output % self.outputs


class BlockedTwin(NamedTuple):
    """A weight in blocks, the one that it was made of, and how it is stored."""

    blocked: Tensor
    plain: Tensor
    blocking: Blocking


def list_blocked_twins(blocked: Graph, plain: Graph) -> Iterator[BlockedTwin]:
    """Yield the weights in blocks of one graph with those of another that have their numbers.

    Parameters
    ----------
    blocked, plain
        The graphs.

    Notes
    -----
    Some numbers of each weight are read and have to be equal. A weight that others equal, or one
    of a single number, is left out.
    """
    weights = [*_list_weights(blocked, is_blocked=True)]
    if not weights:
        return
    by_dims: dict[tuple[int, ...], dict[bytes, Tensor | None]] = {}
    for tensor in _list_weights(plain, is_blocked=False):
        step()
        places = _spread(tensor.dims)
        sample = _read(tensor, np.ravel_multi_index(places, tensor.dims))
        if sample is not None:
            known = by_dims.setdefault(tensor.dims, {})
            known[sample] = None if sample in known else tensor
    for tensor in weights:
        step()
        found = _find_plain(tensor, by_dims)
        if found is not None:
            yield found


def _find_plain(
    tensor: Tensor, by_dims: dict[tuple[int, ...], dict[bytes, Tensor | None]]
) -> BlockedTwin | None:
    fitting = [dims for dims in by_dims if _may_be(tensor.dims, dims)]
    for dims in fitting[:_MOST_DIMS]:
        places = _spread(dims)
        for blocking in list_blockings(tensor.dims):
            sample = _read(tensor, blocking.locate(places, tensor.dims))
            plain = by_dims[dims].get(sample) if sample is not None else None
            if plain is not None:
                return BlockedTwin(tensor, plain, blocking)
    return None


def list_blockings(dims: tuple[int, ...]) -> Iterator[Blocking]:
    """Yield the ways in which a weight of such dimensions may be stored in blocks."""
    for size in _BLOCKS:
        if not dims[0] % size:
            yield Blocking(size, 1)
            if not dims[1] % size:
                yield Blocking(size, size)


def _may_be(stored: tuple[int, ...], dims: tuple[int, ...]) -> bool:
    """Return whether dimensions are the same but for channels that fill up the last block."""
    more = [one - other for one, other in zip(stored[:2], dims[:2], strict=True)]
    return stored[2:] == dims[2:] and all(0 <= each < max(_BLOCKS) for each in more)


def _list_weights(graph: Graph, *, is_blocked: bool) -> Iterator[Tensor]:
    """Yield the weights of convolutions, each once."""
    seen: set[Tensor] = set()
    for index in find_nodes_where(graph, lambda operator: operator.form == "Conv").tolist():
        node = graph.nodes[index]
        value = node.input(1)
        if (node.domain == BLOCKED_DOMAIN) != is_blocked or value is None:
            continue
        tensor = find_stored_tensor(value)
        if tensor is None or tensor in seen or len(tensor.dims) < _LEAST_AXES or not tensor.size:
            continue
        if tensor.dtype.is_float:
            seen.add(tensor)
            yield tensor


def _spread(dims: tuple[int, ...]) -> tuple[_Places, ...]:
    count = int(np.prod(dims, dtype=object))
    chosen = np.linspace(0, count - 1, min(count, _SAMPLE)).astype(np.int64)
    return tuple(each.astype(np.int64) for each in np.unravel_index(chosen, dims))


def _read(tensor: Tensor, places: _Places) -> bytes | None:
    """Return the numbers at some places; None where they tell nothing or cannot be read."""
    try:
        elements = open_elements(tensor)
        if elements.is_constant:
            return None
        order = np.argsort(places, kind="stable")
        numbers = np.empty(len(places), np.float32)
        numbers[order] = take_places(elements, places[order])
    except (NetloupeError, ValueError) as error:
        if isinstance(error, NetloupeError) and is_ending(error):
            raise
        return None
    return numbers.tobytes() if len(np.unique(numbers)) >= _LEAST else None


class BlockedNumbers(NamedTuple):
    """What a weight in blocks is beside one that is not.

    Parameters
    ----------
    told
        How it is stored, in words.
    numbers
        How far the numbers are apart, in the order of the models; None where they cannot be read.
    is_filled_up
        Whether nothing but 0 is in channels that the other one has not.
    """

    told: str
    numbers: NumberDifference | None
    is_filled_up: bool


def list_blocked(nodes: Iterable[Node]) -> Iterator[Tensor]:
    """Yield the weights and biases of the convolutions among some nodes that are in blocks."""
    for node in nodes:
        if node.domain == BLOCKED_DOMAIN and node.operator.has("convolves"):
            for value in node.inputs[1:3]:
                tensor = find_stored_tensor(value) if value is not None else None
                if tensor is not None:
                    yield tensor


def compare_blocked(left: Tensor, right: Tensor, *, is_right: bool) -> BlockedNumbers | None:
    """Compare a weight with one in blocks, element by element, in the order that fits best.

    Parameters
    ----------
    left, right
        Weights of convolutions, or their biases.
    is_right
        Whether the right one is in blocks.

    Returns
    -------
    BlockedNumbers or None
        None where their dimensions do not fit.
    """
    blocked, plain = (right, left) if is_right else (left, right)
    if not (blocked.dtype.is_float and plain.dtype.is_float) or not plain.size:
        return None
    ways = [*_list_ways(plain.dims, blocked.dims)]
    if not ways:
        return None
    unread = BlockedNumbers("in blocks of channels", None, is_filled_up=True)
    if blocked.size > _MOST_ELEMENTS:
        return unread
    try:
        stored = open_elements(blocked).take(0, blocked.size)
        numbers = open_elements(plain).take(0, plain.size)
    except NetloupeError as error:
        if is_ending(error):
            raise
        return unread
    found = []
    for told, blocking in ways:
        sums, rest = DifferenceSums(), np.ones(stored.size, bool)
        for start in range(0, plain.size, _PIECE):
            step()
            chosen = np.arange(start, min(start + _PIECE, plain.size))
            places = np.unravel_index(chosen, plain.dims)
            order = chosen if blocking is None else blocking.locate(places, blocked.dims)
            rest[order] = False
            pieces = numbers[chosen].astype(np.float64), stored[order].astype(np.float64)
            sums.add(*(pieces if is_right else pieces[::-1]))
        found.append(BlockedNumbers(told, sums.finish(plain.size), not stored[rest].any()))
    return min(found, key=_rank)


def _rank(one: BlockedNumbers) -> tuple[bool, float]:
    return not one.is_filled_up, one.numbers.relative if one.numbers is not None else 0.0


def _list_ways(
    plain: tuple[int, ...], blocked: tuple[int, ...]
) -> Iterator[tuple[str, Blocking | None]]:
    """Yield in words how a weight may be stored, and the blocks; None for those of a bias."""
    if len(plain) != len(blocked):
        return
    if len(plain) == 1:
        if 0 <= blocked[0] - plain[0] < max(_BLOCKS):
            yield "filled up to whole blocks of channels", None
    elif len(plain) >= _LEAST_AXES and _may_be(blocked, plain):
        for blocking in list_blockings(blocked):
            inputs = f" and {blocking.inputs} inputs" if blocking.inputs > 1 else ""
            yield f"in blocks of {write_count(blocking.outputs, 'output')}{inputs}", blocking
