"""Elements piece by piece: the same as the whole, in bounded memory, and ranked without sorting."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import netloupe
from netloupe.explorer.model import Tensor
from netloupe.explorer.progress import Cancelled, watched
from netloupe.explorer.readers.load import load
from netloupe.explorer.tensors import (
    StoredFile,
    compute_histogram,
    compute_statistics,
    elements,
    open_elements,
    ranks,
)
from netloupe.explorer.tensors.elements import Walk, as_elements
from netloupe.explorer.tensors.ranks import find_ranked
from netloupe.proto import caffe2_pb2
from tests.thresholds import threshold

RANDOM = np.random.default_rng(11)
CODES = [code for name, code in TensorProto.DataType.items() if name not in ("UNDEFINED", "STRING")]
DIMS = (3, 7, 5)


def make_proto(code: int, form: str) -> TensorProto:
    """Return a tensor of random numbers in raw or typed form."""
    dtype = helper.tensor_dtype_to_np_dtype(code)
    if dtype == np.bool_:
        array = RANDOM.integers(0, 2, DIMS).astype(np.bool_)
    elif dtype.kind == "c":
        array = (RANDOM.standard_normal(DIMS) + 1j * RANDOM.standard_normal(DIMS)).astype(dtype)
    elif dtype.kind == "u":
        array = RANDOM.integers(0, 200, DIMS).astype(dtype)
    elif "uint" in dtype.name or "e8m0" in dtype.name:
        array = RANDOM.integers(1, 4, DIMS).astype(dtype)
    else:
        array = RANDOM.integers(-2, 2, DIMS).astype(np.float32).astype(dtype)
    raw = numpy_helper.from_array(array, f"w{code}")
    if form == "raw":
        return raw
    proto = TensorProto(data_type=code, dims=DIMS, name=f"w{code}")
    bits = {"int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4_e2m1fn": 4}.get(dtype.name)
    field = helper.tensor_dtype_to_field(code)
    if bits:
        numbers = list(raw.raw_data)
    elif dtype.kind == "c":
        numbers = array.reshape(-1).view(array.real.dtype).tolist()
    elif field == "int32_data" and dtype.kind not in "iub":
        numbers = array.reshape(-1).view(f"u{dtype.itemsize}").tolist()
    else:
        numbers = [int(number) for number in array.reshape(-1)]
        if field in ("float_data", "double_data"):
            numbers = array.reshape(-1).tolist()
    getattr(proto, field).extend(numbers)
    return proto


def write_model(folder: Path, form: str) -> tuple[Path, dict[str, TensorProto]]:
    protos = {}
    for code in CODES:
        proto = make_proto(code, "raw" if form == "external" else form)
        protos[proto.name] = TensorProto.FromString(proto.SerializeToString())
        if form == "external":
            offset = 64 * len(protos) * 16
            with (folder / "w.bin").open("r+b" if (folder / "w.bin").exists() else "wb") as file:
                file.seek(offset)
                file.write(proto.raw_data)
            length = len(proto.raw_data)
            proto.ClearField("raw_data")
            proto.data_location = TensorProto.EXTERNAL
            for key, text in (("location", "w.bin"), ("offset", offset), ("length", length)):
                proto.external_data.add(key=key, value=str(text))
        protos[f"stored {proto.name}"] = proto
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")]
    stored = [protos.pop(f"stored w{code}") for code in CODES]
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])], "g", ends[:1], ends[1:], stored
    )
    path = folder / f"{form}.onnx"
    path.write_bytes(helper.make_model(graph).SerializeToString())
    return path, protos


@pytest.mark.parametrize("form", ["raw", "typed", "external"])
def test_every_dtype_in_every_form_equals_onnx_in_whole_and_in_pieces(
    tmp_path: Path, form: str
) -> None:
    path, protos = write_model(tmp_path, form)
    model = netloupe.load(path)
    for code in CODES:
        tensor = model[f"w{code}"]
        assert isinstance(tensor, Tensor)
        expected = numpy_helper.to_array(protos[f"w{code}"])
        found = tensor.numpy()
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes()
        pieces = open_elements(tensor)
        flat = expected.reshape(-1)
        assert pieces.size == flat.size
        for start in range(12):
            for stop in (start, start + 1, start + 6, flat.size - 1, flat.size):
                assert pieces.take(start, stop).tobytes() == flat[start:stop].tobytes()


NUMBERS = [np.float32, np.float64, np.int32, np.uint32, np.int64, np.uint64]


def make_numbers(dtype: type[np.generic], size: int) -> np.ndarray:
    if np.dtype(dtype).kind == "f":
        array = RANDOM.standard_normal(size).astype(dtype)
        array[::7] = 0
        array[1::7] = -0.0
        array[2] = np.nan
        array[3], array[4] = np.inf, -np.inf
        array[5:50] = np.finfo(dtype).max
        return array
    info = np.iinfo(dtype)
    return RANDOM.integers(info.min, info.max, size, dtype, endpoint=True)


@pytest.mark.parametrize("collected", [0, 100, 10**9])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_ranked_elements_are_those_of_a_sort(
    dtype: type[np.generic], collected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranks, "SORTED_AT_ONCE", 10)
    monkeypatch.setattr(ranks, "_MOST_COLLECTED", collected)
    monkeypatch.setattr(ranks, "_CHUNK", 1000)
    array = make_numbers(dtype, 5431)
    ordered = np.sort(array[np.isfinite(array)])
    wanted = np.array([0, 1, 17, ordered.size // 2, 1234, ordered.size - 2, ordered.size - 1])
    found = find_ranked(Walk(as_elements(array)), wanted)
    np.testing.assert_array_equal(found, ordered[wanted].astype(np.float64))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_quantiles_of_many_elements_equal_numpy(dtype: type[np.generic]) -> None:
    array = make_numbers(dtype, ranks.SORTED_AT_ONCE + 12_345)
    found = compute_statistics(array).quantiles
    finite = array[np.isfinite(array)].astype(np.float64)
    expected = np.quantile(finite, list(found))
    np.testing.assert_allclose(list(found.values()), expected, rtol=1e-12)


def test_all_elements_equal_is_no_worst_case() -> None:
    array = np.full(ranks.SORTED_AT_ONCE + 5, 0.1, np.float64)
    assert set(compute_statistics(array).quantiles.values()) == {0.1}


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, ml_dtypes.bfloat16])
def test_progress_is_told_and_ends_the_work_by_raising(
    dtype: type[np.generic], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elements, "_REST", 2**16)
    array = RANDOM.standard_normal(600_000).astype(dtype)
    for compute in (compute_statistics, compute_histogram):
        told: list[float] = []

        def note(_what: str, share: float | None, told: list[float] = told) -> None:
            assert share is not None
            told.append(share)

        with watched(note):
            compute(array)
        assert told == sorted(told)
        assert told[-1] == 1.0
        assert len(told) > 2

        def stop(_what: str, share: float | None) -> None:
            if share is not None and share > 0.3:
                raise Cancelled

        with pytest.raises(Cancelled), watched(stop):
            compute(array)


def test_numbers_in_the_other_byte_order() -> None:
    array = RANDOM.standard_normal(100).astype(">f4")
    assert compute_statistics(array) == compute_statistics(array.astype("<f4"))
    half = array.astype(">f2")
    assert compute_statistics(half) == compute_statistics(half.astype("<f2"))


MEASURE = """
import sys
from pathlib import Path
import netloupe

