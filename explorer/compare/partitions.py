"""Values that are divided into parts: by one node, or by a node for each part.

An exporter writes ``x[0], x[1], x[2]`` as a Gather each, and ``x[:4], x[4:]`` as a Slice each.
ONNX Runtime makes one Split of them, with a Squeeze behind each part that a Gather gave without
the axis (onnxruntime/core/optimizer/gather_fusion.cc: GatherSliceToSplitFusion).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Graph, Node, TensorType, Value, find_nodes_with
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.progress import is_ending

from .axes import count_axes

#: a value is divided into so many parts at most
_MOST_PARTS = 256
#: what begins there ends where the value does
_TO_THE_END = 2**31 - 1


class Partition(NamedTuple):
    """How a value is divided along an axis into parts that are all of it.

    Parameters
    ----------
    axis
        The axis; counted from the end where it is negative, since the rank is not known.
    starts
        Where the parts begin, the first at 0.
    total
        The size of the axis; None where that is not known.
    is_squeezed
        Whether the parts, each of size 1, are without the axis.
    nodes
        What gives them: a Split, with a Squeeze for each part behind it or without, or a Gather or
        a Slice for each part, in the order of the parts.
    parts
        The values that they give; None for one that nobody takes.
    """

    axis: int
    starts: tuple[int, ...]
    total: int | None
    is_squeezed: bool
    nodes: tuple[Node, ...]
    parts: tuple[Value | None, ...]

    @property
    def kind(self) -> str:
        """What is the same for partitions that give the same parts of the same value."""
        squeezed = " without it" if self.is_squeezed else ""
        return f"parts along axis {self.axis} from {', '.join(map(str, self.starts))}{squeezed}"

    @property
    def is_split(self) -> bool:
        """Whether one node gives all parts."""
        return self.nodes[0].operator.has("splits")


class _Part(NamedTuple):
    """What a node gives of its operand: from one place along an axis up to another.

    ``stop`` is None for the end of the axis.
    """

    axis: int
    start: int
    stop: int | None
    is_squeezed: bool


def list_partitions(graph: Graph) -> Iterator[Partition]:
    """Yield how values of a graph are divided; no node is in two of these."""
    cutting = find_nodes_with(graph, "looks_up", "slices").tolist()
    yield from _join_pieces(graph.nodes[index] for index in cutting)
    for index in find_nodes_with(graph, "splits").tolist():
        partition = _read_split(graph.nodes[index])
        if partition is not None:
            yield partition


def _join_pieces(nodes: Iterable[Node]) -> Iterator[Partition]:
    """Yield what some Gathers and Slices are together."""
    pieces: dict[tuple[Value, int, bool], list[tuple[_Part, Node]]] = defaultdict(list)
    for node in nodes:
        part = _read_part(node)
        data = node.input(0)
        if part is not None and data is not None:
            pieces[data, part.axis, part.is_squeezed].append((part, node))
    for (value, axis, is_squeezed), found in pieces.items():
        if not 1 < len(found) <= _MOST_PARTS:
            continue
        found.sort(key=lambda each: each[0].start)
        starts = tuple(part.start for part, _ in found)
        *ends, last = (part.stop for part, _ in found)
        total = _find_size(value, axis)
        is_whole = total is None or last is None or total == last
        if starts[0] or tuple(ends) != starts[1:] or not is_whole:
            continue
        parts = tuple(node.output(0) for _, node in found)
        yield Partition(axis, starts, last or total, is_squeezed, tuple(n for _, n in found), parts)


def find_rewritten_partitions(left: Graph, right: Graph) -> frozenset[str]:
    """Return the kinds of partitions that one of two graphs has as a Split, the other without."""
    if len({len(find_nodes_with(graph, "splits")) for graph in (left, right)}) == 1:
        return frozenset()
    forms = [
        {(one.is_split, one.kind) for one in list_partitions(graph)} for graph in (left, right)
    ]
    return frozenset(
        kind
        for one, other in (forms, forms[::-1])
        for is_split, kind in one
        if is_split and (False, kind) in other
    )


def pair_parts(left: Sequence[Node], right: Sequence[Node]) -> Iterator[tuple[Value, Value]]:
    """Yield the parts that nodes of two models give, where both divide a value alike."""
    one, other = find_partition(left), find_partition(right)
    if one is not None and other is not None and one.kind == other.kind:
        for first, second in zip(one.parts, other.parts, strict=True):
            if first is not None and second is not None:
                yield first, second


def find_partition(nodes: Sequence[Node]) -> Partition | None:
    """Return how some nodes together divide a value; None where they do not."""
    splits = [node for node in nodes if node.operator.has("splits")]
    found = [*map(_read_split, splits[:1])] or [*_join_pieces(nodes)]
    return next((one for one in found if one is not None and {*one.nodes} == {*nodes}), None)


def is_same_partition(one: Partition, other: Partition) -> bool:
    """Return whether two partitions give the same parts, as far as sizes are known."""
    return one.kind == other.kind and len({one.total, other.total} - {None}) < 2


def tell_partition(partition: Partition) -> str:
    """Return which parts a partition gives: ``0:4, 4: of axis 1``."""
    ends = (*partition.starts[1:], partition.total)
    bounds = ", ".join(
        f"{start}:{'' if end is None else end}"
        for start, end in zip(partition.starts, ends, strict=True)
    )
    squeezed = ", without that axis" if partition.is_squeezed else ""
    return f"{bounds} of axis {partition.axis}{squeezed}"


def _read_part(node: Node) -> _Part | None:
    """Return which part of its operand a Gather or a Slice gives; None where that is not stored."""
    if node.domain != node.graph.dialect.domain or len(node.outputs) != 1:
        return None
    data = node.input(0)
    if data is None:
        return None
    if node.operator.form == "Gather":
        return _read_gather(node, data)
    return _read_slice(node, data) if node.operator.has("slices") else None


def _read_gather(node: Node, data: Value) -> _Part | None:
    indices = node.input(1) if len(node.inputs) == 2 else None
    tensor = find_stored_tensor(indices) if indices is not None else None
    if tensor is None or tensor.dims not in ((), (1,)):
        return None
    axis, found = _count_axis(read_stated(node, "axis", 0), data), read_stored_integers(indices)
    if axis is None or found is None:
        return None
    start = _count(found[0], data, axis)
    return None if start is None else _Part(axis, start, start + 1, tensor.dims == ())


def _read_slice(node: Node, data: Value) -> _Part | None:
    if len(node.inputs) > 1:
        given = [read_stored_integers(value) for value in node.inputs[1:]]
        is_known = all(
            numbers is not None or value is None
            for numbers, value in zip(given, node.inputs[1:], strict=True)
        )
    else:
        given = [read_stated_list(node, name) for name in ("starts", "ends", "axes")]
        is_known = True
    starts, ends, axes, steps = (*given, None, None, None, None)[:4]
    if not is_known or starts is None or ends is None or not len(starts) == len(ends) == 1:
        return None
    if (axes is not None and len(axes) != 1) or steps not in (None, (1,)):
        return None
    axis = _count_axis(0 if axes is None else axes[0], data)
    if axis is None:
        return None
    size = _find_size(data, axis)
    start = _count(starts[0], data, axis)
    stop = None if ends[0] >= min(size or _TO_THE_END, _TO_THE_END) else ends[0]
    if stop is not None:
        stop = _count(stop, data, axis)
        if stop is None:
            return None
    if stop is None:
        stop = size
    is_part = start is not None and (stop is None or start < stop)
    return _Part(axis, start, stop, False) if is_part and start is not None else None


def _read_split(node: Node) -> Partition | None:
    data = node.input(0)
    count = len(node.outputs)
    if node.domain != node.graph.dialect.domain or data is None or not 1 < count <= _MOST_PARTS:
        return None
    axis = _count_axis(read_stated(node, "axis", 0), data)
    if axis is None:
        return None
    total = _find_size(data, axis)
    sizes = read_stated_list(node, "split")
    if node.input(1) is not None:
        sizes = read_stored_integers(node.input(1))
        if sizes is None:
            return None
    if sizes is None:
        step = -(-total // count) if total else 0
        sizes = tuple(min(step, (total or 0) - step * place) for place in range(count))
    if len(sizes) != count or min(sizes) < 1 or total not in (None, sum(sizes)):
        return None
    starts = (0, *accumulate(sizes[:-1]))
    squeezes = [_find_squeeze(value, axis) for value in node.outputs if value and value.is_used]
    if {*sizes} == {1} and squeezes and None not in squeezes:
        known = {each.input(0): each for each in squeezes if each is not None}
        parts = tuple(known[value].output(0) if value in known else None for value in node.outputs)
        return Partition(axis, starts, count, True, (node, *known.values()), parts)
    return Partition(axis, starts, sum(sizes), False, (node,), tuple(node.outputs))


def _find_squeeze(value: Value, axis: int) -> Node | None:
    """Return the Squeeze that alone takes a part and leaves out its axis."""
    if value.is_output or len(value.users) != 1:
        return None
    (user,) = value.users
    is_squeeze = user.operator.form == "Squeeze" and user.domain == user.graph.dialect.domain
    if not is_squeeze or user.graph is not value.graph or len(user.outputs) != 1:
        return None
    axes = read_stated_list(user, "axes")
    if len(user.inputs) > 1:
        axes = read_stored_integers(user.input(1))
    if axes is None or len(axes) != 1:
        return None
    return user if _count_axis(axes[0], value) == axis else None


def _count_axis(axis: object, value: Value) -> int | None:
    """Return an axis counted from the first one where the rank is known, or follows."""
    if not isinstance(axis, int):
        return None
    rank = count_axes(value) if axis < 0 else None
    if rank is None:
        return axis
    return axis + rank if axis >= -rank else None


def _find_size(value: Value, axis: int) -> int | None:
    """Return the size of an axis as the file states it; None where it does not."""
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    if shape is None or not -len(shape) <= axis < len(shape):
        return None
    size = shape[axis].value
    return size if isinstance(size, int) and size > 0 else None


def _count(place: int, value: Value, axis: int) -> int | None:
    """Return a place along an axis counted from its begin; None where its size is not known."""
    if place >= 0:
        return place
    size = _find_size(value, axis)
    return None if size is None or place < -size else place + size


# what nodes state


def read_stated(node: Node, name: str, default: object) -> object:
    """Return what an attribute states; the default where the node has none."""
    attribute = node.attributes.get(name)
    return default if attribute is None else attribute.value


def read_stated_list(node: Node, name: str) -> tuple[int, ...] | None:
    """Return an attribute that is a list of integers; None for any other, and where it is not."""
    value = read_stated(node, name, None)
    is_list = isinstance(value, tuple) and all(isinstance(entry, int) for entry in value)
    return value if is_list else None  # type: ignore[return-value]


def read_stored_integers(value: Value | None) -> tuple[int, ...] | None:
    """Return a few stored integers; None where they are not stored, or not so few."""
    tensor = find_stored_tensor(value) if value is not None else None
    if tensor is None or not tensor.dtype.is_integer or not 0 < tensor.size <= _MOST_PARTS:
        return None
    try:
        return tuple(tensor.numpy().reshape(-1).tolist())
    except NetloupeError as error:
        if is_ending(error):
            raise
        return None
