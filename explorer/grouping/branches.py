"""Which of like blocks stand one behind another, and which side by side as branches.

Blocks in a row of names are not always blocks in a stream. Branches take the same value, and what
they give is added or joined: three kernels of a vocoder, rates of an atrous pyramid. Folded they
would look as if they stood in series; few of them are drawn side by side. Three or more that are
alike but for the size of their kernels, and summed one after the other (J. Kong and others,
HiFi-GAN, 2020, section 2.3), are one box, on which that stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Literal, NamedTuple

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.model import Graph, Node, Value, find_nodes_where, is_constant
from netloupe.explorer.operators import LAYOUT_TRAITS

from .group import Group
from .kinds import outermost_family
from .member_nodes import list_member_nodes

Block = Sequence[Group | Node]
Link = Literal["serial", "summed", "none"]

#: more branches than this are folded, for they would make a picture too wide
MOST_BRANCHES = 4
#: larger blocks are not looked at
_MOST_NODES = 20_000
#: where blocks stand partly in series, so many of these in a row are a repeat
_LEAST_IN_SERIES = 3
#: a pyramid has so many levels
_LEAST_LEVELS, _MOST_LEVELS = 2, 6
#: so many nodes behind a level are looked at
_MOST_BEHIND = 2_000
#: so many branches that are summed are one box
_LEAST_SUMMED = 3


def list_foldable(blocks: Sequence[Block]) -> list[range]:
    """Return which of a row of like blocks are repeats, by their numbers.

    That is all of it where each block takes from the one before, or none does; nothing where
    these are few branches of one value; else what stands in series. Columns of a fractal whose
    blocks are written by turns are neither (G. Larsson and others, FractalNet, 2017, figure 1).
    """
    nodes: list[list[Node]] = []
    count = 0
    for block in blocks:
        nodes.append(_list_nodes(block))
        count += len(nodes[-1])
        if count > _MOST_NODES:  # very many blocks: the rest need not be listed
            return [range(len(blocks))]
    links = [_find_link(before, own) for before, own in pairwise(nodes)]
    if "serial" in links and {*links} != {"serial"}:
        return _list_in_series(links)
    if "serial" in links:
        return [range(len(blocks))]
    if are_in_turns(nodes) or ({*links} == {"none"} and are_levels(nodes)):
        return []
    if len(blocks) > MOST_BRANCHES:
        return [range(len(blocks))]
    origins = {_find_origins(own, set(links) == {"summed"}) for own in nodes}
    are_of_one = len(origins) == 1 and origins != {frozenset()}
    return [] if are_of_one else [range(len(blocks))]


def are_in_turns(blocks: Sequence[Sequence[Node]]) -> bool:
    """Return whether blocks take from others, but none more than a sum from the one before.

    They belong to several streams, and as one row, or side by side, they would not be drawn as
    they are. Linear in the nodes.
    """
    if sum(map(len, blocks)) > _MOST_NODES:
        return False
    links = [_find_link(before, own) for before, own in pairwise(blocks)]
    if "serial" in links:
        return False
    holders = {node: number for number, nodes in enumerate(blocks) for node in nodes}
    for number, own in enumerate(blocks):
        takers = {
            node
            for node, value in _list_taken(own)
            if value.producer is not None and holders.get(value.producer, number) < number - 1
        }
        if _tell_link(takers, own) == "serial":
            return True
    return False


def are_beside(blocks: Sequence[Sequence[Node]]) -> bool:
    """Return whether blocks of the same operators stand side by side: none takes from another.

    Each is a part of one thing, as the masks of all bands are, however wide it is.
    """
    first = [node.op_type for node in blocks[0]]
    if sum(map(len, blocks)) > _MOST_NODES:
        return False
    if any([node.op_type for node in nodes] != first for nodes in blocks):
        return False
    holders = {node: number for number, nodes in enumerate(blocks) for node in nodes}
    return all(
        holders.get(value.producer, number) == number
        for node, number in holders.items()
        for value in node.inputs
        if value is not None and value.producer is not None
    )


def are_levels(blocks: Sequence[Sequence[Node]]) -> bool:
    """Return whether like blocks stand on levels between two streams, as laterals of a pyramid do.

    What takes from one leads to what takes from another, and of several to a third (T.-Y. Lin and
    others, Feature Pyramid Networks, 2017, figure 3). Heads on several maps end in outputs, or are
    put together.
    """
    if not _LEAST_LEVELS <= len(blocks) <= _MOST_LEVELS:
        return False
    takers = [_list_takers(nodes) for nodes in blocks]
    if not all(takers) or len({frozenset(own) for own in takers}) < len(blocks):
        return False
    reached = [_walk(own) for own in takers]
    numbers = range(len(blocks))
    below = [
        [other for other in numbers if other != one and not reached[one].isdisjoint(takers[other])]
        for one in numbers
    ]
    steps = [(one, other) for one in numbers for other in below[one] if one not in below[other]]
    return any(below[other] or len(blocks) == _LEAST_LEVELS for _, other in steps)


def _list_takers(nodes: Sequence[Node]) -> set[Node]:
    own = {*nodes}
    return {
        user
        for node in nodes
        for value in node.outputs
        if value is not None
        for user in value.users
        if user not in own and not user.operator.has("reads_shape")
    }


def _walk(nodes: set[Node]) -> set[Node]:
    """Return what nodes lead to, not farther than needed for levels of one pyramid."""
    seen: set[Node] = set()
    pending = [*nodes]
    while pending and len(seen) < _MOST_BEHIND:
        for value in pending.pop().outputs:
            for user in value.users if value is not None else ():
                if user not in seen and not user.operator.has("reads_shape"):
                    seen.add(user)
                    pending.append(user)
    return seen


def list_columns(blocks: Sequence[Sequence[Node]]) -> list[list[int]]:
    """Return which of like blocks side by side are of one kind, where each value feeds one of each.

    So two heads that work on each of three maps are two kinds of three: what a map feeds first
    is of the first kind. Nothing where the blocks take all the same, or each something else.
    """
    places: dict[frozenset[Value], list[int]] = {}
    for number, nodes in enumerate(blocks):
        places.setdefault(_find_origins(nodes, is_summed=False), []).append(number)
    kinds = {*map(len, places.values())}
    if len(places) < 2 or len(kinds) > 1 or kinds == {1}:
        return []
    return [sorted(column) for column in zip(*places.values(), strict=True)]


class Summed(NamedTuple):
    """Branches among the children of a group, from one place to another, with their sums."""

    low: int
    high: int
    blocks: list[list[Group | Node]]


def may_sum_tables(graph: Graph) -> bool:
    """Return whether a graph looks up so many tables that some may be branches that are summed."""
    lookups = find_nodes_where(graph, lambda operator: operator.weight_kind == "embedding")
    return lookups.size >= _LEAST_SUMMED


def may_sum_modules(groups: Sequence[Group]) -> bool:
    """Return whether so many of some groups have one family that they may be summed branches."""
    if len(groups) < _LEAST_SUMMED:
        return False
    families = Counter(family for group in groups if (family := _find_family(group, {})))
    return max(families.values(), default=0) >= _LEAST_SUMMED


def find_summed(
    children: Sequence[Group | Node], labels: Mapping[int, str] = MappingProxyType({})
) -> list[Summed]:
    """Return where like branches are, one behind another, that take the same and are summed.

    The first block is a branch, each other one a branch and the sum with those before. Tables
    may each be looked up by another input, as those of the features of factorization machines
    are (S. Rendle, Factorization Machines, 2010, equation 1).

    Parameters
    ----------
    children
        Those of a group.
    labels
        The labels of nodes that stand for a group of one, by index.
    """
    if len(children) < 2 * _LEAST_SUMMED - 1:
        return []
    # few children have a name at all: nodes alone have none
    named = [child for child in children if isinstance(child, Group) or child.index in labels]
    families = [family for child in named if (family := _find_family(child, labels))]
    if len(families) < _LEAST_SUMMED or max(Counter(families).values()) < _LEAST_SUMMED:
        return []
    if sum(map(_is_sum, children)) < _LEAST_SUMMED - 1:
        return []
    names = [_find_family(child, labels) for child in children]
    found: list[Summed] = []
    low = 0
    while low < len(children):
        family = names[low]
        high = low
        while high < len(children) and family and _belongs(children[high], names[high], family):
            high += 1
        blocks = _put_together(children[low:high])
        if blocks:
            end = low + sum(map(len, blocks))
            found.append(Summed(low, end, blocks))
            high = end
        low = max(high, low + 1)
    return found


def is_summed(repeat: Group) -> bool:
    """Return whether each repetition of a repeat takes what the one before gives to add it only.

    Nor is what is summed up to one of them taken anywhere else.
    """
    if len(repeat.children) < _LEAST_SUMMED or repeat.node_count > _MOST_NODES:
        return False
    blocks = (_list_nodes([child]) for child in repeat.children)  # most are not with the first two
    return all(
        _find_link(before, own) == "summed" and _is_handed_only(before, own)
        for before, own in pairwise(blocks)
    )


def _is_handed_only(before: Sequence[Node], nodes: Sequence[Node]) -> bool:
    """Return whether what some nodes take from others is taken by them alone."""
    given, own = {*before}, {*nodes}
    taken = {value for node in nodes for value in node.inputs if value is not None}
    handed = [value for value in taken if value.producer in given]
    return not any(
        value.is_output or any(user not in own and user not in given for user in value.users)
        for value in handed
    )


def _find_family(child: Group | Node, labels: Mapping[int, str]) -> str:
    if isinstance(child, Node):
        is_table = child.operator.weight_kind == "embedding"
        return outermost_family(labels.get(child.index, "")) if is_table else ""
    return outermost_family(child.label) if child.kind == "scope" else ""


def _belongs(child: Group | Node, own: str, family: str) -> bool:
    return own == family or _is_sum(child)


def _is_sum(child: Group | Node) -> bool:
    return isinstance(child, Node) and child.operator.has("adds")


def _put_together(children: Sequence[Group | Node]) -> list[list[Group | Node]]:
    """Return branches that some children begin with, each with its sum; nothing for others."""
    branches = [child for child in children if not _is_sum(child)]
    sums = [child for child in children if isinstance(child, Node) and _is_sum(child)]
    if len(branches) < _LEAST_SUMMED or len(sums) < len(branches) - 1:
        return []
    nodes = [_list_nodes([branch]) for branch in branches]
    counts = [Counter(node.op_type for node in own) for own in nodes]
    if not all(counts) or any(one != counts[0] for one in counts):
        return []
    origins = {_find_origins(own, is_summed=False) for own in nodes}
    are_tables = all(isinstance(branch, Node) for branch in branches)
    if (len(origins) > 1 and not are_tables) or origins == {frozenset()}:
        return []
    given: list[Value | None] = [_find_result(own) for own in nodes]
    blocks: list[list[Group | Node]] = [[branches[0]]]
    total = given[0]
    for branch, result, node in zip(branches[1:], given[1:], sums, strict=False):
        if total is None or result is None or {*node.inputs} != {total, result}:
            return []
        if any(user is not node for value in (total, result) for user in value.users):
            return []
        blocks.append([branch, node])
        total = node.output(0)
    return blocks


def _find_result(nodes: Sequence[Node]) -> Value | None:
    """Return the one value that nodes give to others; None where there are several."""
    own = {*nodes}
    leaving = [
        value
        for node in nodes
        for value in node.outputs
        if value is not None and (value.is_output or any(user not in own for user in value.users))
    ]
    return leaving[0] if len(leaving) == 1 and not leaving[0].is_output else None


def _list_in_series(links: Sequence[Link]) -> list[range]:
    """Return the parts of a row of blocks of which each takes from the one before."""
    parts: list[range] = []
    first = 0
    for number, link in enumerate([*links, "none"], 1):
        if link != "serial":
            if number - first >= _LEAST_IN_SERIES:
                parts.append(range(first, number))
            first = number
    return parts


def _find_link(before: Sequence[Node], nodes: Sequence[Node]) -> Link:
    """Return how some nodes take from others: only to add to it, or put it together, is no step."""
    given = {*before}
    return _tell_link(
        {node for node, value in _list_taken(nodes) if value.producer in given}, nodes
    )


def _list_taken(nodes: Sequence[Node]) -> Iterator[tuple[Node, Value]]:
    """Yield some nodes with each value that they take."""
    for node in nodes:
        for value in (*node.inputs, *node.captures):
            if value is not None:
                yield node, value


def _tell_link(takers: Collection[Node], nodes: Sequence[Node]) -> Link:
    """Return how some nodes take from others, by those of them that do."""
    if not takers:
        return "none"
    own = {*nodes}
    is_sum = all(node.operator.has("adds", "joins") and _is_last(node, own) for node in takers)
    return "summed" if is_sum else "serial"


def _find_origins(nodes: Sequence[Node], is_summed: bool) -> frozenset[Value]:
    """Return what nodes take from elsewhere, without what they only add to."""
    own = {*nodes}
    found: set[Value] = set()
    for node in nodes:
        if is_summed and node.operator.has("adds", "joins") and _is_last(node, own):
            continue
        for value in node.inputs:
            if value is None or value.producer in own or is_constant(value):
                continue
            origin = find_source(value, *LAYOUT_TRAITS)
            if origin is not None and not is_constant(origin):
                found.add(value)
    return frozenset(found)


def _is_last(node: Node, own: set[Node]) -> bool:
    return not any(user in own for value in node.outputs if value for user in value.users)


def _list_nodes(block: Block) -> list[Node]:
    nodes: list[Node] = []
    for child in block:
        nodes += list_member_nodes(child, _MOST_NODES) if isinstance(child, Group) else [child]
    return nodes
