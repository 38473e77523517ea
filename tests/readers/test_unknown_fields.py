"""What a newer writer adds to any message is shown with the element concerned."""

from __future__ import annotations

import json
from typing import Any

import pytest

from netloupe.explorer.describe import describe_path, to_json
from netloupe.explorer.model import Model
from netloupe.explorer.model.unknown import UnknownField
from netloupe.explorer.readers.caffe2.model import read_caffe2
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.protobuf import parts, unknown_fields
from netloupe.explorer.readers.protobuf.parts import Parts
from netloupe.explorer.readers.protobuf.unknown_fields import MOST_LISTED, find_unknown_fields
from netloupe.explorer.readers.source import Source
from netloupe.proto import caffe2_pb2, onnx_pb2
from netloupe.proto.wire import encode_varint
from tests.every_field import Route, list_descriptions, list_routes

TITLE = "Fields that the schema does not know"
NUMBER = 7_001

ONNX_ROUTES = [
    pytest.param(route, id=".".join(("ModelProto", *route)))
    for _, route, _ in list_routes(onnx_pb2, ("ModelProto",))
]
#: other outermost messages are only recognized without such fields, as they would be anything
CAFFE2_ROOTS = ("NetDef", "PlanDef")
CAFFE2_ROUTES = [
    pytest.param(root, route, id=".".join((root, *route)))
    for root, route, _ in list_routes(caffe2_pb2, CAFFE2_ROOTS)
    if route or root == "NetDef"
]


def encode_field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return encode_varint(number << 3) + encode_varint(value)
    return encode_varint(number << 3 | 2) + encode_varint(len(value)) + value


def add_unknown(outermost: Any, route: Route) -> None:
    """Add two unknown fields to the message that a route leads to."""
    message = outermost
    for name in route:
        target = getattr(message, name)
        message = target.add() if hasattr(target, "add") else target
        message.SetInParent()
    message.MergeFromString(encode_field(NUMBER, 40961) + encode_field(NUMBER + 1, b"wanted"))


def list_shown(model: Model) -> list[tuple[str, str, str]]:
    """Return name, value and note of the rows about unknown fields."""
    return [
        (row.name, row.value, row.note)
        for description in list_descriptions(model)
        for section in description.sections
        if section.title.endswith(TITLE)
        for row in section.rows
    ]


def check(model: Model) -> None:
    shown = list_shown(model)
    first = [row for row in shown if row[0].endswith(f"field {NUMBER}")]
    second = [row for row in shown if row[0].endswith(f"field {NUMBER + 1}")]
    assert first
    assert second
    assert {row[1:] for row in first} == {("40961", "varint")}
    assert {row[1:] for row in second} == {('"wanted"', "length-delimited, 6 bytes")}


