"""One place of a sequence that is taken on: the first token, the last step."""

from __future__ import annotations

from collections import deque

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import find_giver
from netloupe.explorer.model import Node, Value, is_constant
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.roles import find_weight

from .picked_parts import PickedPart, place_axis, read_parts
from .readings import read_int

#: batch, tokens or steps, features
_RANK = 3
#: so many nodes before a pick are looked at, for what made the sequence
_MOST_BEFORE = 120
_SEQUENCE = 1
#: fewer places are no sequence
_LEAST = 3


def read_picked_token(node: Node) -> str:
    """Return ``first token`` or ``last step`` of a node that takes nothing else; "" for others.

    It takes one place of the middle axis of a batch, places and features. They are steps where a
    recurrent layer gave them, and tokens where attention mixed them: so BERT is read at its first
    token (J. Devlin and others, 2019, section 3), and an LSTM at its last step.
    """
    operator = node.operator
    if not operator.has("gathers", "slices", "picks") or not node.inputs:
        return ""
    value = node.input(0)
    if value is None or is_constant(value) or find_weight(node) is not None:
        return ""
    dims = find_value_facts(node.graph.model).find_dims(value)
    if dims is None or len(dims) != _RANK:
        return ""
    size = dims[_SEQUENCE]
    if isinstance(size, int) and size < _LEAST:
        return ""  # as two numbers for each feature
    where = _read_slice(node) if operator.has("slices") else _read_index(node, size)
    return f"{where} {word}" if where and (word := _name_places(value)) else ""


def _read_index(node: Node, size: object) -> str:
    facts = find_value_facts(node.graph.model)
    place = node.operator.operands.find("indices")
    found = facts.find_elements(node.input(place)) if place is not None else None
    axis = place_axis(read_int(node, "axis") or 0, facts.find_dims(node.input(0)))
    if axis != _SEQUENCE or found is None or len(found) != 1 or not isinstance(found[0], int):
        return ""
    is_last = found[0] == -1 or (isinstance(size, int) and found[0] == size - 1 > 0)
    return "last" if is_last else "first" if found[0] == 0 else ""


def _read_slice(node: Node) -> str:
    parts = [part for part in read_parts(node) if not _is_all(part)]
    if len(parts) != 1 or parts[0].axis != _SEQUENCE or parts[0].step != 1:
        return ""
    (part,) = parts
    if part.is_to_end and part.start is not None:
        is_one = part.start == -1 or (isinstance(part.size, int) and part.start == part.size - 1)
        return "last" if is_one else ""
    return "first" if (part.start, part.end) == (0, 1) else ""


def _is_all(part: PickedPart) -> bool:
    return part.start == 0 and part.is_to_end and part.step == 1


def _name_places(value: Value) -> str:
    """Return what the places of a sequence are: steps of a recurrence, or tokens; "" if unknown.

    A recurrence gives steps itself; tokens come from a block with a norm and attention.
    """
    giver = find_giver(value, "recurrent", through=(*LAYOUT_TRAITS, "normalizes", "joins"))
    if giver is not None:
        return "step"
    pending = deque([value])
    seen: set[Node] = set()
    is_normal = is_attended = False
    while pending and len(seen) < _MOST_BEFORE:
        node = pending.popleft().producer
        if node is None or node in seen:
            continue
        if node.operator.has("recurrent"):
            return ""
        seen.add(node)
        is_attended |= node.operator.has("attends", "distributes")
        is_normal |= node.operator.has("normalizes", "takes_root")
        if is_attended and is_normal:
            return "token"
        pending.extend(each for each in node.inputs if each is not None and not is_constant(each))
    return ""
