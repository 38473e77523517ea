"""A sentence for any graph, composed from its blocks in order; no family is needed for it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType

from netloupe.explorer.grouping import find_tree
from netloupe.explorer.model import Model, Node
from netloupe.explorer.patterns import Detail

from .agreed_counts import AgreedCounts
from .along_branches import tell_along_branches
from .block_contents import tell_contents
from .called_blocks import find_called_blocks
from .calls import Called
from .claims import Inventory
from .class_pieces import join_classes
from .counted_words import count_pieces, join_with_and
from .flows import FLOW
from .given import tell_given, tell_taken
from .ideas import merge_ideas
from .layers import find_stacks
from .located_pieces import LocatedPieces
from .module_clauses import ModuleTeller
from .modules import build_modules
from .named_groups import find_named_groups
from .network_kinds import find_network_kind
from .opened import open_large
from .outline import Outline
from .piece_runs import MOST_PIECES, PieceRun, find_piece_runs
from .piece_words import name_kind, name_piece, write_run
from .pieces import (
    Piece,
    join_attentions,
    leave_out_distances,
    list_piece_weights,
    list_pieces,
)
from .place_numbers import leave_out_places
from .reach import Reach
from .remainders import tell_others
from .shared_pieces import collapse_shared
from .side_by_side import join_side_by_side
from .sketch import BlockSketch, Sketch
from .stage_clauses import LANES
from .topology import find_topology
from .topology_clauses import ToldTopology, TopologyTeller
from .unwidened import find_unwidened
from .verified_counts import confirm_counts
from .weighted_layers import WeightedLayers

#: of a graph that is told whole
NOT_FOLDED: Mapping[Node, tuple[int, int]] = MappingProxyType({})
#: and of one of which nothing is called again
NOT_CALLED: Mapping[Node, int] = MappingProxyType({})
#: where blocks are too many to be told in order so many kinds are counted
_MOST_COUNTED = 4
#: kinds of what has no weights and stands between layers
_STEPS = frozenset({"draw", "expectation", "gate", "positions"})
#: what the steps of a flow are told as where nothing better is known of them
_BLOCKS = re.compile(r"^([\d,]+) blocks(?= (?:of|with|\())")
#: how often alike blocks are used, which run they are of and how many, and the blocks
_Row = tuple[int, tuple[int, int], list[Piece]]


@dataclass(frozen=True)
class _Around:
    """What blocks stand between: which inputs lead to them, and which outputs follow.

    Parameters
    ----------
    called
        What follows from what.
    begun, taken
        The blocks that take what goes in, and what is said of them.
    are_heads
        Whether what leads to one output alone may be a head.
    """

    called: Called
    begun: Sequence[Piece]
    taken: str
    are_heads: bool


def compose(
    model: Model,
    outline: Outline,
    nodes: Sequence[Node],
    times: Mapping[Node, tuple[int, int]] = NOT_FOLDED,
    calls: Mapping[Node, int] = NOT_CALLED,
) -> Sketch | None:
    """Tell a graph by its blocks: repeated ones together, in the order of the file.

    Where they are too many to be told one by one, those of each kind are counted. None where there
    is no block at all.

    Parameters
    ----------
    model
        The model.
    outline
        Of its graph. It is changed: what is told as one is merged.
    nodes
        Those of its nodes that are looked at.
    times
        Of nodes in a repetition that stands for others, which run it is of and how many there are.
    calls
        Of nodes in one that stands for calls with the same weights, how many these are.
    """
    open_large(outline)
    outline.merge(find_named_groups(model, outline, is_folded=bool(times)))
    outline.merge(find_called_blocks(outline))
    outline.merge(find_unwidened(outline))
    merge_ideas(outline)
    found = leave_out_distances(outline, list_pieces(outline, find_stacks(outline)))
    found = leave_out_places(outline, found)
    if not found:
        return None
    if len(found) > MOST_PIECES:
        return _count_pieces(outline, found)
    taken, begin = tell_taken(outline, found)
    given, end, head = tell_given(outline)
    told = [piece for piece in found if id(piece) not in begin]
    for piece in told if times else ():
        piece.fold = times.get(outline.operations.nodes[piece.part.end], piece.fold)
    if len(told) == 1 and told[0].kind == "linear":
        return _tell_layer(outline, told[0])
    every = [*told]
    if len(told) > 1 and told[-1].kind == "linear" and told[-1].part is head:
        own = list_piece_weights(outline, told[-1])
        if all(own.isdisjoint(list_piece_weights(outline, piece)) for piece in told[:-1]):
            told.pop()  # what it gives is told
    tree = find_tree(model, outline.graph)
    told = join_attentions(outline, told)
    weights = [list_piece_weights(outline, piece) for piece in told]
    pieces = collapse_shared(outline, told, weights, tree)
    for piece in pieces if calls else ():
        piece.uses *= calls.get(outline.operations.nodes[piece.part.end], 1)
    network = find_network_kind(outline, every, told, pieces)
    joined = join_classes(model, outline, told)
    if len(joined) < len(told):
        told = joined
        weights = [list_piece_weights(outline, piece) for piece in told]
        pieces = collapse_shared(outline, told, weights, tree)
    alike = groupby(pieces, key=lambda piece: (piece.uses, piece.fold))
    rows = [(fold, [*row]) for (_, fold), row in alike]
    inventory = Inventory(outline, told, weights)
    begun = [piece for piece in found if id(piece) in begin]
    called = Called(Reach(outline), told, weights)
    around = _Around(called, begun, taken.text, are_heads=" and 1/" not in end)
    in_order = _write_in_order(model, outline, pieces, inventory, nodes, around)
    facts: dict[str, Detail] = {**taken.facts, **given, **dict(network.facts)}
    runs = [run for fold, row in rows for run in _find_runs(outline, row, fold)]
    blocks = tuple(_sketch(outline, run) for run in runs if run.count > 1)
    end = "" if network.tells_outputs else in_order.shorten(end)
    # lanes of several resolutions that exchange values are no way down and up
    way = "" if any(LANES.search(clause) for clause in in_order.clauses) else network.text
    told_in_order = in_order.clauses
    if network.title.startswith(FLOW):
        told_in_order = tuple(_BLOCKS.sub(r"\1 steps", clause) for clause in told_in_order)
    clauses = ["" if in_order.tells_taken else taken.text, *told_in_order, way, end]
    return Sketch("", network.title, tuple(clauses), blocks, facts)


def count_blocks(outline: Outline) -> Sketch | None:
    """Tell a graph by how many blocks of each kind it has, without a look at what they are in."""
    found = list_pieces(outline, find_stacks(outline))
    return _count_pieces(outline, found) if found else None


def _count_pieces(outline: Outline, pieces: Sequence[Piece]) -> Sketch:
    """Return what is said of blocks by their kinds, each once where they share weights."""
    seen: set[tuple[bool, int]] = set()
    counts: Counter[str] = Counter()
    for piece in pieces:
        weights = list_piece_weights(outline, piece)
        if not weights or not weights <= seen:
            counts[name_kind(outline, [piece])] += 1
        seen |= weights
    told = [
        count_pieces(count, kind) if count > 1 else kind
        for kind, count in counts.most_common(_MOST_COUNTED)
    ]
    return Sketch("", "Network", tuple(told))


def _tell_layer(outline: Outline, layer: Piece) -> Sketch:
    """Return what is said of a graph with one linear layer: a network has more."""
    words = write_run(outline, PieceRun([[layer]]))
    return Sketch("", f"{words[:1].upper()}{words[1:]}")


def _find_runs(outline: Outline, row: list[Piece], fold: tuple[int, int]) -> list[PieceRun]:
    """Return a row as runs; what stands for others is one."""
    return [PieceRun([row], fold[1])] if fold[1] > 1 else find_piece_runs(outline, row)


def _write_in_order(
    model: Model,
    outline: Outline,
    pieces: Sequence[Piece],
    inventory: Inventory,
    nodes: Sequence[Node],
    around: _Around,
) -> ToldTopology:
    """Return what blocks are along the modules of the picture, the most telling ones in order."""
    # of small steps that may be those of a loop no number is known, and no other depends on them
    pieces = [one for one in pieces if one.kind not in _STEPS or inventory.knows(one)] or pieces
    root = build_modules(model, outline, pieces)
    located = LocatedPieces(outline, pieces, WeightedLayers(model, nodes))
    topology = find_topology(outline, around.called, root, around.begun, are_heads=around.are_heads)
    teller = ModuleTeller(outline, pieces, inventory, root)
    if not topology.conditions.inputs:
        branched = tell_along_branches(outline, teller, root, located, around.called)
        if branched is not None:
            return branched
    if topology:
        joined = TopologyTeller(outline, inventory, located, topology, around.called)
        return joined.tell(root, around.taken, around.begun)
    clauses = AgreedCounts(located, teller.tell_kinds).agree(teller.tell_whole())
    told = tell_others(outline, tell_contents(outline, around.called.add_users(clauses)))
    told = around.called.name_apart(confirm_counts(located, told))
    return ToldTopology(tuple(clause.write() for clause in join_side_by_side(told)))


def _sketch(outline: Outline, run: PieceRun) -> BlockSketch:
    names = list(dict.fromkeys(name_piece(outline, [piece]) for piece in run.members[0]))
    nodes = outline.nodes(part for piece in run.pieces for part in piece.parts)
    return BlockSketch(join_with_and(names), run.count, nodes)
