"""Every field of a schema in turn: set to a value found nowhere else, and looked for again.

A case is a way from an outermost message to one field. Its message holds nothing but that field
and what the field needs to mean anything (`Case.context`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from google.protobuf.descriptor import FieldDescriptor

from netloupe.explorer.describe import (
    Description,
    Row,
    add_statistics,
    describe_element,
    describe_path,
    format_text,
)
from netloupe.explorer.model import Attribute, Function, Model, Node, SparseTensor, Tensor, Value

Route = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A number or truth value that stands for something: what is written, and how it is told.

    ``label`` is what the inspector makes of ``value``, in the row named ``row`` or its note;
    ``kept`` is what the model makes of it, where that is something else.
    """

    value: Any
    label: str
    row: str
    kept: object = None


@dataclass(frozen=True, slots=True)
class Case:
    """One field, the way to it, and the fields that are set beside it."""

    root: str
    route: Route
    field: FieldDescriptor

    @property
    def owner(self) -> str:
        """The message that has the field, without its package."""
        return name_of(self.field.containing_type)

    @property
    def key(self) -> tuple[str, str]:
        """The message and the field."""
        return self.owner, self.field.name

    def __str__(self) -> str:
        return ".".join((self.root, *self.route, self.field.name))


def name_of(descriptor: Any) -> str:
    """Return the name of a message without ``netloupe.onnx.`` or ``netloupe.caffe2.``."""
    return str(descriptor.full_name).split(".", 2)[2]


def list_routes(schema: Any, roots: Sequence[str]) -> Iterator[tuple[str, Route, Any]]:
    """Yield every way from a root into a message by a field that was not used before."""
    seen: set[tuple[str, str]] = set()
    expanded: set[str] = set()
    for root in roots:
        pending: list[tuple[Route, Any]] = [((), schema.DESCRIPTOR.message_types_by_name[root])]
        while pending:
            route, descriptor = pending.pop(0)
            yield root, route, descriptor
            if descriptor.full_name in expanded:
                continue
            expanded.add(descriptor.full_name)
            for field in descriptor.fields:
                step = (descriptor.full_name, field.name)
                if field.message_type is not None and step not in seen:
                    seen.add(step)
                    pending.append(((*route, field.name), field.message_type))


def list_cases(schema: Any, roots: Sequence[str]) -> list[Case]:
    """Return a case for each field that is no message, by each way into its message."""
    return [
        Case(root, route, field)
        for root, route, descriptor in list_routes(schema, roots)
        for field in descriptor.fields
        if field.message_type is None
    ]


def list_unreached(schema: Any, roots: Sequence[str]) -> set[str]:
    """Return the messages of a schema that no way from the roots leads into."""
    reached = {name_of(descriptor) for _, _, descriptor in list_routes(schema, roots)}
    defined = set()
    pending = list(schema.DESCRIPTOR.message_types_by_name.values())
    while pending:
        descriptor = pending.pop()
        defined.add(name_of(descriptor))
        pending += descriptor.nested_types
    return defined - reached


def choose_value(field: FieldDescriptor) -> Any:
    """Return a value of a field's type that a model without it has nowhere."""
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return b"\xffwanted" if field.type == FieldDescriptor.TYPE_BYTES else "wanted"
    if field.cpp_type in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
        return 40961.5
    assert field.enum_type is None, f"{field.full_name} needs a name"
    assert field.cpp_type != FieldDescriptor.CPPTYPE_BOOL, f"{field.full_name} needs a name"
    return 40961


def write_message(
    schema: Any, case: Case, value: Any, context: Mapping[tuple[str, str], Mapping[str, Any]]
) -> Any:
    """Return a message in which the field of a case has a value.

    ``context`` maps (message, field on the way or field) to what is set beside it there.
    """
    outermost = getattr(schema, case.root)()
    message = outermost
    for name in (*case.route, case.field.name):
        for other, given in context.get((name_of(message.DESCRIPTOR), name), {}).items():
            set_field(message, other, given)
        if name != case.field.name or message.DESCRIPTOR.fields_by_name[name] is not case.field:
            target = getattr(message, name)
            message = target.add() if hasattr(target, "add") else target
            message.SetInParent()
    set_field(message, case.field.name, value)
    return outermost


