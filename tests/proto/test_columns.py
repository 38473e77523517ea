"""Columns hold what the messages say one by one, however the bytes are written."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from netloupe.proto import columns as columns_module
from netloupe.proto import onnx_pb2
from netloupe.proto.columns import GraphColumns, read_columns
from netloupe.proto.presence import Glance
from tests.wire_writer import field

NAMES = st.text(max_size=200) | st.sampled_from(["", "x", "é", "x" * 127, "x" * 20_000])


def columns_of(model: bytes) -> GraphColumns | None:
    try:
        count = len(onnx_pb2.ModelProto.FromString(model).graph.node)
    except DecodeError:
        count = 1
    return read_columns(Glance(model), model, count)


def operands(names: list[str], counts: list[int]) -> list[list[str]]:
    return [names[start:end] for start, end in pairwise(accumulate(counts, initial=0))]


def assert_equal(found: GraphColumns | None, graph: onnx_pb2.GraphProto) -> None:
    assert found is not None
    assert found.names == [node.name for node in graph.node]
    assert found.op_types == [node.op_type for node in graph.node]
    assert found.domains == [node.domain for node in graph.node]
    assert operands(found.inputs, found.input_counts) == [list(n.input) for n in graph.node]
    assert operands(found.outputs, found.output_counts) == [list(n.output) for n in graph.node]
    assert found.info_names == [info.name for info in graph.value_info]


@st.composite
def graphs(draw: st.DrawFn) -> onnx_pb2.GraphProto:
    graph = onnx_pb2.GraphProto()
    for _ in range(draw(st.integers(0, 30))):
        node = graph.node.add(
            input=draw(st.lists(NAMES, max_size=4)), output=draw(st.lists(NAMES, max_size=3))
        )
        for name in ("name", "op_type", "domain", "doc_string"):
            if draw(st.booleans()):
                setattr(node, name, draw(NAMES))
        if draw(st.booleans()):
            node.attribute.add(name="to", i=draw(st.integers(-5, 2**40)))
        if draw(st.booleans()):
            node.metadata_props.add(key="k", value=draw(NAMES))
    for name in draw(st.lists(NAMES, max_size=5)):
        graph.value_info.add(name=name, doc_string="of it")
    return graph


@given(graphs(), st.sampled_from([1, 24]))
def test_columns_are_what_the_messages_say(graph: onnx_pb2.GraphProto, least: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns_module, "_LEAST_ROWS", least)
        found = columns_of(onnx_pb2.ModelProto(graph=graph).SerializeToString())
    assert_equal(found, graph)


def model_of(*nodes: bytes, rest: bytes = b"") -> bytes:
    return field(7, b"".join(field(1, node) for node in nodes) + rest)


NODE = field(1, b"x") + field(2, b"y") + field(3, b"n") + field(4, b"Relu")


@pytest.mark.parametrize("count", [1, 40])
@pytest.mark.parametrize(
    "data",
    [
        NODE,
        # any order, also of the two lists
        field(4, b"Add") + field(2, b"y") + field(1, b"a") + field(2, b"z") + field(1, b"b"),
        field(5, b"") + NODE,
        # a length that is written longer than needed
        b"\x0a\x81\x80\x00x" + field(4, b"Relu"),
        b"",
    ],
)
def test_other_ways_to_write_nodes(data: bytes, count: int) -> None:
    model = model_of(NODE, *[data] * count, NODE)
    assert_equal(columns_of(model), onnx_pb2.ModelProto.FromString(model).graph)


def test_other_ways_to_write_a_graph() -> None:
    infos = field(13, field(3, b"the name comes later") + field(1, b"x"))
    others = field(5, b"") + field(2, b"g") + field(3, b"\x01", wire=0) + field(4, b"abcd", wire=5)
    model = field(8, b"") + field(1, b"\x08", wire=0) + model_of(NODE, rest=others + infos)
    model += field(1, b"8 bytes.", wire=1)
    assert_equal(columns_of(model), onnx_pb2.ModelProto.FromString(model).graph)
    model = model_of(NODE) + model_of(NODE, rest=others + field(1, NODE) + infos + field(1, b""))
    assert_equal(columns_of(model), onnx_pb2.ModelProto.FromString(model).graph)


def test_what_is_no_message() -> None:
    assert read_columns(Glance(b"\x3a\xff"), b"\x3a\xff", 0) is None


@pytest.mark.parametrize("count", [1, 40])
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(field(3, b"a") + field(3, b"b"), id="two names"),
        pytest.param(field(1, b"\xff"), id="no UTF-8"),
        pytest.param(field(20, b"later") + NODE, id="a high number"),
        pytest.param(field(6, b"\x01", wire=0) + NODE, id="a number"),
        pytest.param(field(6, b"abcd", wire=5) + NODE, id="four bytes"),
        pytest.param(field(6, b"", wire=3) + field(6, b"", wire=4) + NODE, id="a group"),
        pytest.param(b"\x0a\x05x", id="cut short"),
    ],
)
def test_what_is_better_read_one_by_one(data: bytes, count: int) -> None:
    # one has two names, others have none: the sum is as it should be
    assert columns_of(model_of(*[data] * count, *[field(1, b"x")] * count)) is None


@pytest.mark.parametrize(
    "infos",
    [
        pytest.param([field(1, b"a") + field(1, b"b"), b""], id="two names and none"),
        pytest.param([field(1, b"a") + field(1, b"b")], id="two names"),
        pytest.param([field(1, b"a"), field(3, b"doc")], id="no name"),
    ],
)
def test_infos_that_are_better_read_one_by_one(infos: list[bytes]) -> None:
    rest = b"".join(field(13, info) for info in infos)
    assert columns_of(model_of(NODE, rest=rest)) is None


def test_another_number_of_nodes() -> None:
    assert read_columns(Glance(model_of(NODE)), model_of(NODE), 2) is None


def test_a_node_of_many_operands_takes_no_time_of_its_own() -> None:
    many = [str(number) for number in range(200_000)]
    model = onnx_pb2.ModelProto()
    model.graph.node.add(op_type="Concat", input=many, output=["y"])
    assert_equal(columns_of(model.SerializeToString()), model.graph)
