"""Every container of a model: text, JSON, ONNX text, gzip, and messages that stand alone."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest
from google.protobuf import json_format, text_format
from hypothesis import example, given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from netloupe.explorer.errors import ModelFormatError, NetloupeError
from netloupe.explorer.model import Model
from netloupe.explorer.readers.containers import unpack_gzip
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.text.protobuf_json import convert_json, load_json
from netloupe.explorer.readers.text.protobuf_text import TextError, parse_text, unescape
from netloupe.proto import onnx_pb2
from tests.corpus import LIGHT_MODELS, light_file
from tests.wire_writer import field

TEXT = """<ir_version: 8, opset_import: ["" : 18]>
g (float[N] x) => (float[N] y) { y = Relu(x) }
"""
PROTO = onnx.parser.parse_model(TEXT)
BINARY = PROTO.SerializeToString()
FORMS = {
    "protobuf": BINARY,
    "protobuf text": text_format.MessageToString(PROTO).encode(),
    "protobuf JSON": json_format.MessageToJson(PROTO).encode(),
    "ONNX text": TEXT.encode(),
}


def is_the_model(model: Model) -> bool:
    return [node.op_type for node in model.graph.nodes] == ["Relu"] and model.ir_version == 8


def what_is_said(data: bytes) -> str:
    """Return the warnings of what opens, or why it does not."""
    try:
        return " ".join(warning.message for warning in load(data).all_warnings())
    except NetloupeError as error:
        return str(error)


@pytest.mark.parametrize("form", FORMS)
def test_every_container_opens_whatever_its_name(form: str, tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(FORMS[form])
    model = load(path)
    assert is_the_model(model)
    assert model.container == form
    assert not list(model.all_warnings())


@pytest.mark.parametrize("form", FORMS)
def test_every_container_opens_in_gzip(form: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(gzip.compress(FORMS[form]))
    model = load(path)
    assert is_the_model(model)
    assert model.container == f"{form} in gzip"
    assert model.source == str(path)
    assert model.folder == tmp_path.resolve()


@pytest.mark.parametrize("form", ["protobuf text", "protobuf JSON", "ONNX text"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks(form: str, encoding: str) -> None:
    assert is_the_model(load(FORMS[form].decode().encode(encoding)))


# protobuf text


def parse(text: str | bytes) -> Any:
    data = text.encode() if isinstance(text, str) else text
    return onnx_pb2.ModelProto.FromString(parse_text(data, onnx_pb2.ModelProto.DESCRIPTOR).data)


@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_text_and_json_say_what_the_binary_form_says(name: str) -> None:
    data = light_file(name).read_bytes()
    proto = onnx.ModelProto.FromString(data)
    descriptor = onnx_pb2.ModelProto.DESCRIPTOR
    expected = onnx_pb2.ModelProto.FromString(data)
    text = text_format.MessageToString(proto).encode()
    assert onnx_pb2.ModelProto.FromString(parse_text(text, descriptor).data) == expected
    for keep in (True, False):
        written = json_format.MessageToJson(proto, preserving_proto_field_name=keep).encode()
        encoded = convert_json(load_json(written), descriptor)
        assert onnx_pb2.ModelProto.FromString(encoded.data) == expected
        assert encoded.unknown == ()


def test_the_grammar_of_text() -> None:
    proto = parse(
        """# a comment
        ir_version: 0x0A; producer_name: 'two ' "parts"   # adjacent strings are one
        model_version: -3,
        graph < name: "g" initializer { dims: [2, 010] data_type: 1
          float_data: [1.5f, -inf, nan, 1e-3, .5] float_data: 2
          float_data: 3
          float_data: 4 }
          node [ {op_type: "A"}, < op_type: "B" attribute { name: "a" type: INTS ints: 7 } > ] >
        """
    )
    assert (proto.ir_version, proto.producer_name, proto.model_version) == (10, "two parts", -3)
    tensor = proto.graph.initializer[0]
    assert list(tensor.dims) == [2, 8]
    assert str(list(tensor.float_data)) == str(
        [1.5, float("-inf"), float("nan"), 0.0010000000474974513, 0.5, 2.0, 3.0, 4.0]
    )
    assert [node.op_type for node in proto.graph.node] == ["A", "B"]
    assert proto.graph.node[1].attribute[0].type == onnx_pb2.AttributeProto.INTS


def test_what_protobufs_own_parser_refuses() -> None:
    model = load(
        b'ir_version: 7 ir_version: 8 new_field { deep { x: 1 } y: "z" } graph { name: "g" '
        b'output { name: "y" } node { op_type: "Relu" name: "\xff" output: "y" '
        b'attribute { name: "a" type: 99 i: 3 } attribute { name: "b" type: FLOATY f: 1 } } }'
    )
    node = model.graph.nodes[0]
    assert model.ir_version == 8
    assert node.name == "\\xff"
    assert node.attributes["a"].kind == "unknown(99)"
    assert node.attributes["b"].value == 1
    messages = " ".join(map(str, model.all_warnings()))
    assert "ModelProto.new_field, AttributeType.FLOATY" in messages
    assert "not UTF-8" in messages


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (rb"\a\b\f\n\r\t\v\\\'\"", b"\a\b\f\n\r\t\v\\'\""),
        (rb"\377\0\18\x41\xF", b"\xff\x00\x018A\x0f"),
        (rb"\?\u00e9\U0001F642", "?é🙂".encode()),
        (rb"\\u00e9\\N{DASH}\400", rb"\u00e9\N{DASH}" + b" 0"),
        ("é".encode() + b"\xff", "é".encode() + b"\xff"),
    ],
)
def test_escapes(written: bytes, meant: bytes) -> None:
    assert unescape(written) == meant


@given(st.binary(max_size=60))
@example(b"\\\\x00\\")
def test_strings_survive_being_written_as_text(data: bytes) -> None:
    proto = onnx.ModelProto()
    proto.graph.initializer.add().raw_data = data
    assert parse(text_format.MessageToString(proto)).graph.initializer[0].raw_data == data


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ir_version: 8\ngraph {\n", "line 2: the text ends inside what line 2 begins"),
        ('ir_version: 8\n\ngraph { name: "g }\n', "line 3: 'name"),
        ("ir_version: 8\ngraph: 5", "line 2: graph is a message"),
        ("graph { name { } }", "line 1: name is no message"),
        ("ir_version: eight", "line 1: 'eight' is no whole number"),
        ("ir_version: 9223372036854775808", "ir_version cannot be"),
        (f"ir_version: {'9' * 5000}", "no whole number"),
        ("graph { ] }", "line 1: '] }' is not understood"),
        ("graph { initializer { dims: [[1]] } }", "not understood"),
    ],
)
def test_errors_name_the_line(text: str, reason: str) -> None:
    with pytest.raises(TextError) as caught:
        parse(text)
    assert reason in str(caught.value)
    with pytest.raises(ModelFormatError, match=r"^<bytes>: .*[^\n]*\.$"):
        load(text.encode())


@given(st.binary(max_size=200))
def test_damaged_text_is_refused_in_one_line(noise: bytes) -> None:
    data = FORMS["protobuf text"]
    for form in (data[: len(noise)] + noise + data[len(noise) :], data[: len(noise)] + noise):
        assert "\n" not in what_is_said(form)


# nesting


def nested_text(depth: int) -> bytes:
    inner = 'node { op_type: "If" attribute { name: "then_branch" type: GRAPH g { '
    return f"ir_version: 8 graph {{ {inner * depth} {'} } }' * depth} }}".encode()


def test_deep_text_opens() -> None:
    assert len(load(nested_text(200)).graphs) == 201


@pytest.mark.parametrize(
    "data",
    [
        nested_text(20_000),
        b'{"graph": ' + b'{"node": [' * 100_000 + b"]}" * 100_000 + b"}",
        b'{"irVersion": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b"ir_version: 8 unknown " + b"{ x " * 100_000 + b"}" * 100_000 + b" graph {}}",
        TEXT.replace("Relu(x)", "If(x) <b = t () => (y) { y = " * 20_000).encode(),
        TEXT.replace("Relu(x)", "If(x) <b = t () => (y) { y = " * 60 + "A(x)" + "}>" * 60).encode(),
    ],
)
def test_deeper_than_the_limits_is_a_clear_error(data: bytes) -> None:
    limit = sys.getrecursionlimit()
    with pytest.raises(ModelFormatError) as caught:
        load(data)
    assert str(caught.value).startswith("<bytes>: ")
    assert sys.getrecursionlimit() == limit


# protobuf JSON


def test_the_forms_of_json_values() -> None:
    value = {
        "ir_version": 8.0,
        "modelVersion": "-3",
        "producerName": None,
        "graph": {
            "name": "g",
            "initializer": [
                {"dims": ["2"], "dataType": 1, "float_data": ["NaN", "-Infinity", 1.5, "2"]},
                {"rawData": "_-8", "data_location": "EXTERNAL"},
            ],
            "node": [{"attribute": [{"type": 99}, {"type": "INT"}, {"type": "NEW"}]}],
        },
        "later": {"x": [1]},
    }
    encoded = convert_json(value, onnx_pb2.ModelProto.DESCRIPTOR)
    proto = onnx_pb2.ModelProto.FromString(encoded.data)
    assert (proto.ir_version, proto.model_version, proto.producer_name) == (8, -3, "")
    numbers, raw = proto.graph.initializer
    assert str(list(numbers.float_data)) == "[nan, -inf, 1.5, 2.0]"
    assert raw.raw_data == b"\xff\xef"
    assert raw.data_location == onnx_pb2.TensorProto.EXTERNAL
    assert [a.type for a in proto.graph.node[0].attribute] == [0, 2, 0]
    assert encoded.unknown == ("AttributeType.NEW", "ModelProto.later")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'{"irVersion": "8",\n "graph": ', "line 2"),
        (b'{"irVersion": "eight", "graph": {}}', "ir_version cannot be 'eight'"),
        (b'{"irVersion": 1.5, "graph": {}}', "ir_version cannot be 1.5"),
        (b'{"irVersion": 1e400, "graph": {}}', "ir_version cannot be inf"),
        (b'{"irVersion": ' + b"9" * 5000 + b', "graph": {}}', "too long"),
        (b'{"graph": []}', "holds no graph"),
        (b'{"graph": [1]}', "graph is a int, not an object"),
        (b'{"graph": {"initializer": [{"rawData": "*"}]}}', "raw_data cannot be '*'"),
        (b'[{"graph": {}}]', "a JSON list"),
        (b'{"tokens": [], "merges": []}', "is JSON, but no model: it begins with merges, tokens"),
        (b"{}", "begins with nothing"),
    ],
)
def test_json_that_is_no_model(text: bytes, reason: str) -> None:
    with pytest.raises(ModelFormatError) as caught:
        load(text)
    assert reason in str(caught.value)


def test_json_strings_that_are_not_utf8() -> None:
    data = b'{"graph": {"node": [{"name": "\xff", "opType": "\\ud800"}]}}'
    node = load(data).graph.nodes[0]
    assert node.name == "\\xff"
    data = data.replace(b'"opType"', b'"attribute": [{"type": "\xff"}], "opType"')
    assert "AttributeType.\\xff" in what_is_said(data)
    assert node.op_type == "\\xed\\xa0\\x80"


# ONNX text


def test_onnx_text_without_the_onnx_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx.parser", None)
    with pytest.raises(ModelFormatError, match=r"pip install onnx"):
        load(TEXT.encode())


def test_onnx_text_with_an_error() -> None:
    with pytest.raises(ModelFormatError, match=r"line 2, column \d+: Expected character \) not"):
        load(TEXT.replace("(x) }", "(x }").encode())
    with pytest.raises(ModelFormatError, match="not UTF-8"):
        load(TEXT.encode() + b"# \xff")


# gzip


def test_gzip_members_follow_each_other() -> None:
    half = len(BINARY) // 2
    data = gzip.compress(BINARY[:half]) + gzip.compress(BINARY[half:]) + bytes(100)
    assert unpack_gzip(data, "x") == BINARY


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (gzip.compress(BINARY)[:-12], "cut short"),
        (gzip.compress(BINARY)[:5], "cut short"),
        (b"\x1f\x8b\x08\x00" + b"\xff" * 60, "damaged"),
        (gzip.compress(gzip.compress(BINARY)), "gzip within gzip"),
        (gzip.compress(b""), "is empty"),
        (gzip.compress(b"hello"), "unpacked from gzip.*is text"),
    ],
    # of the bytes pytest would make names that hold the time
    ids=["without its end", "its beginning", "noise", "twice", "of nothing", "of a text"],
)
def test_gzip_that_holds_no_model(data: bytes, reason: str) -> None:
    with pytest.raises(ModelFormatError, match=reason):
        load(data)


def test_a_gzip_bomb_is_refused() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(2**20)) for _ in range(200)) + packer.flush()
    with pytest.raises(ModelFormatError, match=r"unpacks to more than 67\.1 MB from .* kB"):
        load(bomb)


# messages that stand alone


def test_a_lone_tensor() -> None:
    tensor = helper.make_tensor("t", TensorProto.FLOAT, [2, 2], [1, 2, 3, 4])
    for data in (tensor.SerializeToString(), text_format.MessageToString(tensor).encode()):
        model = load(data)
        assert model.format == "ONNX TensorProto"
        assert not model.graph.nodes
        assert model.graph.initializers[0].numpy().tolist() == [[1, 2], [3, 4]]
        assert not list(model.all_warnings())


@pytest.mark.parametrize("name", ["", "input_0"])
@pytest.mark.parametrize("code", [1, 2, 7, 8, 10, 14, 16])
def test_lone_tensors_of_many_types(code: int, name: str) -> None:
    values: list[Any] = [b"a", b"b"] if code == TensorProto.STRING else [1, 0]
    tensor = helper.make_tensor(name, code, [2], values)
    assert load(tensor.SerializeToString()).format == "ONNX TensorProto"


def test_a_lone_graph_and_a_lone_function() -> None:
    graph = load(PROTO.graph.SerializeToString())
    assert graph.format == "ONNX GraphProto"
    assert [node.op_type for node in graph.graph.nodes] == ["Relu"]
    node = helper.make_node("Relu", ["x"], ["y"])
    opsets = [helper.make_opsetid("", 18)]
    function = helper.make_function("local", "F", ["x"], ["y"], [node], opsets)
    model = load(function.SerializeToString())
    assert model.format == "ONNX FunctionProto"
    assert [node.op_type for node in model.functions[0].nodes] == ["Relu"]


# what is odd about the whole file


def test_two_models_in_one_file() -> None:
    first = next(load(BINARY + BINARY).all_warnings())
    assert first.path == "model"
    assert "ir_version, graph more than once" in first.message


def test_fields_of_a_later_version() -> None:
    warnings = [warning.message for warning in load(BINARY + b"\xf8\x07\x01").warnings]
    assert warnings == ["the file has fields that the schema does not know: 127"]


@pytest.mark.parametrize("length", range(1, len(BINARY)))
def test_a_file_that_is_cut_short(length: int) -> None:
    assert "\n" not in what_is_said(BINARY[:length])


_NODE_DEF = field(1, b"x") + field(2, b"Placeholder") + field(5, field(1, b"T") + field(2, b""))
FOREIGN: dict[str, Callable[[], bytes]] = {
    "TensorFlow GraphDef": lambda: field(1, _NODE_DEF) * 2 + field(4, b"\x08\x16"),
    "TensorFlow SavedModel": lambda: b"\x08\x01" + field(2, field(2, field(1, _NODE_DEF))),
    "Core ML model": lambda: b"\x08\x04" + field(2, b"") + field(500, b""),
    "Caffe .not Caffe2. network": lambda: field(1, b"net") + field(100, field(1, b"conv")),
    "Caffe .not Caffe2": lambda: b'name: "net"\nlayer { name: "conv" type: "Convolution" }\n',
    "a TensorFlow Gr": lambda: b'node { name: "x" op: "Placeholder" }\nversions { producer: 22 }\n',
    "Keras model": lambda: json.dumps({"class_name": "Sequential", "config": {}}).encode(),
    "MXNet": lambda: json.dumps({"nodes": [], "arg_nodes": [], "heads": []}).encode(),
    "Jupyter notebook": lambda: json.dumps({"cells": [], "nbformat": 4}).encode(),
    "safetensors files": lambda: json.dumps({"metadata": {}, "weight_map": {}}).encode(),
    "tar archive": lambda: b"model.onnx".ljust(257, b"\0") + b"ustar\x0000" + bytes(250),
    "7-Zip": lambda: b"7z\xbc\xaf\x27\x1c" + bytes(40),
    "xz-compressed": lambda: b"\xfd7zXZ\x00" + bytes(40),
    "ELF": lambda: b"\x7fELF" + bytes(60),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_other_formats_are_named(what: str) -> None:
    with pytest.raises(ModelFormatError, match=what):
        load(FOREIGN[what]())


@given(st.binary(min_size=1, max_size=300))
def test_any_bytes_open_or_are_refused_in_one_line(data: bytes) -> None:
    assert "\n" not in what_is_said(data)