def set_field(message: Any, name: str, value: Any) -> None:
    """Set a field; a message from a dictionary, an entry of a list from one entry."""
    target = getattr(message, name)
    if isinstance(value, Mapping):
        inner = target.add() if hasattr(target, "add") else target
        inner.SetInParent()
        for key, entry in value.items():
            set_field(inner, key, entry)
    elif hasattr(target, "append"):
        target.append(value)
    else:
        setattr(message, name, value)


# the model half


def everything_in(model: Model) -> Iterator[object]:
    """Yield all numbers, strings and bytes that can be reached from a model."""
    seen: dict[int, object] = {}  # holds what it has seen, so that no id is used again
    pending: list[object] = [model, model.graphs]
    while pending:
        thing = pending.pop()
        if isinstance(thing, (str, bytes, int, float)):
            yield thing
            continue
        if thing is None or callable(thing) or id(thing) in seen:
            continue
        seen[id(thing)] = thing
        if isinstance(thing, dict):
            pending += [*thing.keys(), *thing.values()]
        elif isinstance(thing, (list, tuple, set, frozenset)):
            pending += thing
        elif isinstance(thing, np.ndarray):
            pending += thing.tolist()
        else:
            if isinstance(thing, Node):
                pending.append(thing.details)
            if isinstance(thing, Value):
                pending += [thing.type, thing.doc, thing.metadata]
            if isinstance(thing, Tensor) and thing.external is None:
                pending.append(thing.payload().data)
            names = set(getattr(thing, "__dict__", ()))
            for kind in type(thing).__mro__:
                names.update(getattr(kind, "__slots__", ()))
            # the messages themselves hang on these: finding a value there proves nothing
            names -= {"_loader", "loader", "value_loader", "_fetch", "__weakref__"}
            pending += [getattr(thing, name, None) for name in names]


def is_in_model(model: Model, wanted: object) -> bool:
    """Return whether a value can be reached from a model, in a text or for itself."""
    return any(
        str(wanted) in thing
        if isinstance(thing, str)
        else type(thing) is type(wanted) and thing == wanted
        for thing in everything_in(model)
    )


# the inspector's half


def list_descriptions(model: Model) -> Iterator[Description]:
    """Yield what the inspector says of everything in a model, statistics of tensors with it."""
    elements: list[Any] = [model]
    for graph in model.graphs:
        elements += [graph, *graph.nodes, *graph.values.values()]
        elements += [*graph.initializers, *graph.sparse_initializers]
    for element in elements:
        yield add_statistics(describe_element(model, element))
    for path in _list_paths_of_tensors(model):
        yield add_statistics(describe_path(model, path))


def _list_paths_of_tensors(model: Model) -> Iterator[str]:
    """Yield the paths of tensors that belong to attributes."""
    for graph in model.graphs:
        attributes: list[Attribute] = []
        for node in graph.nodes:
            attributes += node.attributes.values()
        if isinstance(graph, Function):
            attributes += graph.attribute_defaults.values()
        if graph.net is not None:
            attributes += graph.net.arguments.values()
        for attribute in attributes:
            held = attribute.value if isinstance(attribute.value, tuple) else (attribute.value,)
            yield from (entry.path for entry in held if isinstance(entry, Tensor | SparseTensor))


def is_told(model: Model, wanted: object) -> bool:
    """Return whether the inspector's text has a value; thousands may be set apart."""
    text = "\n".join(map(format_text, list_descriptions(model)))
    if isinstance(wanted, bytes):
        return repr(wanted)[2:-1] in text or wanted.decode("utf-8", "backslashreplace") in text
    return str(wanted) in text.replace(",", "")


def is_told_in(model: Model, row: str, label: str) -> bool:
    """Return whether the inspector has a label in a row of some name, or in its note."""
    return any(
        found.name == row and label in (found.value, *found.note.split(", "))
        for description in list_descriptions(model)
        for found in list_rows(description)
    )


def list_rows(description: Description) -> Iterator[Row]:
    """Yield the rows of all sections."""
    for section in description.sections:
        yield from section.rows
