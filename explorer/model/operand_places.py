"""Who takes a value, and as which of its operands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .node import Node
    from .value import Value

#: inputs of a node of which it remembers where each is
_MANY_INPUTS = 32


def find_places(node: Node, value: Value) -> Sequence[int]:
    """Return the indices of the inputs of a node that are a value."""
    inputs = node.inputs
    if len(inputs) < _MANY_INPUTS:
        return [index for index, taken in enumerate(inputs) if taken is value]
    if node._places is None:  # else looking at each value would take the square of the time
        node._places = _index_places(inputs)
    found = node._places.get(value, ())
    return (found,) if isinstance(found, int) else found


def count_places(node: Node, value: Value) -> int:
    """Return how many of the inputs of a node are a value."""
    if len(node.inputs) < _MANY_INPUTS:
        return node.inputs.count(value)
    return len(find_places(node, value))


def list_consumers(value: Value) -> Iterator[tuple[Node, int]]:
    """Yield :attr:`Value.consumers` one after the other.

    It is for who looks at the first of very many.
    """
    return ((node, index) for node in value.users for index in find_places(node, value))


def count_consumers(value: Value) -> int:
    """Return how many :attr:`Value.consumers` there are."""
    return sum(count_places(node, value) for node in value.users)


def _index_places(
    inputs: Sequence[Value | None],
) -> Mapping[Value | None, int] | Mapping[Value | None, list[int]]:
    """Return by value the index of the input that is it; lists where any is there again."""
    places = dict(zip(inputs, range(len(inputs)), strict=True))
    if len(places) == len(inputs):  # a million lists would take 90 MB
        return places
    again: dict[Value | None, list[int]] = {}
    for index, value in enumerate(inputs):
        again.setdefault(value, []).append(index)
    return again
