"""What nodes say whose sizes a program computes: which part one takes, how many, how large.

Exporters compute limits and sizes from shapes, or write them into constants; the rules of
:mod:`netloupe.explorer.costs` follow both to numbers, and to symbols where an axis has one.
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.costs.facts import Dim, Dims
from netloupe.explorer.costs.value_facts import ValueFacts, find_value_facts
from netloupe.explorer.layout.value_sizes import write_dim
from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.notation import write_number
from netloupe.explorer.patterns import read_numbers
from netloupe.explorer.patterns.picked_parts import (
    ENDLESS,
    PickedPart,
    place_axis,
    read_limits,
    read_parts,
    read_split_parts,
)
from netloupe.explorer.roles import find_weight
from netloupe.explorer.view.value_names import find_written_name

from .axis_words import tell_axes
from .part_words import (
    MOST_PARTS,
    write_part_of_axis,
    write_parts,
    write_picks,
    write_place_of_axis,
)

#: of so many stored indices it is told which they are
_MOST_LISTED = 4096
#: batch and channels, which a picture keeps that is made larger
_KEPT = 2
_UNKNOWN = "? to ?"
#: of so many results of one node the sizes are looked at
_MOST_READ = 64
_MOST_SCALES = _MOST_AXES = 8
#: so much arithmetic is followed to the shapes that a size is computed from
_MOST_FOLLOWED = 64


def tell_sizes(node: Node) -> tuple[str, ...]:
    """Return what a node does with the sizes of its operand; nothing where that is not known.

    * One that picks, the part: ``last 12 of 168``; where the size is not known, ``axis 1``, ``all
      but the first 8``.
    * One that takes a single place, which: ``2nd of 3``, or ``axis 1``, ``at 1``.
    * One that splits, the parts: ``24 → 16 + 8``.
    * One that resamples, the result: ``to 128 × 128`` or ``×2``, and how: ``linear``.
    * Others, over what or along what: ``over 36``, ``16 + 8 → 24``.
    """
    operator = node.operator
    if operator.has("slices"):
        return _tell_part(node)
    if operator.has("splits"):
        return _tell_split(node, find_value_facts(node.graph.model))
    if operator.has("resamples"):
        return _tell_resampled(node, find_value_facts(node.graph.model))
    told = tell_axes(node)
    if told:
        return told
    if operator.has("gathers"):
        return _tell_place(node, find_value_facts(node.graph.model))
    return _tell_axes(node, find_value_facts(node.graph.model)) if operator.has("reduces") else ()


def tell_split_parts(nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return into what slices split a value: ``36 → 3 × 12``; else nothing."""
    parts = read_split_parts(nodes)
    if not parts:
        return ()
    return _write_split([part.length for part in parts], len(parts), parts[0].axis, parts[0].size)


def _write_split(parts: Sequence[Dim], count: int, axis: int | None, whole: Dim) -> tuple[str, ...]:
    told = write_parts(parts, count, whole)
    are_known = all(write_dim(part) != "?" for part in parts) and len(parts) == count
    return (told,) if are_known else (f"axis {axis}", told)


def _tell_part(node: Node) -> tuple[str, ...]:
    parts = read_parts(node)
    if parts and all(one.start == 0 and one.step == 1 and one.is_to_end for one in parts):
        return ("all",)
    return _tell_parts_of_sizes(parts) or _tell_parts_of_axes(parts)


def _tell_parts_of_sizes(parts: Sequence[PickedPart]) -> tuple[str, ...]:
    """Return what is taken of axes of known sizes; nothing where that of one is not known."""
    told = [write_part_of_axis(part) for part in parts if _write_part(part)]
    if not all(told) or not 0 < len(told) <= MOST_PARTS:
        return ()
    if len({*told}) < len(told) == len({part.axis for part in parts if _write_part(part)}):
        told = [
            f"{one} on {told.count(one)} axes" if told.count(one) > 1 else one
            for one in dict.fromkeys(told)
        ]
    return tuple(told)


