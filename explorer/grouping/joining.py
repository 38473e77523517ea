"""Blocks beside a repeat that are like its blocks but for a little, and join it.

So the first layer makes the mask of all, and the first block of a stage has a projection.
"""

from __future__ import annotations

import numpy as np

from netloupe.explorer.operators import LAYOUT_TRAITS

from .found_repeat import FoundRepeat
from .signatures import Integers, Stretch

#: blocks of fewer nodes have no variants
_LEAST_OF_VARIED = 5
_SAME_SOURCES = 0.6
#: share of a block's nodes that must be found again in a neighbour that differs; of a small
#: block fewer must have the same attributes
_ALIKE = 0.72
_SAME = 0.6
_SMALL = 12
#: share of a neighbour's nodes, with those that only it uses, that the others have too
_LEAST_MATCHED = 0.6
#: how many nodes of a neighbour may not be those of a block, for each of a block's nodes
_MOST_BETWEEN = 0.6
#: how many nodes that are not in a block may stand together in a neighbour
_MOST_SKIPPED = 80
#: a node that begins a block may stand so many places before the others
_MOST_BEFORE = 3


def join_neighbours(
    stretch: Stretch, repeat: FoundRepeat, low: int, high: int, *, forwards: bool
) -> bool:
    """Let blocks behind or before, within a range, join as long as they are like the others.

    None joins before the one with which a stage begins; return whether one begins it.
    """
    pattern = repeat.blocks[repeat.exemplar]
    if len(pattern) < _LEAST_OF_VARIED:
        return False
    blocks = repeat.blocks = list(repeat.blocks)
    reach = 2 * len(pattern) + _MOST_SKIPPED
    while not stretch.budget.is_spent:
        stretch.budget.spend(reach)
        if forwards:
            window = range(repeat.high, min(high, repeat.high + reach))
            pairs = _match(stretch, pattern, window, repeat)
        else:
            window = range(repeat.low - 1, max(low, repeat.low - reach) - 1, -1)
            pairs = _match(stretch, pattern[::-1], window, repeat)
        if pairs is None:
            return False
        block = _own(stretch, sorted(pairs.values()))
        if _takes_elsewhere(stretch, pattern, pairs, block):
            pairs = _match_givers(stretch, pattern, pairs)
            if len(pairs) < len(pattern):
                return False
            block = _own(stretch, sorted(pairs.values()))
            if _takes_elsewhere(stretch, pattern, pairs, block):
                return False
        if len(pairs) < _LEAST_MATCHED * len(block):
            return False
        if _is_left(stretch, block) or _is_interrupted(stretch, block, {*pairs.values()}):
            return False
        if _hangs_on(stretch, repeat, block, forwards) != repeat.is_serial:
            return False
        if forwards:
            blocks.append(block)
        else:
            blocks.insert(0, block)
            repeat.exemplar += 1
            if _begins_stage(stretch, pairs, pattern, block):
                return True
    return False


def _hangs_on(stretch: Stretch, repeat: FoundRepeat, block: Integers, forwards: bool) -> bool:
    """Return whether the later of a repeat's last (or first) block and a new one takes from it."""
    earlier, later = (repeat.blocks[-1], block) if forwards else (block, repeat.blocks[0])
    return bool(np.isin(stretch.producers[later], earlier).any())


