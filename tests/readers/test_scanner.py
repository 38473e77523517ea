"""The wire scanner: it finds what a parser finds, leaves the data behind, and cannot be led on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from netloupe.proto import onnx_pb2, scanner
from netloupe.proto.scanner import Scan, scan_message
from netloupe.proto.wire import NestingError, ScanError, SizeError
from tests.steps import count_steps
from tests.wire_writer import field, varint


def scan(data: bytes, small: int = 0, size: int | None = None) -> Scan:
    return scan_message(reader_of(data), len(data) if size is None else size, small)


def reader_of(data: bytes, sizes: list[int] | None = None) -> Callable[[int, int], bytes]:
    def read(length: int, offset: int) -> bytes:
        if sizes is not None:
            sizes.append(length)
        return data[offset : offset + length]

    return read


def parse(found: Scan) -> Any:
    return onnx_pb2.ModelProto.FromString(found.root)


def in_graph(content: bytes) -> bytes:
    return field(7, content)


def model_of(*tensors: TensorProto) -> bytes:
    graph = helper.make_graph([], "g", [], [], initializer=list(tensors))
    data: bytes = helper.make_model(graph).SerializeToString()
    return data


def nested(levels: int) -> bytes:
    graph = field(1, field(4, b"Relu"))
    for _ in range(levels):
        graph = field(1, field(4, b"If") + field(5, field(1, b"then_branch") + field(6, graph)))
    return in_graph(graph)


def test_a_payload_is_left_where_it_is() -> None:
    raw = bytes(range(256)) * 40
    data = model_of(TensorProto(name="w", data_type=2, dims=[10240], raw_data=raw))
    found = scan(data, small=512)
    assert len(found.root) < 200
    (tensor,) = parse(found).graph.initializer
    assert (tensor.name, list(tensor.dims), tensor.data_type) == ("w", [10240], 2)
    assert not tensor.HasField("raw_data")
    (piece,) = found.find_pieces(tensor)
    assert piece.number == 9
    assert data[piece.content : piece.end] == raw
    assert onnx.TensorProto.FromString(data[piece.start : piece.end]).raw_data == raw


@pytest.mark.parametrize("place", ["first", "last"])
def test_the_order_of_fields_does_not_matter(place: str) -> None:
    raw = field(9, bytes(1000))
    rest = field(8, b"name") + b"\x10\x01\x08\x0a\x08\x19"
    data = in_graph(field(5, raw + rest if place == "first" else rest + raw))
    found = scan(data)
    (tensor,) = parse(found).graph.initializer
    assert (tensor.name, list(tensor.dims)) == ("name", [10, 25])
    (piece,) = found.find_pieces(tensor)
    assert data[piece.start : piece.end] == raw


def test_every_data_field_packed_or_not() -> None:
    values: dict[int, tuple[str, bytes, bytes]] = {
        4: ("float_data", np.float32([1.5, 2]).tobytes(), np.float32(3).tobytes()),
        5: ("int32_data", b"\x01\xac\x02", b"\x07"),
        7: ("int64_data", b"\x01\xac\x02", b"\x07"),
        10: ("double_data", np.float64([1.5, 2]).tobytes(), np.float64(3).tobytes()),
        11: ("uint64_data", b"\x01\xac\x02", b"\x07"),
    }
    wires = {4: 5, 5: 0, 7: 0, 10: 1, 11: 0}
    for number, (name, packed, one) in values.items():
        single = varint(number << 3 | wires[number]) + one
        data = in_graph(field(5, single + single + field(8, b"w") + field(number, packed)))
        found = scan(data)
        (tensor,) = parse(found).graph.initializer
        pieces = found.find_pieces(tensor)
        assert [piece.number for piece in pieces] == [number, number]
        assert [bool(piece.content) for piece in pieces] == [False, True]
        joined = b"".join(data[piece.start : piece.end] for piece in pieces)
        whole = onnx_pb2.ModelProto.FromString(data).graph.initializer[0]
        assert list(getattr(onnx_pb2.TensorProto.FromString(joined), name)) == list(
            getattr(whole, name)
        )


def test_strings_in_a_row_are_one_piece() -> None:
    data = model_of(helper.make_tensor("s", TensorProto.STRING, [3], [b"a", b"", b"ccc"]))
    found = scan(data)
    (piece,) = found.find_pieces(parse(found).graph.initializer[0])
    tensor = onnx_pb2.TensorProto.FromString(data[piece.start : piece.end])
    assert list(tensor.string_data) == [b"a", b"", b"ccc"]


def test_small_messages_are_taken_as_they_are() -> None:
    data = model_of(TensorProto(name="w", data_type=2, dims=[100], raw_data=bytes(100)))
    assert scan(data, small=512).root == data
    assert len(scan(data, small=0).root) < len(data)


def test_graphs_of_attributes_are_taken_out() -> None:
    inner = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "inner", [], [])
    node = helper.make_node("If", ["c"], ["z"], then_branch=inner, bodies=[inner, inner])
    data = helper.make_model(helper.make_graph([node], "g", [], [])).SerializeToString()
    found = scan(data)
    assert len(found.graphs) == 3
    attributes = {a.name: a for a in parse(found).graph.node[0].attribute}
    assert attributes["then_branch"].HasField("g")
    assert len(attributes["bodies"].graphs) == 2
    for graph in (attributes["then_branch"].g, *attributes["bodies"].graphs):
        assert found.find_graph(graph) == inner.SerializeToString()


def test_a_graph_given_twice_is_merged() -> None:
    first, second = field(2, b"a") + field(1, field(3, b"n1")), field(2, b"b")
    node = field(5, field(6, first) + field(6, second))
    found = scan(in_graph(field(1, node)))
    graph = parse(found).graph.node[0].attribute[0].g
    merged = found.find_graph(graph)
    assert merged is not None
    assert onnx_pb2.GraphProto.FromString(merged).name == "b"
    assert len(onnx_pb2.GraphProto.FromString(merged).node) == 1


def test_a_file_cannot_forge_pieces_or_numbers() -> None:
    own = scanner._OWN_TAG
    piece = own + varint(34) + bytes(34)
    number = own + varint(16) + bytes(16)
    tensor = field(5, piece + field(8, b"w"))
    attribute = field(5, field(6, number) + field(11, number))
    data = in_graph(tensor + field(1, attribute))
    for small in (0, 512):
        found = scan(data, small)
        graph = parse(found).graph
        assert found.find_pieces(graph.initializer[0]) == []
        inner = found.find_graph(graph.node[0].attribute[0].g)
        if inner is not None:
            assert found.find_graph(onnx_pb2.GraphProto.FromString(inner)) is None


def test_unknown_fields_and_groups_pass() -> None:
    group = varint(90 << 3 | 3) + b"\x08\x01" + field(2, b"in") + varint(90 << 3 | 4)
    data = group + field(60, b"later") + in_graph(field(61, b"x") + group + field(2, b"g"))
    assert scan(data).root == data


@pytest.mark.parametrize(
    "data",
    [
        b"\x3a",
        b"\x3a\x05",
        b"\x3a\x80",
        b"\x3a" + b"\xff" * 9 + b"\x01",
        b"\x08" + b"\x80" * 11 + b"\x01",
        b"\x80" * 20,
        b"\x00\x01",
        b"\x02\x01a",
        b"\x0c",
        b"\x0f",
        b"\x0e",
        varint(9 << 3 | 3) + b"\x08\x01",
        varint(9 << 3 | 3) + varint(8 << 3 | 4),
        (varint(9 << 3 | 3)) * 300 + (varint(9 << 3 | 4)) * 300,
        b"\x0d\x01\x02",
        b"\x09\x01\x02",
        in_graph(b"\x2a\x05\x4a\x09abc"),
        in_graph(b"\x2a\x7f"),
        in_graph(field(5, b"\x08")),
        in_graph(field(5, b"\x80" * 12)),
        varint(1 << 35 | 2) + b"\x00",
    ],
    ids=lambda data: data[:8].hex(),
)
def test_what_is_no_message(data: bytes) -> None:
    with pytest.raises(ScanError):
        scan(data)


def test_every_cut_of_a_model() -> None:
    inner = helper.make_graph([], "i", [], [], [TensorProto(name="v", raw_data=b"abcd")])
    node = helper.make_node("If", ["c"], ["y"], then_branch=inner)
    graph = helper.make_graph([node], "g", [], [], [TensorProto(name="w", float_data=[1, 2])])
    data = helper.make_model(graph).SerializeToString()
    for length in range(len(data)):
        try:
            onnx_pb2.ModelProto.FromString(data[:length])
            whole = True
        except DecodeError:
            whole = False
        try:
            scan(data[:length])
        except ScanError:
            assert not whole
        # a file that became shorter while it was read
        try:
            parse(scan(data[:length], size=len(data)))
        except (ScanError, DecodeError):
            pass
        else:
            assert length == len(data)


@given(st.binary(max_size=200), st.sampled_from([0, 16, 512]))
def test_random_bytes(data: bytes, small: int) -> None:
    try:
        found = scan(data, small)
    except ScanError:
        return
    assert len(found.root) <= len(data) + 60 * (data.count(b"\x2a") + len(data))


@given(st.data())
def test_random_changes(data: st.DataObject) -> None:
    inner = helper.make_graph([], "i", [], [], [TensorProto(name="v", raw_data=b"abcd")])
    node = helper.make_node("If", ["c"], ["y"], then_branch=inner)
    graph = helper.make_graph([node], "g", [], [], [TensorProto(name="w", int64_data=[1, 300])])
    changed = bytearray(helper.make_model(graph).SerializeToString())
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    try:
        onnx_pb2.ModelProto.FromString(bytes(changed))
    except DecodeError:
        return
    # what the runtime takes, the scanner takes, except graphs inside what it need not look at
    found = scan(bytes(changed))
    parse(found)


def test_the_depth_of_graphs() -> None:
    found = scan(nested(scanner.MAX_GRAPH_DEPTH))
    assert len(found.graphs) == scanner.MAX_GRAPH_DEPTH
    with pytest.raises(NestingError):
        scan(nested(scanner.MAX_GRAPH_DEPTH + 1))


def test_far_too_deep_is_refused_at_once() -> None:
    def refuse(data: bytes) -> None:
        with pytest.raises(NestingError):
            scan(data)

    few, many = nested(2_000), nested(20_000)
    steps = [count_steps(lambda data=data: refuse(data))[0] for data in (few, many)]
    assert steps[1] < 1.1 * steps[0]  # what is deeper is not looked at


def test_what_remains_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanner, "MAX_REST_BYTES", 1000)
    scan(model_of(TensorProto(name="w", raw_data=bytes(5000))))
    with pytest.raises(SizeError, match="more than 1000 bytes"):
        scan(field(6, bytes(2000)))


def test_only_small_windows_are_read() -> None:
    tensors = [
        TensorProto(name=f"w{i}", data_type=1, dims=[100, 100], raw_data=bytes(40_000))
        for i in range(50)
    ]
    data = model_of(*tensors)
    sizes: list[int] = []
    found = scan_message(reader_of(data, sizes), len(data))
    assert sum(sizes) < 60_000
    assert all(found.find_pieces(tensor) for tensor in parse(found).graph.initializer)


def test_windows_grow_where_everything_is_read() -> None:
    nodes = [helper.make_node("Relu", [f"x{i}"], [f"x{i + 1}"]) for i in range(20_000)]
    data = helper.make_model(helper.make_graph(nodes, "g", [], [])).SerializeToString()
    sizes: list[int] = []
    assert scan_message(reader_of(data, sizes), len(data)).root == data
    assert len(sizes) < 30


def test_initializers_in_unusual_forms_among_usual_ones() -> None:
    """Runs of usual initializers are taken in a loop of their own, which has to notice others."""
    data = bytes(range(256)) * 4
    head = b"\x08\x10\x08\x40\x10\x01"
    usual = head + field(8, b"w") + field(9, data)
    contents = [
        usual,
        usual,
        head + field(9, data),  # no name
        head + field(8, b"n" * 200) + field(9, data),
        head + field(8, "gewöhnlich".encode()) + field(9, data),
        head + field(8, b"w") + b"\x4a\x80\x88\x00" + data,  # a length in more bytes than needed
        head + field(8, b"w") + field(9, data) + field(12, b"doc"),
        field(9, data) + head,
        head + field(8, b"w") + field(9, data[:100]),  # small
        head + field(8, b"w") + field(4, data),
        head + field(8, b"w") + field(9, data[:130]) + field(9, data[:500]),
        usual,
        field(1, b"\x10\x40") + b"\x10\x01" + field(8, b"w") + field(9, data),  # packed dims
        usual,
    ]
    fields = [field(5, content) for content in contents]
    # the length of a whole initializer in more bytes than needed
    fields.append(b"\x2a" + bytes((len(usual) & 127 | 128, len(usual) >> 7 | 128, 0)) + usual)
    fields += [field(1, field(4, b"Relu")), field(5, usual), field(10, b"doc")]
    model = field(7, b"".join(fields))
    whole = onnx_pb2.ModelProto.FromString(model).graph
    for small in (0, 512):
        found = scan(model, small)
        graph = parse(found).graph
        assert (len(graph.node), graph.doc_string) == (1, "doc")
        assert len(graph.initializer) == len(whole.initializer) == len(contents) + 2
        for tensor, wanted in zip(graph.initializer, whole.initializer, strict=True):
            assert list(tensor.dims) == list(wanted.dims)
            assert (tensor.name, tensor.data_type) == (wanted.name, wanted.data_type)
            pieces = [piece for piece in found.find_pieces(tensor) if piece.number == 9]
            if pieces:
                assert model[pieces[-1].content : pieces[-1].end] == wanted.raw_data
            else:
                assert tensor.raw_data == wanted.raw_data


@pytest.mark.parametrize(
    "tail", [b"\x2a", b"\x2a\x85", b"\x2a\x90\x10\x08\x10", b"\x2a\xff\xff\x03"]
)
def test_a_run_of_initializers_that_is_cut(tail: bytes) -> None:
    usual = b"\x08\x10\x10\x01" + field(8, b"w") + field(9, bytes(1024))
    content = field(5, usual) * 3 + tail
    with pytest.raises(ScanError):
        scan(field(7, content), 512)


def test_small_fields_in_a_row_with_tags_of_two_bytes() -> None:
    """A tag of two bytes begins like a tag of one byte that does not exist."""
    info = field(19, b"unknown") * 50
    model = field(7, info + field(1, field(4, b"Relu")) * 50 + field(16, b"\x0a\x01k") * 50)
    found = parse(scan(model, 512)).graph
    assert len(found.node) == len(found.metadata_props) == 50
    assert (
        found.SerializeToString() == onnx_pb2.ModelProto.FromString(model).graph.SerializeToString()
    )