def _tell_parts_of_axes(parts: Sequence[PickedPart]) -> tuple[str, ...]:
    told: dict[str, list[str]] = {}
    for one in parts:
        part = _write_part(one)
        if part:  # all of an axis is no part
            told.setdefault(part, []).append(write_dim(one.axis))
    if not told or len(told) > MOST_PARTS:
        return ()
    if len(told) == 1:
        ((part, places),) = told.items()
        return _name_axes(places), *([] if part == _UNKNOWN else [part])
    known = {part: places for part, places in told.items() if part != _UNKNOWN}
    return tuple(f"{_name_axes(places)}: {part}" for part, places in known.items())


def _tell_place(node: Node, facts: ValueFacts) -> tuple[str, ...]:
    if find_weight(node) is not None or not node.operator.weight_kind:
        return ()  # of a table that is stored, or from places that differ from element to element
    axis, dims = _read_axis(node), facts.find_dims(node.input(0))
    place = place_axis(axis, dims)
    indices = _find_operand(node, "indices")
    found, size = facts.find_elements(indices), _find_size(dims, place)
    if found is None:
        return _tell_picks(indices, size)
    if len(found) != 1 or found[0] is None:
        whole = [index for index in found if isinstance(index, int)]
        is_list = len(facts.find_dims(indices) or ()) == 1 and len(whole) == len(found)
        told = write_picks(whole, size) if is_list and isinstance(size, int) else ""
        return (told,) if told else ()
    index = found[0]
    if size == 1 and not facts.find_dims(indices):
        return (f"without axis {axis if place is None else place}",)  # there is no other to take
    if told := write_place_of_axis(index, size):
        return (told,)
    said = f"axis {axis if place is None else place}"
    if isinstance(index, int) and index < 0:
        return said, "at the last" if index == -1 else f"at end − {-index:,}"
    return said, f"at {write_dim(index)}"


def _tell_picks(indices: Value | None, size: Dim) -> tuple[str, ...]:
    """Return which places are taken that a list tells, or of how many, where that is computed."""
    tensor = find_stored_tensor(indices) if indices is not None else None
    if tensor is None:
        return () if write_dim(size) == "?" else (f"from {write_dim(size)}",)
    if len(tensor.dims) != 1 or tensor.size > _MOST_LISTED or not isinstance(size, int):
        return ()
    told = write_picks([int(number) for number in read_numbers(tensor, _MOST_LISTED)], size)
    return (told,) if told else ()


def _tell_axes(node: Node, facts: ValueFacts) -> tuple[str, ...]:
    dims, axes = facts.find_dims(node.input(0)), read_limits(node, "axes", facts)
    if not axes or len(axes) > _MOST_AXES:
        return ()
    places = [place_axis(axis, dims) for axis in axes]
    known = sorted(place for place in places if place is not None)
    return (_name_axes([str(place) for place in known]),) if len(known) == len(axes) else ()


def _name_axes(places: Sequence[str]) -> str:
    return f"{'axis' if len(places) == 1 else 'axes'} {', '.join(places)}"


def _write_part(part: PickedPart) -> str:
    """Return ``first 12``, ``8 to 12``, ``last 4``, ``reversed``, ``every 2``; "" for all."""
    start, step = part.start, part.step
    if isinstance(step, int) and step < 0:
        return "reversed" if step == -1 and start in (-1, part.size, ENDLESS) else "backwards"
    every = "" if step == 1 else f"every {write_dim(step)}"
    if isinstance(start, int) and start < 0 and part.is_to_end and not every:
        return f"last {-start:,}"
    if start == 0 and part.is_to_end:
        return every
    if isinstance(start, int) and start > 0 and part.is_to_end and not every:
        return f"all but the first {start:,}"
    if start == 0 and isinstance(part.end, int) and not every:
        return f"first {part.end:,}" if part.end > 0 else f"all but the last {-part.end:,}"
    end = "end" if part.is_to_end else _write_limit(part.end)
    said = f"{_write_limit(start)} to {end}"
    if "?" in said:
        return _UNKNOWN
    return f"{said}, {every}" if every else said


