"""Nothing of the ONNX schema is dropped: each field is set in turn and looked for in the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from google.protobuf.descriptor import FieldDescriptor

from netloupe.explorer.load import load
from netloupe.explorer.model import Model, Node, SparseTensor, Tensor, Value
from netloupe.proto import onnx_pb2

Route = tuple[str, ...]

#: fields whose number stands for a name: what is written, and what it becomes
NAMED_NUMBERS: dict[tuple[str, str], tuple[int, str]] = {
    ("AttributeProto", "type"): (9, "tensors"),
    ("TensorProto", "data_location"): (1, "external"),
    ("TensorProto", "data_type"): (4242, "unknown(4242)"),
    ("TypeProto.Tensor", "elem_type"): (4242, "unknown(4242)"),
    ("TypeProto.SparseTensor", "elem_type"): (4242, "unknown(4242)"),
    ("TypeProto.Map", "key_type"): (4242, "unknown(4242)"),
}


def name_of(descriptor: Any) -> str:
    name: str = descriptor.full_name
    return name.removeprefix("netloupe.onnx.")


def routes() -> Iterator[tuple[Route, Any]]:
    """Yield every way from ModelProto into a message by a field that was not used before."""
    seen: set[tuple[str, str]] = set()
    expanded: set[str] = set()
    pending: list[tuple[Route, Any]] = [((), onnx_pb2.ModelProto.DESCRIPTOR)]
    while pending:
        route, descriptor = pending.pop(0)
        yield route, descriptor
        if descriptor.full_name in expanded:
            continue
        expanded.add(descriptor.full_name)
        for field in descriptor.fields:
            step = (descriptor.full_name, field.name)
            if field.message_type is not None and step not in seen:
                seen.add(step)
                pending.append(((*route, field.name), field.message_type))


CASES = [
    pytest.param(route, field, id=".".join((*route, field.name)))
    for route, descriptor in routes()
    for field in descriptor.fields
    if field.message_type is None
]


def write_model(route: Route, field: FieldDescriptor) -> tuple[bytes, object]:
    """Return a model in which one field is set, and what has to be found."""
    model = onnx_pb2.ModelProto()
    model.graph.SetInParent()
    message: Any = model
    for name in route:
        target = getattr(message, name)
        if hasattr(target, "add"):
            message = target.add()
        else:
            target.SetInParent()
            message = target
    value, wanted = choose_value(field)
    if hasattr(getattr(message, field.name), "append"):
        getattr(message, field.name).append(value)
    else:
        setattr(message, field.name, value)
    return model.SerializeToString(), wanted


def choose_value(field: FieldDescriptor) -> tuple[Any, object]:
    named = NAMED_NUMBERS.get((name_of(field.containing_type), field.name))
    if named is not None:
        return named
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        if field.type == FieldDescriptor.TYPE_BYTES:
            return b"\xffwanted", b"\xffwanted"
        return "wanted", "wanted"
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
            if isinstance(thing, Value):
                pending += [thing.type, thing.doc, thing.metadata]
            if isinstance(thing, Tensor) and thing.external is None:
                pending.append(thing.payload())
            names = set(getattr(thing, "__dict__", ()))
            for kind in type(thing).__mro__:
                names.update(getattr(kind, "__slots__", ()))
            # the messages themselves hang on these: finding a value there proves nothing
            names -= {"_loader", "value_loader", "_fetch", "__weakref__"}
            pending += [getattr(thing, name, None) for name in names]


@pytest.mark.parametrize(("route", "field"), CASES)
def test_a_field_lands_in_the_model(route: Route, field: FieldDescriptor) -> None:
    data, wanted = write_model(route, field)
    model = load(data)
    found = [thing for thing in everything_in(model) if type(thing) is type(wanted)]
    assert any(
        thing == wanted or (isinstance(thing, str) and str(wanted) in thing.split("%"))
        for thing in found
    )


def test_the_cases_cover_every_message_of_the_schema() -> None:
    reached = {name_of(descriptor) for _, descriptor in routes()}
    defined = set()
    pending = list(onnx_pb2.DESCRIPTOR.message_types_by_name.values())
    while pending:
        descriptor = pending.pop()
        defined.add(name_of(descriptor))
        pending += descriptor.nested_types
    assert reached == defined


def test_sparse_tensors_of_attributes_hold_both_parts() -> None:
    proto = onnx_pb2.ModelProto()
    node = proto.graph.node.add(op_type="Constant")
    attribute = node.attribute.add(name="sparse_value", type=11)
    attribute.sparse_tensor.values.float_data.append(2.5)
    attribute.sparse_tensor.indices.int64_data.append(3)
    attribute.sparse_tensor.dims.append(5)
    value = load(proto.SerializeToString()).graph.nodes[0].attributes["sparse_value"].value
    assert isinstance(value, SparseTensor)
    assert value.indices is not None
    assert value.shape == (5,)
    assert value.indices.payload().kind == "typed"
