"""From an open item of a view to the level that has to be placed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Node, Value
from netloupe.explorer.options import Direction
from netloupe.explorer.progress import step
from netloupe.explorer.view import BORDER, Instance, Item, Link, View
from netloupe.explorer.view.inner_exits import name_inner_exits
from netloupe.explorer.view.item import MOST_SELECTED
from netloupe.explorer.view.operand_names import BESIDE, name_joining_values

from .lane_rows import Maps
from .lane_shape import find_lanes
from .level import Child, Level, Wire
from .longest_path import find_longest_path
from .merging import merge_edges
from .scene import Inside, LevelEdge
from .stream import find_main_stream
from .stream_sizes import (
    MOST_EDGES,
    is_stage,
    list_size_changes,
    may_be_lanes,
    order_stream,
    tell_skips,
    tells_order,
)
from .texts import LabelMeasure, Texts, choose_texts, count_written
from .titles import Title
from .u_levels import find_mirrored_levels
from .u_shape import find_u
from .value_sizes import ValueSizes, find_sizes

#: faces are made for so many boxes between two looks whether anyone still wants them
_CHECK_EVERY = 256
#: values that lead along more edges than this together have no row of their own
_MOST_VALUES = 64


class LoopMeasure(Protocol):
    """What is asked of whoever writes beside back edges."""

    def loop_labels(self, item: Item) -> tuple[tuple[str, float], ...]:
        """Return the lines over the back edge of an open loop, each with its width."""
        ...


class Measure(LabelMeasure, LoopMeasure, Protocol):
    """What the layout asks of whoever knows faces: sizes, outlines, titles, labels."""

    def size(self, item: Item) -> tuple[float, float]:
        """Return width and height of a closed item's box."""
        ...

    def title(self, item: Item) -> Title:
        """Return the room that the title of an open item takes."""
        ...

    def is_round(self, item: Item) -> bool:
        """Return whether a closed item is drawn as a circle."""
        ...


class Borders(NamedTuple):
    """At which place of its border an open item takes or gives which value.

    ``idle`` are the inputs that nothing inside uses.
    """

    inputs: dict[Value, int]
    outputs: dict[Value, int]
    idle: frozenset[Value]


class Placed(NamedTuple):
    """What the layout around an open item has to know of it: its inside and its ports."""

    inside: Inside
    borders: Borders


class Plan(NamedTuple):
    """An open item's inside as a level, and what its ports and wires stand for.

    Parameters
    ----------
    item
        The open item.
    children
        The very list of its children: as long as it has this one, only sizes, ports of open
        children and what follows from them can change.
    revisions
        Those of the children.
    edges
        What flows along the wires of ``level``, as it is drawn.
    single
        The same for each wire alone, before some run as one.
    texts
        What is written beside them.
    ports
        Paths of the values that run on across the border, inputs first.
    borders
        Which port stands for which value.
    """

    item: Item
    children: list[Item]
    revisions: list[int]
    level: Level
    edges: list[LevelEdge]
    single: list[LevelEdge]
    texts: Texts
    ports: list[str]
    borders: Borders


def _number(values: list[Value]) -> dict[Value, int]:
    numbers: dict[Value, int] = {}
    for index, value in enumerate(values):
        numbers.setdefault(value, index)
    return numbers