def _write_limit(limit: Dim) -> str:
    if isinstance(limit, int) and limit < 0:
        return f"end − {-limit:,}"
    return write_dim(limit)


def _tell_split(node: Node, facts: ValueFacts) -> tuple[str, ...]:
    axis, dims = _read_axis(node), facts.find_dims(node.input(0))
    place = place_axis(axis, dims)
    is_read = len(node.outputs) <= _MOST_READ
    given = [value for value in node.outputs if value is not None] if is_read else []
    parts = [_find_size(facts.find_dims(value), place) for value in given]
    shown = axis if place is None else place
    return _write_split(parts, len(node.outputs), shown, _find_size(dims, place))


def _find_size(dims: Dims | None, place: int | None) -> Dim:
    return dims[place] if dims is not None and place is not None and place < len(dims) else None


def _tell_resampled(node: Node, facts: ValueFacts) -> tuple[str, ...]:
    before, after = facts.find_dims(node.input(0)), facts.find_dims(node.output(0))
    told = _write_factor(node) or _write_size(before, after) or _name_model(node)
    mode = node.attributes.get("mode")
    how = mode.value if mode is not None and isinstance(mode.value, str) else ""
    return tuple(filter(None, (told, how)))


def _write_factor(node: Node) -> str:
    """Return how many times larger each axis of places becomes, as a constant says it."""
    attribute = node.attributes.get("scales")
    value = _find_operand(node, "scales")
    tensor = find_stored_tensor(value) if value is not None else None
    scales: tuple[float, ...] = ()
    if attribute is not None and isinstance(attribute.value, tuple):
        scales = tuple(one for one in attribute.value if isinstance(one, int | float))
    elif tensor is not None:
        scales = read_numbers(tensor, _MOST_SCALES)
    factors = {*scales[_KEPT:]}
    if len(factors) != 1 or {*scales[:_KEPT]} != {1}:
        return ""
    factor = factors.pop()
    if 0 < factor < 1 and (1 / factor).is_integer():
        return f"/{1 / factor:.0f}"
    return f"×{write_number(factor)}"


def _write_size(before: Dims | None, after: Dims | None) -> str:
    """Return the places of a result, without what is as it was: batch and channels."""
    if after is None or before is None or len(before) != len(after) or len(after) <= _KEPT:
        return ""
    changed = [place for place, dim in enumerate(after) if dim != before[place]]
    is_usual = all(place >= _KEPT for place in changed)
    shown = after[_KEPT:] if is_usual else [after[place] for place in changed]
    places = [write_dim(dim) for dim in shown]
    return "" if "?" in places else f"to {' × '.join(places)}"


def _name_model(node: Node) -> str:
    """Return ``to the size of image``, where it is computed from that of one other value."""
    data, pending = node.input(0), [_find_operand(node, "sizes")]
    seen: set[Value] = set()
    measured: set[Value] = set()
    while pending and len(seen) < _MOST_FOLLOWED:
        value = pending.pop()
        giver = value.producer if value is not None else None
        if value is None or giver is None or value in seen:
            continue
        seen.add(value)
        if giver.operator.has("reads_shape"):
            measured.update(one for one in giver.inputs[:1] if one is not None)
        elif giver.operator.has("shape_arithmetic"):
            pending += giver.inputs
    others = measured - {data}
    name = find_written_name(others.pop()) if len(others) == 1 and not pending else ""
    return f"to the size of {name}" if name else ""


def _find_operand(node: Node, role: str) -> Value | None:
    place = node.operator.operands.find(role)
    return None if place is None else node.input(place)


def _read_axis(node: Node) -> int:
    attribute = node.attributes.get("axis")
    return attribute.value if attribute is not None and isinstance(attribute.value, int) else 0
