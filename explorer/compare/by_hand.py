"""Pairs that a person has made or broken, which count more than all that is found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from netloupe.explorer.errors import CompareError
from netloupe.explorer.model import Graph, Model, Node

if TYPE_CHECKING:
    from .pair import Pair

#: a node of each model, or its path or name
Named = tuple[str | Node, str | Node]


@dataclass(frozen=True)
class ByHand:
    """What a person says of pairs of nodes.

    Parameters
    ----------
    pinned
        By node of the left model the one of the right model that is its partner.
    broken
        Nodes that are no pair.
    """

    pinned: dict[Node, Node] = field(default_factory=dict)
    broken: frozenset[tuple[Node, Node]] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was said."""
        return not self.pinned and not self.broken

    def is_about(self, left: Graph, right: Graph) -> bool:
        """Return whether something is said of nodes of two graphs."""
        said = (*self.pinned.items(), *self.broken)
        return any(one.graph is left or other.graph is right for one, other in said)

    def list_pins(self, left: Graph, right: Graph) -> Iterator[tuple[Node, Node]]:
        """Yield the pairs that were made of nodes of two graphs."""
        for one, other in self.pinned.items():
            if one.graph is left and other.graph is right:
                yield one, other

    def allows(self, left: Collection[Node], right: Collection[Node]) -> bool:
        """Return whether nothing was said of any of some nodes of both models together."""
        if self.is_empty:
            return True
        is_pinned = any(node in self.pinned for node in left) or any(
            node in right for node in self.pinned.values()
        )
        return not is_pinned and not any(a in left and b in right for a, b in self.broken)

    def apply(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield pairs without what contradicts what was said; without those that were made."""
        taken = {*self.pinned, *self.pinned.values()}
        for pair in pairs:
            left = [node for node in pair.left if node not in taken]
            right = [node for node in pair.right if node not in taken]
            for one, other in self.broken:
                if one in left and other in right:
                    left.remove(one)
                    right.remove(other)
            if left and right:
                is_whole = len(left) == len(pair.left) and len(right) == len(pair.right)
                yield pair if is_whole else replace(pair, left=tuple(left), right=tuple(right))


def read_by_hand(left: Model, right: Model, pin: Sequence[Named], unpin: Sequence[Named]) -> ByHand:
    """Return what is said of pairs, whose nodes are given as such, by path or by name.

    Raises
    ------
    NotFoundError
        Where a model has no such node, or several of that name.
    CompareError
        For what are no two nodes, for a node that is to have two partners, and for a pair that is
        both made and broken.
    """
    pinned: dict[Node, Node] = {}
    for one, other in (_find(left, right, entry) for entry in pin):
        if pinned.get(one, other) is not other or (one not in pinned and other in pinned.values()):
            raise CompareError(
                f"{one.path} and {other.path} cannot be pinned: one of them has another partner "
                "already. Pin each node once."
            )
        pinned[one] = other
    broken = frozenset(_find(left, right, entry) for entry in unpin)
    for one, other in broken:
        if pinned.get(one) is other:
            raise CompareError(
                f"{one.path} and {other.path} are both pinned and broken. Leave one of these out."
            )
    return ByHand(pinned, broken)


def _find(left: Model, right: Model, entry: Any) -> tuple[Node, Node]:
    if not isinstance(entry, tuple | list) or len(entry) != 2:
        raise CompareError(
            f"a pair is given as {str(entry)[:60]!r}. Give two nodes, or their paths or names: "
            "one of the left model, then one of the right."
        )
    one, other = (
        element if isinstance(element, Node) else model.node(element)
        for model, element in zip((left, right), entry, strict=True)
    )
    for model, node in ((left, one), (right, other)):
        if node.graph.model is not model:
            raise CompareError(f"{node.path} is not a node of {model.source}.")
    return one, other


def split_pair(text: str, left: Model, right: Model) -> tuple[Node, Node]:
    """Return the nodes that ``LEFT=RIGHT`` means, whose names may have equals signs themselves.

    Raises
    ------
    NotFoundError
        Where no such nodes are there.
    CompareError
        Where there is no equals sign.
    """
    places = [place for place, sign in enumerate(text) if sign == "="]
    if not places:
        raise CompareError(f"{text[:60]!r} is no pair. Give LEFT=RIGHT: two paths or names.")
    for place in places[:-1]:
        one, other = text[:place], text[place + 1 :]
        if one in left and other in right:
            return _find(left, right, (one, other))
    place = places[-1]
    return _find(left, right, (text[:place], text[place + 1 :]))
