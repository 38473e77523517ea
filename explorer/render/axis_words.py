"""What nodes do along axes, told by the sizes of these: ``over 8 × 8``, ``16 + 8 → 24``.

The number of an axis says something only to who has the shape at hand; the size is what a figure
has beside its arrows. Where it is not known nothing is said, and the axis is told.
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.costs.facts import Dim, Dims
from netloupe.explorer.costs.value_facts import ValueFacts, find_value_facts
from netloupe.explorer.layout.value_sizes import find_sizes, write_dim
from netloupe.explorer.model import Node, Value
from netloupe.explorer.patterns.picked_parts import place_axis, read_limits
from netloupe.explorer.patterns.readings import finds_smallest, read_int, read_ints

from .part_words import MOST_PARTS, write_sum

_TIMES = " × "
#: of so many operands of one node the sizes are looked at
_MOST_READ = 64
#: of a map at least batch, channels, height and width
_MAP = 4
#: before this version a Softmax joined its axis and all behind it (ONNX operators, Softmax)
_SOFTMAX_OF_ONE = 13
_OVER_ONE = ("LpNormalization",)
_PAIR = 2


def tell_axes(node: Node) -> tuple[str, ...]:
    """Return what a node does along axes whose sizes are known; nothing for others.

    * One that joins, of what: ``16 + 8 → 24``, ``4 × 16 → 64``, ``stack of 4``.
    * One that reduces, normalizes or accumulates, over what: ``over 36``, ``over all 8 × 8
      places``, ``over all values``.
    * One that takes the best, how many: ``4 largest of 36``.
    * One that permutes: ``33 × 42 → 42 × 33``.
    * One that repeats: ``×4``, ``to 20 × 16``.
    * One that takes from computed places, of how many: ``from 36``.
    """
    if not node.graph.dialect.has_opsets or node.domain != node.graph.dialect.domain:
        return ()
    told = _tell(node, find_value_facts(node.graph.model))
    return (told,) if told else ()


def _tell(node: Node, facts: ValueFacts) -> str:
    operator = node.operator
    if operator.has("joins"):
        return _tell_joined(node, facts)
    if operator.has("permutes"):
        return _tell_turned(node, facts)
    if operator.has("repeats"):
        return _tell_repeated(node, facts)
    if node.operator.form == "TopK":
        return _tell_best(node, facts)
    if operator.has("selects") or operator.form == "GatherElements":
        return _tell_along(node, facts, "from")
    if operator.form == "ScatterElements":
        return _tell_along(node, facts, "into")
    axes = _find_axes(node, facts)
    return "" if axes is None else _write_over(node, axes, facts)


def _find_axes(node: Node, facts: ValueFacts) -> tuple[int, ...] | None:
    """Return the axes that a node computes over, counted from the first; None where unknown."""
    dims, operator = facts.find_dims(node.input(0)), node.operator
    if not dims:
        return None
    found: Sequence[Dim] | None
    if operator.has("distributes"):
        found = _read_softmax(node, dims)
    elif operator.has("finds_largest"):
        found = (read_int(node, "axis") or 0,)
    elif operator.has("accumulates"):
        found = read_limits(node, "axes", facts)
    elif node.op_type in _OVER_ONE:
        axis = read_int(node, "axis")
        found = (-1 if axis is None else axis,)
    elif operator.has("reduces"):
        found = _read_reduced(node, dims, facts)
    else:
        return None
    if found is None:
        return None
    places = [place_axis(axis, dims) for axis in found]
    known = sorted({place for place in places if place is not None})
    return tuple(known) if known and None not in places else None


def _read_softmax(node: Node, dims: Dims) -> tuple[int, ...] | None:
    axis, version = read_int(node, "axis"), node.opset_version
    if version is None:
        return None
    if version >= _SOFTMAX_OF_ONE:
        return (-1 if axis is None else axis,)
    first = place_axis(1 if axis is None else axis, dims)
    return None if first is None else tuple(range(first, len(dims)))


def _read_reduced(node: Node, dims: Dims, facts: ValueFacts) -> Sequence[Dim] | None:
    """Return the axes that are reduced: all, where none are given and none does not mean none."""
    place = node.operator.operands.find("axes")
    is_given = place is not None and node.input(place) is not None
    found = read_limits(node, "axes", facts)
    if found or (is_given and found is None):
        return found
    return None if read_int(node, "noop_with_empty_axes") else tuple(range(len(dims)))


def _write_over(node: Node, axes: Sequence[int], facts: ValueFacts) -> str:
    value = node.input(0)
    dims = facts.find_dims(value)
    if value is None or dims is None:
        return ""
    is_all = len(axes) == len(dims)
    if is_all and sum(dim != 1 for dim in dims) > 1:
        return "over all values"
    shown = [axis for axis in axes if dims[axis] != 1] if is_all else [*axes]
    sizes = [write_dim(dims[axis]) for axis in shown or axes]
    if "?" in sizes:
        return ""
    text = _TIMES.join(sizes)
    return f"over all {text} places" if _are_places(value, axes, len(dims)) else f"over {text}"


def _are_places(value: Value, axes: Sequence[int], rank: int) -> bool:
    """Return whether axes are those of all places of a map, and no others."""
    if rank < _MAP:
        return False
    channels = find_sizes(value.graph.model).find_channel_axis(value)
    if channels not in (1, -1):
        return False
    return [*axes] == [axis for axis in range(1, rank) if axis != channels % rank]


def _tell_joined(node: Node, facts: ValueFacts) -> str:
    result = facts.find_dims(node.output(0) if node.outputs else None)
    operands = [value for value in node.inputs if value is not None]
    axis = read_int(node, "axis")
    if not result or not 1 < len(operands) <= _MOST_READ or axis is None:
        return ""
    place = place_axis(axis, result)
    if place is None:
        return ""
    if all(_is_put_along(value, place, facts) for value in operands):
        return f"stack of {len(operands):,}"
    known = [facts.find_dims(value) for value in operands]
    parts = [
        dims[place] if dims is not None and len(dims) == len(result) else None for dims in known
    ]
    sizes = [write_dim(part) for part in parts]
    if "?" in sizes:
        return ""
    whole = result[place]
    told = write_sum(sizes) or f"{len(sizes):,} parts"
    if isinstance(whole, int):
        return f"{told} → {whole:,}"
    return told if len(sizes) <= MOST_PARTS else ""


def _is_put_along(value: Value, place: int, facts: ValueFacts) -> bool:
    """Return whether a value has got an axis of one place for being joined along it."""
    node = value.producer
    if node is None or not node.operator.has("inserts_axes"):
        return False
    dims, axes = facts.find_dims(value), read_limits(node, "axes", facts)
    return axes is not None and [place_axis(axis, dims) for axis in axes] == [place]


def _tell_turned(node: Node, facts: ValueFacts) -> str:
    """Return ``33 × 42 → 42 × 33``, the batch left out; "" where sizes do not tell the axes."""
    dims = facts.find_dims(node.input(0))
    if dims is None:
        return ""
    order = read_ints(node, "perm") or tuple(reversed(range(len(dims))))
    if sorted(order) != [*range(len(dims))]:
        return ""
    first = 1 if order and order[0] == 0 else 0
    before = [write_dim(dim) for dim in dims[first:]]
    behind = [write_dim(dims[axis]) for axis in order[first:]]
    if len(before) < _PAIR or "?" in before or len({*before}) < len(before):
        return ""
    return f"{_TIMES.join(before)} → {_TIMES.join(behind)}"


def _tell_repeated(node: Node, facts: ValueFacts) -> str:
    before, after = facts.find_dims(node.input(0)), facts.find_dims(node.output(0))
    if before is None or not after:
        return ""
    if not node.operator.has("broadcasts"):
        times = _find_times(before, after)
        return f"×{_TIMES.join(f'{one:,}' for one in times)}" if times else ""
    shown = after[1:] if before[:1] == after[:1] and len(before) == len(after) > 1 else after
    sizes = [write_dim(dim) for dim in shown]
    return "" if "?" in sizes else f"to {_TIMES.join(sizes)}"


def _find_times(before: Dims, after: Dims) -> list[int]:
    """Return how often axes are repeated that are repeated; nothing where that is not known."""
    if len(before) != len(after):
        return []
    times: list[int] = []
    for one, other in zip(before, after, strict=True):
        if one is not None and one == other:
            continue
        if not isinstance(one, int) or not isinstance(other, int) or one < 1 or other % one:
            return []
        times.append(other // one)
    return times


def _tell_best(node: Node, facts: ValueFacts) -> str:
    dims = facts.find_dims(node.input(0))
    axis = read_int(node, "axis")
    place = place_axis(-1 if axis is None else axis, dims)
    counts = read_limits(node, "count", facts)
    count: Dim = read_int(node, "k") if counts is None else counts[0] if len(counts) == 1 else None
    if dims is None or place is None or count is None:
        return ""
    taken, whole = write_dim(count), write_dim(dims[place])
    best = "smallest" if finds_smallest(node) else "largest"
    if "?" in (taken, whole):
        return ""
    if taken == whole:
        return f"all {whole}, {best} first"
    return f"{best} of {whole}" if taken == "1" else f"{taken} {best} of {whole}"


def _tell_along(node: Node, facts: ValueFacts, word: str) -> str:
    """Return the size of the axis along which elements are picked or put."""
    dims, axis = facts.find_dims(node.input(0)), read_int(node, "axis")
    if axis is None and node.operator.has("selects"):
        return ""  # of all elements, one after the other
    place = place_axis(axis or 0, dims)
    size = "?" if dims is None or place is None else write_dim(dims[place])
    return "" if size == "?" else f"{word} {size}"
