"""Presence: what is used anywhere in a model is told from the bytes, and nothing is overlooked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netloupe.proto import onnx_pb2
from netloupe.proto.presence import Glance, Presence


def present(fill: Callable[[Any], None]) -> Presence:
    model = onnx_pb2.ModelProto(ir_version=8)
    # what is asked about is neither in the first nor in the last of its kind
    for _ in range(3):
        model.graph.node.add(op_type="Relu", input=["x"], output=["y"])
        info = model.graph.value_info.add(name="v")
        info.type.tensor_type.shape.dim.add(dim_value=3)
        function = model.functions.add(name="f")
        function.node.add(op_type="Relu")
        training = model.training_info.add()
        training.algorithm.node.add(op_type="Relu")
    fill(model)
    return Glance(model.SerializeToString()).presence


def node(model: Any) -> Any:
    return model.graph.node[1]


def test_a_flat_model_has_none_of_it() -> None:
    assert present(lambda model: None) == Presence(False, False, False, False, False)


@pytest.mark.parametrize(
    "fill",
    [
        lambda m: node(m).attribute.add().g.SetInParent(),
        lambda m: node(m).attribute.add().graphs.add(),
        lambda m: m.functions[1].node[0].attribute.add().g.SetInParent(),
        lambda m: m.functions[1].attribute_proto.add().graphs.add(),
        lambda m: m.training_info[1].algorithm.node[0].attribute.add().g.SetInParent(),
        lambda m: m.training_info[1].initialization.node.add().attribute.add().g.SetInParent(),
    ],
)
def test_subgraphs_hide_everything_else(fill: Callable[[Any], None]) -> None:
    assert present(fill) == Presence(True, True, True, True, True)


@pytest.mark.parametrize(
    "fill",
    [
        lambda m: setattr(m.graph.value_info[1].type, "denotation", "IMAGE"),
        lambda m: setattr(m.graph.input.add().type, "denotation", "IMAGE"),
        lambda m: setattr(m.graph.output.add().type, "denotation", "IMAGE"),
        lambda m: setattr(m.functions[1].value_info.add().type, "denotation", "IMAGE"),
        lambda m: setattr(
            m.graph.value_info[1].type.tensor_type.shape.dim[0], "denotation", "DATA_BATCH"
        ),
        lambda m: setattr(
            m.graph.value_info[1].type.sparse_tensor_type.shape.dim.add(), "denotation", "B"
        ),
        lambda m: setattr(
            m.graph.value_info[1].type.sequence_type.elem_type.optional_type.elem_type,
            "denotation",
            "TEXT",
        ),
        lambda m: setattr(m.graph.value_info[1].type.map_type.value_type, "denotation", "TEXT"),
        lambda m: setattr(m.training_info[1].algorithm.value_info.add().type, "denotation", "TEXT"),
    ],
)
def test_denotations(fill: Callable[[Any], None]) -> None:
    assert present(fill) == Presence(False, True, False, False, False)


def test_domains_and_overloads() -> None:
    def name(model: Any) -> None:
        node(model).domain = "local"
        model.graph.node[2].domain = ""  # the last that is stated must not hide the one before

    assert present(name) == Presence(False, False, True, False, False)
    assert present(lambda m: setattr(node(m), "overload", "o")) == Presence(
        False, False, False, True, False
    )
    assert present(lambda m: setattr(m.functions[1].node[0], "domain", "d")).domains


@pytest.mark.parametrize(
    "fill",
    [
        lambda m: node(m).attribute.add(name="a", i=1),
        lambda m: node(m).attribute.add(),
        lambda m: m.functions[1].node[0].attribute.add(name="a", i=1),
        lambda m: m.training_info[1].algorithm.node[0].attribute.add(name="a", i=1),
    ],
)
def test_attributes(fill: Callable[[Any], None]) -> None:
    assert present(fill) == Presence(False, False, False, False, True)


def test_bytes_that_are_no_message() -> None:
    assert Glance(b"\x3a\xff").presence == Presence(True, True, True, True, True)
