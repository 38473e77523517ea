"""Presence: what is used anywhere in a model is told from the bytes, and nothing is overlooked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netloupe.proto import onnx_pb2
from netloupe.proto.presence import Glance, Presence

NOTHING = Presence(False, False, False, False, False, False)


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
    assert present(lambda model: None) == NOTHING


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
    assert present(fill) == Presence(True, True, True, True, True, True)


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
    assert present(fill) == NOTHING._replace(denotations=True)


def test_domains_and_overloads() -> None:
    def name(model: Any) -> None:
        node(model).domain = "local"
        model.graph.node[2].domain = ""  # the last that is stated must not hide the one before

    assert present(name) == NOTHING._replace(domains=True)
    assert present(lambda m: setattr(node(m), "overload", "o")) == NOTHING._replace(overloads=True)
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
    assert present(fill) == NOTHING._replace(attributes=True)


def fill_info(info: Any) -> None:
    """State everything of a value that there is to state, apart from what its type is."""
    info.name, info.doc_string = "v", "doc"
    info.metadata_props.add(key="key", value="value")


def list_types(info: Any) -> list[Any]:
    """Return the types that a value may have, each with all that can be stated of it."""
    tensor, sparse, opaque = (type(info.type)() for _ in range(3))
    for stated in (tensor.tensor_type, sparse.sparse_tensor_type):
        stated.elem_type = 2**31 - 1
        stated.shape.dim.add(dim_value=2**63 - 1, denotation="DATA_BATCH")
        stated.shape.dim.add(dim_param="batch")
    opaque.opaque_type.domain, opaque.opaque_type.name = "domain", "name"
    inside = []
    for kind in ("sequence_type", "optional_type"):
        outer = type(info.type)(denotation="TEXT")
        getattr(outer, kind).elem_type.CopyFrom(tensor)
        inside.append(outer)
    outer = type(info.type)()
    outer.map_type.key_type = 8
    outer.map_type.value_type.CopyFrom(sparse)
    return [tensor, sparse, opaque, *inside, outer]


@pytest.mark.parametrize("number", range(6))
def test_what_the_schema_knows_of_values_is_not_unknown(number: int) -> None:
    def fill(model: Any) -> None:
        info = model.graph.value_info[1]
        fill_info(info)
        info.type.CopyFrom(list_types(info)[number])

    assert not present(fill).unknown_infos


@pytest.mark.parametrize(
    "choose",
    [
        lambda m: m.graph.value_info[1],
        lambda m: m.graph.input.add(),
        lambda m: m.functions[1].value_info.add(),
        lambda m: m.training_info[1].algorithm.output.add(),
        lambda m: m.graph.value_info[1].metadata_props.add(),
        lambda m: m.graph.value_info[1].type,
        lambda m: m.graph.value_info[1].type.tensor_type,
        lambda m: m.graph.value_info[1].type.tensor_type.shape,
        lambda m: m.graph.value_info[1].type.tensor_type.shape.dim[0],
        lambda m: m.graph.value_info[1].type.opaque_type,
        lambda m: m.graph.value_info[1].type.map_type.value_type.sparse_tensor_type,
        lambda m: m.graph.value_info[1].type.sequence_type.elem_type.optional_type,
    ],
)
def test_unknown_fields_of_what_is_said_of_values(choose: Callable[[Any], Any]) -> None:
    def fill(model: Any) -> None:
        message = choose(model)
        message.SetInParent()
        message.MergeFromString(b"\xf8\x3f\x01")  # field 1023

    assert present(fill) == NOTHING._replace(unknown_infos=True)


def test_unknown_fields_of_nodes_are_none_of_values() -> None:
    assert present(lambda m: node(m).MergeFromString(b"\xf8\x3f\x01")) == NOTHING


def test_bytes_that_are_no_message() -> None:
    assert Glance(b"\x3a\xff").presence == Presence(True, True, True, True, True, True)