def _takes_elsewhere(
    stretch: Stretch, pattern: Integers, pairs: dict[int, int], block: Integers
) -> bool:
    """Return whether a product takes from outside what others make in their block.

    So does attention to another network, whose layers are those of attention to itself; where
    those take one value, it takes two. Stored
    values, as of a first state, do not count, nor does the activation with which blocks begin: the
    first has it from what is before all. A projection may be found in the place of the layer that
    it stands beside.
    """
    among, own = {*pattern.tolist()}, {*block.tolist()}
    among -= {
        place
        for place in pattern.tolist()
        if stretch.node(place).operator.has("activates")
        and among.isdisjoint(stretch.producers[place].tolist())
    }
    paired = {*pairs.values()}
    taken = {
        (stretch.node(place).op_type, giver)
        for place in own - paired
        for giver in stretch.producers[place].tolist()
    }
    outside: dict[int, int] = {}
    for place, match in pairs.items():
        node = stretch.node(place)
        if node.operator.has("convolves", "multiplies"):
            ours, theirs = stretch.producers[place].tolist(), stretch.producers[match].tolist()
            for giver, other in zip(ours, theirs, strict=True):
                is_outside = giver in among and other >= 0 and other not in own
                if is_outside and (node.op_type, pairs.get(giver, -1)) not in taken:
                    return True
                are_outside = giver >= 0 <= other and giver not in among and other not in own
                if are_outside and outside.setdefault(giver, other) != other:
                    return True
    return False


def _begins_stage(
    stretch: Stretch, pairs: dict[int, int], pattern: Integers, block: Integers
) -> bool:
    """Return whether a node takes nothing from before its block where others take the stream.

    So does the sum of a block with a projection, or one that has no sum. But for that it has
    all that they have.
    """
    if len(pairs) < len(pattern) - 1:
        return False
    low = pattern.min() - len(pattern)
    producers = stretch.producers[pattern]
    takes_stream = ((producers >= low) & (producers < pattern.min())).any(axis=1)
    for place in pattern[takes_stream].tolist():
        match = pairs.get(place)
        if match is None:
            return True
        theirs = stretch.producers[match]
        if not ((theirs >= 0) & (theirs < block[0])).any():
            return True
    return False


def _match(
    stretch: Stretch, pattern: Integers, window: range, repeat: FoundRepeat
) -> dict[int, int] | None:
    """Find most of a block's nodes in a window in the same order; return which is which.

    Both are walked from the side of the run. Where they differ, the fewest nodes of either
    are skipped after which two nodes agree again. The wiring must agree too. Nodes at the end of
    a last block may be missing where all that they lead to is what only a next block would take.
    """
    wanted = stretch.kinds[pattern].tolist()
    given = stretch.kinds[np.arange(window.start, window.stop, window.step)].tolist()
    least = (_SAME if len(wanted) <= _SMALL else _ALIKE) * len(wanted)
    pairs: dict[int, int] = {}
    here = there = 0
    first = -1
    while here < len(wanted) and there < len(given):
        if wanted[here] == given[there]:
            pairs[int(pattern[here])] = window[there]
            first = there if first < 0 else first
            here, there = here + 1, there + 1
            continue
        skip = _find_skip(wanted, given, here, there)
        if skip is None:
            break
        missing, between = here + skip[0] - len(pairs), there + skip[1] - len(pairs)
        if missing > len(wanted) - least or between > _MOST_BETWEEN * len(wanted):
            break
        here, there = here + skip[0], there + skip[1]
    if len(pairs) < least or first > _MOST_SKIPPED // 4:
        return None
    if not _is_wired_alike(stretch, pairs):
        return None
    _add_givers(stretch, pattern, pairs)
    if window.step > 0:
        _add_fused_sum(stretch, int(pattern[-1]), pairs)
    # the stream enters where the others take it; it leaves where they give it, unless a stage
    # begins, whose first block may lack the sum
    begin, end = sorted((int(pattern[0]), int(pattern[-1])))
    is_begun = begin in pairs or (window.step < 0 and _enters_late(stretch, repeat, pairs))
    is_whole = is_begun and (
        end in pairs or window.step < 0 or _ends_stream(stretch, repeat, pairs)
    )
    is_alike = len(pairs) >= _ALIKE * len(wanted)
    return (
        pairs
        if is_whole and is_alike and _is_more_than_quantized(stretch, pattern, pairs)
        else None
    )


