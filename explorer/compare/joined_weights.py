"""How far the parts of a joined weight are from the weights that the other model has for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Tensor
from netloupe.explorer.progress import is_ending, step
from netloupe.explorer.tensors import open_elements

from .joined import JoinedProjection, ProjectionPart
from .numbers import DifferenceSums, NumberDifference
from .references import Numbers, Reference, open_reference

#: so many elements are read at once
_PIECE = 2**18


#: a weight or bias, and which part of the joined one it is
_Separate = tuple[ProjectionPart, Tensor]
#: the place of a part, and elements of it and of the other weight in the same order
_Piece = tuple[int, Numbers, Numbers]


class JoinedPart(NamedTuple):
    """Which part of a weight was compared with another weight.

    Parameters
    ----------
    is_left
        Whether it is the weight of the left model of which it is a part.
    start, stop
        Which outputs of its projection the part has, from one up to another.
    outputs
        How many outputs the whole weight has.
    """

    is_left: bool
    start: int
    stop: int
    outputs: int

    def __str__(self) -> str:
        return f"outputs {self.start:,} to {self.stop - 1:,} of {self.outputs:,}"


class ComparedPart(NamedTuple):
    """A weight or bias and the part of the joined one that stands for it.

    Parameters
    ----------
    joined
        The joined weight or bias.
    separate
        The one of the other model.
    part
        Which part of the joined one that is.
    numbers
        How far both are apart; None where they cannot be read.
    """

    joined: Tensor
    separate: Tensor
    part: JoinedPart
    numbers: NumberDifference | None


def compare_joined(joint: JoinedProjection) -> Iterator[ComparedPart]:
    """Yield each weight and bias with the part of the joined one; all elements are compared.

    They are read in pieces of 2**18 elements, or a row where that is longer.
    """
    weights = [(one, one.weight) for one in joint.parts]
    yield from _compare_each(joint, joint.weight, weights, is_bias=False)
    biases = [(one, one.bias) for one in joint.parts if one.bias is not None]
    if joint.bias is not None:  # where one side has none, the other adds zeros
        yield from _compare_each(joint, joint.bias, biases, is_bias=True)


def _compare_each(
    joint: JoinedProjection, joined: Tensor, separate: Sequence[_Separate], *, is_bias: bool
) -> Iterator[ComparedPart]:
    sums = [DifferenceSums() for _ in separate]
    found: list[NumberDifference | None] = [None] * len(separate)
    try:
        if is_bias or joint.is_turned:
            inputs = 1 if is_bias else joined.dims[1]
            pieces = _read_rows(joined, separate, inputs, is_bias=is_bias)
        else:
            pieces = _read_columns(joined, separate)
        for place, piece, other in pieces:
            step()
            sums[place].add(*((piece, other) if joint.is_left else (other, piece)))
        found = [one.finish(tensor.size) for one, (_, tensor) in zip(sums, separate, strict=True)]
    except (NetloupeError, ValueError) as error:
        if is_ending(error):
            raise
    for (one, tensor), numbers in zip(separate, found, strict=True):
        part = JoinedPart(joint.is_left, one.start, one.stop, joint.parts[-1].stop)
        yield ComparedPart(joined, tensor, part, numbers)


def _read_columns(joined: Tensor, separate: Sequence[_Separate]) -> Iterator[_Piece]:
    """Yield pieces of parts that are columns: whole rows of the joined weight are read once."""
    elements = open_elements(joined)
    rows, width = joined.dims
    others = [_open(one, tensor, is_turned=False) for one, tensor in separate]
    many = max(_PIECE // width, 1)
    for first in range(0, rows, many):
        last = min(first + many, rows)
        block = np.asarray(elements.take(first * width, last * width)).reshape(-1, width)
        for place, (one, _) in enumerate(separate):
            part = block[:, one.start : one.stop].astype(np.float64).reshape(-1)
            size = one.stop - one.start
            yield place, part, others[place].take(first * size, last * size)


def _read_rows(
    joined: Tensor, separate: Sequence[_Separate], inputs: int, *, is_bias: bool
) -> Iterator[_Piece]:
    """Yield pieces of parts that are rows, as of biases: each part lies in one run."""
    elements = open_elements(joined)
    for place, (one, tensor) in enumerate(separate):
        other = open_reference(tensor, None) if is_bias else _open(one, tensor, is_turned=True)
        begin = one.start * inputs
        for start in range(0, tensor.size, _PIECE):
            stop = min(start + _PIECE, tensor.size)
            part = np.asarray(elements.take(begin + start, begin + stop)).astype(np.float64)
            yield place, part, other.take(start, stop)


def _open(one: ProjectionPart, tensor: Tensor, *, is_turned: bool) -> Reference:
    """Open a weight whose outputs are to be along its first axis, or else along the second."""
    rows, columns = tensor.dims
    return open_reference(tensor, None if one.is_turned == is_turned else (1, rows, columns))
