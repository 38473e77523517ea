"""Blocks that are used again with the same weights, counted once."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence

from netloupe.explorer.dataflow import find_source, trace_on
from netloupe.explorer.grouping import GroupTree
from netloupe.explorer.grouping.group import Group
from netloupe.explorer.grouping.shared_tensors import identify_weight
from netloupe.explorer.model import Node
from netloupe.explorer.operators import HANDING_TRAITS
from netloupe.explorer.roles import find_weight

from .first_steps import needs_data
from .outline import Outline
from .pieces import Piece

_TWICE = 2
#: beside so many times as many layers of all steps one that two of three have is theirs, too
_LEAST_OF_STEPS = 3
#: so far before the first of what is used again there may be a part of it without weights
_MOST_AHEAD = 8


def collapse_shared(
    outline: Outline,
    pieces: Sequence[Piece],
    found: Sequence[frozenset[tuple[bool, int]]],
    tree: GroupTree,
) -> list[Piece]:
    """Return pieces without later uses of the same weights, which are counted.

    ``found`` are the weights of each.

    What has no weights belongs to a loop that is written out where all of it is there as often as
    the loop goes round, inside of it. Of what is there once less the first step lacks it, whose
    state is known.
    """
    counts = Counter(one for weights in found for one in weights)
    seen: set[tuple[bool, int]] = set()
    kept: list[Piece] = []
    wholes: list[tuple[Piece, frozenset[tuple[bool, int]]]] = []
    last = 0
    weightless: dict[object, list[Piece]] = {}
    calls: dict[frozenset[tuple[bool, int]], list[int]] = {}
    for piece, weights in zip(pieces, found, strict=True):
        calls.setdefault(weights, []).append(piece.parts[0].place)
        if weights and weights <= seen:
            last = piece.part.place
            continue
        seen |= weights
        part, own = next(
            ((one, own) for one, own in wholes if own < weights and one.name == piece.name),
            (None, weights),
        )
        if part is not None and part.kind == piece.kind:  # of the first step, computed in part
            kept = [piece if one is part else one for one in kept]
        else:
            kept.append(piece)
        if weights:
            wholes.append((piece, weights))
            piece.uses = min(counts[one] for one in weights)
            if piece.uses > 1:  # and once more in that step
                piece.uses = min(counts[one] for one in own)
        else:
            weightless.setdefault(piece.token, []).append(piece)
    for piece, own in wholes:
        piece.calls = tuple(calls[own])
    looped = [piece for piece in kept if piece.uses > 1]
    if not looped:
        return kept
    numbers = sorted({piece.uses for piece in looped}, reverse=True)
    steps = numbers[0]
    start = min(piece.parts[0].place for piece in looped) - _MOST_AHEAD
    gone: set[int] = set()
    for alike in weightless.values():
        is_inside = alike[0].parts[0].place >= start and alike[-1].part.place <= last
        number = next((one for one in numbers if len(alike) % one == 0), 0)
        starts = [calls[own] for piece, own in wholes if piece.uses == number]
        if number and is_inside and any(_is_even(alike, one, number) for one in starts):
            each = len(alike) // number
            for piece in alike[:each]:
                piece.uses = number
            gone.update(map(id, alike[each:]))
    held = Counter[int]()
    for piece, weights in wholes:
        held[piece.uses] += len(weights) if piece.uses > 1 else 0
    are_most = held[steps] >= _LEAST_OF_STEPS * (held.total() - held[steps])
    for piece in kept:  # of the first step an exporter may have computed a part beforehand
        node = outline.operations.nodes[piece.part.end]
        is_layer = are_most and piece.kind == "linear"
        is_short = piece.uses == steps - 1 > (1 if is_layer else 2)
        is_apart = is_short and (
            _is_in_steps(tree, node, steps - 1)
            or needs_data(tree, node)
            or _is_of_network(outline, tree, kept, piece, steps)
        )
        if is_short and not is_apart:
            piece.uses = steps
        elif (
            piece.uses > (1 if node.operator.has("recurrent") else _TWICE)
            and _count_takers(outline, piece) == piece.uses + 1
        ):
            piece.uses += 1
    return [piece for piece in kept if id(piece) not in gone]


def _is_even(alike: Sequence[Piece], calls: Sequence[int], steps: int) -> bool:
    """Return whether between the calls of a block there are as many of others each time.

    What begins a step may stand a little before the block is called.
    """
    if len(calls) != steps:
        return False
    for ahead in (0, _MOST_AHEAD):
        counts = Counter(bisect(calls, piece.parts[0].place + ahead) for piece in alike)
        if 0 not in counts and len(counts) == steps and len({*counts.values()}) == 1:
            return True
    return False


def _is_in_steps(tree: GroupTree, node: Node, steps: int) -> bool:
    """Return whether a node is in one of so many repetitions."""
    group = tree.group_of(node) if tree.position_of(node) >= 0 else None
    while group is not None:
        if group.kind == "repeat" and len(group.children) == steps:
            return True
        group = group.parent
    return False


def _is_of_network(
    outline: Outline, tree: GroupTree, pieces: Sequence[Piece], piece: Piece, steps: int
) -> bool:
    """Return whether a block is in a module of several blocks that the first step has none of.

    As the network that gives the next state from an action, which is not asked at first (J.
    Schrittwieser and others, Mastering Atari, Go, Chess and Shogi by Planning with a Learned Model,
    2020, figure 1). What an exporter computes beforehand is a layer or two.
    """
    nodes = outline.operations.nodes
    held = [(one, {*_list_scopes(tree, nodes[one.part.end])}) for one in pieces]
    every = {scope for one, scopes in held if one.uses == steps for scope in scopes}
    for scope in _list_scopes(tree, nodes[piece.part.end]):
        if scope not in every:
            inside = [one for one, scopes in held if scope in scopes]
            if len(inside) > 1 and any(one.kind not in ("conv", "linear") for one in inside):
                return True
    return False


def _list_scopes(tree: GroupTree, node: Node) -> Iterator[Group]:
    """Yield the modules of an author that a node is in, innermost first."""
    group = tree.group_of(node) if tree.position_of(node) >= 0 else None
    while group is not None:
        if group.kind == "scope":
            yield group
        group = group.parent


def _count_takers(outline: Outline, piece: Piece) -> int:
    """Return how many nodes take each of the weights of a piece: the least of these numbers.

    Exporters copy a weight for each call of its module.
    """
    counts = []
    for node in outline.nodes(piece.parts):
        weight = find_weight(node)
        if weight is not None and weight.value is not None:
            stored = find_source(weight.value, *HANDING_TRAITS) or weight.value
            own = identify_weight(weight.value)
            users = {user for user, _ in trace_on(stored, *HANDING_TRAITS)}
            counts.append(
                sum(
                    user.operator is node.operator
                    and (taken := find_weight(user)) is not None
                    and taken.value is not None
                    and identify_weight(taken.value) == own
                    for user in users
                )
            )
    return min(counts, default=0)
