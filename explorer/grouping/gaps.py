"""What stands between the blocks of a found repeat, and is a part of the one before it.

A first block may lack the node with which others end, as the sum of what all hand on beside the
stream (Y. Luo and N. Mesgarani, Conv-TasNet, 2019, figure 1B). What leads to it then stands between
the first block and the second: the stack as one box would stand in a circle with it.
"""

from __future__ import annotations

import numpy as np

from .found_repeat import FoundRepeat
from .signatures import Integers, Stretch

#: so many nodes for each of a block's may join it
_MOST_JOINED = 0.25
#: repeats of more nodes are left as they are
_MOST_NODES = 20_000


def close_gaps(stretch: Stretch, repeat: FoundRepeat) -> None:
    """Let nodes join the block before them that take from blocks and give to later ones.

    Linear in the nodes between the first and the last of a repeat.
    """
    if not repeat.is_serial or repeat.size < 2 or repeat.high - repeat.low > _MOST_NODES:
        return
    inside = np.zeros(repeat.high - repeat.low, np.bool_)
    inside[repeat.places - repeat.low] = True
    between = np.flatnonzero(~inside) + repeat.low
    if not len(between):
        return
    is_fed = {*repeat.places.tolist()}
    fed = []
    for place in between.tolist():
        if not is_fed.isdisjoint(stretch.producers[place].tolist()):
            is_fed.add(place)
            fed.append(place)
    wanted = {*stretch.producers[repeat.places].ravel().tolist()}
    joining = []
    for place in reversed(fed):
        if place in wanted:
            wanted.update(stretch.producers[place].tolist())
            joining.append(place)
    owners = np.searchsorted(repeat.begins, joining, side="right") - 1
    most = _MOST_JOINED * repeat.size
    if not joining or np.bincount(owners).max() > most:
        return
    blocks: list[Integers] = [*repeat.blocks]
    for owner in {*owners.tolist()}:
        own = [place for place, one in zip(joining, owners.tolist(), strict=True) if one == owner]
        blocks[owner] = np.sort(np.concatenate((blocks[owner], own)))
    repeat.blocks = blocks
