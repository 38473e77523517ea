"""What two types say that are stated of one value: other names, more, or something else."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import SparseTensorType, TensorType, ValueType
from netloupe.explorer.model.types import Dimension, MapType, OptionalType, SequenceType

Aspects = frozenset[str]
_NAMES, _DEFAULTS, _OTHER = frozenset({"names"}), frozenset({"defaults"}), frozenset({""})


def find_type_aspects(left: ValueType | None, right: ValueType | None) -> Aspects:
    """Return what a difference of two stated types belongs to; empty where there is none.

    Sizes that are not known may be called otherwise (``names``). Where one leaves open what the
    other states, as a size, a rank or a whole type, both hold (``defaults``). Anything else is
    another type (``""``), and so is a number where the other has a name: it holds for that size
    alone.
    """
    if left is None or right is None:
        return _DEFAULTS if left is not right else frozenset()
    if type(left) is not type(right):
        return _OTHER
    found = frozenset().union(*_compare(left, right))
    return _OTHER if "" in found else found


def _compare(left: ValueType, right: ValueType) -> Iterator[Aspects]:
    if isinstance(left, TensorType | SparseTensorType):
        assert isinstance(right, TensorType | SparseTensorType)  # noqa: S101 - of one class
        if left.dtype != right.dtype:
            yield _OTHER
        yield from _compare_shapes(left.shape, right.shape)
    elif isinstance(left, MapType):
        assert isinstance(right, MapType)  # noqa: S101 - of one class
        if left.key != right.key:
            yield _OTHER
        yield find_type_aspects(left.value, right.value)
    elif isinstance(left, SequenceType | OptionalType):
        assert isinstance(right, SequenceType | OptionalType)  # noqa: S101 - of one class
        yield find_type_aspects(left.element, right.element)
    elif str(left) != str(right):
        yield _OTHER


def _compare_shapes(
    left: tuple[Dimension, ...] | None, right: tuple[Dimension, ...] | None
) -> Iterator[Aspects]:
    if left is None or right is None:
        if left is not right:
            yield _DEFAULTS
        return
    if len(left) != len(right):
        yield _OTHER
        return
    for one, other in zip(left, right, strict=True):
        if one.value == other.value:
            continue
        if one.value is None or other.value is None:
            yield _DEFAULTS
        elif isinstance(one.value, str) and isinstance(other.value, str):
            yield _NAMES
        else:
            yield _OTHER


def list_stated_sizes(kind: ValueType | None) -> Iterator[Dimension]:
    """Yield all sizes that a type states, also of what is in sequences, maps and optionals."""
    if isinstance(kind, TensorType | SparseTensorType):
        yield from kind.shape or ()
    elif isinstance(kind, MapType):
        yield from list_stated_sizes(kind.value)
    elif isinstance(kind, SequenceType | OptionalType):
        yield from list_stated_sizes(kind.element)
