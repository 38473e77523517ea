"""Stubs, edges and stacks of first views that tell a stream otherwise than it flows.

As in :mod:`first_view_measures` each measure returns a line for everything that offends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import onnx

from netloupe.explorer.grouping import Group
from netloupe.explorer.layout import SceneBox
from netloupe.explorer.model import Node, Value
from netloupe.explorer.render.picture import Picture
from netloupe.explorer.view import Item, nodes_inside

#: in pixels; so much further up a box may begin than the one before it
SLACK = 4.0
#: edges that are drawn as those of loops may lead up
LOOPS = ("loop", "back")

#: shapes of values by name: numbers and names of symbols
Shapes = Mapping[str, tuple[object, ...]]


def find_carrying_stubs(picture: Picture) -> list[str]:
    """Return the stubs of values that lead on to the outputs, or from repetition to repetition.

    A stub carries the main stream where the box beside it takes nothing else and lies on a longest
    path of its level. It carries a recurrence where its value comes from another repetition of an
    open repeat around it.
    """
    found = []
    for _, children, edges in list_levels(picture):
        drawn, hidden = _list_ends(children, edges)
        longest = _find_longest([*drawn, *hidden.values()])
        stubs = {number for number, item in enumerate(children) if item.kind == "stub"}
        for number in sorted(stubs):
            stub, reason = children[number], ""
            if is_carried(stub):
                reason = "carried from repetition to repetition"
            elif number in hidden:
                target = hidden[number][1]
                is_fed = any(end == target and start not in stubs for start, end in drawn)
                if not is_fed and hidden[number] in longest:
                    reason = "all that its box takes, on the main stream"
            if reason:
                found.append(f"{stub.label or stub.path}: {reason}")
    return found


def _list_ends(
    children: Sequence[Item], edges: Sequence[tuple[Item, Item]]
) -> tuple[list[tuple[int, int]], dict[int, tuple[int, int]]]:
    """Return the edges between boxes of a level, and for each stub the edge that it replaces.

    Ends are the numbers of children.
    """
    numbers = {id(item): number for number, item in enumerate(children)}
    drawn = [(numbers[id(source)], numbers[id(target)]) for source, target in edges]
    makers = {
        value: number
        for number, item in enumerate(children)
        if item.kind != "stub"
        for value in item.values_at(item.outputs)
    }
    hidden = {}
    for source, target in drawn:
        stub = children[source]
        if stub.kind == "stub":
            maker = next((makers[v] for v in _list_values(stub) if v in makers), source)
            hidden[source] = maker, target
    return drawn, hidden


def _list_values(stub: Item) -> list[Value]:
    values = [*stub.outputs, *stub.values_at(stub.outputs)]
    return [*values, stub.element] if isinstance(stub.element, Value) else values


def _find_longest(edges: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the edges that lie on a longest path; none where there are cycles."""
    below: dict[int, set[int]] = {}
    above: dict[int, set[int]] = {}
    for source, target in edges:
        below.setdefault(source, set()).add(target)
        above.setdefault(target, set()).add(source)
    order = _sort(below, above)
    if len(order) < len({*below, *above}):
        return set()
    before, behind = dict.fromkeys(order, 0), dict.fromkeys(order, 0)
    for end in order:
        before[end] = max((before[other] + 1 for other in above.get(end, ())), default=0)
    for end in reversed(order):
        behind[end] = max(
            (behind[other] + 1 for other in below.get(end, ()) if other in behind), default=0
        )
    most = max(before.values(), default=0)
    return {
        (source, target)
        for source, target in edges
        if source in before and target in before and before[source] + 1 + behind[target] == most
    }


def _sort(below: Mapping[int, set[int]], above: Mapping[int, set[int]]) -> list[int]:
    """Return the ends in an order in which edges lead on; those behind a cycle are left out."""
    waiting = {end: len(above.get(end, ())) for end in (*below, *above)}
    ready = sorted(end for end, count in waiting.items() if not count)
    order = []
    while ready:
        end = ready.pop()
        order.append(end)
        for other in sorted(below.get(end, ())):
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    return order


def is_carried(stub: Item) -> bool:
    """Return whether a value beside a box comes from another repetition of an open repeat.

    What several others take from one repetition is shared, and not carried on.
    """
    values = _list_values(stub)
    item = stub.parent
    while item is not None:
        repeat, shown = item.repeat, item.repetition
        if repeat is not None and shown is not None:
            members = [_list_nodes(member) for member in repeat.children]
            holders = {node: n for n, nodes in enumerate(members) for node in nodes}
            for value in values:
                maker = holders.get(value.producer) if value.producer is not None else None
                if maker is not None:
                    users = {holders.get(user) for user in value.users} - {None, maker}
                    if maker != item.shown and len(users) == 1:
                        return True
                elif item.shown + 1 < len(members) and _is_carried_next(
                    value, *members[item.shown : item.shown + 2]
                ):
                    return True
        item = item.parent
    return False


