"""A model is the same whichever way it was read, and large ones open without being read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from netloupe.commands.info import summarize_model
from netloupe.explorer.errors import (
    ModelFormatError,
    NetloupeError,
    SourceChangedError,
    TensorDataError,
)
from netloupe.explorer.model import Model, Tensor
from netloupe.explorer.readers import source
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.onnx import parts as onnx_parts
from netloupe.explorer.readers.protobuf import parts
from netloupe.explorer.tensors import open_elements
from tests.corpus import corpus_file
from tests.model_check import list_facts
from tests.thresholds import threshold
from tests.wire_writer import field, varint

SMALL_SIZES = (0, parts.SMALL_MESSAGE_BYTES)


def facts_of(path: Path) -> object:
    try:
        return list_facts(load(path))
    except NetloupeError as error:
        return str(error)


def assert_same_both_ways(path: Path) -> None:
    with threshold(2**40):
        whole = facts_of(path)
    for small in SMALL_SIZES:
        with threshold(-1, small):
            assert facts_of(path) == whole


def tensors_of_every_kind() -> list[TensorProto]:
    rng = np.random.default_rng(1)
    tensors = [
        onnx.numpy_helper.from_array(rng.normal(size=(4, 5)).astype(kind), f"raw_{kind}")
        for kind in ("float32", "float64", "float16", "int8", "uint64", "complex64", "bool")
    ]
    typed = {
        TensorProto.FLOAT: [1.5, float("nan"), -0.0, 3.0],
        TensorProto.DOUBLE: [1.5, float("inf"), -0.0, 3.0],
        TensorProto.INT32: [1, -2, 300, -(2**31)],
        TensorProto.INT64: [1, -2, 300, -(2**63)],
        TensorProto.UINT64: [1, 2, 300, 2**64 - 1],
        TensorProto.BFLOAT16: [1.0, 2.0, 3.0, 4.0],
        TensorProto.INT4: [1, -2, 3, -4],
        TensorProto.STRING: [b"a", b"", b"\xff", b"long" * 100],
    }
    tensors += [helper.make_tensor(f"typed_{k}", k, [4], v) for k, v in typed.items()]
    tensors.append(TensorProto(name="none", data_type=1, dims=[0]))
    tensors.append(TensorProto(name="empty", data_type=1, dims=[0], raw_data=b""))
    both = TensorProto(name="both", data_type=1, dims=[1], float_data=[1.0], raw_data=b"\0\0\0\0")
    return [*tensors, both]


def test_every_place_and_kind_of_a_tensor(tmp_path: Path) -> None:
    tensors = tensors_of_every_kind()
    values = onnx.numpy_helper.from_array(np.float32([1, 2]), "sparse")
    indices = onnx.numpy_helper.from_array(np.int64([1, 3]), "indices")
    sparse = helper.make_sparse_tensor(values, indices, [5])
    inner = helper.make_graph(
        [helper.make_node("Constant", [], ["k"], value=tensors[0])], "inner", [], [], tensors
    )
    nodes = [helper.make_node("Constant", [], [f"c_{t.name}"], value=t) for t in tensors]
    nodes.append(helper.make_node("If", ["b"], ["y"], then_branch=inner, else_branch=inner))
    nodes.append(helper.make_node("Odd", [], ["o"], domain="d", ts=tensors, bodies=[inner, inner]))
    nodes.append(helper.make_node("Constant", [], ["s"], sparse_value=sparse))
    graph = helper.make_graph(nodes, "g", [], [], tensors, sparse_initializer=[sparse])
    function = helper.make_function(
        "d", "f", [], ["z"], nodes[:3], [], attribute_protos=[nodes[0].attribute[0]]
    )
    model = helper.make_model(graph, functions=[function])
    training = model.training_info.add()
    training.initialization.CopyFrom(inner)
    training.algorithm.CopyFrom(inner)
    path = tmp_path / "all.onnx"
    path.write_bytes(model.SerializeToString())
    assert_same_both_ways(path)


def test_tensors_that_are_given_twice_are_merged(tmp_path: Path) -> None:
    raw = [TensorProto(data_type=1, dims=[1], raw_data=data) for data in (b"abcd", b"efgh")]
    typed = [TensorProto(data_type=1, dims=[1], float_data=data) for data in ([1.0], [2.0, 3.0])]
    for number, pair in enumerate((raw, typed, [raw[0], typed[0]], [typed[0], raw[0]])):
        values = b"".join(field(5, tensor.SerializeToString()) for tensor in pair)
        node = field(4, b"Constant") + field(2, b"y") + field(5, field(1, b"value") + values)
        path = tmp_path / f"twice_{number}.onnx"
        path.write_bytes(field(7, field(1, node)))
        assert_same_both_ways(path)


def write_one_tensor(path: Path, size: int = 40_000) -> None:
    tensor = TensorProto(name="w", data_type=2, dims=[size], raw_data=bytes(range(200)) * 200)
    graph = helper.make_graph([helper.make_node("Relu", ["w"], ["y"])], "g", [], [], [tensor])
    path.write_bytes(helper.make_model(graph).SerializeToString())


def open_large(path: Path) -> Tensor:
    with threshold(1000):
        (tensor,) = load(path).graph.initializers
    return tensor


def test_a_tensor_is_read_when_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    write_one_tensor(path)
    tensor = open_large(path)
    assert (tensor.storage, tensor.stored_bytes, tensor.shape) == ("raw_data", 40_000, (40_000,))
    assert tensor.numpy().tobytes() == bytes(range(200)) * 200
    row = tensor.payload().data
    assert row.read(100, 300).tobytes() == bytes([*range(100, 200), *range(100)])


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    write_one_tensor(path)
    tensor = open_large(path)
    path.unlink()
    with pytest.raises(SourceChangedError, match=r"main/%w: .*model.onnx has changed .*it is gone"):
        tensor.numpy()
    os.mkfifo(path)
    with pytest.raises(SourceChangedError, match="no regular file any more"):
        tensor.numpy()


@pytest.mark.parametrize("change", ["shorter", "replaced", "written", "rewritten"])
def test_a_file_that_has_changed(tmp_path: Path, change: str) -> None:
    path = tmp_path / "model.onnx"
    write_one_tensor(path)
    tensor = open_large(path)
    if change == "shorter":
        os.truncate(path, 20_000)
    elif change == "replaced":
        other = tmp_path / "other"
        other.write_bytes(path.read_bytes())
        other.replace(path)
    elif change == "written":
        os.utime(path, ns=(1, 1))
    else:
        was = path.stat()
        path.write_bytes(bytes(was.st_size))
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns + 1))
    for ask in (tensor.numpy, tensor.statistics, tensor.histogram):
        with pytest.raises(SourceChangedError, match=r"main/%w: .*has changed since it was opened"):
            ask()


@pytest.mark.parametrize("is_external", [False, True])
def test_saving_over_an_open_model_neither_ends_the_process_nor_changes_an_array(
    tmp_path: Path, is_external: bool
) -> None:
    """As with more than 16 MiB that were mapped: a shorter file ended the process (SIGBUS)."""
    program = f"""
