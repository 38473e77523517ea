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
from netloupe.explorer.notation import write_count, write_number
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

#: of a value with more axes, or in more parts, it is not said how large each is
_MOST_PARTS = 4
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

    * One that picks, the part: ``axis 1``, ``8 to end``.
    * One that takes a single place, which: ``axis 1``, ``at 0``.
    * One that splits, the parts: ``axis 1``, ``3 parts of 12``.
    * One that reduces, along what: ``axes 2, 3``.
    * One that resamples, the result: ``to 128 × 128`` or ``×2``, and how: ``linear``.
    """
    operator = node.operator
    if not operator.has("slices", "splits", "resamples", "reduces", "gathers"):
        return ()
    if operator.has("slices"):
        return _tell_part(node)
    facts = find_value_facts(node.graph.model)
    if operator.has("gathers"):
        return _tell_place(node, facts)
    if operator.has("reduces"):
        return _tell_axes(node, facts)
    return _tell_split(node, facts) if operator.has("splits") else _tell_resampled(node, facts)


def tell_split_parts(nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return into what slices split a value: ``axis 1``, ``3 parts of 12``; else nothing."""
    parts = read_split_parts(nodes)
    if not parts:
        return ()
    return f"axis {parts[0].axis}", write_parts([part.length for part in parts], len(parts))


def _tell_part(node: Node) -> tuple[str, ...]:
    told: dict[str, list[str]] = {}
    parts = read_parts(node)
    for one in parts:
        part = _write_part(one)
        if part:  # all of an axis is no part
            told.setdefault(part, []).append(write_dim(one.axis))
    if parts and all(one.start == 0 and one.step == 1 and one.is_to_end for one in parts):
        return ("all",)
    if not told or len(told) > _MOST_PARTS:
        return ()
    if len(told) == 1:
        ((part, places),) = told.items()
        return _name_axes(places), *([] if part == _UNKNOWN else [part])
    return tuple(f"{_name_axes(places)}: {part}" for part, places in told.items())


def _tell_place(node: Node, facts: ValueFacts) -> tuple[str, ...]:
    found = facts.find_elements(_find_operand(node, "indices"))
    if find_weight(node) is not None or found is None or len(found) != 1 or found[0] is None:
        return ()
    axis, dims = _read_axis(node), facts.find_dims(node.input(0))
    place, index = place_axis(axis, dims), found[0]
    said = f"axis {axis if place is None else place}"
    if isinstance(index, int) and index < 0:
        return said, "at the last" if index == -1 else f"at end − {-index:,}"
    return said, f"at {write_dim(index)}"


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
    """Return ``0 to 12``, ``8 to end``, ``last 4``, ``reversed``, ``every 2``; "" for all."""
    start, step = part.start, part.step
    if isinstance(step, int) and step < 0:
        return "reversed" if step == -1 and start in (-1, part.size, ENDLESS) else "backwards"
    every = "" if step == 1 else f"every {write_dim(step)}"
    if isinstance(start, int) and start < 0 and part.is_to_end and not every:
        return f"last {-start:,}"
    if start == 0 and part.is_to_end:
        return every
    end = "end" if part.is_to_end else _write_limit(part.end)
    said = f"{_write_limit(start)} to {end}"
    return f"{said}, {every}" if every else said


def _write_limit(limit: Dim) -> str:
    if isinstance(limit, int) and limit < 0:
        return f"end − {-limit:,}"
    return write_dim(limit)


def _tell_split(node: Node, facts: ValueFacts) -> tuple[str, ...]:
    axis = _read_axis(node)
    place = place_axis(axis, facts.find_dims(node.input(0)))
    is_read = len(node.outputs) <= _MOST_READ
    given = [value for value in node.outputs if value is not None] if is_read else []
    parts = [_find_size(facts.find_dims(value), place) for value in given]
    return f"axis {axis if place is None else place}", write_parts(parts, len(node.outputs))


def _find_size(dims: Dims | None, place: int | None) -> Dim:
    return dims[place] if dims is not None and place is not None and place < len(dims) else None


def write_parts(parts: Sequence[Dim], count: int) -> str:
    """Return ``3 parts of 12``, ``parts of 8, 24`` or, where sizes are not known, ``3 parts``."""
    sizes = [write_dim(part) for part in parts]
    if "?" in sizes or len(sizes) < count:
        return write_count(count, "part")
    if {*sizes} == {"1"} and count > _MOST_PARTS:
        return f"each of {write_count(count, 'place')}"
    if len({*sizes}) == 1:
        return f"{write_count(count, 'part')} of {sizes[0]}"
    return f"parts of {', '.join(sizes)}" if count <= _MOST_PARTS else write_count(count, "part")


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
