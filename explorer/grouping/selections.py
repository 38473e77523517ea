"""The choice of the best among many places: what ranks them, and what picks them, as one box.

A detector with transformers takes the places of an image with the highest scores as its queries
(X. Zhu and others, Deformable DETR, 2021, section 4.2: two-stage). A program writes a search for
the largest, and a lookup for each of the tensors that go on; a paper says "top-k".
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import find_source, trace_on
from netloupe.explorer.model import Node, Value, find_nodes_where, is_constant
from netloupe.explorer.operators import LAYOUT_TRAITS, PASSING_TRAITS, Operator
from netloupe.explorer.patterns.readings import read_int, read_scalar

from .group import Group
from .role_groups import FreePath
from .small_blocks import wrap
from .spilled_arithmetic import Box, find_edges, list_searched
from .spilled_passages import make_passage_box, order_passage

_NAME = "Top-k selection"
#: in a group of more children nobody looks for one
_MOST_CHILDREN = 300
#: so many boxes only lead to the search for the largest at most
_MOST_BEFORE = 4
#: no model takes so many
_MOST_TAKEN = 1e9
#: what computes scores and is an idea of its own
_NOT_BEFORE = ("resamples", "selects", "samples")


def group_selections(root: Group, free_path: FreePath) -> None:
    """Make a block of each search for the largest whose places pick elements of other results.

    What only leads to the search belongs to it; what else is computed of the picked elements does
    not. No way leads out of such a block and back. Linear in the tree.

    Parameters
    ----------
    root
        A tree whose children are what is drawn; changed.
    free_path
        Gives an unused path for a child of a group.
    """
    if not find_nodes_where(root.graph, _searches).size:
        return
    for group in list_searched(root, 2, _MOST_CHILDREN):
        if any(map(_find_search, group.children)):
            _group(group, free_path)


def _group(group: Group, free_path: FreePath) -> None:
    boxes = [make_passage_box(child) for child in group.children]
    find_edges(boxes, group.graph)
    places = {node: place for place, box in enumerate(boxes) for node in box.nodes}
    taken: set[int] = set()
    for place, box in enumerate(boxes):
        search = _find_search(box.child)
        if search is None or not box.is_fit or place in taken:
            continue
        picking = _list_picking(search, places)
        found = {place, *_keep_convex(boxes, place, picking)}
        if len(found) < 2 or found & taken or not all(boxes[one].is_fit for one in found):
            continue
        found |= _list_between(boxes, found) | _list_leading(boxes, place)
        found -= taken
        taken |= found
        members = [boxes[one].child for one in sorted(found)]
        order_passage(group, boxes, found)
        block = wrap(group, members, _NAME, _NAME, _NAME, free_path)
        block.facts = _tell_count(search)


def _find_search(child: Group | Node) -> Node | None:
    """Return the node of a child that searches the largest, where it is all that computes there."""
    node = child.main if isinstance(child, Group) and child.kind == "operation" else child
    if not isinstance(node, Node) or not _searches(node.operator):
        return None
    return node if read_int(node, "largest") != 0 and not _takes_all(node) else None


def _searches(operator: Operator) -> bool:
    return operator.form == "TopK"


def _takes_all(search: Node) -> bool:
    """Return whether a search may give all there is: it then sorts, and chooses nothing."""
    count, scores = _read_count(search), search.input(0)
    if count is None:
        limit = find_source(search.input(1), *LAYOUT_TRAITS)
        return limit is None or limit.producer is None or limit.producer.operator.form != "Min"
    dims = find_value_facts(search.graph.model).find_dims(scores)
    axis = read_int(search, "axis")
    axis = -1 if axis is None else axis
    size = dims[axis] if dims and -len(dims) <= axis < len(dims) else None
    return not 1 <= count < _MOST_TAKEN or (isinstance(size, int) and count >= size)


def _read_count(search: Node) -> float | None:
    is_operand = len(search.inputs) > 1
    return read_scalar(search.input(1)) if is_operand else read_int(search, "k")


def _list_picking(search: Node, places: dict[Node, int]) -> list[int]:
    """Return the places of what picks computed elements by the places that were found."""
    index = search.output(1)
    found: list[int] = []
    for node, value in trace_on(index, *PASSING_TRAITS) if index is not None else ():
        if _picks(node, value) and node in places:
            found.append(places[node])
    return [*dict.fromkeys(found)]


def _picks(node: Node, index: Value) -> bool:
    data = node.input(0)
    return (
        node.operator.has("gathers")
        and len(node.inputs) > 1
        and node.input(1) is index
        and data is not None
        and not is_constant(data)
    )


def _keep_convex(boxes: Sequence[Box], search: int, picking: Sequence[int]) -> list[int]:
    """Return what picks, without what takes by way of others what the search or a pick gave."""
    kept: list[int] = []
    for place in picking:
        inside = {search, *kept, place}
        pending = [taker for one in inside for taker in boxes[one].takers if taker not in inside]
        seen = {*pending}
        while pending:
            fresh = boxes[pending.pop()].takers - seen
            seen |= fresh
            pending += fresh
        if not seen & inside:
            kept.append(place)
    return kept


def _list_between(boxes: Sequence[Box], found: set[int]) -> set[int]:
    """Return what takes from some boxes alone and gives to them alone, such as a Tile of places."""
    around = set[int]().union(*(boxes[place].takers for place in found)) - found
    return {
        place
        for place in around
        if boxes[place].is_fit
        and not boxes[place].leaves
        and boxes[place].givers <= found
        and boxes[place].takers <= found
    }


def _list_leading(boxes: Sequence[Box], search: int) -> set[int]:
    """Return what only leads to a search, as the largest of the scores of all classes does."""
    found = {search}
    pending = [*boxes[search].givers]
    while pending and len(found) <= _MOST_BEFORE:
        place = pending.pop()
        box = boxes[place]
        is_own = box.is_fit and not box.leaves and box.takers <= found
        if is_own and not any(node.operator.has(*_NOT_BEFORE) for node in box.nodes):
            found.add(place)
            pending += box.givers
    return found


def _tell_count(search: Node) -> tuple[str, ...]:
    """Return how many are taken; nothing where the file does not say."""
    count = _read_count(search)
    return (f"the best {int(count):,}",) if count is not None else ()