def plan_item(
    view: View,
    item: Item,
    measure: Measure,
    direction: Direction,
    inner: Mapping[int, Placed],
    *,
    with_lanes: bool = True,
) -> Plan:
    """Describe an open item's inside as a level.

    Parameters
    ----------
    view, item
        What is open.
    measure
        Gives the sizes of closed boxes.
    direction
        Where values flow to.
    inner
        The open children, by their numbers.
    with_lanes
        Whether it may be told that it makes lanes; else sizes are written as along one stream.
    """
    level = Level(direction, is_list=item.is_terminal)
    for number, child in enumerate(item.children):
        if number % _CHECK_EVERY == 0:
            step()
        level.children.append(_make_child(child, inner.get(number), measure, direction))
    links = view.links(item)
    # what nothing inside uses, such as the condition of an If, ends at the border after the others
    used = dict.fromkeys(link.source_value for link in links if link.source == BORDER)
    given = dict.fromkeys(link.target_value for link in links if link.target == BORDER)
    inputs, outputs = list(used), list(given)
    if item is not view.root and not item.is_terminal:
        inputs += [value for value in item.inputs if value not in used]
        outputs += [value for value in item.outputs if value not in given]
    level.input_count, level.output_count = len(inputs), len(outputs)
    input_index, output_index = _number(inputs), _number(outputs)
    ends = [
        (
            link.source if link.source != BORDER else -1 - input_index[link.source_value],
            link.target if link.target != BORDER else -1 - output_index[link.target_value],
        )
        for link in links
    ]
    operands = (
        name_joining_values(view, item, links)
        if is_stage(item) and len(links) <= MOST_EDGES
        else {}
    )
    exits = name_inner_exits(view, item, links) if len(links) <= MOST_EDGES else {}
    stream = _find_main_stream(item, links, ends, operands)
    single = _list_edges(item, links, inner, stream, exits)
    merged = merge_edges(single, item.children)
    edges = _replace_merged(single, merged)
    for number, link in enumerate(links):
        level.wires.append(
            Wire(
                *ends[number],
                _port_at(inner.get(link.source), "outputs", link.source_value),
                _port_at(inner.get(link.target), "inputs", link.target_value),
                link.source == BORDER or item.children[link.source].kind != "stub",
                _count_drawn(number, edges[number], merged, item.children),
            )
        )
    changes, skips = _find_sizes(view, item, level, edges, links, with_lanes=with_lanes)
    skips = {number: text for number, text in skips.items() if number not in operands}
    texts = choose_texts(edges, item.children, measure, {**changes, **operands}, skips)
    for number, (_, width, _) in enumerate(texts.sizes):
        if width:
            level.wires[number] = level.wires[number]._replace(text_width=width)
    return Plan(
        item,
        item.children,
        [child.revision for child in item.children],
        level,
        edges,
        single,
        texts,
        [] if item is view.root else _list_ports(item, [*used, *given]),
        Borders(input_index, output_index, _find_idle(item, inputs[len(used) :])),
    )


def _find_sizes(
    view: View,
    item: Item,
    level: Level,
    edges: list[LevelEdge],
    links: Sequence[Link],
    *,
    with_lanes: bool,
) -> tuple[Mapping[int, str], Mapping[int, str]]:
    """Return the sizes, and what is said of skips, by the edge beside which they stand.

    Where a level is a U, or lanes, it is told so.
    """
    is_told = is_stage(item)
    if not edges or not (is_told or (with_lanes and may_be_lanes(item))):
        return {}, {}
    sizes = find_sizes(view.model)
    chain = order_stream(edges, find_longest_path(level))
    if len(chain) > MOST_EDGES:
        return {}, {}
    stubs = {n for n, child in enumerate(item.children) if child.kind == "stub"}
    found = [sizes.find(link.value) for link in links]
    resolutions = [size.resolution if size is not None else None for size in found]
    sums = {number for number, child in enumerate(item.children) if _adds(child)}
    if is_told:
        level.u = find_u(level, chain, resolutions, stubs, sums) or find_mirrored_levels(
            level, chain, resolutions, stubs
        )
    told = [
        sizes.find_in_order(link.value) if tells_order(link, item.children) else size
        for link, size in zip(links, found, strict=True)
    ]
    changes = list_size_changes(edges, item.children, chain, told)
    if level.u is None and not with_lanes:
        return changes, {}
    if level.u is None:
        level.lanes = find_lanes(level, [_find_maps(sizes, link) for link in links], stubs)
        lanes = level.lanes
        if lanes is not None:
            written = [size.write() if size is not None else "" for size in told]
            changes = lanes.choose_told(level.wires, changes, written)
        return changes if is_told or lanes is not None else {}, {}
    shape = level.u
    changes = {n: text for n, text in changes.items() if not shape.is_in_row(level.wires[n])}
    values = [[*map(sizes.find, link.bundle or (link.value,))] for link in links]
    return changes, tell_skips(shape, values)


