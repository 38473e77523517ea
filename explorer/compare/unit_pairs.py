"""The pairs of nodes that pairs of units are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from netloupe.explorer.model import Node

from .activations import find_added, find_biases, find_fused_operator
from .folding import has_other_numbers
from .node_pairs import pair_same_operators
from .pair import Pair
from .roles import list_operands
from .unit_matcher import PairBasis
from .units import LAYERS, Units

_DATA_AND_WEIGHT = 2


def split_units(
    left: Units, right: Units, one: int, other: int, basis: PairBasis
) -> Iterator[Pair]:
    """Yield the pairs of nodes of two units: node by node where they consist of the same.

    An activation that is a node on one side alone belongs to the node of the other side that has
    it inside; where none has, it has no partner.
    """
    lefts, rights = tuple(left.nodes(one)), tuple(right.nodes(other))
    acts = [
        [node for node in nodes if node.index in units.activations]
        for units, nodes in ((left, lefts), (right, rights))
    ]
    rests = [
        tuple(node for node in nodes if node.index not in units.activations)
        for units, nodes in ((left, lefts), (right, rights))
    ]
    pairs = [*_split_rest(left, right, one, other, basis, rests)]
    if acts[0] and acts[1]:
        yield from pairs
        if len(acts[0]) != len(acts[1]):  # one of them is written out
            yield Pair(tuple(acts[0]), tuple(acts[1]), basis.key, basis.confidence)
            return
        for first, second in zip(*acts, strict=True):
            yield Pair((first,), (second,), basis.key, basis.confidence)
        return
    side = 0 if acts[0] else 1
    for node in acts[side]:
        holder = find_fused_operator(node, rests[1 - side])
        if holder is None:
            continue
        if holder not in rests[1 - side]:
            both = (node, holder)[:: -1 if side else 1]
            pairs.append(Pair((both[0],), (both[1],), basis.key, basis.confidence))
            continue
        place = next(i for i, pair in enumerate(pairs) if holder in (*pair.left, *pair.right))
        pair = pairs[place]
        first, second = [*pair.left], [*pair.right]
        (second if side else first).append(node)
        pairs[place] = Pair((*first,), (*second,), pair.key, pair.confidence)
    yield from pairs


def _split_rest(
    left: Units,
    right: Units,
    one: int,
    other: int,
    basis: PairBasis,
    nodes: Sequence[tuple[Node, ...]],
) -> Iterator[Pair]:
    """Yield the pairs of some nodes of two units."""
    lefts, rights = nodes
    if left.kinds[one] != right.kinds[other]:
        # one exporter's block is not seen as such in the other model: they share a weight
        holders = _find_holder(left, one), _find_holder(right, other)
        if (holders[0].domain, holders[0].op_type) == (holders[1].domain, holders[1].op_type):
            yield Pair((holders[0],), (holders[1],), basis.key, basis.confidence)
            return
    same = dict(pair_same_operators(lefts, rights))
    partners = {*same.values()}
    rest = (
        tuple(node for node in lefts if node not in same),
        tuple(node for node in rights if node not in partners),
    )
    is_one_sided = bool(rest[0]) != bool(rest[1])
    others = [node.operator for side in rest for node in side]
    heads = left.head(one), right.head(other)
    is_affine = all(operator.has("adds", "multiplies_elements") for operator in others)
    is_bias = is_affine and not has_other_numbers(*heads)
    if is_one_sided and same and is_bias and left.kinds[one] in LAYERS:
        # the same product: what adds a bias to it on one side is no part of it on the other, but
        # what multiplies integers by their scale is
        is_coded = any(head.operator.has("scales_product") for head in heads)
        scales = [
            tuple(node for node in side if is_coded and node.operator.has("multiplies_elements"))
            for side in rest
        ]
        fewer = heads[0] if not rest[0] else heads[1]
        if len(list_operands(fewer)) > _DATA_AND_WEIGHT:  # it has a bias itself
            scales = [*rest]
        for first, second in same.items():
            more = scales if left.head(one) is first else [(), ()]
            yield Pair((first, *more[0]), (second, *more[1]), basis.key, basis.confidence)
        return
    if is_one_sided and (left.kinds[one] == right.kinds[other] or not same):
        # what one side has more is part of all that the other does
        yield Pair(lefts, rights, basis.key, basis.confidence)
        return
    for first, second in same.items():
        yield Pair((first,), (second,), basis.key, basis.confidence)
    if rest[0] and rest[1]:
        yield Pair(*rest, basis.key, basis.confidence)


def _find_holder(units: Units, unit: int) -> Node:
    """Return the node of a unit that takes its largest weight; without any, the first."""
    best = max(units.weights[unit], key=lambda tensor: tensor.size, default=None)
    nodes = [*units.nodes(unit)]
    for node in nodes:
        for value in node.inputs:
            if value is not None and best is not None and value.initializer is best:
                return node
    return nodes[0]


def take_in_sums(pairs: list[Pair]) -> list[Pair]:
    """Return pairs, with the sums and biases beside them that the other model has inside."""
    taken = {node for pair in pairs for node in (*pair.left, *pair.right)}
    found = []
    for pair in pairs:
        sides = []
        for nodes, holders in ((pair.left, pair.right), (pair.right, pair.left)):
            before = [node for node in find_biases(nodes, holders) if node not in taken]
            behind = [node for node in find_added(nodes, holders) if node not in taken]
            taken.update(before, behind)
            sides.append((*before, *nodes, *behind))
        if sides != [pair.left, pair.right]:
            pair = Pair(sides[0], sides[1], pair.key, pair.confidence)
        found.append(pair)
    return found
