"""Who gives a value and who uses it."""

from __future__ import annotations

from itertools import islice

from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.operand_places import count_consumers, list_consumers
from netloupe.explorer.notation import write_count
from netloupe.explorer.operators import find_schema

from .description import Row
from .file_text import write_line
from .operands import find_formal_name
from .place import Place

MOST_CONSUMERS = 50


def list_uses(value: Value, place: Place) -> list[Row]:
    """Return rows for the producer and the consumers of a value."""
    rows = []
    if value.producer is not None:
        rows.append(_describe_use("producer", value.producer, value.output_index, place))
    for node, index in islice(list_consumers(value), MOST_CONSUMERS):
        rows.append(_describe_use("consumer", node, index, place))
    hidden = count_consumers(value) - MOST_CONSUMERS
    if hidden > 0:
        rows.append(Row("…", write_count(hidden, "more consumer")))
    return rows


def _describe_use(role: str, node: Node, index: int, place: Place) -> Row:
    path = place.path_of(node.path)
    formal = write_formal_name(node, index, is_output=role == "producer")
    return Row(role, write_line(path), f"{write_line(node.op_type)} · {formal}", path)


def write_formal_name(node: Node, index: int, *, is_output: bool) -> str:
    """Return what an operand or a result of a node is called there: ``data_0[5]``."""
    schema = find_schema(node.domain, node.op_type, node.opset_version)
    name = find_formal_name(node, schema, index, is_output=is_output)
    if not name:
        return f"{'output' if is_output else 'input'} {index}"
    return write_line(name)


def is_one_of_many(user: Node, index: int) -> bool:
    """Return whether an operand is one of as many as there may be that all mean the same."""
    schema = find_schema(user.domain, user.op_type, user.opset_version)
    formal = None if schema is None else schema.input(index)
    return formal is not None and formal.option == "variadic" and formal.is_homogeneous
