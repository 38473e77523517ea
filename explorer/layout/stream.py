"""The main stream of a level: what is drawn bold, unlike what goes around something.

An edge is of it unless another way leads from its source to its target: then it is a residual, a
skip connection, or a value that several take one after the other, such as an embedding of time.
Of the values that enter an open group the one with the longest way through it is of the stream.
These edges are what the transitive reduction of an acyclic graph leaves out (Aho, Garey and
Ullman 1972).
"""

from __future__ import annotations

from collections.abc import Container, Sequence

#: levels of more boxes have no main stream: what is so large is no figure
MOST_BOXES = 2_000


def find_main_stream(
    ends: Sequence[tuple[int, int]], count: int, aside: Container[int] = ()
) -> frozenset[int]:
    """Return the numbers of the edges that are of the main stream.

    Parameters
    ----------
    ends
        Source and target of each edge: numbers of boxes, or -1 and below for ports on the border.
        Edges that a cycle runs through are never of the stream.
    count
        Of the boxes.
    aside
        Boxes that stand beside the stream, as what prepares a mask does: an edge from one is of
        it only where its target is reached in no other way.
    """
    if count > MOST_BOXES:
        return frozenset()
    numbered = [
        (source if source >= 0 else count - 1 - source, target if target >= 0 else -1)
        for source, target in ends
    ]
    stream = _leave_out_bypassed(numbered, count, aside)
    reached = {ends[number][1] for number in stream}
    leading = {
        number
        for number, (source, target) in enumerate(ends)
        if source in aside and target not in reached and target not in aside
    }
    sources = {ends[number][0] for number in leading}
    leading |= {number for number, (_, target) in enumerate(ends) if target in sources}
    return frozenset(stream | leading)


def _leave_out_bypassed(
    ends: Sequence[tuple[int, int]], count: int, aside: Container[int]
) -> set[int]:
    """Return the edges between which no other way leads, those of boxes aside left out.

    Targets of -1 are ports, each of which is reached by what gives it alone.
    """
    leaving: dict[int, list[int]] = {}
    waiting: dict[int, int] = {}
    for number, (source, target) in enumerate(ends):
        if source in aside or target in aside or source == target:
            continue
        leaving.setdefault(source, []).append(number)
        if target >= 0:
            waiting[target] = waiting.get(target, 0) + 1
    order = [box for box in leaving if not waiting.get(box)]
    for box in order:  # grows
        for number in leaving.get(box, ()):
            target = ends[number][1]
            if target >= 0:
                waiting[target] -= 1
                if not waiting[target]:
                    order.append(target)
    done = set(order)
    beyond: dict[int, int] = {}  # as bits: what is reached from a box, itself included
    length: dict[int, int] = {}
    stream: set[int] = set()
    for box in reversed(order):
        numbers = [number for number in leaving.get(box, ()) if ends[number][1] in done]
        targets = {ends[number][1] for number in numbers}
        reached = 1 << box
        further = {target: beyond[target] & ~(1 << target) for target in targets}
        for target in targets:
            reached |= beyond[target]
        for number in numbers:
            target = ends[number][1]
            if not any(way >> target & 1 for way in further.values()):
                stream.add(number)
        beyond[box] = reached
        length[box] = 1 + max([length[target] for target in targets], default=0)
    stream |= {
        number for number, (source, target) in enumerate(ends) if target < 0 and source in done
    }
    longest = max([length[box] for box in order if box >= count], default=0)
    return {
        number for number in stream if ends[number][0] < count or length[ends[number][0]] == longest
    }
