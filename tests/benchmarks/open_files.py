"""Opening large and many files: CPU time and memory beside ``onnx.load`` and ``ParseFromString``.

Run ``python tests/benchmarks/open_files.py``. The files are made in a temporary folder (about
700 MB on disk; what is larger is sparse) and removed. Each measurement has a process of its own,
which first opens a tiny model, so that imports do not count; the best of some rounds is shown.
CPU time is user and system time; memory is the peak of the resident set above its peak before.
The graph of a model is read when it is first asked for: "graph read" is with all of its nodes,
values and wiring. ``ParseFromString`` is that of the ``onnx`` package, or for Caffe2 that of
netloupe's own generated classes, with the time to read the file. Nothing but Linux tells the peak
of one process, so this runs there.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

ROOT = Path(__file__).resolve().parents[2]
WAYS = ("netloupe", "netloupe, graph read", "onnx.load", "ParseFromString")
CAFFE2_WAYS = ("netloupe", "Caffe2 ParseFromString")
ROUNDS = 5
FLOAT = TensorProto.FLOAT


def make_model(weights: int, shape: tuple[int, int], fill: Callable[[Any], None]) -> Any:
    """Return a chain of Gemm nodes; each takes two of the weights, which ``fill`` gives data."""
    graph = onnx.GraphProto(name="chain")
    layers = (weights + 1) // 2
    graph.input.append(helper.make_tensor_value_info("x0", FLOAT, shape))
    graph.output.append(helper.make_tensor_value_info(f"x{layers}", FLOAT, shape))
    for index in range(weights):
        name = f"layer.{index // 2}.{('weight', 'bias')[index % 2]}"
        fill(graph.initializer.add(name=name, data_type=FLOAT, dims=shape))
    for index in range(layers):
        inputs = [f"x{index}", f"layer.{index}.weight", f"layer.{index}.bias"]
        name = f"/layer.{index}/Gemm"
        graph.node.append(helper.make_node("Gemm", inputs, [f"x{index + 1}"], name=name))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def write_inline(path: Path, weights: int, shape: tuple[int, int]) -> None:
    """Write a model with random weights inside."""
    data = np.random.default_rng(0).bytes(4 * shape[0] * shape[1])

    def fill(weight: Any) -> None:
        weight.raw_data = data

    path.write_bytes(make_model(weights, shape, fill).SerializeToString())


def write_sparse(path: Path, weights: int, shape: tuple[int, int]) -> None:
    """Write a model whose weights are holes in the file: its size is not on the disk."""
    size = 4 * shape[0] * shape[1]
    model = make_model(0, shape, lambda weight: None)
    whole = make_model(weights, shape, lambda weight: None).graph
    with path.open("wb") as file:
        fields = []
        for weight in whole.initializer:
            head = weight.SerializeToString() + b"\x4a" + write_varint(size)
            fields.append((b"\x2a" + write_varint(len(head) + size) + head, size))
        del whole.initializer[:]
        rest = whole.SerializeToString()
        total = len(rest) + sum(len(head) + hole for head, hole in fields)
        model.ClearField("graph")
        file.write(model.SerializeToString() + b"\x3a" + write_varint(total) + rest)
        for head, hole in fields:
            file.write(head)
            file.seek(hole, 1)
        file.truncate()


def write_external(path: Path, weights: int, shape: tuple[int, int]) -> None:
    """Write a model with its weights in another file, which is one hole."""
    size = 4 * shape[0] * shape[1]
    data = path.with_suffix(".data")
    places = iter(range(weights))

    def fill(weight: Any) -> None:
        weight.data_location = TensorProto.EXTERNAL
        place = {"location": data.name, "offset": next(places) * size, "length": size}
        for key, value in place.items():
            weight.external_data.add(key=key, value=str(value))

    path.write_bytes(make_model(weights, shape, fill).SerializeToString())
    with data.open("wb") as file:
        file.truncate(weights * size)


def write_init_net(path: Path, weights: int, shape: tuple[int, int]) -> None:
    """Write a Caffe2 init net: its ``values`` are not packed, as Caffe2 writes them."""
    from netloupe.proto import caffe2_pb2

    entries = np.empty(shape[0] * shape[1], np.dtype([("tag", "u1"), ("number", "<f4")]))
    entries["tag"] = 5 << 3 | 5  # Argument.floats
    entries["number"] = np.random.default_rng(0).standard_normal(len(entries))
    values = b"\x0a\x06values" + entries.tobytes()
    with path.open("wb") as file:
        for index in range(weights):
            operator = caffe2_pb2.OperatorDef(type="GivenTensorFill", output=[f"w{index}"])
            operator.arg.add(name="shape", ints=shape)
            head = operator.SerializeToString() + b"\x2a" + write_varint(len(values))
            file.write(b"\x12" + write_varint(len(head) + len(values)) + head + values)


def write_varint(number: int) -> bytes:
    """Return a number as protobuf writes it."""
    result = bytearray()
    while number > 127:
        result.append(number & 127 | 128)
        number >>= 7
    return bytes([*result, number])


def open_file(way: str, path: str) -> object:
    """Open a model file in one of the ways."""
    if way.startswith("netloupe"):
        from netloupe.explorer.readers.load import load

        model = load(path)
        return (model, model.graph.nodes) if way == "netloupe, graph read" else model
    if way == "onnx.load":
        return onnx.load(path)
    if way == "Caffe2 ParseFromString":
        from netloupe.proto import caffe2_pb2

        net = caffe2_pb2.NetDef()
        net.ParseFromString(Path(path).read_bytes())
        return net
    message = onnx.ModelProto()
    message.ParseFromString(Path(path).read_bytes())
    return message


def peak_bytes() -> int:
    """Return the highest resident set of this process so far."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("this system does not tell the peak of the resident set")