def _adds(child: Item) -> bool:
    element = child.element.main if isinstance(child.element, Group) else child.element
    return isinstance(element, Node) and element.operator.has("adds")


def _find_maps(sizes: ValueSizes, link: Link) -> Maps:
    """Return what is known of the places of the values along a link."""
    values = link.bundle or (link.value,)
    if len(values) > _MOST_VALUES:
        return Maps((), is_picture=False, has_places=True)
    found = [*map(sizes.find, values)]
    known = {size.resolution or 0 for size in found if size is not None}
    is_whole = len(found) > 0 and all(size is not None and size.resolution for size in found)
    is_picture = is_whole and all(size is not None and size.is_picture for size in found)
    has_places = any(size is None or size.places for size in found)
    return Maps(tuple(sorted(known)) if is_whole else (), is_picture, has_places)


def renew_plan(
    before: Plan, item: Item, measure: Measure, inner: Mapping[int, Placed]
) -> Plan | None:
    """Return the plan of an item that differs from one before in some children alone.

    Costs what the changed children and their wires cost.

    Parameters
    ----------
    before
        A plan of the item.
    item, measure, inner
        As for :func:`plan_item`.

    Returns
    -------
    Plan or None
        None where the item has other children than it had.
    """
    children = item.children
    if children is not before.children:
        return None
    revisions = [child.revision for child in children]
    pairs = zip(revisions, before.revisions, strict=True)
    changed = [number for number, (new, old) in enumerate(pairs) if new != old]
    arrays = before.level.arrays()
    touched = arrays.wires_at(changed)
    single = before.single.copy()
    for number in touched:
        edge = single[number]
        arrow = _has_arrow(edge.target, edge.target_value, inner)
        if arrow != edge.arrow:
            single[number] = edge._replace(arrow=arrow)
    merged = merge_edges(single, children, touched)
    edges = single if before.edges is before.single and not merged else before.edges.copy()
    wires = {}
    for number in touched:
        edge = single[number]
        edges[number] = merged.get(number, (edge, 1))[0]
        wires[number] = before.level.wires[number]._replace(
            source_port=_port_at(inner.get(edge.source), "outputs", edge.source_value),
            target_port=_port_at(inner.get(edge.target), "inputs", edge.target_value),
            values=_count_drawn(number, edges[number], merged, children),
        )
    direction = before.level.direction
    made = {
        number: _make_child(children[number], inner.get(number), measure, direction)
        for number in changed
    }
    return Plan(
        item,
        children,
        revisions,
        before.level.changed(made, wires),
        edges,
        single,
        before.texts.renewed(edges, children, wires, measure),
        before.ports,
        before.borders,
    )


def _replace_merged(
    single: list[LevelEdge], merged: Mapping[int, tuple[LevelEdge, int]]
) -> list[LevelEdge]:
    """Return edges as they are drawn; the very list where each is drawn alone."""
    if not merged:
        return single
    edges = single.copy()
    for number, (edge, _) in merged.items():
        edges[number] = edge
    return edges


def _count_drawn(
    number: int,
    edge: LevelEdge,
    merged: Mapping[int, tuple[LevelEdge, int]],
    children: list[Item],
) -> int:
    """Return how many values are written beside an edge: 1 for no number, 0 for no line."""
    if number in merged and not merged[number][1]:
        return 0
    return max(count_written(edge, children), 1)


def _find_idle(item: Item, inputs: list[Value]) -> frozenset[Value]:
    """Return what comes to the border and goes nowhere inside.

    An open list of outputs has no ports: edges end at it as at a closed box.
    """
    return frozenset(item.inputs if item.is_terminal else inputs)


def _make_child(item: Item, placed: Placed | None, measure: Measure, direction: Direction) -> Child:
    if placed is None:
        return Child(*measure.size(item), is_round=measure.is_round(item))
    inside = placed.inside
    left, top = inside.left, inside.top
    inputs, outputs = inside.inputs, inside.outputs
    before = left if direction == "TB" else top
    if before:
        inputs, outputs = (tuple(before + place for place in ports) for ports in (inputs, outputs))
    return Child(inside.width + left, inside.height + top, inputs, outputs, left=left, top=top)


