"""Which levels are a U without skips: a way down and one up whose resolutions correspond.

Encoder-decoders without skips, such as SegNet (Badrinarayanan, Kendall and Cipolla 2017, figure 2),
and autoencoders are drawn as two arms too, because each level of the decoder is the mirror of one
of the encoder.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby

from .level import Level
from .u_shape import MOST_BOXES, UShape, find_ends, find_picture_stream, list_boxes

#: so many resolutions are on both ways, above the lowest one
_LEAST_ROWS = 2
#: so many boxes may stand between the arms
_MOST_BETWEEN = 3


def find_mirrored_levels(
    level: Level,
    chain: Sequence[int],
    resolutions: Sequence[int | None],
    stubs: Collection[int],
) -> UShape | None:
    """Return the U that a stream makes alone; None where its ways do not mirror each other.

    Parameters
    ----------
    level
        The boxes and wires.
    chain
        The wires of its longest path in the order of flow.
    resolutions
        How many places the value of each wire has; None where that is not known.
    stubs
        The boxes that are stubs.
    """
    if level.direction != "TB" or len(level.children) > MOST_BOXES:
        return None
    wires = level.wires
    stream = find_picture_stream(wires, chain, resolutions)
    boxes = list_boxes(wires, stream)
    beside = {*range(len(level.children))} - {*boxes}
    is_chain = len({*boxes}) == len(boxes) and beside <= {*stubs}
    if not is_chain or any(
        not {wire.source, wire.target} & beside
        for number, wire in enumerate(wires)
        if number not in {*stream}
    ):
        return None
    ends = find_ends(wires, boxes)
    given = {wires[number].source: resolutions[number] or 0 for number in stream}
    inner = [box for box in boxes if box not in ends]
    if len(inner) < len(boxes) - len(ends) or any(not given.get(box) for box in inner[:-1]):
        return None
    if inner and not given.get(inner[-1]):
        return None
    runs = [(key, [*run]) for key, run in groupby(inner, key=lambda box: given[box])]
    sizes = [key for key, _ in runs]
    if not sizes:
        return None
    lowest = sizes.index(min(sizes))
    down, up = sizes[:lowest], sizes[:lowest:-1]
    top = max({*down} & {*up}, default=0)
    down, up = ([size for size in way if size <= top] for way in (down, up))
    is_v = [*down] == sorted(down, reverse=True) and len({*sizes[:lowest]}) == lowest
    if not is_v or down != up or len(down) < _LEAST_ROWS:
        return None
    first, last = sizes.index(top), len(sizes) - sizes[::-1].index(top)
    left = [run for _, run in runs[first:lowest]]
    right = [run for _, run in runs[last - 1 : lowest : -1]]
    bottom = runs[lowest][1]
    below = [*left[1:], bottom]
    if all(len(run) > 1 for run in right) and all(len(run) > 1 for run in left[1:]):
        # what lowers the resolution stands beside what raises it again
        left = [[*run, following.pop(0)] for run, following in zip(left, below, strict=True)]
    if len(bottom) > _MOST_BETWEEN:
        return None
    # what one end of the stream has more than the other stands before or behind the arms
    more = len(right[0]) - len(left[0])
    if more > 0:
        del right[0][-more:]
    elif more < 0:
        del left[0][:-more]
    before = boxes[: boxes.index(left[0][0])]
    behind = boxes[boxes.index(right[0][-1]) + 1 :]
    return UShape(
        tuple(map(tuple, left)),
        tuple(map(tuple, right)),
        tuple(before),
        tuple(behind),
        tuple(bottom),
        tuple(stream),
        (),
    )
