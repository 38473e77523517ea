"""Where along the main stream of a level its size changes, and what is written there.

Figures say the size beside the stream where resolution or width change, once for each change,
and only at the top and inside stages: in blocks it would repeat what their facts say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Node
from netloupe.explorer.view import Item, Link

from .scene import LevelEdge
from .u_shape import UShape
from .value_sizes import Size

#: a stream of more edges is no figure's
MOST_EDGES = 400
#: the channels of so many skips are told one by one
_MOST_TOLD = 4


def is_stage(item: Item) -> bool:
    """Return whether sizes are told inside an open item.

    That is so at the top and in groups that are neither a block of a known kind nor a repetition,
    nor inside one.
    """
    return item.repeat is None and may_be_lanes(item)


def may_be_lanes(item: Item) -> bool:
    """Return whether an open item may show lanes: a stage, or one of the repetitions in one."""
    outer: Item | None = item
    while outer is not None and outer.kind != "root":
        element = outer.element
        if not isinstance(element, Group) or (outer.repeat is not None and outer is not item):
            return False
        recognition = element.recognised
        if recognition is not None and recognition.family != "group":
            return False
        outer = outer.parent
    return not item.is_terminal


def tells_order(link: Link, children: Sequence[Item]) -> bool:
    """Return whether a box at one end of a link tells sizes in the order of the file.

    One that permutes axes, takes a part of them or gives another shape does, where it stands alone.
    """
    ends = (end for end in (link.source, link.target) if end >= 0)
    return any(_orders_axes(children[end]) for end in ends)


def _orders_axes(item: Item) -> bool:
    element = item.element
    node = element.main if isinstance(element, Group) and element.kind == "operation" else element
    if item.is_open or not isinstance(node, Node):
        return False
    if node.operator.has("reshapes"):  # what becomes a list has no order of axes
        dims = find_value_facts(node.graph.model).find_dims(node.output(0))
        return dims is not None and sum(dim != 1 for dim in dims[1:]) > 1
    return node.operator.has("permutes", "repeats", "slices")


def list_size_changes(
    edges: list[LevelEdge],
    children: list[Item],
    chain: Sequence[int],
    sizes: Sequence[Size | None],
) -> dict[int, str]:
    """Return what is written beside those edges of a level's main stream where its size changes.

    Nothing is written at inputs and outputs of the graph, whose boxes tell their types, nor the
    size that leaves at a border, where it stands outside.

    Parameters
    ----------
    edges, children
        Of the level.
    chain
        The edges of the main stream in the order of flow.
    sizes
        That of each edge's value.
    """
    written: dict[int, str] = {}
    last: Size | None = None
    usual = ""
    known = [
        (number, size)
        for number in chain
        if (size := sizes[number]) is not None and edges[number].kind not in ("control", "former")
    ]
    end = edges[chain[-1]].target if chain else 0
    outside = known[-1][1] if known and (end < 0 or children[end].kind == "output") else None
    for number, size in known:
        edge = edges[number]
        text = _tell_change(last, size, usual)
        if "float" in size.dtype and not usual:
            usual = size.dtype
        last = size
        is_said = outside is not None and text == outside.write()
        if text and not is_said and edge.times < 2 and _has_room(edge, children):
            written[number] = text
    return written


def tell_skips(shape: UShape, values: Sequence[Sequence[Size | None]]) -> dict[int, str]:
    """Return how many skips go from one box of a U to another, and how many channels they have.

    Parameters
    ----------
    shape
        The U.
    values
        The sizes of all values of each wire.
    """
    between: dict[tuple[int, int], list[int]] = {}
    for lane in shape.lanes:
        between.setdefault((lane.source, lane.target), []).append(lane.wires[0])
    written = {}
    for numbers in between.values():
        sizes = [size for number in numbers for size in values[number]]
        channels = [size.channels for size in sizes if size is not None and size.channels != "?"]
        if len(channels) < len(sizes) or len(channels) > _MOST_TOLD:
            channels = [*dict.fromkeys(channels)] if len(channels) == len(sizes) else []
        if len(sizes) > 1:
            is_told = 0 < len(channels) <= _MOST_TOLD
            told = f": {', '.join(channels)}" if is_told else ""
            written[numbers[0]] = f"{len(sizes)} skips{told}"
        elif channels and sizes[0] is not None:
            written[numbers[0]] = _tell_skip(sizes[0])
    return written


def _tell_skip(size: Size) -> str:
    """Return how many channels a skip has; the whole size of what is no map with channels.

    Of a spectrogram with two channels the last axis may be that of frequencies.
    """
    if len(size.places) > 1 and not size.is_picture:
        return size.write()
    return f"{size.channels} channel{'s' * (size.channels != '1')}"


def order_stream(edges: list[LevelEdge], stream: Iterable[int]) -> list[int]:
    """Return the edges of one way through a level in the order of flow."""
    numbers = list(stream)
    after = {edges[number].source: number for number in numbers}
    targets = {edges[number].target for number in numbers}
    start = next((n for n in numbers if edges[n].source not in targets or edges[n].source < 0), -1)
    chain: list[int] = []
    while start >= 0 and len(chain) < len(numbers):
        chain.append(start)
        target = edges[start].target
        start = after.get(target, -1) if target >= 0 else -1
    return chain


def _has_room(edge: LevelEdge, children: list[Item]) -> bool:
    if min(edge.source, edge.target) < 0:
        return False
    ends = children[edge.source].kind, children[edge.target].kind
    return ends[0] not in ("input", "stub", "constant") and ends[1] != "output"


def _tell_change(last: Size | None, size: Size, usual: str) -> str:
    """Return what is said of a size that comes after another; "" where it is nothing new.

    An element type is told where it changes; that of the first real numbers that are computed
    from indices is the usual one.
    """
    if last is None or last.dims != size.dims:
        is_list = not size.places and (last is None or not last.places)
        text = "" if is_list else size.write()  # of lists boxes tell their widths
    else:
        text = ""
    is_cast = usual and last is not None and "" not in (last.dtype, size.dtype)
    if is_cast and last is not None and last.dtype != size.dtype:
        return f"{text}, {size.dtype}" if text else size.dtype
    return text