def peak():
    line = next(l for l in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in l)
    return int(line.split()[1]) // 1024

model = netloupe.load(sys.argv[1])
small, large = (model[name] for name in ("small", "large"))
small.statistics(), small.histogram(), small.histogram(axis=0)
base = peak()
found = large.statistics()
counted = large.histogram()
channels = large.histogram(axis=0)
assert found.count == found.zeros == int(counted.counts.sum()) == int(channels.counts.sum())
print(peak() - base)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak of a process")
@pytest.mark.parametrize(
    ("code", "bits", "megabytes", "is_external"),
    [
        (TensorProto.FLOAT, 32, 200, True),
        (TensorProto.FLOAT, 32, 200, False),
        # 168 million elements: unpacked at once they take 160 MiB
        (TensorProto.INT4, 4, 80, True),
        (TensorProto.INT4, 4, 80, False),
        (TensorProto.UINT4, 4, 80, True),
        (TensorProto.FLOAT4E2M1, 4, 80, False),
    ],
)
def test_memory_does_not_grow_with_the_tensor(
    tmp_path: Path, code: int, bits: int, megabytes: int, is_external: bool
) -> None:
    size = megabytes * 2**20 * 8 // bits
    protos = [TensorProto(name="small", data_type=code, dims=[2, 3 * 2**20])]
    protos[0].raw_data = bytes(6 * 2**20 * bits // 8)
    large = TensorProto(name="large", data_type=code, dims=[4, size // 4])
    graph = helper.make_graph([], "g", [], [], protos)
    path = tmp_path / "m.onnx"
    if is_external:
        large.data_location = TensorProto.EXTERNAL
        large.external_data.add(key="location", value="large.bin")
        with (tmp_path / "large.bin").open("wb") as file:
            file.truncate(megabytes * 2**20)
        graph.initializer.append(large)
        path.write_bytes(helper.make_model(graph).SerializeToString())
    else:  # a hole in the file, as the last field of the graph's last tensor
        head = large.SerializeToString() + b"\x4a" + write_varint(megabytes * 2**20)
        rest = graph.SerializeToString()
        tensor = b"\x2a" + write_varint(len(head) + megabytes * 2**20) + head
        model = onnx.ModelProto(ir_version=8)
        with path.open("wb") as file:
            file.write(model.SerializeToString() + b"\x3a")
            file.write(write_varint(len(rest) + len(tensor) + megabytes * 2**20))
            file.write(rest + tensor)
            file.truncate(file.tell() + megabytes * 2**20)
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 100


def write_varint(number: int) -> bytes:
    result = bytearray()
    while number > 127:
        result.append(number & 127 | 128)
        number >>= 7
    return bytes([*result, number])


def write_in_field(path: Path, place: str, numbers: np.ndarray) -> None:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=numbers.shape)
    if place == "raw":
        tensor.raw_data = numbers.tobytes()
    elif place == "typed":
        tensor.float_data.extend(numbers.tolist())
    elif place == "external":
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="w.bin")
        (path.parent / "w.bin").write_bytes(numbers.tobytes())
    else:
        net = caffe2_pb2.NetDef()
        fill = net.op.add(type="GivenTensorFill", output=["w"])
        fill.arg.add(name="shape", ints=numbers.shape)
        fill.arg.add(name="values", floats=numbers.tolist())
        path.write_bytes(net.SerializeToString())
        return
    graph = helper.make_graph([], "g", [], [], [tensor])
    path.write_bytes(helper.make_model(graph).SerializeToString())


@pytest.mark.parametrize("place", ["raw", "typed", "external", "fill"])
def test_statistics_and_histograms_read_a_weight_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    numbers = np.random.default_rng(0).standard_normal(1_000_000, np.float32)
    write_in_field(tmp_path / "model.pb", place, numbers)
    read_into, sizes = StoredFile.read_into, []

    def watch(self: StoredFile, target: np.ndarray, offset: int) -> None:
        sizes.append(target.nbytes)
        read_into(self, target, offset)

    monkeypatch.setattr(StoredFile, "read_into", watch)
    with threshold(1000):
        model = load(tmp_path / "model.pb")
        tensor = model["w"] if place != "fill" else model.graph.nodes[0].details.constant
    found, counted = tensor.statistics(), tensor.histogram()
    assert found == compute_statistics(numbers)
    assert (counted.counts == compute_histogram(numbers).counts).all()
    assert max(sizes) <= 2 * 2**20  # of 4 MB
    assert len(sizes) < 100  # no system calls for every few elements
    sizes.clear()
    assert (tensor.numpy() == numbers).all()
    assert len(sizes) == 1