def _enters_late(stretch: Stretch, repeat: FoundRepeat, pairs: dict[int, int]) -> bool:
    """Return whether what a first block lacks is only what others make of what they take.

    So the distances of positions are made of an input before the first block that moves these
    (V. Garcia Satorras and others, E(n) Equivariant Graph Neural Networks, 2021, equation 3). The
    stream itself enters where it does in the others.
    """
    pattern = repeat.blocks[repeat.exemplar]
    missing = [place for place in pattern.tolist() if place not in pairs]
    if not missing or np.isin(stretch.producers[missing], [*pairs]).any():
        return False
    ours, theirs = stretch.producers[[*pairs]], stretch.producers[[*pairs.values()]]
    if (theirs[np.isin(ours, missing)] >= 0).any():  # another layer gives it
        return False
    later = max(repeat.exemplar, 1)
    if later >= len(repeat.blocks) or len(repeat.blocks[later]) != len(pattern):
        return False
    before, own = repeat.blocks[later - 1], repeat.blocks[later]
    entering = np.isin(stretch.producers[own], before).any(axis=1)
    return any(place in pairs for place in pattern[entering].tolist())


def _ends_stream(stretch: Stretch, repeat: FoundRepeat, pairs: dict[int, int]) -> bool:
    """Return whether what a last block lacks are whole ways to what it hands on beside the stream.

    Of features of nodes and edges that each block updates, the last block's edges lead nowhere
    (T. Pfaff and others, Learning Mesh-Based Simulation with Graph Networks, 2021, section 3.1).
    Nothing but the block itself may take what would go into these ways.
    """
    if repeat.exemplar + 1 >= len(repeat.blocks):
        return False
    pattern, behind = repeat.blocks[repeat.exemplar], repeat.blocks[repeat.exemplar + 1]
    missing = [place for place in pattern.tolist() if place not in pairs]
    if np.isin(stretch.producers[[*pairs]], missing).any():
        return False
    own = {*pairs.values()}
    for giver in {*stretch.producers[missing].ravel().tolist()}.intersection(pairs):
        if not stretch.is_used_only_by(pairs[giver], own):
            return False
    handed = pattern[np.isin(pattern, stretch.producers[behind])]
    return any(place in pairs for place in handed.tolist())


def _match_givers(stretch: Stretch, pattern: Integers, pairs: dict[int, int]) -> dict[int, int]:
    """Pair what gives to the last node of a block, and to that, whatever order they stand in.

    So a projection that is written between the layers of a first block is no layer of it.
    """
    among = {*pattern.tolist()}
    last = int(pattern.max())
    found = {last: pairs[last]} if last in pairs else {}
    for place in sorted(among, reverse=True):
        if place in found:
            ours, theirs = (stretch.producers[one].tolist() for one in (place, found[place]))
            for giver, other in zip(ours, theirs, strict=True):
                is_new = giver in among and giver not in found and other >= 0
                if is_new and stretch.node(giver).op_type == stretch.node(other).op_type:
                    found[giver] = other
    return found


def _is_more_than_quantized(stretch: Stretch, pattern: Integers, pairs: dict[int, int]) -> bool:
    """Return whether not only quantizers, which are alike everywhere, are found again."""
    telling = [
        place
        for place in pattern.tolist()
        if not stretch.node(place).operator.has("dequantizes", "quantizes")
    ]
    return sum(place in pairs for place in telling) >= _ALIKE * len(telling)


def _add_givers(stretch: Stretch, pattern: Integers, pairs: dict[int, int]) -> None:
    """Pair nodes of one operator that give what paired nodes take, whatever their attributes.

    So the first convolution of a stage, which has strides, is found.
    """
    among = {*pattern.tolist()}
    taken = {*pairs.values()}
    # what no node of the stretch gives stands as a place before all
    low, high = max(min(taken) - _MOST_BEFORE, 0), max(taken)
    for place in sorted(among, reverse=True):
        if place not in pairs:
            continue
        givers = zip(
            stretch.producers[place].tolist(),
            stretch.producers[pairs[place]].tolist(),
            strict=True,
        )
        for ours, theirs in givers:
            if (
                ours in among
                and ours not in pairs
                and low <= theirs < high
                and theirs not in taken
                and stretch.node(ours).op_type == stretch.node(theirs).op_type
            ):
                pairs[ours] = theirs
                taken.add(theirs)


