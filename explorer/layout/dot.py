"""One open item as a graph in the DOT language: boxes of known size, ports on its border.

The text holds sizes and wiring but no names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from netloupe.explorer.options import Direction

from .engine import Drawing
from .level import Child, Level, Wire
from .longest_path import find_longest_path
from .placement import Curve, Placement

#: a port is a small node on the border; edges of an open child end at ports given here
PORT_SIZE = 6.0
#: HTML-like tables, which give ports exact places, overflow above this size (in points)
_MAX_TABLE = 60_000.0
#: above this many boxes Graphviz works with fewer iterations, near-linear in their number
_MANY = 300

#: how much more an edge pulls than a stub's
_MAIN_WEIGHT = 4
#: and one of the longest way through a level, which should run straight
_SPINE_WEIGHT = 24

#: between ranks that values flow down through, and to the right
RANK_GAP = 22.0
RANK_GAP_ACROSS = 30.0
#: between two boxes with one straight edge between them
_CHAIN_GAP = 20.0
#: what a number beside an edge needs along it where values flow to the right, and its digits
_COUNT_ROOM = 24.0
_DIGIT_ROOM = 6.5
#: what a size beside the one edge between two boxes needs along it where values flow down (between
#: ranks there is room enough), and more than its width to the right
_SIZE_ROOM = 30.0
_SIZE_AROUND = 30.0
NODE_GAP = 22.0
#: so many numbers are a piece of a curve: begin, two handles and end
_PIECE = 8


def write_level_dot(level: Level, *, is_reversed: bool = False) -> str:
    """Return a level as DOT text: nodes n, border ports i and o, and edge ids, from 0 on.

    ``is_reversed`` tells the boxes in the opposite order, after the stubs, which lets Graphviz
    choose another of the pictures that are about as good.
    """
    gap = RANK_GAP if level.direction == "TB" else RANK_GAP_ACROSS
    lines = [
        "digraph {",
        f"graph [rankdir={level.direction},ranksep={gap / 72:.4f},nodesep={NODE_GAP / 72:.4f}"
        + (",nslimit=0,nslimit1=0,mclimit=0.3" if len(level.children) > _MANY else "")
        + "]",
        'node [shape=box,fixedsize=true,label=""]',
        f"edge [dir=none,weight={_MAIN_WEIGHT}]",
    ]
    numbers = list(range(len(level.children)))
    if is_reversed:
        stubs = {wire.source for wire in level.wires if not wire.is_main}
        numbers.sort(key=lambda index: (index not in stubs, index if index in stubs else -index))
    for index in numbers:
        lines.append(f"n{index} [{_node_attributes(level.children[index], level.direction)}]")
    for letter, count, rank in (
        ("i", level.input_count, "source"),
        ("o", level.output_count, "sink"),
    ):
        if count:
            size = f"width={PORT_SIZE / 72:.4f},height={PORT_SIZE / 72:.4f}"
            ports = ";".join(f"{letter}{n} [{size}]" for n in range(count))
            lines.append(f"{{rank={rank};{ports}}}")
    if level.first >= 0:
        lines.append(f"{{rank={_first_rank(level)};n{level.first}}}")
    if level.last >= 0:
        lines.append(f"{{rank=sink;n{level.last}}}")
    longest = find_longest_path(level)
    top, bottom = ("n", "s") if level.direction == "TB" else ("w", "e")
    for number, wire in enumerate(level.wires):
        if not wire.values:
            continue
        tail = _end(wire.source, "i", wire.source_port, "o", bottom, level.children)
        head = _end(wire.target, "o", wire.target_port, "i", top, level.children)
        weight = "" if wire.is_main else ",weight=1"
        if number in longest:
            weight = f",weight={_SPINE_WEIGHT}"
        room = _measure_text(wire, level.direction) if level.direction == "LR" else 0.0
        ranks = math.ceil(room / gap)
        longer = f",minlen={ranks}" if ranks > 1 else ""
        lines.append(f'{tail} -> {head} [id="{number}"{weight}{longer}]')
    lines.append("}")
    return "\n".join(lines)


def find_chain_gap(wire: Wire, direction: Direction) -> float:
    """Return how far two boxes are from each other that are joined by one straight edge alone."""
    room = _measure_text(wire, direction)
    return max(_CHAIN_GAP if wire.values < 2 else RANK_GAP, room)


def _measure_text(wire: Wire, direction: Direction) -> float:
    """Return how long an edge must be for the text that stands beside it."""
    if wire.values < 2:
        if not wire.text_width:
            return 0.0
        return _SIZE_ROOM if direction == "TB" else wire.text_width + _SIZE_AROUND
    if direction == "TB":
        return 0.0
    return _COUNT_ROOM + _DIGIT_ROOM * len(f"{wire.values:,}")


def _first_rank(level: Level) -> str:
    """Return the rank of the first child: ``min`` lets others stand beside it."""
    is_down = level.direction == "TB"
    depths = [child.height if is_down else child.width for child in level.children]
    room = depths[level.first]
    return "min" if all(depths[child] <= room for child in _find_topmost(level)) else "source"


def _find_topmost(level: Level) -> list[int]:
    """Return the children that may come into the first rank.

    Those are what no edge comes to, and all that is in a cycle or behind one: which edges of a
    cycle are turned round is Graphviz's choice.
    """
    waiting = [0] * len(level.children)
    followers: list[list[int]] = [[] for _ in level.children]
    for wire in level.wires:
        if wire.source >= 0 and wire.target >= 0 and wire.source != wire.target:
            waiting[wire.target] += 1
            followers[wire.source].append(wire.target)
    free = [child for child, count in enumerate(waiting) if not count]
    pending = list(free)
    while pending:
        for follower in followers[pending.pop()]:
            waiting[follower] -= 1
            if not waiting[follower]:
                pending.append(follower)
    return free + [child for child, count in enumerate(waiting) if count]


def read_drawing(level: Level, drawing: Drawing) -> Placement | None:
    """Return what Graphviz made of a level's text; None where boxes or ports are missing."""
    nodes = drawing.nodes
    try:
        return Placement(
            drawing.width,
            drawing.height,
            [nodes[f"n{number}"] for number in range(len(level.children))],
            [nodes[f"i{number}"] for number in range(level.input_count)],
            [nodes[f"o{number}"] for number in range(level.output_count)],
            [
                _keep_between(drawing.edges.get(str(number), ()), level.direction)
                for number in range(len(level.wires))
            ],
        )
    except KeyError:
        return None


