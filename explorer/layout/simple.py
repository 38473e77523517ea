"""The simpler layout: ranks by longest path, no crossing reduction. Used when Graphviz fails."""

from __future__ import annotations

from .dot import NODE_GAP, PORT_SIZE, RANK_GAP
from .level import Level
from .placement import Placement

#: boxes wider than this together go on in another row of the same rank
_MOST_ROW = 6000.0


def place_simply(level: Level) -> Placement:
    """Place boxes in rows by their depth and draw edges as plain curves.

    Takes time linear in boxes and edges, whatever the graph is.
    """
    vertical = level.direction == "TB"
    sizes: dict[str, tuple[float, float]] = {}
    for index, child in enumerate(level.children):
        size = (child.width, child.height)
        sizes[f"n{index}"] = size if vertical else (child.height, child.width)
    rows = [
        [f"i{n}" for n in range(level.input_count)],
        *_split_rows(_pin_ends(level, _rank_children(level)), sizes),
        [f"o{n}" for n in range(level.output_count)],
    ]
    centres: dict[str, tuple[float, float]] = {}
    across, widest = 0.0, 0.0
    for row in rows:
        if not row:
            continue
        along = 0.0
        deepest = max(sizes.get(name, (PORT_SIZE, PORT_SIZE))[1] for name in row)
        for name in row:
            length, _ = sizes.get(name, (PORT_SIZE, PORT_SIZE))
            centres[name] = (along + length / 2, across + deepest / 2)
            along += length + NODE_GAP
        widest = max(widest, along - NODE_GAP)
        across += deepest + RANK_GAP
    for row in rows:
        if row:
            last, _ = centres[row[-1]]
            shift = (widest - last - sizes.get(row[-1], (PORT_SIZE, PORT_SIZE))[0] / 2) / 2
            for name in row:
                x, y = centres[name]
                centres[name] = (x + shift, y)
    edges = [
        _curve(level, wire.source, wire.target, centres, sizes) if wire.values else ()
        for wire in level.wires
    ]
    placement = Placement(
        widest,
        max(across - RANK_GAP, 0.0),
        [centres[f"n{n}"] for n in range(len(level.children))],
        [centres[f"i{n}"] for n in range(level.input_count)],
        [centres[f"o{n}"] for n in range(level.output_count)],
        edges,
    )
    return placement if vertical else placement.turned()


def _rank_children(level: Level) -> list[list[str]]:
    """Return the names of the children by rank: the longest path from a source.

    Edges that lead back to a box seen before in file order are left out, so that cycles do
    no harm.
    """
    ranks = [0] * len(level.children)
    followers: list[list[int]] = [[] for _ in level.children]
    for wire in level.wires:
        if 0 <= wire.source < wire.target:
            followers[wire.source].append(wire.target)
    for index, targets in enumerate(followers):
        for target in targets:
            ranks[target] = max(ranks[target], ranks[index] + 1)
    rows: list[list[str]] = [[] for _ in range(max(ranks, default=-1) + 1)]
    for index, rank in enumerate(ranks):
        rows[rank].append(f"n{index}")
    return rows


def _pin_ends(level: Level, rows: list[list[str]]) -> list[list[str]]:
    """Give the child that must be first, and the one that must be last, a row of its own."""
    pinned = {f"n{level.first}", f"n{level.last}"}
    rows = [[name for name in row if name not in pinned] for row in rows]
    if level.first >= 0:
        rows.insert(0, [f"n{level.first}"])
    if level.last >= 0:
        rows.append([f"n{level.last}"])
    return [row for row in rows if row]


def _split_rows(rows: list[list[str]], sizes: dict[str, tuple[float, float]]) -> list[list[str]]:
    result = []
    for row in rows:
        part: list[str] = []
        length = 0.0
        for name in row:
            if part and length + sizes[name][0] > _MOST_ROW:
                result.append(part)
                part, length = [], 0.0
            part.append(name)
            length += sizes[name][0] + NODE_GAP
        result.append(part)
    return result


def _curve(
    level: Level,
    source: int,
    target: int,
    centres: dict[str, tuple[float, float]],
    sizes: dict[str, tuple[float, float]],
) -> tuple[float, ...]:
    tail = f"i{-1 - source}" if source < 0 else f"n{source}"
    head = f"o{-1 - target}" if target < 0 else f"n{target}"
    x0, y0 = centres[tail]
    x1, y1 = centres[head]
    y0 += sizes.get(tail, (0.0, PORT_SIZE))[1] / 2
    y1 -= sizes.get(head, (0.0, PORT_SIZE))[1] / 2
    bend = max(RANK_GAP / 2, abs(y1 - y0) / 2) if y1 >= y0 else RANK_GAP
    return (x0, y0, x0, y0 + bend, x1, y1 - bend, x1, y1)
