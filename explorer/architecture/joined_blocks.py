"""Blocks of convolutions of which each joins what it gives with what it took."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .clause import Clause
from .counted_words import count_pieces, write_plural
from .outline import Outline, OutlinePart
from .pieces import Piece, is_told
from .sketch import write_row

#: between the last layer of a block and the first of the next one
_MOST_BETWEEN = 24
_CUTTING = ("slices", "splits")
#: of fewer blocks a row of numbers is as short
_LEAST_BLOCKS = 3


def is_joined(outline: Outline, held: Sequence[Sequence[Piece]]) -> bool:
    """Return whether modules of convolutions are blocks, and no stages of a chain of these.

    A stage takes what the one before it gives, and nothing from farther back. What is cut apart
    and put beside what came before goes around most blocks.
    """
    if len(held) < _LEAST_BLOCKS:
        return False
    around = [_goes_around(outline, one, two) for one, two in pairwise(held)]
    return all(around)


def tell_joined(outline: Outline, held: Sequence[Sequence[Piece]]) -> Clause:
    """Return how many blocks there are, in stages that begin where maps become smaller.

    K. He and others, Deep Residual Learning, 2016, table 1; of blocks that add one part of what
    they give, and put the other one beside what came before: Y. Chen and others, Dual Path
    Networks, 2017, figure 2 (d).
    """
    scope = tuple(piece for found in held for piece in found)
    is_dual = all(_has_two_paths(outline, found[-1].part) for found in held)
    noun = "dual-path block" if is_dual else "block"
    counts: list[int] = []
    for found in held:
        if not counts or any(piece.part.is_strided for piece in found):
            counts.append(0)
        counts[-1] += 1
    name = count_pieces(len(held), noun)
    if 1 < len(counts) <= len(held) / 2:
        name = f"stages of {write_row(counts)} {write_plural(noun)}"
    each = {len(found) for found in held}
    text = f"each {count_pieces(each.pop(), 'convolution')}" if len(each) == 1 else ""
    name += "" if text else " of convolutions"
    members = tuple(tuple(found) for found in held)
    parts = (Clause("", scope, text),) if text else ()
    return Clause("", scope, name, parts=parts, members=members, each_of=len(held))


def _goes_around(outline: Outline, one: Sequence[Piece], two: Sequence[Piece]) -> bool:
    """Return whether something that came before a block goes past its last layer to the next one.

    Whether what the next block begins with takes it beside what the layer gives.
    """
    first, last = two[0].parts[0], one[-1].part
    own = {id(part) for piece in one for part in piece.parts}
    pending, seen = [first], {id(first)}
    found = False
    while pending and len(seen) <= _MOST_BETWEEN:
        for giver in outline.givers(pending.pop()):
            if giver is last or id(giver) in seen:
                continue
            seen.add(id(giver))
            if is_told(giver):
                found |= last.follows(giver) or id(giver) in own
                continue
            pending.append(giver)
    return found and first.follows(last)


def _has_two_paths(outline: Outline, last: OutlinePart) -> bool:
    """Return whether of what a layer gives one part is added, and another one joined."""
    cuts = [user for user in outline.users(last) if user.has(*_CUTTING)]
    users = [user for cut in cuts for user in outline.users(cut)]
    return any(user.has("adds") for user in users) and any(user.has("joins") for user in users)