def _is_carried_next(value: Value, here: Sequence[Node], behind: Sequence[Node]) -> bool:
    """Return whether what a repetition takes from outside, the next one takes from it."""
    if len(here) != len(behind):
        return False
    made = {output for node in here for output in node.outputs}
    for node, other in zip(here, behind, strict=True):
        for given, later in zip(node.inputs, other.inputs, strict=False):
            if given is value and later is not None and later in made:
                return True
    return False


def _list_nodes(member: Group | Node) -> list[Node]:
    return [member] if isinstance(member, Node) else list(nodes_inside(member))


def _comes_from_below(end: Sequence[float], box: SceneBox) -> bool:
    """Return whether an edge ends at the lower side of a box, or at its left or right one."""
    x, y = end
    away = min(abs(x - box.x), abs(x - box.x - box.width))
    is_beside = away < SLACK and box.y < y < box.y + box.height
    return is_beside or abs(y - box.y - box.height) < SLACK


def find_back_edges(picture: Picture) -> list[str]:
    """Return the edges that lead up, or round in a circle, and are not drawn as those of loops.

    From one column of a picture to the next one edges may lead up, and in the arm of a U at whose
    foot values turn: there they come to a box from below, or from its side.
    """
    scene = picture.scene
    is_down = scene.direction == "TB"
    found = []
    for edge in scene.edges:
        if edge.kind in LOOPS or min(edge.source, edge.target) < 0:
            continue
        source, target = scene.boxes[edge.source], scene.boxes[edge.target]
        if source.parent != target.parent:
            continue
        first, last = (source.y, target.y) if is_down else (source.x, target.x)
        ends = (source.x + source.width, target.x)
        if not is_down:
            ends = (source.y + source.height, target.y)
        turns = is_down and _comes_from_below(edge.points[-2:], target)
        if not turns and last < first - SLACK and ends[1] < ends[0]:
            found.append(f"{edge.path} leads up from {source.item.path} to {target.item.path}")
    for _, children, edges in list_levels(picture):
        drawn, _ = _list_ends(children, edges)
        below: dict[int, set[int]] = {}
        above: dict[int, set[int]] = {}
        for start, end in drawn:
            below.setdefault(start, set()).add(end)
            above.setdefault(end, set()).add(start)
        if len(_sort(below, above)) < len({*below, *above}):
            paths = [children[n].path for n in sorted({*below, *above} - {*_sort(below, above)})]
            found.append(f"a circle among or behind {', '.join(paths[:4])}")
    return found


def list_levels(
    picture: Picture,
) -> Iterator[tuple[Item | None, list[Item], list[tuple[Item, Item]]]]:
    """Yield open items (None for the picture), what is drawn in each, and the edges there.

    Edges are those from one box to another; those of loops are left out.
    """
    boxes = picture.scene.boxes
    parents: dict[int, Item | None] = {}
    children: dict[int, dict[int, Item]] = {}
    for box in boxes:
        parent = boxes[box.parent].item if box.parent >= 0 else None
        parents[id(parent)] = parent
        children.setdefault(id(parent), {})[id(box.item)] = box.item
    edges: dict[int, list[tuple[Item, Item]]] = {}
    for edge in picture.scene.edges:
        if edge.kind in LOOPS or min(edge.source, edge.target) < 0:
            continue
        source, target = boxes[edge.source], boxes[edge.target]
        above = [boxes[box.parent].item if box.parent >= 0 else None for box in (source, target)]
        if above[0] is above[1]:
            edges.setdefault(id(above[0]), []).append((source.item, target.item))
    for key, parent in parents.items():
        yield parent, list(children[key].values()), edges.get(key, [])


def find_mixed_folds(picture: Picture, shapes: Shapes) -> list[str]:
    """Return the stacks of the picture whose repetitions give streams of several shapes.

    What a repetition gives to the next one, and the last one to what follows, has one shape;
    channels may grow by the same number each time, as dense layers have it. Sizes may differ as
    well where the stack says from what to what they change.

    Parameters
    ----------
    picture
        A first view.
    shapes
        Of the values of the main graph by name, as far as they are known.
    """
    texts: dict[Group, list[str]] = {}
    for box in picture.scene.boxes:
        if box.item.repeat is not None:
            said = texts.setdefault(box.item.repeat, [])
            said += [run.text for run in picture.labels.draw(box.item).texts]
    found = []
    for repeat, lines in texts.items():
        streams = list_streams(repeat, shapes)
        text = " ".join(lines)
        if (
            not is_one_stream(streams)
            and not says_change(text, streams)
            and not says_places(text, repeat, shapes)
        ):
            told = " → ".join("×".join(str(dim or "?") for dim in shape) for shape in streams)
            found.append(f"{repeat.path}: {told}")
    return sorted(found)


def says_change(text: str, streams: Sequence[tuple[object, ...]]) -> bool:
    """Return whether a text has the first and last size of what changes along streams.

    Where several sizes change together, one tells of all; where channels stay the same, it is
    enough that each repetition is said to halve the resolution.
    """
    if len({len(shape) for shape in streams}) > 1:
        return False
    said = set(re.findall(r"\d+", text.replace(",", "")))
    axes = [n for n, dims in enumerate(zip(*streams, strict=True)) if len({*dims} - {None}) > 1]
    if 1 not in axes and re.search(r"/\d", text):
        return True
    return any({str(streams[0][axis]), str(streams[-1][axis])} <= said for axis in axes)