import os, sys
import numpy as np
from onnx import TensorProto, helper
from netloupe import load
from netloupe.explorer.errors import SourceChangedError
tensor = TensorProto(name="w", data_type=1, dims=[2**22 + 2**10])
content = np.ones(2**22 + 2**10, np.float32).tobytes()
if {is_external}:
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="w.bin")
    open("w.bin", "wb").write(content)
else:
    tensor.raw_data = content
open("m.onnx", "wb").write(helper.make_model(helper.make_graph([], "g", [], [], [tensor]))
                           .SerializeToString())
name = "w.bin" if {is_external} else "m.onnx"
model = load("m.onnx")
array = model["w"].numpy()
was = os.stat(name)
with open(name, "r+b") as file:
    file.seek(was.st_size - len(content))
    file.write(np.full(len(content) // 4, 2, np.float32).tobytes())
os.utime(name, ns=(was.st_atime_ns, was.st_mtime_ns + 1))
assert (array == 1).all()
os.truncate(name, 1000)
assert (array == 1).all()
try:
    model["w"].statistics()
except SourceChangedError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert "has changed since it was opened" in done.stdout


def test_a_file_that_becomes_shorter_while_its_weights_are_read(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    write_one_tensor(path, 40_000)
    tensor = open_large(path)
    elements = open_elements(tensor)
    assert elements.take(0, 100).tolist() == list(range(100))
    os.truncate(path, 20_000)
    with pytest.raises(SourceChangedError, match=r"bytes instead of"):
        elements.take(100, 40_000)


def test_a_file_that_is_written_to_while_it_is_loaded_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.onnx"
    write_one_tensor(path)
    scan = parts.scan_message

    def scan_and_write(*arguments: object) -> object:
        found = scan(*arguments)
        with path.open("ab") as file:
            file.write(b"more")
        return found

    monkeypatch.setattr(parts, "scan_message", scan_and_write)
    with threshold(1000), pytest.raises(SourceChangedError, match="has changed since it was open"):
        load(path)


def test_a_file_that_changes_between_stat_and_scan(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    write_one_tensor(path)
    with threshold(1000):
        found = source.open_source(path)
        path.unlink()
        with pytest.raises(
            SourceChangedError, match=r"has changed since it was opened .it is gone"
        ):
            onnx_parts.parse_model(found)


def test_damaged_lists_of_numbers(tmp_path: Path) -> None:
    content = b"\x10\x07\x08\x01\x3a\x03\xff\xff\xff"  # int64_data that ends inside a number
    graph = b"\x2a" + bytes([len(content)]) + content
    path = tmp_path / "model.onnx"
    path.write_bytes(b"\x3a" + bytes([len(graph)]) + graph)
    with threshold(-1, 0):
        (tensor,) = load(path).graph.initializers
    assert tensor.stored_bytes is None
    with pytest.raises(TensorDataError, match="damaged"):
        tensor.numpy()


def test_every_cut_of_a_large_file(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    inner = helper.make_graph([], "i", [], [], [TensorProto(name="v", raw_data=b"abcd")])
    node = helper.make_node("If", ["c"], ["y"], then_branch=inner)
    graph = helper.make_graph([node], "g", [], [], [TensorProto(name="w", float_data=[1, 2])])
    data = helper.make_model(graph).SerializeToString()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        assert_same_both_ways(path)


def test_a_file_of_more_than_two_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "huge.onnx"
    hole = 2**31 + 4096
    head = TensorProto(name="w", data_type=2, dims=[hole]).SerializeToString()
    tensor = head + b"\x4a" + varint(hole)
    tail = field(8, b"after" * 100)  # the tensor's name again, behind its data
    graph = b"\x2a" + varint(len(tensor) + hole + len(tail))
    with path.open("wb") as file:
        file.write(b"\x08\x08\x3a" + varint(len(graph) + len(tensor) + hole + len(tail)))
        file.write(graph + tensor)
        file.seek(hole - 1, 1)
        file.write(b"\x07" + tail)
    model = load(path)
    (found,) = model.graph.initializers
    assert found.name == "after" * 100
    assert found.stored_bytes == hole
    array = found.numpy()
    assert array.shape == (hole,)
    assert (int(array[0]), int(array[-1])) == (0, 7)
    path.unlink()


def nested(levels: int, filling: bytes = b"") -> bytes:
    graph = field(1, field(4, b"Relu") + field(1, b"x") + field(2, b"y"))
    for _ in range(levels):
        attribute = field(5, field(1, b"then_branch") + field(6, graph))
        graph = field(1, field(4, b"If") + field(1, b"x") + field(2, b"y") + attribute)
    return b"\x08\x08" + field(7, graph + filling)


def visit(model: Model, levels: int) -> None:
    assert len(model.graphs) == levels + 1
    inner = model.graphs[-1]
    assert inner.path.count("then_branch") == levels
    assert inner.nodes[0].op_type == "Relu"
    assert inner.nodes[0].opset_version is None
    assert len(model.find("If")) == levels
    assert model[inner.nodes[0].path] is inner.nodes[0]
    assert list(model.all_warnings())
    assert summarize_model(model)
    assert "svg" in model.to_svg()


@pytest.mark.parametrize("levels", [20, 40, 200, 500])
def test_nested_graphs(levels: int) -> None:
    visit(load(nested(levels)), levels)


def test_nested_graphs_of_a_large_file(tmp_path: Path) -> None:
    filling = field(5, field(8, b"w") + field(9, bytes(5000)))
    path = tmp_path / "deep.onnx"
    path.write_bytes(nested(200, filling))
    with threshold(1000):
        model = load(path)
    visit(model, 200)
    assert len(model.graph.initializers) == 1


def test_the_nested_model_of_the_corpus() -> None:
    model = load(corpus_file("hostile/nested_if_200.onnx"))
    assert len(model.graphs) == 401
    # each branch names its output as the one around does, which is said and does no harm
    assert all("hides a value" in warning.message for warning in model.all_warnings())


@pytest.mark.parametrize("levels", [501, 2000, 20_000])
def test_graphs_nested_too_deep(levels: int) -> None:
    with pytest.raises(ModelFormatError, match="nested deeper than 500 levels"):
        load(nested(levels))


def test_too_much_that_is_no_tensor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netloupe.proto.scanner.MAX_REST_BYTES", 1000)
    path = tmp_path / "model.onnx"
    path.write_bytes(field(6, bytes(2000)) + nested(1))
    with threshold(100), pytest.raises(ModelFormatError, match="more than 1000 bytes remain"):
        load(path)
