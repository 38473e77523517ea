"""What is said of a repeat: what one repetition holds, and where repetitions differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from netloupe.explorer.costs import count_nodes
from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Node, SparseTensor, Tensor, Value, constant_tensor, is_constant
from netloupe.explorer.notation import join_parts, write_count
from netloupe.explorer.view import nodes_inside

from .description import MOST_ROWS, Row
from .file_text import write_line
from .place import Place

MOST_OPERATORS = 6
MOST_LABELS = 4


@dataclass(frozen=True, slots=True)
class Contents:
    """What one repetition holds: its nodes by operator, and the number of its parameters."""

    operators: Counter[str]
    parameters: int

    @property
    def nodes(self) -> int:
        """How many nodes it holds."""
        return self.operators.total()


def list_contents(repeat: Group) -> list[Contents]:
    """Return what each repetition of a repeat holds."""
    return [_summarize(child) for child in repeat.children]


def list_constants(nodes: Sequence[Node]) -> dict[str, Value]:
    """Return the constants that some nodes use, by path."""
    return {
        value.path: value
        for node in nodes
        for value in (*node.inputs, *node.captures)
        if value is not None and is_constant(value)
    }


def list_stored(nodes: Sequence[Node]) -> list[Tensor | SparseTensor]:
    """Return the tensors behind the constants that some nodes use."""
    tensors = map(constant_tensor, list_constants(nodes).values())
    return [tensor for tensor in tensors if tensor is not None]


def list_differences(repeat: Group, contents: Sequence[Contents], place: Place) -> list[Row]:
    """Return a row for the repetitions that are alike, and one for each way in which others differ.

    Parameters
    ----------
    repeat
        A group of kind ``repeat``.
    contents
        What each of its repetitions holds.
    place
        Where it is shown.
    """
    alike: dict[tuple[frozenset[tuple[str, int]], int], list[int]] = {}
    for index, one in enumerate(contents):
        key = frozenset(one.operators.items()), one.parameters
        alike.setdefault(key, []).append(index)
    count = write_count(len(contents), "repetition")
    if len(alike) == 1:
        return [Row("operators and parameters", f"alike in all {count}")]
    most, *others = sorted(alike.values(), key=lambda indices: (-len(indices), indices[0]))
    text = f"{len(most):,} of {count} alike" if len(most) > 1 else "the others are compared with it"
    rows = [_write_alike(repeat, most, text, place)]
    for indices in others:
        text = _compare(contents[indices[0]], contents[most[0]])
        rows.append(_write_alike(repeat, indices, text, place))
    if len(rows) > MOST_ROWS:
        hidden = sum(map(len, others[MOST_ROWS - 2 :]))
        rows[MOST_ROWS - 1 :] = [Row("others", f"{write_count(hidden, 'repetition')} differ")]
    return rows


def _write_alike(repeat: Group, indices: Sequence[int], text: str, place: Place) -> Row:
    """Return a row for repetitions that hold the same; it leads to the first of them."""
    children = [repeat.children[index] for index in indices]
    first, last = (write_line(child.label) for child in (children[0], children[-1]))
    path = place.path_of(children[0].path)
    if len(children) == 1:
        return Row(first, text, "", path)
    if indices[-1] - indices[0] == len(indices) - 1:
        return Row(f"{first} to {last}", text, "", path)
    labels = [write_line(child.label) for child in children[:MOST_LABELS]]
    return Row(
        write_count(len(children), "repetition"), text, join_parts(labels, len(children)), path
    )


def _compare(found: Contents, most: Contents) -> str:
    more, fewer = found.operators - most.operators, most.operators - found.operators
    parts = [f"{_write_operators(more)} more" if more else ""]
    parts.append(f"{_write_operators(fewer)} less" if fewer else "")
    if found.parameters != most.parameters:
        parts.append(f"{write_count(found.parameters, 'parameter')} instead of {most.parameters:,}")
    return "; ".join(filter(None, parts))


def _summarize(child: Group | Node) -> Contents:
    nodes = _nodes_of(child)
    count = count_nodes(child.graph.model, nodes).parameters
    return Contents(Counter(node.op_type for node in nodes), count)


def _nodes_of(child: Group | Node) -> list[Node]:
    return [child] if isinstance(child, Node) else nodes_inside(child)


def _write_operators(operators: Counter[str]) -> str:
    ordered = sorted(operators.items(), key=lambda entry: (-entry[1], entry[0]))
    shown = [
        write_line(name) + (f" ×{count:,}" if count > 1 else "")
        for name, count in ordered[:MOST_OPERATORS]
    ]
    return ", ".join(shown) + (", …" if len(ordered) > MOST_OPERATORS else "")