def says_places(text: str, repeat: Group, shapes: Shapes) -> bool:
    """Return whether of blocks beside each other a text has the first and last size of the maps."""
    members = [_list_nodes(member) for member in repeat.children]
    inside = [{*nodes} for nodes in members]
    ends = []
    for nodes in (inside[0], inside[-1]):
        others = set().union(*inside) - nodes
        values = [value for node in nodes for value in node.inputs if value is not None]
        if any(value.producer in others for value in values):
            return False
        taken = [shapes.get(value.name, ()) for value in values if value.producer not in nodes]
        ends.append({dims[2:] for dims in taken if len(dims) == 4})
    return all(
        len(sizes) == 1 and " × ".join(map(str, next(iter(sizes)))) in text for sizes in ends
    )


def list_streams(repeat: Group, shapes: Shapes) -> list[tuple[object, ...]]:
    """Return the shapes of what repetitions give on, in their order; empty where unknown.

    It is the last value that the next repetition takes, in the last one its counterpart. A first or
    last repetition of other nodes, such as one with which a sum begins, or a step whose state
    nobody takes, is like the others where it has a value of their shape.
    """
    members = [_list_nodes(member) for member in repeat.children]
    streams: list[tuple[object, ...]] = []
    place: tuple[int, int] | None = None
    for number, nodes in enumerate(members):
        is_last = number + 1 == len(members)
        leaving, next_ones = _find_places(nodes, [] if is_last else members[number + 1])
        former = place
        place = next_ones or leaving
        if is_last and former is not None and next_ones is None:
            if len(nodes) == len(members[number - 1]):
                place = former
            elif streams[-1] in [shape for node in nodes for shape in _list_shapes(node, shapes)]:
                place = None
                streams.append(streams[-1])
        if place is not None:
            streams.append(_shape_at(nodes, place, shapes))
    if len(streams) > 2 and len(members[0]) < len(members[1]):
        given = [shape for node in members[0] for shape in _list_shapes(node, shapes)]
        streams[0] = streams[1] if streams[1] in given else streams[0]
    if len(streams) > 2 and len({*map(len, streams[:-1])}) == 1 != len({*map(len, streams)}):
        streams.pop()  # what leaves the last one is of another kind: the result of a head
    return streams if all(streams) else []


def _find_places(
    nodes: Sequence[Node], behind: Sequence[Node]
) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
    """Return which outputs leave a repetition last, to anywhere and to the next repetition."""
    own, others = {*nodes}, {*behind}
    leaving = next_ones = None
    for index, node in enumerate(nodes):
        for slot, value in enumerate(node.outputs):
            users = {*value.users} - own if value is not None else set()
            if users & others:
                next_ones = index, slot
            if users or (value is not None and value.is_output):
                leaving = index, slot
    return leaving, next_ones


def _shape_at(nodes: Sequence[Node], place: tuple[int, int], shapes: Shapes) -> tuple[object, ...]:
    """Return the shape of an output of one of some nodes; () where these have no such output."""
    index, slot = place
    found = _list_shapes(nodes[index], shapes) if index < len(nodes) else []
    return found[slot] if slot < len(found) else ()


def _list_shapes(node: Node, shapes: Shapes) -> list[tuple[object, ...]]:
    """Return the shapes of a node's outputs, empty where unknown; made-up sizes are None."""
    found = [shapes.get(value.name, ()) if value is not None else () for value in node.outputs]
    return [tuple(None if is_unknown(dim) else dim for dim in shape) for shape in found]


def is_unknown(dim: object) -> bool:
    """Return whether a size is a symbol that ``onnx`` made up."""
    return isinstance(dim, str) and dim.startswith("unk__")


def is_one_stream(streams: Sequence[tuple[object, ...]]) -> bool:
    """Return whether shapes are the same, or one of their sizes grows by equal steps."""
    if len(streams) < 2:
        return True
    if len({len(shape) for shape in streams}) > 1:
        return False
    changing = [dims for dims in zip(*streams, strict=True) if len({*dims} - {None}) > 1]
    if not changing:
        return True
    if len(changing) > 1 or len(streams) < 3:
        return False
    sizes = [dim for dim in changing[0] if isinstance(dim, int)]
    steps = {later - former for former, later in pairwise(sizes)}
    return len(sizes) == len(streams) and len(steps) == 1


def infer_shapes(path: Path) -> dict[str, tuple[object, ...]]:
    """Return the shapes of the values of a file's main graph, as ``onnx`` infers them.

    Sizes are numbers or the names of symbols; values with an unknown size are left out.
    """
    try:
        graph = onnx.shape_inference.infer_shapes(onnx.load(path), data_prop=True).graph
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError):
        return {}
    shapes = {}
    for value in (*graph.input, *graph.value_info, *graph.output):
        if value.type.tensor_type.HasField("shape"):
            dims = [d.dim_value or d.dim_param for d in value.type.tensor_type.shape.dim]
            if all(dims):
                shapes[value.name] = tuple(dims)
    return shapes
