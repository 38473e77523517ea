"""What is said of the values around a node: what they are called, where they come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from netloupe.explorer.costs import count_bytes
from netloupe.explorer.model import Node, SparseTensor, Value, constant_tensor, is_constant
from netloupe.explorer.model.constant import describe_constant
from netloupe.explorer.notation import write_bytes, write_count
from netloupe.explorer.operators import OperatorSchema

from .description import MOST_ROWS, Row
from .file_text import name_value, write_inferred_type, write_line, write_value_type
from .place import Place

_MOST_USERS = 3


def name_operands(
    node: Node, schema: OperatorSchema | None, *, is_output: bool
) -> Iterator[tuple[str, Value | None]]:
    """Yield each operand, or result, of a node with its name, or its index where it has none.

    Parameters
    ----------
    node
        The node.
    schema
        The operator's, where it is known.
    is_output
        Whether results are wanted.
    """
    for index, value in enumerate(node.outputs if is_output else node.inputs):
        name = find_formal_name(node, schema, index, is_output=is_output)
        yield (write_line(name) if name else str(index)), value


def find_formal_name(
    node: Node, schema: OperatorSchema | None, index: int, *, is_output: bool
) -> str | None:
    """Return what an operand or a result is called: by the function, the schema, or by its role."""
    function = node.function
    if function is not None:
        formals = function.outputs if is_output else function.inputs
        return formals[index].name if index < len(formals) else None
    if schema is not None:
        return schema.output_name(index) if is_output else schema.input_name(index)
    return (node.operator.results if is_output else node.operator.operands).name_at(index)


def list_inputs(operands: Iterator[tuple[str, Value | None]], place: Place) -> list[Row]:
    """Return a row for each input: its value, type, and where it comes from."""
    rows = []
    for formal, value in islice(operands, MOST_ROWS):
        if value is None:
            rows.append(Row(formal, "not given"))
            continue
        path = place.path_of(value.path)
        origin = describe_origin(value, place)
        rows.append(Row(formal, name_value(value), origin, path, write_inferred_type(value)))
    return rows


def list_outputs(operands: Iterator[tuple[str, Value | None]], place: Place) -> list[Row]:
    """Return a row for each output: its value, type, and who uses it."""
    rows = []
    for formal, value in islice(operands, MOST_ROWS):
        if value is None:
            rows.append(Row(formal, "not given"))
            continue
        notes = [write_value_type(value), _describe_users(value, place)]
        if value.is_output:
            notes.append("output of the graph")
        path = place.path_of(value.path)
        inferred = write_inferred_type(value)
        rows.append(Row(formal, name_value(value), _join(notes), path, inferred))
    return rows


def describe_origin(value: Value, place: Place) -> str:
    """Return type and origin of a value in one line."""
    notes = [write_value_type(value)]
    tensor = constant_tensor(value)
    if value.initializer is not None:
        notes.append("sparse constant" if isinstance(tensor, SparseTensor) else "constant")
        size = None if tensor is None else count_bytes(tensor)
        if size is not None:
            notes.append(write_bytes(size))
    elif value.producer is not None:
        if is_constant(value):
            words = write_line(describe_constant(value))
            notes.append(f"constant {words}".rstrip())
        notes.append(f"from {write_line(place.path_of(value.producer.path))}")
    elif value.is_input:
        operand = place.operand_of(value)
        given = f", here %{name_value(operand)}" if operand is not None else ""
        notes.append(f"input of {write_line(place.path_of(value.graph.path))}{given}")
    else:
        notes.append("nothing gives it")
    return _join(notes)


def _describe_users(value: Value, place: Place) -> str:
    if not value.is_used:
        return "" if value.is_output else "not used"
    users = list(dict.fromkeys(node.path for node in value.users[:_MOST_USERS]))
    named = ", ".join(write_line(place.path_of(path)) for path in users)
    if len(value.users) > _MOST_USERS:
        return f"to {named} and {write_count(len(value.users) - _MOST_USERS, 'more node')}"
    return f"to {named}"


def _join(notes: Sequence[str]) -> str:
    return " · ".join(note for note in notes if note)
