"""Paired nodes and weights that are not the same, and in what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from netloupe.explorer.model import Tensor

from .changes import Change, have_same_elements
from .joined_weights import JoinedPart
from .numbers import NumberDifference
from .pair import Pair

if TYPE_CHECKING:
    from .difference import Diff


#: what says what the codes of a Caffe2 tensor stand for
_OF_CODES = frozenset({"attribute Y_scale", "attribute Y_zero_point"})


class NodeDifference(NamedTuple):
    """Paired nodes that are not the same, and in what.

    Parameters
    ----------
    pair
        The nodes.
    changes
        In what they differ, weights aside.
    """

    pair: Pair
    changes: tuple[Change, ...]


class TensorDifference(NamedTuple):
    """Paired weights that are not the same, and in what.

    Parameters
    ----------
    left, right
        The tensors.
    changes
        What differs beside their numbers.
    numbers
        How far these are apart; None where they are the same or cannot be compared.
    are_unread
        Whether the numbers could not be compared although their dimensions are the same.
    part
        Where several weights of one model are joined in the other, which part of the joined one
        was compared; None for whole weights.
    """

    left: Tensor
    right: Tensor
    changes: tuple[Change, ...]
    numbers: NumberDifference | None
    are_unread: bool = False
    part: JoinedPart | None = None

    @property
    def has_other_elements(self) -> bool:
        """Whether the elements are others, but for numbers that could be compared.

        Of other dimensions they are, unless it is the same elements in the same order; and where
        the scale or zero point stated beside codes differs, by which these stand for others.
        """
        told = {change.what for change in self.changes if not change.aspect}
        if "elements" in told or not _OF_CODES.isdisjoint(told):
            return True
        if self.numbers is not None or "dims" not in told:
            return False
        return have_same_elements(self.left, self.right) is not True


def list_all_changes(found: Diff) -> Iterator[Change]:
    """Yield what differs in models, nodes and weights, numbers of weights aside."""
    yield from found.about
    for node in found.nodes:
        yield from node.changes
    for tensor in found.tensors:
        yield from tensor.changes


def list_other_numbers(found: Diff) -> list[Change]:
    """Return what differs of numbers that are stored, but not as dense weights."""
    told = [change for change in found.about if "sparse initializer " in change.what]
    for one in found.nodes:
        nodes = (*one.pair.left, *one.pair.right)
        is_constant = all(node.operator.form == "Constant" for node in nodes)
        is_without_inputs = not any(node.inputs for node in one.pair.right)
        told += (
            change
            for change in one.changes
            if not change.aspect
            and (
                is_constant
                or change.what.startswith("operand ")
                or (is_without_inputs and change.what in _OF_CODES)
            )
        )
    return told
