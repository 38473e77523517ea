"""Checking models: CPU time beside that of ``onnx.load`` of the same file.

Run ``python tests/benchmarks/checks.py`` (or with files of your own as arguments). Each measurement
has a process of its own, in which imports do not count; the best of some rounds is shown, user and
system time. "graph" is all rules but those that read the elements of tensors, "with weights" all of
them; ``onnx.load`` reads the whole file and finds nothing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

_ROUNDS = 3
_WAYS = {
    "onnx.load": "import onnx; run = lambda: onnx.load(path)",
    "check, graph": (
        "from netloupe.explorer.checks import RULES, check; from netloupe.explorer.readers.load "
        "import load; ids = [r.id for r in RULES if r.reads_values]; "
        "run = lambda: check(load(path), ignore=ids)"
    ),
    "check, with weights": (
        "from netloupe.explorer.checks import check; from netloupe.explorer.readers.load import "
        "load; run = lambda: check(load(path))"
    ),
}
_SCRIPT = """
import sys, time
path = sys.argv[1]
{way}
begin = time.process_time()
run()
print(time.process_time() - begin)
"""


def make_decoder(layers: int, width: int) -> bytes:
    """Return a chain of feed-forward blocks, ten nodes and two weights each."""
    chance = np.random.default_rng(0)
    nodes, tensors, last = [], [], "x"
    for layer in range(layers):
        name = f"layers.{layer}"
        for part in ("up", "down"):
            weight = chance.normal(0, 0.02, (width, width)).astype(np.float32)
            tensors.append(numpy_helper.from_array(weight, f"{name}.{part}.weight"))
        steps = (
            ("Softmax", [last], "a"),
            ("MatMul", [f"{name}.a", f"{name}.up.weight"], "b"),
            ("Sigmoid", [f"{name}.b"], "c"),
            ("Mul", [f"{name}.b", f"{name}.c"], "d"),
            ("Tanh", [f"{name}.d"], "e"),
            ("Add", [f"{name}.d", f"{name}.e"], "f"),
            ("MatMul", [f"{name}.f", f"{name}.down.weight"], "g"),
            ("Neg", [f"{name}.g"], "h"),
            ("Exp", [f"{name}.h"], "i"),
            ("Add", [last, f"{name}.i"], "j"),
        )
        for kind, inputs, output in steps:
            made = helper.make_node(kind, inputs, [f"{name}.{output}"], name=f"{name}/{output}")
            nodes.append(made)
        last = f"{name}.j"
    shape = ["batch", width]
    graph = helper.make_graph(
        nodes,
        "decoder",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, shape)],
        tensors,
    )
    opsets = [helper.make_opsetid("", 21)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def measure(way: str, path: Path) -> float:
    """Return the CPU seconds of the best round."""
    script = _SCRIPT.format(way=_WAYS[way])
    rounds = []
    for _ in range(_ROUNDS):
        command = [sys.executable, "-c", script, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rounds.append(float(done.stdout))
    return min(rounds)


def report(name: str, path: Path) -> None:
    """Print the times of one file, and how many times that of ``onnx.load`` they are."""
    times = {way: measure(way, path) for way in _WAYS}
    base = times["onnx.load"]
    told = ", ".join(f"{way} {time:.2f} s (×{time / base:.1f})" for way, time in times.items())
    print(f"{name} ({path.stat().st_size / 1e6:,.0f} MB): {told}", flush=True)


def main() -> None:
    """Measure the files that are named, or models that are made."""
    if sys.argv[1:]:
        for name in sys.argv[1:]:
            report(name, Path(name))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        for nodes, width in ((1_000, 512), (10_000, 64), (10_000, 256), (100_000, 16)):
            path.write_bytes(make_decoder(nodes // 10, width))
            report(f"{nodes:,} nodes, weights of {width} × {width}", path)


if __name__ == "__main__":
    main()