def measure(way: str, warm: str, paths: list[str]) -> dict[str, Any]:
    """Open files one after another, and return CPU seconds and bytes of memory."""
    open_file(way, warm)
    base = peak_bytes()
    wall, start = time.perf_counter(), time.process_time()
    try:
        for path in paths:
            kept = open_file(way, path)
        del kept
    except Exception as error:  # of protobuf, or of the system: what cannot be opened is said
        return {"failure": type(error).__name__}
    seconds, wall = time.process_time() - start, time.perf_counter() - wall
    return {"seconds": seconds, "wall": wall, "bytes": peak_bytes() - base}


def best_of_rounds(way: str, warm: Path, paths: list[Path], rounds: int) -> dict[str, Any]:
    """Measure in processes of their own, and return the round with the least CPU time."""
    results = []
    for _ in range(rounds):
        request = json.dumps([way, str(warm), [str(path) for path in paths]])
        command = [sys.executable, __file__, "--measure"]
        done = subprocess.run(command, input=request, capture_output=True, text=True, check=True)
        results.append(json.loads(done.stdout))
    return min(results, key=lambda result: result.get("seconds", 0.0))


def main() -> int:
    """Make the files, measure, and print one line for each way to open each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warm = folder / "warm.onnx"
        write_inline(warm, 2, (2, 2))
        inline, over, external, many = (
            folder / f"{stem}.onnx" for stem in ("inline", "over", "external", "many")
        )
        write_inline(inline, 100, (1280, 1024))
        write_sparse(over, 220, (2560, 1024))
        write_external(external, 400, (2560, 1024))
        write_inline(many, 3000, (128, 128))
        small = [folder / f"small_{index}.onnx" for index in range(100)]
        for index, path in enumerate(small):
            write_inline(path, 10 + index // 2 * 2, (4, 4))
        cases = (
            ("(a) 500 MB inline", [inline], ROUNDS),
            ("(b) over 2 GiB", [over], 2),
            ("(c) 4 GB external", [external], 2),
            ("(d) 3,000 × 64 KB", [many], ROUNDS),
            ("(e) 100 small models", small, ROUNDS),
        )
        print(f"{'file':22} {'opened by':22} {'CPU':>10} {'wall':>10} {'memory':>10} {'ratio':>8}")
        for title, paths, rounds in cases:
            print_case(title, {way: best_of_rounds(way, warm, paths, rounds) for way in WAYS})
        warm, init = folder / "warm.pb", folder / "large_init_net.pb"
        write_init_net(warm, 2, (2, 2))
        write_init_net(init, 100, (1024, 1024))
        results = {way: best_of_rounds(way, warm, [init], ROUNDS) for way in CAFFE2_WAYS}
        print_case("(f) 500 MB init net", results)
    print("\nratio: CPU time over netloupe's (higher is better for netloupe)")
    return 0


def print_case(title: str, results: dict[str, dict[str, Any]]) -> None:
    """Print the lines of one case."""
    ours = results["netloupe"]["seconds"]
    for way, result in results.items():
        if "failure" in result:
            print(f"{title:22} {way:22} {'fails: ' + result['failure']:>10}")
            continue
        print(
            f"{title:22} {way:22} {result['seconds'] * 1e3:8.1f}ms {result['wall'] * 1e3:8.1f}ms "
            f"{result['bytes'] / 1e6:8.1f}MB {result['seconds'] / ours:7.1f}x"
        )


if __name__ == "__main__":
    if sys.argv[1:] == ["--measure"]:
        print(json.dumps(measure(*json.load(sys.stdin))))
        sys.exit(0)
    sys.exit(main())