@pytest.mark.parametrize("scanned", [False, True], ids=["whole", "scanned"])
@pytest.mark.parametrize("route", ONNX_ROUTES)
def test_in_every_message_of_onnx(
    route: Route, scanned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if scanned:
        monkeypatch.setattr(parts, "WHOLE_BYTES", 0)
        monkeypatch.setattr(parts, "SMALL_MESSAGE_BYTES", 1)
    model = onnx_pb2.ModelProto(ir_version=10)
    model.graph.name = "main"
    add_unknown(model, route)
    check(load(model.SerializeToString()))


@pytest.mark.parametrize(("root", "route"), CAFFE2_ROUTES)
def test_in_every_message_of_caffe2(root: str, route: Route) -> None:
    message = getattr(caffe2_pb2, root)()
    add_unknown(message, route)
    check(read_caffe2(Parts(Source("<test>", b""), message)))


def test_a_net_with_unknown_fields_is_still_recognized() -> None:
    net = caffe2_pb2.NetDef(name="net")
    net.op.add(type="Relu", input=["x"], output=["y"]).arg.add(name="a")
    add_unknown(net, ())
    net.op[0].arg[0].MergeFromString(encode_field(NUMBER, 5))
    model = load(net.SerializeToString())
    assert model.format == "Caffe2"
    names = [name for name, _, _ in list_shown(model)]
    assert f"field {NUMBER}" in names
    assert f"arg[0]: field {NUMBER}" in names


def test_the_place_within_the_element_is_told() -> None:
    model = onnx_pb2.ModelProto(ir_version=10)
    info = model.graph.input.add(name="x")
    info.type.tensor_type.shape.dim.add()
    dim = info.type.tensor_type.shape.dim.add()
    dim.MergeFromString(encode_field(NUMBER, 3))
    node = model.graph.node.add(op_type="Relu", input=["x"], output=["y"])
    node.attribute.add(name="a").MergeFromString(encode_field(NUMBER, b"\xff\x00"))
    loaded = load(model.SerializeToString())
    assert [str(name) for name, _, _ in list_shown(loaded)] == [
        f"attribute[0]: field {NUMBER}",
        f"type.tensor_type.shape.dim[1]: field {NUMBER}",
    ]
    assert loaded.graph.values["x"].unknown_fields == (
        UnknownField("type.tensor_type.shape.dim[1]", NUMBER, "varint", 3),
    )
    told = json.loads(json.dumps(to_json(describe_path(loaded, "main/%x"))))
    assert told["unknown_fields"][0]["number"] == NUMBER
    told = to_json(describe_path(loaded, loaded.graph.nodes[0].path))
    assert told["unknown_fields"][0]["value"] == {"base64": "/wA="}


def test_groups_and_fixed_numbers() -> None:
    model = onnx_pb2.ModelProto(ir_version=10)
    group = encode_varint(NUMBER << 3 | 3) + encode_field(1, 1) * 2 + encode_varint(NUMBER << 3 | 4)
    fixed = (
        encode_varint(NUMBER << 3 | 5) + b"\1\0\0\0" + encode_varint(NUMBER << 3 | 1) + b"\2" * 8
    )
    model.graph.MergeFromString(group + fixed)
    assert [(value, note) for _, value, note in list_shown(load(model.SerializeToString()))] == [
        ("2 fields", "group"),
        ("1", "fixed32"),
        (str(int.from_bytes(b"\2" * 8, "little")), "fixed64"),
    ]


def test_what_the_scanner_leaves_in_a_message_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parts, "WHOLE_BYTES", 0)
    monkeypatch.setattr(parts, "SMALL_MESSAGE_BYTES", 1)
    model = onnx_pb2.ModelProto(ir_version=10)
    model.graph.initializer.add(name="w", data_type=1, dims=[2], raw_data=bytes(8))
    branch = model.graph.node.add(op_type="If").attribute.add(name="then_branch", type=5)
    branch.g.name = "inner"
    loaded = load(model.SerializeToString())
    assert loaded.graph.initializers[0].numpy().tolist() == [0, 0]
    assert list_shown(loaded) == []
    assert loaded.graph.initializers[0].unknown_fields == ()


def test_an_enum_number_of_a_newer_schema_is_no_unknown_field() -> None:
    model = onnx_pb2.ModelProto(ir_version=10)
    attribute = model.graph.node.add(op_type="Relu").attribute.add(name="a")
    attribute.MergeFromString(encode_field(20, 99))
    loaded = load(model.SerializeToString())
    assert list_shown(loaded) == []
    assert loaded.graph.nodes[0].attributes["a"].kind == "unknown(99)"


def test_their_number_is_bounded() -> None:
    model = onnx_pb2.ModelProto(ir_version=10)
    model.graph.MergeFromString(encode_field(NUMBER, 1) * (MOST_LISTED + 500))
    assert len(find_unknown_fields(model.graph)) == MOST_LISTED
    assert list_shown(load(model.SerializeToString()))[-1][:2] == ("…", "800 more")


def test_among_very_many_messages_each_with_unknown_fields_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node = onnx_pb2.NodeProto(op_type="Own")
    node.attribute.extend([onnx_pb2.AttributeProto(name=f"a{n}", type=2, i=n) for n in range(3500)])
    for place in (7, 2200, 3499):
        node.attribute[place].MergeFromString(encode_field(NUMBER, place))
    looked: list[str] = []
    look = unknown_fields._list_unknown
    monkeypatch.setattr(
        unknown_fields,
        "_list_unknown",
        lambda place, *rest: looked.append(place) or look(place, *rest),
    )
    found = find_unknown_fields(node)
    assert [(field.place, field.value) for field in found] == [
        (f"attribute[{place}]", place) for place in (7, 2200, 3499)
    ]
    assert not any(f"attribute[{place}]" in looked for place in (1000, 1999))
