"""Slices of rows and then of columns, by which an image is cut to size: one box.

A network that halves an image several times fills it up first, and cuts off at the end what it
was filled up with: for each axis exporters write a Slice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node, find_nodes_with
from netloupe.explorer.patterns.readings import read_scalar

from .group import Group
from .role_groups import FreePath
from .shape_groups import Homes
from .small_blocks import wrap

_NAME = "Crop"
_BOTH = "rows and columns"
#: behind examples and channels, or before channels that stand last
_LEAST_AXIS, _RANK = 1, 4
#: operands of a Slice, in order
_AXES, _STEPS = 3, 4


def group_crops(root: Group, labels: Mapping[int, str], free_path: FreePath) -> None:
    """Put two Slices, one behind the other along both axes of images, in a block.

    They are children of one group, none has a name of its own, and nothing else takes what the
    first one gives. Linear in the Slices and the children of the groups they are in.

    Parameters
    ----------
    root
        A tree without arithmetic on shapes; changed.
    labels
        The labels of nodes that stand for a group of one, by index.
    free_path
        Gives an unused path for a child of a group.
    """
    pairs = [pair for pair in _list_pairs(root) if not any(node.index in labels for node in pair)]
    homes = Homes(root) if pairs else None
    for first, second in pairs:
        home = homes.of_node.get(first.index) if homes is not None else None
        if home is None or home.kind in ("operation", "repeat") or len(home.children) <= 2:
            continue
        if homes is not None and homes.of_node.get(second.index) is home:
            block = wrap(home, [first, second], _NAME, _NAME, _NAME, free_path)
            block.facts = _tell_sizes(first, second)


def _list_pairs(root: Group) -> Iterator[tuple[Node, Node]]:
    """Yield Slices of which the second one takes what the first one gives, no Slice twice."""
    graph, taken = root.graph, set[Node]()
    for index in find_nodes_with(graph, "slices").tolist():
        first = graph.nodes[index]
        value = first.output(0)
        if value is None or value.is_output or len(value.users) != 1:
            continue
        second = value.users[0]
        if second.op_type != first.op_type or second.input(0) is not value:
            continue
        if first not in taken and second not in taken and _cuts_image(first, second):
            taken |= {first, second}
            yield first, second


def _cuts_image(first: Node, second: Node) -> bool:
    """Return whether two Slices take neighbouring places along two neighbouring axes of images."""
    dims = find_value_facts(first.graph.model).find_dims(first.input(0))
    if dims is None or len(dims) != _RANK:
        return False
    axes = []
    for node in (first, second):
        step = 1 if node.input(_STEPS) is None else read_scalar(node.input(_STEPS))
        axis = read_scalar(node.input(_AXES))
        if step != 1 or axis is None:
            return False
        axes.append(int(axis) % _RANK)
    low, high = sorted(axes)
    return low >= _LEAST_AXIS and high == low + 1


def _tell_sizes(first: Node, second: Node) -> tuple[str, ...]:
    """Return how large an image is then, as far as that is known."""
    facts = find_value_facts(first.graph.model)
    before, behind = facts.find_dims(first.input(0)), facts.find_dims(second.output(0))
    if before is None or behind is None or len(behind) != _RANK:
        return (_BOTH,)
    sides = [axis for axis in range(_RANK) if before[axis] != behind[axis]]
    sizes = [behind[axis] for axis in sides]
    if len(sizes) != 2 or not all(isinstance(size, int) for size in sizes):
        return (_BOTH,)
    return (f"to {sizes[0]} × {sizes[1]}",)
