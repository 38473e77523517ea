"""What the two ends of each edge of a graph hold, beside what the edge holds itself."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import LAYOUT_TRAITS

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_numbers, read_str

_BOTH = 2
#: how places are handed on from an input: they are picked from it, cast, made positive
_HANDING = (*LAYOUT_TRAITS, "picks", "gathers", "slices", "splits", "broadcasts", "repeats")
_WRAPPING = ("chooses", "adds", "compares_order", "joins")
_MOST_STEPS = 16
#: of larger fills it is not read whether all are 0
_MOST_READ = 1 << 16
#: how what is put to one place becomes one number
_WORDS = {"add": "Sum", "max": "Maximum", "min": "Minimum", "mul": "Product"}


def find_edge_inputs(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find rows of one value that are looked up twice, by two computed places, and joined.

    So an edge takes what its two ends hold, and its own features with them (P. Battaglia and
    others, Relational inductive biases, deep learning, and graph networks, 2018, algorithm 1).
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        if not node.operator.has("joins") or blocks.owner[join] is not None:
            continue
        lookups = find_lookups(operations, join)
        lookups = [number for number in lookups if blocks.owner[number] is None]
        of = {operations.operands[number][0] for number in lookups}
        places = {
            place for number in lookups if (place := operations.nodes[number].input(1)) is not None
        }
        numbers = {join, *lookups}
        if len(lookups) != _BOTH or len(of) != 1 or len(places) != _BOTH:
            continue
        if any(map(operations.is_fixed, places)) or not operations.is_closed(numbers, join):
            continue
        others = len(operations.operands[join]) - _BOTH
        name = f"Source, target{', edge' if others else ''}"
        yield FoundBlock("edge inputs", name, frozenset(numbers), join)


def find_lookups(operations: Operations, join: int) -> list[int]:
    """Return what looks rows up by computed places, of what is joined."""
    return [number for number in operations.givers(join) if _looks_up(operations, number)]


def _looks_up(operations: Operations, number: int) -> bool:
    node = operations.nodes[number]
    return node.operator.has("looks_up", "gathers") and len(operations.operands[number]) > 1


def name_node_sum(node: Node) -> str:
    """Return ``Sum to nodes`` of a node that adds what edges hold to zeros; "" for others.

    The places come from the same input as those by which edges look up what their ends hold (J.
    Gilmer and others, Neural Message Passing for Quantum Chemistry, 2017, equation 1).
    """
    operator = node.operator
    word = _WORDS.get(read_str(node, "reduction"), "")
    if not operator.has("scatters") or not word or len(node.inputs) < _BOTH:
        return ""
    if not _is_zeros(node.input(0)) and word == "Sum":
        return ""
    root = _find_root(node.input(1))
    if root is None or not _is_looked_up_by(root, node):
        return ""
    return f"{word} to nodes"


def _is_zeros(value: Value | None) -> bool:
    source = find_source(value, *LAYOUT_TRAITS, "broadcasts")
    if source is None:
        return False
    tensor = find_stored_tensor(source)
    if tensor is not None:
        return {*read_numbers(tensor, _MOST_READ)} == {0.0}
    return source.producer is not None and source.producer.operator.has("fills")


def _find_root(value: Value | None) -> Value | None:
    """Return the input of places that some are picked from, perhaps counted from the end."""
    for _ in range(_MOST_STEPS):
        value = find_source(value, *_HANDING)
        node = value.producer if value is not None else None
        if node is None:
            return value if value is not None and value.initializer is None else None
        if not node.operator.has(*_WRAPPING):
            return None
        value = next((one for one in reversed(node.inputs) if one is not None), None)
    return None


def _is_looked_up_by(root: Value, node: Node) -> bool:
    """Return whether rows are looked up by places of the same input."""
    seen: set[Node] = set()
    pending = [*root.users]
    while pending and len(seen) < _MOST_STEPS * _MOST_STEPS:
        user = pending.pop()
        if user in seen or user is node:
            continue
        seen.add(user)
        is_place = user.operator.has("looks_up") and user.input(0) is not root
        if is_place and find_source(user.input(1), *_HANDING) is not None and _is_by(user, root):
            return True
        if user.operator.has(*_HANDING, *_WRAPPING):
            pending += [each for value in user.outputs if value is not None for each in value.users]
    return False


def _is_by(user: Node, root: Value) -> bool:
    return _find_root(user.input(1)) is root