def _keep_between(curve: Curve, direction: Direction) -> Curve:
    """Return a curve whose first and last handles are not before its start or behind its end.

    Between near ranks Graphviz lets curves to boxes far aside swing beyond both.
    """
    along = 1 if direction == "TB" else 0
    kept = list(curve)
    for piece in {0, len(curve) - _PIECE} if len(curve) >= _PIECE else ():
        begin, end = curve[piece + along], curve[piece + 6 + along]
        if 0 < end - begin < 2 * RANK_GAP:
            for handle in (piece + 2 + along, piece + 4 + along):
                kept[handle] = min(max(kept[handle], begin), end)
    return tuple(kept)


def _end(
    index: int,
    border: str,
    port: int | None,
    port_letter: str,
    side: str,
    children: Sequence[Child],
) -> str:
    if index < 0:
        return f"{border}{-1 - index}:{side}"
    if port is None or not _has_table(children[index]):
        return f"n{index}:{side}"
    return f"n{index}:{port_letter}{port}:{side}"


def _has_table(child: Child) -> bool:
    return bool(child.inputs or child.outputs) and max(child.width, child.height) < _MAX_TABLE


def _node_attributes(child: Child, direction: Direction) -> str:
    if not _has_table(child):
        return f"width={child.width / 72:.4f},height={child.height / 72:.4f}"
    along, across = child.width, child.height
    if direction == "LR":
        along, across = across, along
    first = _port_cells(child.inputs, "i", along, direction)
    last = _port_cells(child.outputs, "o", along, direction)
    middle = _cell(along, across - 4, direction)
    if direction == "TB":
        rows = f"<TR>{first}</TR><TR>{middle}</TR><TR>{last}</TR>"
    else:
        rows = f"<TR>{first}{middle}{last}</TR>"
    return (
        f'shape=plain,fixedsize=false,label=<{_TABLE} FIXEDSIZE="TRUE" '
        f'WIDTH="{child.width:.0f}" HEIGHT="{child.height:.0f}">{rows}</TABLE>>'
    )


_TABLE = '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0"'


def _cell(
    along: float, across: float, direction: Direction, port: str = "", inside: str = ""
) -> str:
    width, height = (along, across) if direction == "TB" else (across, along)
    name = f' PORT="{port}"' if port else ""
    return f'<TD{name} FIXEDSIZE="TRUE" WIDTH="{width:.0f}" HEIGHT="{height:.0f}">{inside}</TD>'


def _port_cells(offsets: Sequence[float], letter: str, along: float, direction: Direction) -> str:
    """Return a strip of cells along one border, with a narrow cell at each port."""
    cells = []
    position = 0
    for index in sorted(range(len(offsets)), key=offsets.__getitem__):
        start = max(position, round(offsets[index]) - 1)
        if start > position:
            cells.append(_cell(start - position, 2, direction))
        cells.append(_cell(2, 2, direction, f"{letter}{index}"))
        position = start + 2
    if position < along:
        cells.append(_cell(along - position, 2, direction))
    if direction == "TB":
        strip = f"<TR>{''.join(cells)}</TR>"
    else:
        strip = "".join(f"<TR>{cell}</TR>" for cell in cells)
    width, height = (along, 2) if direction == "TB" else (2, along)
    table = f'{_TABLE} FIXEDSIZE="TRUE" WIDTH="{width:.0f}" HEIGHT="{height:.0f}">{strip}</TABLE>'
    return _cell(along, 2, direction, inside=table)
