"""Caffe2 files: the same whichever way they are read, and large ones without their data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

from netloupe.commands.info import summarize_model
from netloupe.explorer.errors import ModelFormatError, NetloupeError, TensorDataError
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.protobuf import parts, stored_field
from netloupe.explorer.readers.protobuf.stored_field import decode_varints
from netloupe.proto import caffe2_pb2, wire
from netloupe.proto.grammars import CAFFE2
from netloupe.proto.scanner import scan_message
from tests.corpus import MADE, corpus_file, list_only_beside
from tests.model_check import list_facts
from tests.thresholds import threshold
from tests.wire_writer import field, varint

FILES = [name for name in MADE if name.endswith(".pb")] + list_only_beside("**/*.pb")


def facts_of(path: Path) -> object:
    try:
        return list_facts(load(path))
    except NetloupeError as error:
        return str(error)


def assert_same_both_ways(path: Path) -> None:
    with threshold(2**40):
        whole = facts_of(path)
    for small in (0, 512):
        with threshold(-1, small):
            assert facts_of(path) == whole


@pytest.mark.parametrize("name", FILES)
def test_files_of_the_corpus(name: str) -> None:
    assert_same_both_ways(corpus_file(name))


def single(number: int, wire_type: int, elements: list[bytes]) -> bytes:
    return b"".join(varint(number << 3 | wire_type) + element for element in elements)


def fill(kind: str, values: bytes, shape: int | None, name: bytes = b"w") -> bytes:
    arguments = field(5, field(1, b"values") + values)
    if shape is not None:
        arguments += field(5, field(1, b"shape") + b"\x30" + varint(shape))
    return field(2, field(2, name) + field(4, kind.encode()) + arguments)


FLOATS = np.arange(700, dtype=np.float32)
FLOAT_ELEMENTS = [number.tobytes() for number in FLOATS]
INTS = [0, 1, -1, 2**40, -(2**63), 300] * 100
INT_ELEMENTS = [varint(number % 2**64) for number in INTS]
STRINGS = [b"a", b"", b"\xff", b"long" * 300]

VALUES: dict[str, tuple[str, bytes, Any]] = {
    "floats": ("GivenTensorFill", single(5, 5, FLOAT_ELEMENTS), FLOATS),
    "packed": ("GivenTensorFill", field(5, FLOATS.tobytes()), FLOATS),
    "pieces": (
        "GivenTensorFill",
        field(5, FLOATS[:300].tobytes())
        + single(5, 5, FLOAT_ELEMENTS[300:400])
        + field(5, FLOATS[400:].tobytes()),
        FLOATS,
    ),
    "apart": (
        "GivenTensorFill",
        single(5, 5, FLOAT_ELEMENTS[:350])
        + field(60, b"later")
        + single(5, 5, FLOAT_ELEMENTS[350:]),
        FLOATS,
    ),
    "doubles": ("GivenTensorDoubleFill", single(5, 5, FLOAT_ELEMENTS), FLOATS.astype(np.float64)),
    "ints": ("GivenTensorInt64Fill", single(6, 0, INT_ELEMENTS), np.array(INTS, np.int64)),
    "packed ints": ("GivenTensorInt64Fill", field(6, b"".join(INT_ELEMENTS)), np.array(INTS)),
    "mixed ints": (
        "GivenTensorInt64Fill",
        field(6, b"".join(INT_ELEMENTS[:300])) + single(6, 0, INT_ELEMENTS[300:]),
        np.array(INTS),
    ),
    "int32": (
        "GivenTensorIntFill",
        single(6, 0, INT_ELEMENTS),
        np.array(INTS, np.int64).astype(np.int32),
    ),
    "bools": ("GivenTensorBoolFill", single(6, 0, INT_ELEMENTS), np.array(INTS) != 0),
    "bytes": ("Int8GivenTensorFill", field(4, bytes(range(250)) * 4), bytes(range(250)) * 4),
    "strings": ("GivenTensorStringFill", b"".join(field(7, text) for text in STRINGS), STRINGS),
    "byte string": (
        "GivenTensorByteStringToUInt8Fill",
        b"".join(field(7, text) for text in STRINGS),
        b"".join(STRINGS),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("place", ["init net", "node", "no shape", "two outputs"])
def test_elements_of_fills_stay_in_the_file(tmp_path: Path, name: str, place: str) -> None:
    kind, values, wanted = VALUES[name]
    data = fill(kind, values, None if place == "no shape" else len(wanted))
    if place == "two outputs":  # then it is no fill, but a node with an odd argument
        data = field(2, field(2, b"v") + data[data.index(b"\x12\x01w") :])
    use = field(2, field(1, b"w") + field(2, b"y") + field(4, b"Relu"))
    path = tmp_path / "predict_net.pb"
    if place == "init net":
        path.write_bytes(use)
        (tmp_path / "init_net.pb").write_bytes(data)
    else:
        path.write_bytes(data + use)
    assert_same_both_ways(path)
    if place == "two outputs":
        return
    with threshold(100):
        model = load(path)
        if place == "init net":
            (tensor,) = model.graph.initializers
        else:
            found = model.graph.nodes[0].details.constant
            assert found is not None
            tensor = found
        array = tensor.numpy()
    if isinstance(wanted, list):
        assert [e if isinstance(e, bytes) else e.encode() for e in array.tolist()] == wanted
    elif isinstance(wanted, bytes):
        assert array.tobytes() == wanted
    else:
        np.testing.assert_array_equal(array, wanted)
    (tmp_path / ("init_net.pb" if place == "init net" else "predict_net.pb")).unlink()
    with pytest.raises(TensorDataError, match="it is gone"):
        tensor.numpy()


ROOTS: dict[str, Callable[[], Any]] = {
    "TensorProtos": lambda: text_format.Parse(
        'protos { name: "f" dims: 3 float_data: [1, 2, 3] } '
        'protos { name: "i" dims: 2 data_type: INT32 int32_data: [1, -2] } '
        'protos { name: "l" dims: 2 data_type: INT64 int64_data: [1, -2] } '
        'protos { name: "d" dims: 2 data_type: DOUBLE double_data: [1, -2] } '
        'protos { name: "h" dims: 1 data_type: FLOAT16 int32_data: 15360 } '
        'protos { name: "s" dims: 2 data_type: STRING string_data: ["a", ""] } '
        'protos { name: "b" dims: 2 data_type: BYTE byte_data: "ab" } '
        'protos { name: "r" dims: 2 data_type: INT16 storage_type: RAW raw_data: "abcd" } '
        'protos { name: "w" dims: 2 float_data: [1, 2] raw_data: "abcd" int32_data: 7 } '
        'protos { name: "c" dims: 9 float_data: [1, 2] }',
        caffe2_pb2.TensorProtos(),
    ),
    "TensorProto": lambda: caffe2_pb2.TensorProto(dims=[500], float_data=[2.5] * 500),
    "QTensorProto": lambda: caffe2_pb2.QTensorProto(
        dims=[700], precision=8, scale=0.5, bias=-64.0, is_signed=False, data=[3] * 700
    ),
    "BlobProto": lambda: caffe2_pb2.BlobProto(name="b", type="Reader", content=bytes(999)),
    "tensor of a BlobProto": lambda: caffe2_pb2.BlobProto(
        name="b", type="Tensor", tensor={"dims": [2], "float_data": [1, 2]}
    ),
    "PlanDef": lambda: text_format.Parse(
        'name: "p" network { name: "n" op { type: "Relu" input: "x" output: "y" '
        'arg { name: "t" t { dims: 1 float_data: 3 } } '
        'arg { name: "ts" tensors { dims: 1 float_data: 3 } } '
        'arg { name: "q" qtensors { dims: 1 precision: 8 data: 3 } } } } '
        'execution_step { name: "a" substep { name: "b" network: "n" } }',
        caffe2_pb2.PlanDef(),
    ),
    "DBReaderProto": lambda: caffe2_pb2.DBReaderProto(name="r", source="/db", db_type="lmdb"),
}


@pytest.mark.parametrize("name", ROOTS)
def test_every_root(tmp_path: Path, name: str) -> None:
    path = tmp_path / "file.pb"
    path.write_bytes(ROOTS[name]().SerializeToString())
    with threshold(-1, 0):
        assert load(path).format == "Caffe2"
    assert_same_both_ways(path)


def test_tensors_given_twice_are_merged(tmp_path: Path) -> None:
    first = caffe2_pb2.TensorProto(dims=[1], float_data=[1.0]).SerializeToString()
    second = caffe2_pb2.TensorProto(dims=[1], float_data=[2.0, 3.0]).SerializeToString()
    argument = field(5, field(1, b"t") + field(10, first) + field(10, second))
    path = tmp_path / "net.pb"
    path.write_bytes(field(2, field(4, b"Relu") + argument))
    assert_same_both_ways(path)


def test_a_long_list_is_neither_read_nor_kept() -> None:
    count = 2**20
    entries = np.empty(count, np.dtype([("tag", "u1"), ("number", "<f4")]))
    entries["tag"], entries["number"] = 5 << 3 | 5, np.arange(count)
    data = fill("GivenTensorFill", entries.tobytes(), count)
    sizes: list[int] = []

    def read(length: int, offset: int) -> bytes:
        sizes.append(length)
        return data[offset : offset + length]

    scan = scan_message(read, len(data), 512, CAFFE2, "NetDef")
    assert len(scan.root) < 200
    assert sum(sizes) < 20_000
    model = load(data)
    tensor = model.graph.nodes[0].details.constant
    assert tensor is not None
    assert tensor.stored_bytes == 4 * count
    np.testing.assert_array_equal(tensor.numpy(), np.arange(count, dtype=np.float32))


@pytest.mark.parametrize("place", [0, 5000, 9990])
def test_what_hides_in_a_long_list_does_no_harm(place: int) -> None:
    elements = [np.float32(number).tobytes() for number in range(10_000)]
    elements[place] = b""
    run = (
        single(5, 5, elements[:place])
        + b"\x30\x80\x80\x80\x01"
        + single(5, 5, elements[place + 1 :])
    )
    data = fill("GivenTensorFill", run, 9_999)
    with threshold(100):
        tensor = load(data).graph.nodes[0].details.constant
    assert tensor is not None
    np.testing.assert_array_equal(tensor.numpy(), np.delete(np.arange(10_000), place))


def test_varints() -> None:
    numbers = [0, 1, 127, 128, 2**32, 2**63, 2**64 - 1]
    data = b"".join(map(varint, numbers)) * 1000
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_field, "_WINDOW", 1000)
        assert decode_varints(data).tolist() == numbers * 1000
    for damaged in (b"\x80", b"\x01\xff", b"\x80" * 10 + b"\x01"):
        with pytest.raises(ValueError, match="number"):
            decode_varints(damaged)


def test_damaged_lists() -> None:
    values = {
        "GivenTensorInt64Fill": field(6, b"\xff" * 600),
        "GivenTensorFill": field(5, bytes(601)),
    }
    for kind, content in values.items():
        with threshold(10):
            tensor = load(fill(kind, content, 600)).graph.nodes[0].details.constant
        assert tensor is not None
        with pytest.raises(TensorDataError, match="damaged"):
            tensor.numpy()


def write_holes(path: Path, head: bytes, hole: int, tail: bytes) -> None:
    with path.open("wb") as file:
        file.write(head)
        file.seek(hole - 1, 1)
        file.write(b"\x07" + tail)


def test_nets_of_more_than_two_gigabytes(tmp_path: Path) -> None:
    hole = 2**31 + 4096
    shape = field(5, field(1, b"shape") + b"\x30" + varint(hole // 4))
    values = field(1, b"values") + varint(5 << 3 | 2) + varint(hole)
    argument = varint(5 << 3 | 2) + varint(len(values) + hole) + values
    begin = field(2, b"w") + field(4, b"GivenTensorFill") + argument
    head = b"\x12" + varint(len(begin) + hole + len(shape)) + begin
    use = field(2, field(1, b"w") + field(2, b"y") + field(4, b"Relu"))
    init, net = tmp_path / "init_net.pb", tmp_path / "predict_net.pb"
    write_holes(init, head, hole, shape)
    net.write_bytes(use)
    (tensor,) = load(net).graph.initializers
    assert (tensor.stored_bytes, tensor.dims) == (hole, (hole // 4,))
    array = tensor.numpy()
    assert (array[0], array[-1].tobytes()) == (0, b"\0\0\0\x07")
    assert len(load(init).graph.nodes) == 1
    del array
    init.unlink()


def test_a_tensor_of_more_than_two_gigabytes(tmp_path: Path) -> None:
    hole = 2**31 + 4096
    begin = b"\x08" + varint(hole) + b"\x10\x06\x60\x02" + varint(13 << 3 | 2) + varint(hole)
    path = tmp_path / "tensor.pb"
    write_holes(path, b"\x0a" + varint(len(begin) + hole) + begin, hole, b"")
    (tensor,) = load(path).graph.initializers
    assert (tensor.shape, int(tensor.numpy()[-1])) == ((hole,), 7)
    path.unlink()


def test_a_message_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    data = fill("GivenTensorFill", single(5, 5, FLOAT_ELEMENTS), 700)
    parsed = []
    real = parts._parse_whole

    def count(*arguments: Any) -> Any:
        parsed.append(arguments[2])
        return real(*arguments)

    monkeypatch.setattr(parts, "_parse_whole", count)
    load(data)
    assert parsed == ["NetDef"]


# depth


def nest_net(depth: int, filling: bytes = b"") -> bytes:
    message = field(2, field(1, b"x") + field(2, b"x") + field(4, b"Relu")) + filling
    for _ in range(depth):
        argument = field(5, field(1, b"then_net") + field(8, message))
        message = field(2, field(1, b"x") + field(4, b"If") + argument)
    return message


def nest_plan(depth: int, filling: bytes = b"") -> bytes:
    step = field(1, b"s") + field(3, b"n")
    for _ in range(depth):
        step = field(1, b"s") + field(2, step)
    return field(1, b"p") + field(2, field(1, b"n") + nest_net(depth) + filling) + field(3, step)


@pytest.mark.parametrize("depth", [40, 200, 500])
@pytest.mark.parametrize("size", [0, 2**20])
def test_nested_nets_and_steps(depth: int, size: int) -> None:
    filling = fill("GivenTensorByteStringToUInt8Fill", field(4, bytes(5000)), 5000, b"f")
    with threshold(0 if size == 0 else size):
        net = load(nest_net(depth, filling))
        plan = load(nest_plan(depth, filling))
    assert len(net.graphs) == depth + 1
    assert net.graphs[-1].nodes[0].op_type == "Relu"
    assert sum(len(graph.nodes) for graph in net.graphs) == depth + 2
    assert sum(graph.kind == "step" for graph in plan.graphs) == depth + 1
    for model in (net, plan):
        assert list(model.all_warnings()) is not None
        assert summarize_model(model)
        assert "svg" in model.to_svg()


@pytest.mark.parametrize("nest", [nest_net, nest_plan])
@pytest.mark.parametrize("depth", [501, 5000])
def test_nested_too_deep(nest: Callable[[int], bytes], depth: int) -> None:
    with pytest.raises(ModelFormatError, match="nested deeper than 500 levels"):
        load(nest(depth))


def test_blobs_that_deep_nets_write_reach_the_outermost() -> None:
    use = field(2, field(1, b"x") + field(2, b"y") + field(4, b"Tanh"))
    model = load(nest_net(500) + use)
    last = model.graph.nodes[1].inputs[0]
    assert last is not None
    assert last.producer is model.graph.nodes[0]


# damage

NET = text_format.Parse(
    """
    name: "n" external_input: "x" external_output: "y"
    op { type: "Conv" input: "x" output: "h" arg { name: "kernel" i: 3 } }
    op { type: "If" input: "h" output: "y" arg { name: "then_net"
         n { op { type: "Relu" input: "h" output: "y" } } } }
    """,
    caffe2_pb2.NetDef(),
).SerializeToString()
PLAN = field(1, b"p") + field(2, NET) + field(3, field(1, b"s") + field(3, b"n"))


def tell(data: bytes) -> str:
    try:
        return load(data).format
    except ModelFormatError as error:
        return str(error)


@pytest.mark.parametrize(("data", "root"), [(NET, "NetDef"), (PLAN, "PlanDef")])
def test_every_cut_opens_or_is_refused_in_one_line(data: bytes, root: str, tmp_path: Path) -> None:
    refused = 0
    path = tmp_path / "net.pb"
    for length in range(1, len(data)):
        path.write_bytes(data[:length])
        assert_same_both_ways(path)
        told = tell(data[:length])
        assert "\n" not in told
        assert told == "Caffe2" or "download it again" in told or "no ONNX model" in told
        refused += f"is a Caffe2 {root} that is damaged or cut short" in told
    # from the type of the first operator on, it is known what was cut
    assert refused > len(data) * 0.6


def test_damage_inside_a_net_is_said() -> None:
    damaged = NET.replace(b"kernel", b"ker\xff\xffl").replace(b"\x18\x03", b"\x1f\x03")
    assert damaged != NET
    with pytest.raises(ModelFormatError, match="is a Caffe2 NetDef that is damaged"):
        load(damaged)


def test_a_damaged_nested_net_is_said() -> None:
    inner = field(2, b"\x0f\x0f" * 400)
    argument = field(5, field(1, b"then_net") + field(8, inner))
    data = field(2, field(4, b"If") + argument)
    for size in (-1, 2**20):
        with threshold(size, 0), pytest.raises(ModelFormatError, match="damaged"):
            load(data)


@pytest.mark.parametrize(
    "data",
    [field(3, b"wanted"), b"\x10\x02" + field(4, b"\x80\x80"), b"\x10\x07" + field(6, b"\xff")],
)
def test_a_list_that_ends_within_a_number_makes_no_tensor(data: bytes) -> None:
    for size in (-1, 2**20):
        with threshold(size, 0), pytest.raises(ModelFormatError, match="no ONNX model"):
            load(data)


def test_too_much_that_is_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netloupe.proto.scanner.MAX_REST_BYTES", 1000)
    big = field(2, field(4, b"Relu") + field(5, field(1, b"k") + field(4, bytes(2000))))
    with threshold(100), pytest.raises(ModelFormatError, match="more than 1000 bytes remain"):
        load(big)


def test_runs_of_samples_are_shorter_than_the_runs() -> None:
    assert wire._SAMPLES * wire._SAMPLE < wire._SAMPLED_RUN
