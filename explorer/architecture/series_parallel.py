"""A graph of clauses as chains and branches that hold one another.

What takes what one other gives, and nothing else does, is a chain; what takes the same and is taken
by the same are branches (J. Valdes, R. E. Tarjan, E. L. Lawler, The Recognition of Series Parallel
Digraphs, 1982).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .clause_graph import ClauseGraph, Ends

#: of more branches no one is told apart
_MOST_BRANCHES = 6


@dataclass(frozen=True)
class Chain:
    """Clauses, and branches of such, each of which takes what the one before gives.

    Parameters
    ----------
    items
        Numbers of clauses, and branches.
    """

    items: tuple[int | Branches, ...]

    @property
    def ends(self) -> Ends:
        """The clauses that give what it gives."""
        last = self.items[-1]
        return frozenset({last}) if isinstance(last, int) else last.ends

    @property
    def clauses(self) -> frozenset[int]:
        """All clauses in it."""
        own = (frozenset({i}) if isinstance(i, int) else i.clauses for i in self.items)
        return frozenset().union(*own)


@dataclass(frozen=True)
class Branches:
    """Chains side by side.

    Parameters
    ----------
    chains
        The chains.
    joint
        How they meet, in a word; "" where that is not known.
    has_skip
        Whether what they take is joined, too.
    kind
        ``streams`` of different inputs, ``heads`` to different outputs, or ``branches``.
    ways
        Of streams the inputs of each, of heads the outputs.
    is_begin
        Whether they take inputs of the graph alone.
    """

    chains: tuple[Chain, ...]
    joint: str = ""
    has_skip: bool = False
    kind: str = "branches"
    ways: tuple[tuple[int, ...], ...] = ()
    is_begin: bool = False

    @property
    def joins_taken(self) -> bool:
        """Whether it is one chain whose result is concatenated with what goes into it."""
        is_around = len(self.chains) == 1 and self.has_skip and not self.is_begin
        return is_around and self.joint == "concatenated"

    @property
    def clauses(self) -> frozenset[int]:
        """All clauses in them."""
        return frozenset().union(*(chain.clauses for chain in self.chains))

    @property
    def ends(self) -> Ends:
        """The clauses that give what is joined."""
        return frozenset().union(*(chain.ends for chain in self.chains))


def find_chains(graph: ClauseGraph) -> list[Chain]:
    """Return the clauses of a graph as chains: one where all of it is of chains and branches."""
    return _Reducer(graph).chains


@dataclass
class _Node:
    """A chain, what it takes, and what takes it."""

    chain: Chain
    givers: frozenset[int]
    takers: frozenset[int] = frozenset()


class _Reducer:
    """Puts the clauses of a graph together to chains and branches.

    Parameters
    ----------
    graph
        What clauses take from one another.

    Attributes
    ----------
    chains
        What is left, in order: one chain where all of it is of chains and branches.
    """

    def __init__(self, graph: ClauseGraph) -> None:
        self._graph = graph
        # outputs are numbered behind the clauses, in the order of the graph
        self._first_output = len(graph.givers)
        self._nodes = {
            number: _Node(Chain((number,)), givers) for number, givers in enumerate(graph.givers)
        }
        self._outputs = {
            self._first_output + number: givers for number, givers in enumerate(graph.outputs)
        }
        self._find_takers()
        while self._join_chain() or self._join_branches():
            self._find_takers()
        self.chains = [node.chain for _, node in sorted(self._nodes.items())]

    def _find_takers(self) -> None:
        takers: dict[int, set[int]] = {number: set() for number in self._nodes}
        for number, givers in [*self._list_givers()]:
            for giver in givers:
                if giver in takers:
                    takers[giver].add(number)
        for number, found in takers.items():
            # what gives an output on its way to more goes on
            inner = {one for one in found if one < self._first_output}
            self._nodes[number].takers = frozenset(inner or found)

    def _list_givers(self) -> Iterator[tuple[int, frozenset[int]]]:
        for number, node in self._nodes.items():
            yield number, node.givers
        yield from self._outputs.items()

    def _join_chain(self) -> bool:
        for number, node in self._nodes.items():
            if len(node.takers) != 1:
                continue
            taker = min(node.takers)
            after = self._nodes.get(taker)
            if after is not None and after.givers == {number}:
                chain = Chain(node.chain.items + after.chain.items)
                self._put([number, taker], _Node(chain, node.givers))
                return True
        return False

    def _join_branches(self) -> bool:
        """Join the branches that stand between the fewest things; return whether there are any."""
        rows: dict[tuple[str, frozenset[int], frozenset[int]], list[int]] = {}
        for number, node in self._nodes.items():
            is_begin = bool(node.givers) and max(node.givers) < 0
            is_end = bool(node.takers) and min(node.takers) >= self._first_output
            rows.setdefault(("branches", node.givers, node.takers), []).append(number)
            if is_begin and not is_end:
                rows.setdefault(("streams", frozenset(), node.takers), []).append(number)
            if is_end and not is_begin:
                rows.setdefault(("heads", node.givers, frozenset()), []).append(number)
        for (kind, givers, takers), row in rows.items():
            if 2 <= len(row) <= _MOST_BRANCHES and self._join_row(kind, row, givers, takers):
                return True
        return any(self._join_skip(number) for number in [*self._nodes])

    def _join_row(
        self, kind: str, row: list[int], givers: frozenset[int], takers: frozenset[int]
    ) -> bool:
        nodes = [self._nodes[number] for number in row]
        if kind == "streams" and len({node.givers for node in nodes}) < len(nodes):
            return False
        if kind == "heads" and len({node.takers for node in nodes}) < len(nodes):
            return False
        if kind == "branches" and (not takers or self._are_heads(takers)):
            return False  # nothing takes what they give, or several outputs each a part of it
        ways: list[tuple[int, ...]] = []
        if kind == "streams" and not _are_apart([node.givers for node in nodes]):
            kind = "branches"
        if kind == "streams":
            ways = [tuple(sorted(node.givers, reverse=True)) for node in nodes]
        elif kind == "heads":
            ways = [tuple(n - self._first_output for n in sorted(node.takers)) for node in nodes]
        ends = frozenset().union(*(node.chain.ends for node in nodes))
        has_skip = kind == "branches" and self._take_skip(givers, takers)
        joint = "" if kind == "heads" else self._find_joint(ends, givers if has_skip else None)
        branches = Branches(tuple(node.chain for node in nodes), joint, has_skip, kind, tuple(ways))
        whole = frozenset().union(*(node.givers for node in nodes))
        self._put(row, _Node(Chain((branches,)), whole))
        return True

    def _are_heads(self, takers: frozenset[int]) -> bool:
        return len(takers) > 1 and min(takers) >= self._first_output

    def _join_skip(self, number: int) -> bool:
        """Join a chain with what goes around it."""
        node = self._nodes[number]
        if not node.takers or not self._take_skip(node.givers, node.takers):
            return False
        joint = self._find_joint(node.chain.ends, node.givers)
        is_begin = max(node.givers) < 0
        around = Branches((node.chain,), joint, has_skip=True, is_begin=is_begin)
        self._put([number], _Node(Chain((around,)), node.givers))
        return True

    def _take_skip(self, givers: frozenset[int], takers: frozenset[int]) -> bool:
        """Return whether what some take is taken by what takes them, too; it is not any more."""
        if len(givers) != 1 or len(takers) != 1:
            return False
        taker = min(takers)
        after = self._nodes.get(taker)
        taken = after.givers if after is not None else self._outputs.get(taker, frozenset())
        if not givers <= taken:
            return False
        if after is not None:
            after.givers = taken - givers
        else:
            self._outputs[taker] = taken - givers
        return True

    def _find_joint(self, ends: Ends, givers: frozenset[int] | None) -> str:
        """Return how ends are joined, with those of what goes around them."""
        around: Ends = frozenset()
        for giver in givers or ():
            around |= self._nodes[giver].chain.ends if giver in self._nodes else {giver}
        whole = ends | around
        found = {word for joined, word in self._graph.joints.items() if whole < joined}
        # what goes around a part of them is joined with them
        inner = found.pop() if len(found) == 1 and not givers else ""
        return self._graph.joints.get(whole, inner)

    def _put(self, old: list[int], node: _Node) -> None:
        """Put one in place of several, at the number of the last of them."""
        own = {*old}
        last = max(old)
        for number in old:
            del self._nodes[number]
        self._nodes[last] = node
        for other in self._nodes.values():
            if other is not node and not own.isdisjoint(other.givers):
                other.givers = frozenset(other.givers - own) | {last}
        for number, givers in self._outputs.items():
            if not own.isdisjoint(givers):
                self._outputs[number] = frozenset(givers - own) | {last}
        self._nodes = dict(sorted(self._nodes.items()))


def _are_apart(sets: Sequence[frozenset[int]]) -> bool:
    return sum(map(len, sets)) == len(frozenset().union(*sets))