def _port_at(
    placed: Placed | None, side: Literal["inputs", "outputs"], value: Value | None
) -> int | None:
    """Return the port of an open child that stands for a value."""
    if placed is None or value is None:
        return None
    ports: dict[Value, int] = getattr(placed.borders, side)
    return ports.get(value)


def _has_arrow(target: int, value: Value | None, inner: Mapping[int, Placed]) -> bool:
    """Return whether an edge ends in an arrow: what goes on inside an open box has none."""
    return target != BORDER and (target not in inner or value in inner[target].borders.idle)


def _find_main_stream(
    item: Item,
    links: Sequence[Link],
    ends: Sequence[tuple[int, int]],
    operands: Mapping[int, str],
) -> frozenset[int]:
    """Return which links inside an open item are of its main stream."""
    data = [number for number, link in enumerate(links) if link.kind == "data"]
    beside = {number for number in data if operands.get(number) in BESIDE}
    if beside:  # it comes beside a stream, where there is one
        fed = {links[number].target for number in {*data} - beside}
        data = [n for n in data if n not in beside or links[n].target not in fed]
    aside = {number for number, child in enumerate(item.children) if _stands_aside(child)}
    found = find_main_stream([ends[number] for number in data], len(item.children), aside)
    return frozenset(data[number] for number in found)


def _stands_aside(child: Item) -> bool:
    element = child.element
    is_preparation = isinstance(element, Group) and element.kind == "preparation"
    return is_preparation or child.kind in ("stub", "constant")


def _list_edges(
    item: Item,
    links: list[Link],
    inner: Mapping[int, Placed],
    stream: frozenset[int],
    exits: Mapping[int, str],
) -> list[LevelEdge]:
    """Return what flows along the links inside an open item, some of which leave inner blocks."""
    body = item.body
    assert body is not None  # noqa: S101 - open items have a body
    edges = []
    for number, link in enumerate(links):
        ends = [item.children[end] for end in (link.source, link.target) if end != BORDER]
        whole = next((end for end in ends if end.is_selected_whole), None)
        bundle: tuple[str, ...] = ()
        if whole is not None and link.count > MOST_SELECTED:
            path, count = whole.path, link.count
        else:
            path = path_of_value(link.value, body)
            bundle = tuple(dict.fromkeys(path_of_value(member, body) for member in link.bundle))
            count = 1 if _is_one(item, link) else max(len(bundle), 1)
        edges.append(
            LevelEdge(
                link.value,
                path,
                link.source,
                link.target,
                link.kind,
                _has_arrow(link.target, link.target_value, inner),
                link.source_value,
                link.target_value,
                bundle,
                count,
                number in stream,
                _name_carried(item, link) or exits.get(number, ""),
            )
        )
    return edges


def _is_one(item: Item, link: Link) -> bool:
    """Return whether what flows along a link is one thing to a reader."""
    ends = ((link.source, link.source_value), (link.target, link.target_value))
    return any(
        value in (item if end == BORDER else item.children[end]).of_one for end, value in ends
    )


def _name_carried(item: Item, link: Link) -> str:
    """Return what is written beside what only other repetitions give or take; of a loop nothing.

    There it stands on the back edge.
    """
    carried = item.carried
    at_border = (link.source == BORDER and link.value in carried.entering) or (
        link.target == BORDER and link.value in carried.leaving
    )
    return carried.names.get(link.value, "") if at_border and not carried.loop else ""


def _list_ports(item: Item, values: list[Value]) -> list[str]:
    """Return the paths of values that pass the border of an item."""
    return [path_of_value(value, item.instance) for value in values]


def path_of_value(value: Value, occurrence: Instance) -> str:
    """Return the path of a value that flows in one occurrence of a graph."""
    if value.graph is occurrence.graph:
        return f"{occurrence.prefix}/%{value.key}"
    return value.path
