"""A graph of clauses as chains and branches that hold one another.

What takes what one other gives, and nothing else does, is a chain; what takes the same and is taken
by the same are branches (J. Valdes, R. E. Tarjan, E. L. Lawler, The Recognition of Series Parallel
Digraphs, 1982).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .clause_graph import ClauseGraph, Ends, has_clauses

#: how what is between 0 and 1 is joined with what it is made of (Y. Luo and N. Mesgarani,
#: Conv-TasNet, 2019, equation 3)
MASKING = "masking"
#: of more branches no one is told apart
_MOST_BRANCHES = 6


@dataclass(frozen=True)
class Chain:
    """Clauses, and branches of such, each of which takes what the one before gives.

    Parameters
    ----------
    items
        Numbers of clauses, branches, and what joins behind the item before it.
    """

    items: tuple[Item, ...]

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
class Joining:
    """What joins a chain on its way, and begins at inputs alone.

    Parameters
    ----------
    chain
        What the inputs go through; None for an input alone.
    inputs
        Which inputs these are.
    joint
        How it joins, in a word; "" where that is not known.
    """

    chain: Chain | None
    inputs: tuple[int, ...]
    joint: str = ""

    @property
    def clauses(self) -> frozenset[int]:
        """All clauses in it."""
        return frozenset() if self.chain is None else self.chain.clauses

    @property
    def ends(self) -> Ends:
        """The clauses, or the inputs, that give what joins."""
        return frozenset(self.inputs) if self.chain is None else self.chain.ends


@dataclass(frozen=True)
class ParallelChains:
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
        ``streams`` of different inputs, ``heads`` to different outputs, ``networks`` that have
        nothing in common, or ``branches``.
    ways
        Of streams and networks the inputs of each, of heads the outputs.
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
    def skip(self) -> str:
        """How one chain is joined with what goes around it, in a word; "" where that is no news.

        A sum with what goes in is how most blocks are built, but for one with an input of the
        graph (J. Kim and others, Accurate Image Super-Resolution Using Very Deep Convolutional
        Networks, 2016, section 3.1); a product with it is a mask.
        """
        if len(self.chains) > 1 or not self.has_skip:
            return ""
        told = ("added", "multiplied") if self.is_begin else ("concatenated", MASKING)
        return self.joint if self.joint in told else ""

    @property
    def clauses(self) -> frozenset[int]:
        """All clauses in them."""
        return frozenset().union(*(chain.clauses for chain in self.chains))

    @property
    def ends(self) -> Ends:
        """The clauses that give what is joined."""
        return frozenset().union(*(chain.ends for chain in self.chains))


#: what stands in a chain
Item = int | ParallelChains | Joining


def find_chains(graph: ClauseGraph) -> list[Chain]:
    """Return the clauses of a graph as chains: one where all of it is of chains and branches."""
    return _Reducer(graph).chains


@dataclass
class _Node:
    """A chain, what it takes, and what takes it."""

    chain: Chain
    givers: frozenset[int]
    takers: frozenset[int] = frozenset()

    @property
    def is_begin(self) -> bool:
        """Whether it takes inputs of the graph alone."""
        return bool(self.givers) and not has_clauses(self.givers)


def list_levels(item: Item) -> tuple[list[Item], list[int]] | None:
    """Return the steps of a chain each of which gives its result to one join, and what is behind.

    So the levels of a pyramid are joined: of nested branches each holds a step to the join, and the
    way to the next. None for other branches; the first step stands before them.
    """
    steps: list[Item] = []
    ends: list[int] = []
    inner: Item | None = item
    joint = item.joint if isinstance(item, ParallelChains) else ""
    while isinstance(inner, ParallelChains) and inner.joint == joint and not inner.has_skip:
        single = [one for one in inner.chains if len(one.items) == 1]
        others = [one for one in inner.chains if len(one.items) > 1]
        if len(inner.chains) != 2 or len(single) != 1 or not isinstance(single[0].items[0], int):
            return None
        ends.append(single[0].items[0])
        *before, last = others[0].items
        steps += before
        inner = last
    if not isinstance(inner, int) or len(ends) < 2:
        return None
    return steps, [*ends, inner]


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
        while self._join_chain() or self._join_branches() or self._take_in_begun():
            self._find_takers()
        self._join_apart()
        self.chains = [node.chain for _, node in sorted(self._nodes.items())]

    def _find_takers(self) -> None:
        takers: dict[int, set[int]] = {number: set() for number in self._nodes}
        for number, givers in [*self._list_givers()]:
            for giver in givers:
                if giver in takers:
                    takers[giver].add(number)
        going_on = {n for n, found in takers.items() if min(found, default=0) < self._first_output}
        for number, found in takers.items():
            # an output of what goes on, all of it, is given on the way
            inner = {one for one in found if not self._outputs.get(one, {-1}) <= going_on}
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
            is_begin = node.is_begin
            is_end = bool(node.takers) and min(node.takers) >= self._first_output
            rows.setdefault(("branches", node.givers, node.takers), []).append(number)
            if is_begin and not (is_end and self._are_heads(node.takers)):
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
        nodes.sort(key=lambda node: min(node.takers if kind == "heads" else node.chain.clauses))
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
        chains = tuple(node.chain for node in nodes)
        if kind == "heads":
            chains, ways = _flatten_heads(chains, ways)
        branches = ParallelChains(chains, joint, has_skip, kind, tuple(ways))
        whole = frozenset().union(*(node.givers for node in nodes))
        self._put(row, _Node(Chain((branches,)), whole))
        return True

    def _take_in_begun(self) -> bool:
        """Put what begins at inputs into the chain that alone takes it; or leave out an input."""
        for number, node in self._nodes.items():
            taker = self._nodes.get(min(node.takers)) if len(node.takers) == 1 else None
            if taker is None or not node.is_begin or not has_clauses(taker.givers - {number}):
                continue
            inputs = tuple(sorted(node.givers, reverse=True))
            joining = Joining(node.chain, inputs, self._find_word(node.chain.ends))
            chain = Chain((joining, *taker.chain.items))
            others = taker.givers - {number}
            self._put([number, min(node.takers)], _Node(chain, others))
            return True
        for node in self._nodes.values():
            alone = frozenset(giver for giver in node.givers if giver < 0)
            if alone and alone < node.givers:
                word = self._find_word(alone) or self._find_word_of_all(node.givers)
                joining = Joining(None, tuple(sorted(alone, reverse=True)), word)
                node.chain = Chain((joining, *node.chain.items)) if joining.joint else node.chain
                node.givers -= alone
                return True
        return False

    def _find_word(self, ends: Ends) -> str:
        """Return how some are joined with others; "" where that is in several ways."""
        words = {word for joined, word in self._graph.joints.items() if ends < joined}
        return words.pop() if len(words) == 1 else ""

    def _find_word_of_all(self, givers: frozenset[int]) -> str:
        """Return how all that something takes is joined, inputs among it; "" where it is not."""
        ends: Ends = frozenset(giver for giver in givers if giver < 0)
        for giver in givers - ends:
            ends |= self._nodes[giver].chain.ends
        return self._graph.joints.get(ends, "")

    def _join_apart(self) -> None:
        """Put networks side by side that have nothing in common."""
        nodes = [*self._nodes.items()]
        inputs = [node.givers for _, node in nodes]
        is_each = all(givers and max(givers) < 0 for givers in inputs)
        if 2 <= len(nodes) <= _MOST_BRANCHES and is_each and _are_apart(inputs):
            chains = tuple(node.chain for _, node in nodes)
            ways = tuple(tuple(sorted(givers, reverse=True)) for givers in inputs)
            apart = ParallelChains(chains, kind="networks", ways=ways)
            self._put([number for number, _ in nodes], _Node(Chain((apart,)), frozenset()))

    def _are_heads(self, takers: frozenset[int]) -> bool:
        return len(takers) > 1 and min(takers) >= self._first_output

    def _join_skip(self, number: int) -> bool:
        """Join a chain with what goes around it."""
        node = self._nodes[number]
        if not node.takers or not self._take_skip(node.givers, node.takers):
            return False
        joint = self._find_joint(node.chain.ends, node.givers)
        if joint and any(node.chain.ends < ends for ends in self._graph.masks):
            joint = MASKING if not node.is_begin else joint
        is_begin = node.is_begin
        ways = (tuple(sorted(node.givers, reverse=True)),) if is_begin else ()
        around = ParallelChains((node.chain,), joint, has_skip=True, ways=ways, is_begin=is_begin)
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
        joints = self._graph.joints
        if any(joined < whole and word != joints.get(whole) for joined, word in joints.items()):
            return ""  # some of them are joined before, in another way
        found = {word for joined, word in joints.items() if whole < joined}
        # what goes around a part of them is joined with them
        inner = found.pop() if len(found) == 1 and not givers else ""
        return joints.get(whole, inner)

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


def _flatten_heads(
    chains: Sequence[Chain], ways: Sequence[tuple[int, ...]]
) -> tuple[tuple[Chain, ...], list[tuple[int, ...]]]:
    """Return heads with those that some of them are in their place."""
    flat: list[tuple[Chain, tuple[int, ...]]] = []
    for chain, way in zip(chains, ways, strict=True):
        only = chain.items[0] if len(chain.items) == 1 else None
        if isinstance(only, ParallelChains) and only.kind == "heads":
            flat += zip(only.chains, only.ways, strict=True)
        else:
            flat.append((chain, way))
    return tuple(chain for chain, _ in flat), [way for _, way in flat]


def _are_apart(sets: Sequence[frozenset[int]]) -> bool:
    return sum(map(len, sets)) == len(frozenset().union(*sets))
