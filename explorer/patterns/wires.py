"""The wiring among some nodes in small questions: who gives this, who uses that, in places."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from netloupe.explorer.model import Node, Value, is_constant
from netloupe.explorer.operators import HANDING_TRAITS

#: stands for all users that are not among the nodes
OUTSIDE = -1


def is_fixed(value: Value) -> bool:
    """Return whether a value is a constant, or one in another layout."""
    if is_constant(value):
        return True
    node = value.producer
    return (
        node is not None
        and node.operator.has(*HANDING_TRAITS)
        and all(operand is None or is_constant(operand) for operand in node.inputs)
    )


class Wires:
    """Answers questions about the wiring of nodes, which are named by their places.

    Parameters
    ----------
    nodes
        The nodes, in an order in which producers come first.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = nodes
        self._operators = [node.operator for node in nodes]
        self._places = {node: place for place, node in enumerate(nodes)}
        self._users: list[tuple[int, ...] | None] = [None] * len(nodes)

    def op(self, place: int) -> str:
        """Return the operator that a node's is a form of: ``Conv`` for ``QLinearConv``, too."""
        return self._operators[place].form

    def has(self, place: int, *traits: str) -> bool:
        """Return whether the operator of a node has any of some traits."""
        return self._operators[place].has(*traits)

    def place(self, node: Node) -> int:
        """Return the place of one of the nodes."""
        return self._places[node]

    def producer(self, value: Value | None) -> int | None:
        """Return the place of the node that gives a value; None where it comes from outside."""
        return self._places.get(value.producer) if value is not None and value.producer else None

    def computed(self, place: int) -> list[Value]:
        """Return the operands of a node that are not constants."""
        return [
            value for value in self.nodes[place].inputs if value is not None and not is_fixed(value)
        ]

    def has_constant(self, place: int) -> bool:
        """Return whether a node has an operand that is a constant."""
        return any(value is not None and is_fixed(value) for value in self.nodes[place].inputs)

    def producers(self, place: int) -> Iterator[int]:
        """Yield the places of the nodes that a node takes from."""
        for value in self.nodes[place].inputs:
            producer = self.producer(value)
            if producer is not None:
                yield producer

    def users(self, place: int) -> tuple[int, ...]:
        """Return the places of the nodes that use a node's results, and `OUTSIDE` for others."""
        users = self._users[place]
        if users is None:
            found = [
                self._places.get(consumer, OUTSIDE)
                for value in self.nodes[place].outputs
                if value is not None
                for consumer in value.users
                if not consumer.operator.has("reads_shape")
            ]
            users = self._users[place] = tuple(dict.fromkeys(found))
        return users

    def only_user(self, place: int) -> int | None:
        """Return the one node that uses a node's results; None where there are several."""
        users = self.users(place)
        return users[0] if len(users) == 1 and users[0] != OUTSIDE else None

    def is_linear(self, place: int) -> bool:
        """Return whether a node multiplies by a constant matrix."""
        return self.op(place) in ("Gemm", "MatMul") and self.has_constant(place)

    def is_scaling(self, place: int, *ops: str) -> bool:
        """Return whether a node is one of some operators with a constant operand."""
        return self.op(place) in ops and self.has_constant(place)

    def follow(self, place: int, traits: Collection[str] = HANDING_TRAITS) -> list[int]:
        """Return the chain of only users behind a node whose operators have one of some traits."""
        chain: list[int] = []
        user = self.only_user(place)
        while user is not None and self.has(user, *traits) and len(chain) < 16:
            chain.append(user)
            user = self.only_user(user)
        return chain

    def linear_behind(self, place: int) -> list[int]:
        """Return the chain from a node to the linear one that alone uses it, bias included."""
        chain = self.follow(place)
        found = self.only_user(chain[-1] if chain else place)
        if found is None or not self.is_linear(found):
            return []
        chain.append(found)
        shaped = self.follow(found, ("casts", "dequantizes", "quantizes", "reshapes"))
        bias = self.only_user(shaped[-1] if shaped else found)
        if bias is not None and self.is_scaling(bias, "Add"):
            return [*chain, *shaped, bias]
        return [*chain, *shaped]

    def linear_before(self, value: Value, inside: Collection[int] = ()) -> list[int]:
        """Return the linear node that gives a value, its bias, and what stands between.

        All of them must be used by nothing but one another and the nodes ``inside``.
        """
        chain: list[int] = []
        allowed = set(inside)
        producer = self.producer(value)
        while producer is not None and len(chain) < 8 and allowed.issuperset(self.users(producer)):
            chain.append(producer)
            allowed.add(producer)
            if self.is_linear(producer):
                first = (
                    self.producer(self.computed(producer)[0]) if self.computed(producer) else None
                )
                is_reshaped = first is not None and self.op(first) == "Reshape"
                if first is not None and is_reshaped and self.only_user(first) == producer:
                    chain.append(first)
                return chain
            if not self.has(producer, *HANDING_TRAITS) and not self.is_scaling(
                producer, "Add", "Mul", "Div"
            ):
                return []
            following = self.computed(producer)
            producer = self.producer(following[0]) if following else None
        return []

    def is_closed(self, places: Iterable[int], ends: Collection[int]) -> bool:
        """Return whether nothing else uses some nodes, but for the ends."""
        inside = set(places)
        return all(inside.issuperset(self.users(place)) for place in inside if place not in ends)