def _add_fused_sum(stretch: Stretch, end: int, pairs: dict[int, int]) -> None:
    """Pair the sum that ends a block with one that was fused with the norm behind it."""
    if end in pairs or not stretch.node(end).operator.has("adds"):
        return
    wanted = {pairs[place] for place in stretch.producers[end].tolist() if place in pairs}
    last = max(pairs.values())
    for place in range(last + 1, min(last + 1 + _MOST_BEFORE, len(stretch.rows))):
        is_sum = stretch.node(place).operator.operands.list_of("addend")
        if wanted and is_sum and wanted.issubset(stretch.producers[place].tolist()):
            pairs[end] = place
            return


def _is_wired_alike(stretch: Stretch, pairs: dict[int, int]) -> bool:
    """Return whether most operands inside a block come from the matching nodes."""
    ours, theirs = stretch.producers[list(pairs)], stretch.producers[list(pairs.values())]
    total = agreeing = 0
    for row, other in zip(ours.tolist(), theirs.tolist(), strict=True):
        for producer, match in zip(row, other, strict=True):
            if producer in pairs:
                total += 1
                agreeing += pairs[producer] == match
    return agreeing >= _SAME_SOURCES * total


def _find_skip(
    wanted: list[int], given: list[int], here: int, there: int
) -> tuple[int, int] | None:
    for total in range(1, _MOST_SKIPPED):
        for left in range(min(total, len(wanted) - here - 1) + 1):
            right = total - left
            same = wanted[here + left : here + left + 2] == given[there + right : there + right + 2]
            if same and there + right < len(given):
                return left, right
    return None


def _own(stretch: Stretch, places: list[int]) -> Integers:
    """Add to a block the nodes between its own that only the block uses."""
    inside = set(places)
    low, high = places[0], places[-1] + 1
    for place in range(high - 1, low - 1, -1):
        if place not in inside and stretch.is_used_only_by(place, inside):
            inside.add(place)
    return np.array(sorted(inside), dtype=np.int64)


def _is_left(stretch: Stretch, block: Integers) -> bool:
    """Return whether a way leads out of a block and back through nodes that are not in it."""
    between = np.setdiff1d(np.arange(block[0], block[-1]), block, assume_unique=True)
    if not len(between):
        return False
    left = {*block.tolist()}
    behind: set[int] = set()
    for place, producers in zip(between.tolist(), stretch.producers[between].tolist(), strict=True):
        if not left.isdisjoint(producers) or not behind.isdisjoint(producers):
            behind.add(place)
    return bool(np.isin(stretch.producers[block], [*behind]).any())


def _is_interrupted(stretch: Stretch, block: Integers, matched: set[int]) -> bool:
    """Return whether all that a block computes goes through a node that others do not have.

    Such a node, a pool or a convolution between two stages, stands between two blocks; but a
    node may join branches in another way, or only change the layout. Values from long before the
    block, such as a mask, do not count.
    """
    foreign = [
        number
        for number, place in enumerate(block.tolist())
        if place not in matched and not stretch.node(place).operator.has(*LAYOUT_TRAITS)
    ]
    if not foreign:
        return False
    producers = stretch.producers[block]
    numbers = np.broadcast_to(np.arange(len(block))[:, None], producers.shape)
    begins = np.searchsorted(block, producers, side="right") - 1
    counts = (producers >= block[0] - len(block) // 4 - _MOST_BEFORE) & (producers <= block[-1])
    # a node is passed by where a value is given before it and used behind it
    passing = np.zeros(len(block) + 2, dtype=np.int64)
    np.add.at(passing, begins[counts] + 1, 1)
    np.add.at(passing, numbers[counts], -1)
    passed = np.cumsum(passing)[: len(block)]
    lowest = np.where(counts, producers, block[-1]).min(axis=1)
    joins = np.where(counts, producers, -1).max(axis=1) > lowest
    return bool(((passed == 0) & ~joins)[foreign].any())
