"""Arithmetic without weights that a program spills between its layers: one box each.

Means and deviations, a choice of the largest, formulas: what only together is a number that a
paper writes with one sign. Only what has a word or a formula becomes a box.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from netloupe.explorer.dataflow import is_input_independent, is_of_shapes
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.patterns import (
    MOST_NODES,
    GraphContext,
    Recognition,
    find_graph_context,
    has_weights,
    is_written_formula,
    name_passage,
    takes_few_stored,
    try_to_recognise,
)
from netloupe.explorer.progress import step

from .alike import Key, KeyWriter
from .group import Group
from .like_blocks import LikeBlocks
from .member_nodes import list_member_nodes, list_nodes_inside
from .role_groups import FreePath
from .shape_groups import consumers_in
from .small_blocks import wrap

#: in a graph of more nodes nobody looks for what is spilled
_MOST_OF_GRAPH = 20_000
#: a group with more children is not looked at
_MOST_CHILDREN = 300
#: fewer boxes are seen at once, unless one short formula tells them; more are no one thing
_LEAST_BOXES, _LEAST_WRITTEN, _MOST_BOXES = 4, 2, 40
#: a box computes with so many values at most
_MOST_ENTRIES = 3
#: a child that is part of it has so many nodes at most
_MOST_OF_CHILD = 12
#: what is an idea of its own
_APART = (
    *("attends", "convolves", "control_flow", "loops", "multiplies", "normalizes", "pools"),
    *("random", "recurrent", "resamples", "samples", "sequence", "solves", "branches"),
)
#: families of what is one operation though several nodes compute it
_NORM = "normalization"
_WHOLE_FAMILIES = ("activation", "attention", _NORM)
#: between the parts of a row
_AND = " · "
#: what joins two ways of the main stream
_JOINING = ("adds", "joins")

_GET_INDEX = attrgetter("index")

Child = Group | Node


def group_arithmetic(root: Group, free_path: FreePath) -> None:
    """Make blocks of at least four children without weights that together give one value.

    Of two or three that compute with fewer values than they are, a block is made where a formula
    tells them: ``x / √(Σx²)``. Nothing outside takes what is computed on the way, and what stands
    in a group of an author stays there. Sums and joins of what comes from elsewhere, at the
    beginning or the end, stay outside, as do activations at the beginning. Linear in the tree;
    groups wired alike are looked at once.

    Parameters
    ----------
    root
        A tree whose children are what is drawn; changed.
    free_path
        Gives an unused path for a child of a group.
    """
    finder = _Finder(root.graph)
    for group in list_searched(root, _LEAST_WRITTEN, _MOST_CHILDREN):
        for region, name, facts in finder.find(group):
            block = wrap(group, region, name, name, name, free_path)
            block.facts = facts


def list_searched(root: Group, least: int, most: int) -> Iterator[Group]:
    """Yield groups of so many children in which what is spilled is looked for.

    What is wrapped in them meanwhile is not looked into, nor are blocks of a stack that are like
    one that has been left as it was; nothing in large graphs.
    """
    like = LikeBlocks()
    pending: list[tuple[Group, tuple[Group, ...]]] = []
    if len(root.graph.nodes) <= _MOST_OF_GRAPH:
        pending.append((root, ()))
    while pending:
        group, blocks = pending.pop()
        if group.kind in ("operation", "preparation", "postprocessing", "shape"):
            continue
        if group.kind == "repeat":
            pending += [(block, (*blocks, block)) for block in group.inner_groups()]
            continue
        pending += [(inner, blocks) for inner in group.inner_groups()]
        is_searched = least < len(group.children) <= most
        if is_searched and not any(map(like.is_like_one_left, blocks)):
            step()
            yield group


@dataclass(slots=True)
class Box:
    """A child of a group, and the places of those that take from it and give to it."""

    child: Child
    nodes: list[Node]
    is_fit: bool
    takers: set[int] = field(default_factory=set)
    givers: set[int] = field(default_factory=set)
    #: whether something that is no child takes from it
    leaves: bool = False


def find_edges(boxes: Sequence[Box], graph: Graph) -> None:
    """Note of the children of a group which of them take from which."""
    places = {node: place for place, box in enumerate(boxes) for node in box.nodes}
    for place, box in enumerate(boxes):
        for node in box.nodes:
            for user in consumers_in(node, graph):
                taker = places.get(user)
                if taker is None:
                    box.leaves = box.leaves or not user.operator.has("reads_shape")
                elif taker != place:
                    box.takers.add(taker)
                    boxes[taker].givers.add(place)
            if any(value is not None and value.is_output for value in node.outputs):
                box.leaves = True


def has_work(nodes: Sequence[Node], *passed: str) -> bool:
    """Return whether one of some nodes has weights, or is an idea of its own.

    What has one of some traits that are passed is no idea.
    """
    apart = [trait for trait in _APART if trait not in passed]
    return any(
        node.operator.has(*apart) or node.function is not None or has_weights(node)
        for node in nodes
    )


class _Finder:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._context: GraphContext = find_graph_context(graph)
        self._keys = KeyWriter()
        self._known: dict[Key, Recognition | None] = {}

    def find(self, group: Group) -> list[tuple[list[Child], str, tuple[str, ...]]]:
        """Return children that are one box each, with its name and facts; none twice."""
        boxes = self._list_boxes(group)
        count = sum(box.is_fit for box in boxes)
        if not _LEAST_WRITTEN <= count < len(boxes) or self._is_known(group):
            return []  # where all is arithmetic, it stands between no layers
        find_edges(boxes, self._graph)
        found: list[tuple[list[Child], str, tuple[str, ...]]] = []
        taken: set[int] = set()
        for is_named in (True, False) if count >= _LEAST_BOXES else ():
            for end in range(len(boxes) - 1, -1, -1):
                if end in taken or not boxes[end].is_fit:
                    continue
                region = _find_region(boxes, end, taken)
                if is_named:  # what it is computed of may be picked before
                    part = _trim(boxes, region, _arranges)
                    name, facts = _name_whole(boxes, part)
                else:
                    part, facts = _choose_part(boxes, region, end), ()
                    name = self._name(boxes, part) if 0 < len(part) < len(boxes) else ""
                if name:
                    found.append(([boxes[place].child for place in sorted(part)], name, facts))
                    taken |= part
        for end in range(len(boxes) - 1, -1, -1):
            part = self._choose_short(boxes, end, taken)
            name = self._name_short(boxes, part) if part else ""
            if name:
                found.append(([boxes[place].child for place in sorted(part)], name, ()))
                taken |= part
        return found

    def _choose_short(self, boxes: Sequence[Box], end: int, taken: set[int]) -> set[int]:
        """Return two or three children that end with one and may be one formula; else nothing."""
        if end in taken or not boxes[end].is_fit:
            return set()
        region = _trim(boxes, _find_region(boxes, end, taken), _arranges)
        part = _trim(boxes, region, _joins_or_bends)
        nodes = [node for place in part for node in boxes[place].nodes]
        if not _LEAST_WRITTEN <= len(part) < _LEAST_BOXES or end not in part:
            return set()
        if boxes[end].nodes[0].operator.has("adds") and not boxes[end].givers <= part:
            return set()  # a residual goes around
        if any(map(takes_few_stored, nodes)):
            return set()  # they may be learned
        if _leads_to_shares(boxes, end):
            return set()  # of scores a scale and a mask are parts of an attention
        return part if 0 < _count_values(nodes) < len(part) else set()

    def _name_short(self, boxes: Sequence[Box], part: set[int]) -> str:
        """Return what a few children are: a formula that is written, or a norm; "" for others."""
        known = self._recognise([node for place in part for node in boxes[place].nodes])
        if known is None or _AND in known.name:
            return ""
        return known.name if is_written_formula(known) or known.family == _NORM else ""

    def _list_boxes(self, group: Group) -> list[Box]:
        boxes: list[Box] = []
        for child in group.children:
            nodes = list_nodes_inside([child])
            boxes.append(Box(child, nodes, _is_fit(child, nodes)))
        return boxes

    def _is_known(self, group: Group) -> bool:
        """Return whether a group is one operation as a whole, as a norm is, or one idea."""
        nodes = list_member_nodes(group, MOST_NODES)
        known = self._recognise(nodes) if nodes else None
        if known is None:
            return False
        is_idea = group.kind == "block" and group.type_name == known.name
        return is_idea or known.family in _WHOLE_FAMILIES

    def _name(self, boxes: Sequence[Box], part: set[int]) -> str:
        """Return what children are together; "" where they are nothing or a row."""
        known = self._recognise([node for place in part for node in boxes[place].nodes])
        return known.name if known is not None and _AND not in known.name else ""

    def _recognise(self, nodes: Sequence[Node]) -> Recognition | None:
        members = sorted(nodes, key=_GET_INDEX)
        key = self._keys.write(members)
        if key not in self._known:
            self._known[key] = try_to_recognise(members, self._context)
        return self._known[key]


def _name_whole(boxes: Sequence[Box], part: set[int]) -> tuple[str, tuple[str, ...]]:
    """Return what children are together, be it the same for all inputs, and facts of it."""
    if not _LEAST_BOXES <= len(part) <= _MOST_BOXES:
        return "", ()
    nodes = [node for place in part for node in boxes[place].nodes]
    return name_passage(sorted(nodes, key=_GET_INDEX))


def _is_fit(child: Child, nodes: Sequence[Node]) -> bool:
    """Return whether a child may be part of a box: no weights, and no idea of its own."""
    if isinstance(child, Group) and child.kind not in ("operation", "shape"):
        # what an exporter wrote one call out as, such as x.var, is no module
        is_preparation = child.kind == "preparation" and child.label.startswith("preparation")
        is_plain = child.names_operator or is_preparation
        if not is_plain:
            return False
    if not 0 < len(nodes) <= _MOST_OF_CHILD:
        return False
    return not has_work(nodes)


def _find_region(boxes: Sequence[Box], end: int, taken: set[int]) -> set[int]:
    """Return what leads to one box alone, with it."""
    region = {end}
    pending = [*boxes[end].givers]
    while pending and len(region) <= _MOST_BOXES:
        place = pending.pop()
        box = boxes[place]
        if place in region or place in taken or not box.is_fit or box.leaves:
            continue
        if box.takers <= region:
            region.add(place)
            pending += box.givers
    return region


def _choose_part(boxes: Sequence[Box], region: set[int], end: int) -> set[int]:
    """Return a region without joins and activations at its beginning; nothing where it is none.

    A sum with what comes from elsewhere is no end of it: a residual goes around.
    """
    node = boxes[end].nodes[0]
    if node.operator.has("adds") and not boxes[end].givers <= region:
        return set()
    left = _trim(boxes, region, _joins_or_bends)
    is_fit = _LEAST_BOXES <= len(left) <= _MOST_BOXES
    return left if is_fit and _count_entries(boxes, left) <= _MOST_ENTRIES else set()


def _trim(boxes: Sequence[Box], region: set[int], stays_outside: Callable[[Box], bool]) -> set[int]:
    """Return a region without those at its beginning that stay outside."""
    left = {*region}
    while True:
        outer = {
            place
            for place in left
            if not boxes[place].givers & left and stays_outside(boxes[place])
        }
        if not outer:
            return left
        left -= outer


def _arranges(box: Box) -> bool:
    """Return whether a child only picks and arranges."""
    return all(node.operator.family == "shape" for node in box.nodes)


def _joins_or_bends(box: Box) -> bool:
    """Return whether a child is a node that only joins or bends what comes from elsewhere."""
    operator = box.nodes[0].operator
    is_end = operator.has("activates") or (operator.has(*_JOINING) and len(box.givers) > 1)
    return is_end and len(box.nodes) == 1


def _count_entries(boxes: Sequence[Box], region: set[int]) -> int:
    return len({giver for place in region for giver in boxes[place].givers} - region)


def _leads_to_shares(boxes: Sequence[Box], end: int) -> bool:
    """Return whether all that takes what a box gives makes shares of it that add up to 1."""
    takers = [boxes[place].nodes for place in boxes[end].takers]
    return len(takers) > 0 and all(
        any(node.operator.has("distributes") for node in nodes) for nodes in takers
    )


def _count_values(nodes: Sequence[Node]) -> int:
    """Return with how many computed values some nodes begin."""
    inside = {*nodes}
    return len(
        {
            value
            for node in nodes
            for value in node.inputs
            if value is not None and value.producer not in inside and not is_of_shapes(value)
            if not is_input_independent(value)
        }
    )
