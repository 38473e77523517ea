"""Inferring shapes: CPU time without weights, in a process of its own, beside onnx in this one.

Run ``python tests/benchmarks/infer_shapes.py [MODEL…]``; without models those of onnx's light
folder and some of the zoo. For each: seconds to open it and read its graph, to write its skeleton,
the worker's time from start to end with the import of onnx, which is measured first, and to give
the types to the values; then what onnx takes in this process for the whole model, reading the file
included. The worker is counted by what the system says of processes that have ended, so this runs
where there is the module ``resource``.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import onnx
import onnx.shape_inference

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from netloupe.explorer.errors import InferenceError  # noqa: E402
from netloupe.explorer.inference import infer, process  # noqa: E402
from netloupe.explorer.model.graph import get_inferred_types  # noqa: E402
from netloupe.explorer.readers.load import load  # noqa: E402
from netloupe.explorer.readers.onnx.skeleton import write_skeleton  # noqa: E402
from tests.corpus import LIGHT_MODELS, corpus_file, light_file  # noqa: E402

ZOO = ("exported/gpt2.legacy.onnx", "exported/t5.legacy.onnx", "quantized/bert.qdq.onnx")
TIMEOUT = 600.0


def children_time() -> float:
    """Return the CPU seconds of all processes that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(path: Path) -> str:
    """Return a line of numbers for one model."""
    begin = time.process_time()
    model = load(path)
    count = len(model.graph.nodes)
    opened = time.process_time()
    skeleton = write_skeleton(model)
    written = time.process_time()
    before = children_time()
    answer = process.run_worker(skeleton.data, TIMEOUT)
    worker = children_time() - before
    given = time.process_time()
    infer.run_worker = lambda data, timeout: answer
    try:
        infer.infer_shapes(model)
    except InferenceError as error:
        return f"{path.name:32} {error}"
    finally:
        infer.run_worker = process.run_worker
    # the skeleton is written once more in this
    taken = time.process_time() - given - (written - opened)
    begin_onnx = time.process_time()
    whole = onnx.ModelProto.FromString(path.read_bytes())
    onnx.shape_inference.infer_shapes(whole, data_prop=True)
    peer = time.process_time() - begin_onnx
    found = sum(len(get_inferred_types(graph)) for graph in model.graphs)
    return (
        f"{path.name:32} {count:9,} {len(skeleton.data) / 1e6:9.2f} {opened - begin:8.2f} "
        f"{written - opened:8.2f} {worker:8.2f} {max(taken, 0):8.2f} {peer:8.2f} {found:9,}"
    )


def main() -> None:
    """Measure the models that are named, else those that are at hand."""
    before = children_time()
    subprocess.run([sys.executable, "-c", "import onnx.shape_inference"], check=True)
    print(f"importing onnx: {children_time() - before:.2f} s")
    columns = ("nodes", "MB", "open s", "write s", "worker s", "give s", "onnx s", "types")
    widths = (9, 9, 8, 8, 8, 8, 8, 9)
    print(f"{'':32} " + " ".join(f"{c:>{w}}" for c, w in zip(columns, widths, strict=True)))
    named = [Path(name) for name in sys.argv[1:]]
    for path in named or [*map(light_file, LIGHT_MODELS), *map(corpus_file, ZOO)]:
        print(measure(path), flush=True)


if __name__ == "__main__":
    main()
