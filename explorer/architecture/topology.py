"""How the blocks of a graph join: streams from its inputs, and heads to its outputs.

Streams begin at different inputs and have nothing in common before they meet. Heads begin behind
the last block that leads to all outputs, and have nothing in common from there on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .branches import holds_whole, list_branches, mark_branches
from .calls import Called
from .clause import MINOR, weigh_pieces
from .conditions import OF_GRAPHS, Conditions, find_conditions
from .modules import Module
from .outline import Outline, OutlinePart
from .pieces import Piece
from .reach import Reach, join_all, join_masks, list_bits
from .regions import FRONT, TRUNK, Key, drop_ways, have_names, is_lookup, keep_ways, settle
from .row_names import name_module
from .verified_conditions import confirm_conditions
from .verified_streams import find_joint, find_sides


@dataclass(frozen=True)
class Topology:
    """How the blocks of a graph join.

    Parameters
    ----------
    regions
        The region of each block, by its identity.
    streams, heads
        Of each of them which inputs it begins at, or which outputs it leads to; nothing where
        there are not two.
    joint
        How streams meet, in a word; "" where they do in several ways.
    reach
        What follows from what.
    conditions
        What enters a stack again and again.
    branches
        How many chains stand side by side between a split and a join; 0 for none.
    is_parted
        Whether blocks before the place where another input joins are told apart from those behind.
    """

    regions: Mapping[int, Key]
    reach: Reach
    streams: tuple[tuple[int, ...], ...] = ()
    heads: tuple[tuple[int, ...], ...] = ()
    joint: str = ""
    conditions: Conditions = field(default_factory=Conditions)
    branches: int = 0
    is_parted: bool = False

    def __bool__(self) -> bool:
        ways = self.streams or self.heads or self.branches or self.conditions.inputs
        return bool(ways) or self.is_parted


def find_topology(
    outline: Outline,
    called: Called,
    root: Module,
    before: Sequence[Piece],
    *,
    are_heads: bool = True,
) -> Topology:
    """Return how the blocks of modules join; streams and heads where there are several.

    Parameters
    ----------
    outline
        Of the graph.
    called
        What follows from what.
    root
        All modules.
    before
        Blocks that are told by what the graph takes, and are in no module.
    are_heads
        Whether what leads to one output alone is a head, and no level of a pyramid.
    """
    pieces = root.pieces
    reach = called.reach
    if any(piece.kind in OF_GRAPHS for piece in pieces):
        return Topology({}, reach)  # what is said of nodes and of edges meets in each layer
    conditions = find_conditions(outline, reach, pieces)
    conditions = confirm_conditions(outline, reach, pieces, conditions)
    taken = {id(piece): called.taken_by(piece) for piece in (*before, *pieces)}
    given = {id(piece): called.given_by(piece) for piece in pieces}
    ways = _find_ways([mask & ~conditions.sources for mask in taken.values()])
    every = join_all(given.values())
    ends = join_masks([*given.values()], every)
    regions: dict[int, Key] = {}
    for piece in before:
        regions[id(piece)] = "stream", _find_place(ways, taken[id(piece)])
    for piece in pieces:
        mask = taken[id(piece)]
        stream = _find_place(ways, mask)
        head = _find_place(ends, given[id(piece)]) if given[id(piece)] != every else -1
        is_condition = mask and not mask & ~conditions.sources
        if is_condition and conditions.inputs:
            regions[id(piece)] = ("condition", mask)
        elif stream >= 0:
            regions[id(piece)] = ("stream", stream)
        elif head >= 0:
            regions[id(piece)] = ("head", head)
        else:
            regions[id(piece)] = TRUNK
    _put_beside(outline, reach, pieces, regions, ways)
    if not settle(root, regions):
        return Topology({id(piece): TRUNK for piece in pieces}, reach)
    _leave_projections(outline, pieces, regions, len(ways))
    ways = keep_ways([*before, *pieces], regions, "stream", ways)
    ends = keep_ways(pieces, regions, "head", ends)
    if ways and have_names(root, regions, "stream", len(ways)):
        ways = drop_ways(regions, "stream")
    if ends and (
        not are_heads
        or have_names(root, regions, "head", len(ends))
        or not _is_shared_most(pieces, regions, len(ends))
    ):
        ends = drop_ways(regions, "head")
    if ways and not _put_shared_first(pieces, regions):
        ways = drop_ways(regions, "stream")
    inputs = tuple(
        tuple(dict.fromkeys(reach.sources[bit].number for bit in list_bits(mask))) for mask in ways
    )
    outputs = tuple(tuple(list_bits(mask)) for mask in ends)
    joint = find_joint(outline, reach.taken, ways) if ways else ""
    branches = 0
    if not ways and not conditions.inputs:
        branches, joint = _part_branches(outline, reach, root, regions)
    is_parted = False
    if not (ways or ends or branches or conditions.inputs):
        is_parted = _part_at_join(root, before, taken, regions)
    return Topology(regions, reach, inputs, outputs, joint, conditions, branches, is_parted)


def _part_at_join(
    root: Module, begun: Sequence[Piece], taken: Mapping[int, int], regions: dict[int, Key]
) -> bool:
    """Tell blocks apart that another input joins between, as targets do between two stacks.

    N. Kalchbrenner and others, Neural Machine Translation in Linear Time, 2016, figure 1. What
    joins there is only looked up; else it is a stream. Modules with names are told apart anyway.
    """
    pieces = root.pieces
    whole = join_all(taken[id(piece)] for piece in pieces)
    chains = [piece for piece in pieces if not is_lookup(piece)]
    early = [piece for piece in chains if taken[id(piece)] != whole]
    late = [piece for piece in chains if taken[id(piece)] == whole]
    if len({taken[id(piece)] for piece in early}) != 1 or any(map(name_module, root.inner)):
        return False
    rows = [{piece.token for piece in row if piece.kind not in MINOR} for row in (early, late)]
    if not rows[0] & rows[1] or not all(p.part.follows(early[-1].part) for p in late):
        return False
    if all(taken[id(piece)] & taken[id(early[0])] for piece in (*begun, *pieces)):
        return False  # nothing is looked up: a mask, or a length
    before = {**regions}
    for piece in pieces:
        if taken[id(piece)] == taken[id(early[0])]:
            regions[id(piece)] = FRONT
    if settle(root, regions):
        return True
    regions.update(before)
    return False


def _put_beside(
    outline: Outline,
    reach: Reach,
    pieces: Sequence[Piece],
    regions: dict[int, Key],
    ways: Sequence[int],
) -> None:
    """Put what leads from a stream to an output alone, and to no join, beside the streams."""
    held = [piece for piece in pieces if regions[id(piece)][0] == "stream"]
    for piece in find_sides(outline, reach.taken, ways, held) if len(ways) > 1 else ():
        regions[id(piece)] = "side", reach.given_by(piece)


def _leave_projections(
    outline: Outline, pieces: Sequence[Piece], regions: dict[int, Key], count: int
) -> None:
    """Tell with the trunk what each of its blocks makes of what a stream gives: keys, scales."""
    for place in range(count):
        held = [piece for piece in pieces if regions[id(piece)] == ("stream", place)]
        before = 0
        ends: list[tuple[Piece, OutlinePart]] = []
        for piece in held[::-1]:
            users = outline.users(piece.part)
            if users and piece.kind in MINOR and not before >> piece.part.place & 1:
                ends.append((piece, min(users, key=lambda user: user.place)))
            before |= piece.part.before
        ends.sort(key=lambda end: end[1].place)
        # each goes where what the one before went to has led to
        if any(two.follows(one) for (_, one), (_, two) in pairwise(ends)):
            alike = {_sign(outline, piece) for piece, _ in ends}
            left = [piece for piece in held if _sign(outline, piece) in alike]
            for piece in held:
                if any(piece is one or piece.part.follows(one.part) for one in left):
                    regions[id(piece)] = TRUNK


def _sign(outline: Outline, piece: Piece) -> tuple[object, ...]:
    """Return the same for layers of one size that take the same: one for each step of a loop."""
    part = piece.part
    givers = tuple(giver.place for giver in outline.givers(part))
    return piece.kind, givers, part.in_features, part.out_features, part.kernel


def _find_ways(masks: Sequence[int]) -> list[int]:
    """Return the inputs of each stream, without those that lead to no block before others do."""
    live = join_all(masks)
    ways: list[int] = []
    while live:
        ways = join_masks([mask & live for mask in masks], live)
        kept = join_all(ways)
        if kept == live:
            break
        live = kept
    return ways


def _find_place(ways: Sequence[int], mask: int) -> int:
    """Return which way a mask is on; -1 for none, or several."""
    found = [place for place, way in enumerate(ways) if way & mask]
    return found[0] if len(found) == 1 else -1


def _is_shared_most(pieces: Sequence[Piece], regions: Mapping[int, Key], count: int) -> bool:
    """Return whether no head is more than what all of them share; else it is no head."""
    held = [[p for p in pieces if regions[id(p)] == ("head", place)] for place in range(count)]
    shared = [piece for piece in pieces if regions[id(piece)][0] != "head"]
    return max(map(weigh_pieces, held)) <= weigh_pieces(shared)


def _put_shared_first(pieces: Sequence[Piece], regions: dict[int, Key]) -> bool:
    """Tell first what streams share; return whether nothing else of the trunk leads to them."""
    streams = [piece for piece in pieces if regions[id(piece)][0] == "stream"]
    before = 0
    for piece in streams:
        before |= piece.part.before
    for piece in pieces:
        if regions[id(piece)][0] in ("trunk", "head") and before >> piece.part.place & 1:
            if piece.uses == 1:
                return False
            regions[id(piece)] = FRONT
    return True


def _part_branches(
    outline: Outline, reach: Reach, root: Module, regions: dict[int, Key]
) -> tuple[int, str]:
    """Put chains in regions that stand side by side, and are most of a graph.

    Returns
    -------
    tuple
        How many there are, and how they meet; 0 where there are none.
    """
    pieces = [piece for piece in root.pieces if regions[id(piece)] == TRUNK]
    found = list_branches(pieces)
    ends = {reach.given_by(branch[-1]) for branch in found}
    if len(ends) != 1 or not all(holds_whole(root, branch) for branch in found):
        return 0, ""
    before = {**regions}
    first = min(piece.part.place for branch in found for piece in branch)
    for piece in pieces:
        if piece.part.place < first:
            regions[id(piece)] = FRONT
    for place, branch in enumerate(found):
        for piece in branch:
            regions[id(piece)] = "branch", place
    is_settled = settle(root, regions)
    is_settled &= not have_names(root, regions, "branch", len(found))
    kept = keep_ways(pieces, regions, "branch", [1 << place for place in range(len(found))])
    if not is_settled or not kept:
        regions.update(before)
        return 0, ""
    return len(kept), find_joint(outline, mark_branches(outline, found), kept)
