"""Blocks that put new channels beside those that they take: how many are added, and no width."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

from .piece_sizes import shorten_way
from .pieces import Piece

#: the blocks of a stage, each by its pieces in order
Stage = Sequence[Sequence[Piece]]


def write_growth(stages: Sequence[Stage]) -> str:
    """Return ``, 8 → 16 channels more by each`` for stages of blocks that all add channels.

    Each takes what the block before it took and what that one made of it (G. Huang and others,
    Densely Connected Convolutional Networks, 2017, equation 2, and CondenseNet, 2018, section 3.1).
    "" for others, and where no stage has two blocks.
    """
    grown = []
    is_seen = False
    for stage in stages:
        added = {block[-1].part.out_features for block in stage}
        taken = [block[0].parts[0].in_features for block in stage]
        if len(added) > 1 or not all(added) or not all(taken):
            return ""
        new = added.pop()
        if any(two - one != new for one, two in pairwise(taken)):
            return ""
        is_seen |= len(stage) > 1
        grown.append(new)
    way = [new for new, _ in groupby(grown)]
    noun = "channel" if way[-1:] == [1] else "channels"
    return f", {shorten_way(way)} {noun} more by each" if is_seen else ""


def gives_more(stages: Sequence[Stage]) -> bool:
    """Return whether some block takes more channels than the last layer of that before it gives.

    Then what this layer gives is a part of what its block gives.
    """
    return any(
        two[0].parts[0].in_features > one[-1].part.out_features > 0
        for stage in stages
        for one, two in pairwise(stage)
    )
