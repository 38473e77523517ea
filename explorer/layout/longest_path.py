"""The longest path of a level: the longest way that values take through it, drawn straight.

What goes around part of it, such as a residual connection, bends aside. The longest path of a
graph without cycles is found in time linear in boxes and wires (Sedgewick and Wayne 2011, 4.4).
"""

from __future__ import annotations

from .level import Level


def find_longest_path(level: Level) -> set[int]:
    """Return the wires of the longest way through a level.

    Wires of stubs are never on it, and none that a cycle runs through. Of ways of equal length
    the one whose wires come first is taken; a way from or to the border is longer than one that
    begins or ends at a box inside.
    """
    count = len(level.children)
    leaving: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for number, wire in enumerate(level.wires):
        if wire.is_main and wire.source != wire.target and wire.target >= 0 and wire.source >= 0:
            leaving[wire.source].append(number)
            waiting[wire.target] += 1
    length = [0] * count
    before = [-1] * count
    for number, wire in enumerate(level.wires):
        if wire.is_main and wire.source < 0 <= wire.target and not length[wire.target]:
            length[wire.target], before[wire.target] = 1, number
    pending = [child for child in range(count) if not waiting[child]]
    for child in pending:  # grows
        for number in leaving[child]:
            target = level.wires[number].target
            if length[child] + 2 > length[target]:
                length[target], before[target] = length[child] + 2, number
            waiting[target] -= 1
            if not waiting[target]:
                pending.append(target)
    done = [child for child in range(count) if not waiting[child]]
    if not done:
        return set()
    last, best = -1, -1
    end = max(done, key=length.__getitem__)
    for number, wire in enumerate(level.wires):
        is_out = wire.is_main and wire.target < 0 <= wire.source and not waiting[wire.source]
        if is_out and length[wire.source] > best:
            last, best = number, length[wire.source]
    longest: set[int] = set()
    if last >= 0 and best + 1 >= length[end]:
        longest.add(last)
        end = level.wires[last].source
    while before[end] >= 0:
        longest.add(before[end])
        end = level.wires[before[end]].source
        if end < 0:
            break
    return longest
