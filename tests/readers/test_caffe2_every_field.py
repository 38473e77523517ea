"""Nothing of the Caffe2 schema is dropped: each field is set in turn and looked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from google.protobuf.descriptor import FieldDescriptor

from netloupe.explorer.describe import describe_element, describe_path, format_text
from netloupe.explorer.model import Model, Node, Tensor
from netloupe.explorer.readers.caffe2 import read_caffe2
from netloupe.explorer.readers.parts import Parts
from netloupe.explorer.readers.source import Source
from netloupe.proto import caffe2_pb2

Route = tuple[str, ...]
ROOTS = (
    "NetDef",
    "PlanDef",
    "TensorProtos",
    "TensorProto",
    "QTensorProto",
    "BlobProto",
    "DBReaderProto",
)
#: fields whose number stands for a name: what is written, and what it becomes
NAMED_NUMBERS: dict[tuple[str, str], tuple[Any, object]] = {
    ("TensorProto", "data_type"): (7, "int8"),
    ("TensorProto", "storage_type"): (4, "no content"),
    ("QTensorProto", "data_type"): (7, "int8"),
    ("ExternalDataProto", "source_type"): (1, "SIMPLE_FILE"),
}
#: fields of elements
ELEMENTS = {
    "byte_data",
    "content",
    "data",
    "double_data",
    "float_data",
    "int32_data",
    "int64_data",
    "raw_data",
    "string_data",
}
#: messages that no file has as its root and no other message holds
NOT_REACHED = {"TensorShape", "TensorShapes"}


def name_of(descriptor: Any) -> str:
    name: str = descriptor.full_name
    return name.removeprefix("netloupe.caffe2.")


def routes() -> Iterator[tuple[str, Route, Any]]:
    """Yield every way from a root into a message by a field that was not used before."""
    seen: set[tuple[str, str]] = set()
    expanded: set[str] = set()
    for root in ROOTS:
        pending: list[tuple[Route, Any]] = [((), caffe2_pb2.DESCRIPTOR.message_types_by_name[root])]
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


CASES = [
    pytest.param(root, route, field, id=".".join((root, *route, field.name)))
    for root, route, descriptor in routes()
    for field in descriptor.fields
    if field.message_type is None
]


def write_message(root: str, route: Route, field: FieldDescriptor) -> tuple[Any, object]:
    """Return a message in which one field is set, and what has to be found."""
    message: Any = getattr(caffe2_pb2, root)()
    inner = message
    for name in route:
        target = getattr(inner, name)
        if hasattr(target, "add"):
            inner = target.add()
        else:
            target.SetInParent()
            inner = target
    value, wanted = choose_value(field)
    if hasattr(getattr(inner, field.name), "append"):
        getattr(inner, field.name).append(value)
    else:
        setattr(inner, field.name, value)
    return message, wanted


def choose_value(field: FieldDescriptor) -> tuple[Any, object]:
    named = NAMED_NUMBERS.get((name_of(field.containing_type), field.name))
    if named is not None:
        return named
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        if field.type == FieldDescriptor.TYPE_BYTES:
            return b"\xffwanted", b"\xffwanted"
        return "wanted", "wanted"
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return True, True
    if field.cpp_type in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
        return 40961.5, 40961.5
    return 40961, 40961


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
            if isinstance(thing, Tensor) and thing.external is None:
                pending.append(thing.payload().data)
            names = set(getattr(thing, "__dict__", ()))
            for kind in type(thing).__mro__:
                names.update(getattr(kind, "__slots__", ()))
            # the messages themselves hang on these: finding a value there proves nothing
            names -= {"_loader", "_fetch", "__weakref__"}
            pending += [getattr(thing, name, None) for name in names]


def is_found(thing: object, wanted: object) -> bool:
    if isinstance(wanted, bool):
        return thing is True or thing in ("True", 1)
    if isinstance(thing, str):
        return str(wanted) in thing
    return type(thing) is type(wanted) and thing == wanted


@pytest.mark.parametrize(("root", "route", "field"), CASES)
def test_a_field_lands_in_the_model(root: str, route: Route, field: FieldDescriptor) -> None:
    message, wanted = write_message(root, route, field)
    model = read_caffe2(Parts(Source("<test>", b""), message))
    assert any(is_found(thing, wanted) for thing in everything_in(model))


def describe_all(model: Model) -> str:
    """Return the inspector's text of everything in a model."""
    texts = [format_text(describe_element(model, model))]
    for graph in model.graphs:
        elements = [graph, *graph.nodes, *graph.values.values(), *graph.initializers]
        texts += [format_text(describe_element(model, element)) for element in elements]
        owned = [attribute for node in graph.nodes for attribute in node.attributes.values()]
        owned += graph.net.arguments.values() if graph.net is not None else ()
        for attribute in owned:
            held = attribute.value if isinstance(attribute.value, tuple) else (attribute.value,)
            texts += [
                format_text(describe_path(model, entry.path))
                for entry in held
                if isinstance(entry, Tensor)
            ]
    return "\n".join(texts)


@pytest.mark.parametrize(("root", "route", "field"), CASES)
def test_a_field_is_told_by_the_inspector(root: str, route: Route, field: FieldDescriptor) -> None:
    message, wanted = write_message(root, route, field)
    if field.name in ELEMENTS:
        pytest.skip("elements are told by statistics and histograms, not by the inspector's text")
    text = describe_all(read_caffe2(Parts(Source("<test>", b""), message)))
    if isinstance(wanted, bytes):
        assert "wanted" in text
    elif not isinstance(wanted, bool):
        assert str(wanted) in text.replace(",", "")


def test_the_cases_cover_every_message_of_the_schema() -> None:
    reached = {name_of(descriptor) for _, _, descriptor in routes()}
    defined = set()
    pending = list(caffe2_pb2.DESCRIPTOR.message_types_by_name.values())
    while pending:
        descriptor = pending.pop()
        defined.add(name_of(descriptor))
        pending += descriptor.nested_types
    assert reached == defined - NOT_REACHED
