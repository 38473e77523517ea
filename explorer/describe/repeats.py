"""What is said of a repeat: what one repetition holds, and where repetitions differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import (
    Node,
    SparseTensor,
    Tensor,
    Value,
    constant_tensor,
    is_constant,
)
from netloupe.explorer.notation import write_count
from netloupe.explorer.view import nodes_inside

from .description import MOST_ROWS, Row
from .notation import write_line
from .place import Place

MOST_OPERATORS = 6


def nodes_inside_one(group: Group) -> list[Node]:
    """Return the nodes of a repeat's exemplar; none for other groups."""
    return _nodes_of(group.children[group.exemplar]) if group.kind == "repeat" else []


def find_constants(nodes: Sequence[Node]) -> dict[str, Value]:
    """Return the constants that some nodes use, by path."""
    return {
        value.path: value
        for node in nodes
        for value in (*node.inputs, *node.captures)
        if value is not None and is_constant(value)
    }


def list_stored(nodes: Sequence[Node]) -> list[Tensor | SparseTensor]:
    """Return the tensors behind the constants that some nodes use."""
    tensors = map(constant_tensor, find_constants(nodes).values())
    return [tensor for tensor in tensors if tensor is not None]


def list_differences(repeat: Group, place: Place) -> list[Row]:
    """Return a row for each repetition that has other operators or parameters than the exemplar.

    Parameters
    ----------
    repeat
        A group of kind ``repeat``.
    place
        Where it is shown.
    """
    model = repeat.children[repeat.exemplar]
    operators, size = _summarize(model)
    rows = []
    for child in repeat.children:
        if child is model:
            continue
        found, found_size = _summarize(child)
        parts = [f"{_write_operators(found - operators)} more" if found - operators else ""]
        parts.append(f"{_write_operators(operators - found)} less" if operators - found else "")
        if found_size != size:
            parts.append(f"{found_size:,} parameters instead of {size:,}")
        if any(parts):
            text = "; ".join(filter(None, parts))
            rows.append(Row(write_line(child.label), text, "", place.path_of(child.path)))
    if not rows:
        count = write_count(len(repeat.children), "repetition")
        return [Row("operators and parameters", f"alike in all {count}")]
    if len(rows) > MOST_ROWS:
        rows[MOST_ROWS - 1 :] = [Row("others", f"{len(rows) - MOST_ROWS + 1:,} more differ")]
    return rows


def _summarize(child: Group | Node) -> tuple[Counter[str], int]:
    nodes = _nodes_of(child)
    size = sum(tensor.size for tensor in list_stored(nodes))
    return Counter(node.op_type for node in nodes), size


def _nodes_of(child: Group | Node) -> list[Node]:
    return [child] if isinstance(child, Node) else nodes_inside(child)


def _write_operators(operators: Counter[str]) -> str:
    ordered = sorted(operators.items(), key=lambda entry: (-entry[1], entry[0]))
    shown = [
        write_line(name) + (f" ×{count:,}" if count > 1 else "")
        for name, count in ordered[:MOST_OPERATORS]
    ]
    return ", ".join(shown) + (", …" if len(ordered) > MOST_OPERATORS else "")
