"""The types of very many values are told without reading what is said of each."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from netloupe.explorer.model import Value
from netloupe.explorer.model.value import list_types
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.picture import draw_picture
from netloupe.proto import onnx_pb2
from tests.hostile_models import graph_inputs, outputs


def model_of_many_types() -> bytes:
    """Return a model whose values have their types, or lack them, in every way there is."""
    model = onnx_pb2.ModelProto(ir_version=10)
    graph = model.graph
    graph.node.add(op_type="Concat", input=["a", "b", "w", "v", "none"], output=["y", "z"])
    for info, name, kind in (
        (graph.input, "a", 1),
        (graph.input, "b", 7),
        (graph.input, "w", 0),  # only its initializer has a type
        (graph.input, "twice", 1),
        (graph.output, "twice", 10),
        (graph.output, "y", 1),
        (graph.value_info, "z", 11),
    ):
        stated = info.add(name=name)
        if kind:
            stated.type.tensor_type.elem_type = kind
    graph.input.add(name="empty").type.Clear()
    graph.input[-1].type.SetInParent()
    for name, kind in (("w", 6), ("v", 9)):
        graph.initializer.add(name=name, data_type=kind, dims=[1], raw_data=b"1234")
    return model.SerializeToString()


@pytest.mark.parametrize("chosen", [slice(None), slice(1), slice(1, None), slice(None, None, 2)])
def test_the_types_of_many_are_those_of_each(chosen: slice) -> None:
    names = [value.name for value in load(model_of_many_types()).graph.values.values()][chosen]

    def values() -> list[Value]:
        return [load(model_of_many_types()).graph.values[name] for name in names]

    each = {repr(value.type) for value in values()}
    assert {repr(kind) for kind in list_types(values())} == each
    graph = load(model_of_many_types()).graph
    assert {repr(kind) for kind in list_types(map(graph.values.get, names))} == each


@pytest.mark.parametrize("make", [graph_inputs, outputs])
def test_a_picture_of_many_values_reads_little_of_each(make: Callable[[int], bytes]) -> None:
    model = load(make(2_000))
    assert "float32[2]" in draw_picture(model, "svg").decode()
    read = sum(value._place < 0 for value in model.graph.values.values())
    assert read < 20


def test_types_that_differ_are_counted_on_the_box() -> None:
    proto = onnx_pb2.ModelProto.FromString(graph_inputs(300))
    for number, info in enumerate(proto.graph.input):
        info.type.tensor_type.elem_type = 1 + number % 3
    assert "3 types" in draw_picture(load(proto.SerializeToString()), "svg").decode()
