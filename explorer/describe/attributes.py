"""What is said of attributes: those that are set, and the defaults of those that are not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import (
    Attribute,
    Dialect,
    Function,
    Graph,
    Node,
    SparseTensor,
    Tensor,
    ValueType,
)
from netloupe.explorer.notation import write_count
from netloupe.explorer.operators import OperatorSchema

from .description import MOST_ROWS, Row
from .file_text import (
    list_denotations,
    write_array,
    write_line,
    write_list,
    write_scalar,
    write_tensor_type,
    write_text,
    write_type,
)
from .place import Place

#: a tensor among the attributes of at most so many elements is shown with them
_MOST_SHOWN = 8
_LONGEST_STRING = 4_000


def list_attributes(
    node: Node, schema: OperatorSchema | None, place: Place | None = None
) -> list[Row]:
    """Return rows for the attributes that a node sets, then for those that it leaves alone.

    Of a call of a model-local function these are what the function declares. Of very many
    attributes that are set the first :data:`MOST_ROWS` get rows.
    """
    place = place or Place()
    dialect = node.graph.dialect
    rows: list[Row] = []
    for key, attribute in islice(node.attributes.items(), MOST_ROWS):
        declared = schema.attributes.get(attribute.name) if schema else None
        notes = [attribute.kind]
        if declared is not None and declared.is_default(attribute.value):
            notes.append("as by default")
        elif attribute.name in dialect.element_type_attributes:
            notes += _name_element_type(attribute.value, dialect)
        rows += _list_attribute(key, attribute, notes, place)
    for name, declared in schema.attributes.items() if schema else ():
        if name in node.attributes:
            continue
        if declared.required:
            rows.append(Row(name, "not given", f"{declared.kind}, required"))
        elif declared.default is not None:
            notes = [declared.kind, "default"]
            if name in dialect.element_type_attributes:
                notes += _name_element_type(declared.default, dialect)
            rows.append(Row(name, write_attribute_value(declared.default), ", ".join(notes)))
    function = node.function
    if function is not None:
        rows += _list_left_alone(node, function, place)
    return rows


def _list_left_alone(node: Node, function: Function, place: Place) -> Iterable[Row]:
    """Return rows for the attributes of a function that a call does not set."""
    for name in function.attribute_names[:MOST_ROWS]:
        if name not in node.attributes and name not in function.attribute_defaults:
            yield Row(write_line(name) or '""', "not given", "required by the function")
    for name, attribute in islice(function.attribute_defaults.items(), MOST_ROWS):
        if name not in node.attributes:
            notes = [attribute.kind, "the function's default"]
            yield from _list_attribute(name, attribute, notes, place)


def list_values(attributes: Mapping[str, Attribute], place: Place) -> list[Row]:
    """Return rows for attributes that belong to no node, such as the arguments of a net."""
    rows: list[Row] = []
    for name, attribute in attributes.items():
        rows += _list_attribute(name, attribute, [attribute.kind], place)
    return rows


def list_defaults(attributes: Mapping[str, Attribute]) -> list[Row]:
    """Return rows for the attributes of a function that have a default."""
    rows: list[Row] = []
    for name, attribute in attributes.items():
        rows += _list_attribute(name, attribute, [attribute.kind, "default"], Place())
    return rows


def _list_attribute(
    key: str, attribute: Attribute, notes: Iterable[str], place: Place
) -> Iterable[Row]:
    name = write_line(key) or '""'
    notes = list(notes)
    value = attribute.value
    if attribute.reference:
        text = f"@{write_line(attribute.reference)}"
        given = _resolve_reference(attribute.reference, place)
        if given is not None:
            notes.append(f"= {write_attribute_value(given.value)} in this call")
        yield Row(name, text, ", ".join(notes))
    elif isinstance(value, Graph | Tensor | SparseTensor):
        path = place.path_of(value.path)
        yield Row(name, write_attribute_value(value), ", ".join(notes + _name_tensor(value)), path)
    else:
        yield Row(name, write_attribute_value(value), ", ".join(notes))
        for number, entry in enumerate(value if isinstance(value, tuple) else ()):
            if not isinstance(entry, Graph | Tensor | SparseTensor):
                break
            path = place.path_of(entry.path)
            note = ", ".join(_name_tensor(entry))
            yield Row(f"{name}[{number}]", write_attribute_value(entry), note, path)
    for number, entry in enumerate(value[:MOST_ROWS] if isinstance(value, tuple) else (value,)):
        if not isinstance(entry, ValueType):
            break
        entry_name = f"{name}[{number}]" if isinstance(value, tuple) else name
        for row in list_denotations(entry):
            yield Row(f"{entry_name}: {row.name}", row.value, row.note)
    if attribute.doc:
        yield Row(f"{name}: documentation", write_text(attribute.doc))


def write_attribute_value(value: Any) -> str:
    """Return what an attribute holds, in words where it is no number or string."""
    if value is None:
        return "no value"
    if isinstance(value, Graph):
        named = f" {write_scalar(value.name)}" if value.name else ""
        return f"graph{named}, {write_count(len(value.nodes), 'node')}"
    if isinstance(value, Tensor | SparseTensor):
        return write_tensor_type(value) + _write_elements(value)
    if isinstance(value, str | bytes):
        return write_scalar(value, _LONGEST_STRING)
    if isinstance(value, int | float):
        return write_scalar(value)
    if isinstance(value, tuple):
        if value and isinstance(value[0], Graph | Tensor | SparseTensor):
            noun = "graph" if isinstance(value[0], Graph) else "tensor"
            return write_count(len(value), noun)
        if value and not isinstance(value[0], str | bytes | int | float):
            return write_list([write_type(entry) for entry in value])
        return write_list(value)
    return write_type(value)


def _name_tensor(value: Graph | Tensor | SparseTensor) -> list[str]:
    """Return what the file calls a tensor; a graph's name stands with its value."""
    if isinstance(value, Graph) or not value.name:
        return []
    return [f"named {write_line(value.name)}"]


def _write_elements(tensor: Tensor | SparseTensor) -> str:
    """Return `` = 0.5`` for a tensor of few elements that can be read."""
    if isinstance(tensor, SparseTensor) or tensor.external is not None:
        return ""
    if not 0 < tensor.size <= _MOST_SHOWN:
        return ""
    try:
        return f" = {write_array(tensor.numpy())}"
    except TensorDataError:
        return ""


def _name_element_type(value: object, dialect: Dialect) -> list[str]:
    if not isinstance(value, int) or value not in dialect.element_types:
        return []
    return [f"element type {dialect.element_types[value]}"]


def _resolve_reference(name: str, place: Place) -> Attribute | None:
    """Return the attribute that a call gives to its function, or the function's default."""
    caller = place.caller
    if caller is None:
        return None
    given = caller.attributes.get(name)
    function = caller.function
    if given is None and function is not None:
        given = function.attribute_defaults.get(name)
    return given if given is not None and not given.reference else None
