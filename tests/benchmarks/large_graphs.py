"""Large graphs: from file to first Scene, opening a layer, opening everything, memory.

Run ``python tests/benchmarks/large_graphs.py [MODEL …] [--no-dot]``. Without models it makes
decoders of 1,000, 10,000, 100,000 and 500,000 nodes, and one of 10,000 without names, in a
temporary folder (about 200 MB) that is removed. Each is measured in a process of its own, which
first draws a tiny model, so that neither imports nor the start of the layout worker count.
Times are processor time, user and system, the layout worker's included; the best of some
rounds. ``known`` is which share of these steps roles and the recognition of blocks take,
at most 25 % as the bar. ``ratio`` is the sum of the four steps from the file to the first Scene
over ``onnx.load`` of the same file in the same round, the median of the rounds. ``open`` opens the
stack of layers (a new composer each time, so that nothing is at hand) and encodes what the
browser gets; ``open of N`` opens one layer while all of them stand unrolled. ``all`` is
everything open. Plain ``dot`` has the flat graph, its default settings, 60 seconds of
processor time and 8 GB, and gets models up to 10,000 nodes; beside its time stands how often
that holds the time for ``all``. Memory is the peak of the resident set, Python and all imports
included, after the first view and at the end (Linux).
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from netloupe.explorer.grouping import build_group_tree  # noqa: E402
from netloupe.explorer.layout import Composer, LayoutEngine, shared_engine  # noqa: E402
from netloupe.explorer.model import Model  # noqa: E402
from netloupe.explorer.model.collector import collector_paused  # noqa: E402
from netloupe.explorer.progress import Cancelled, watched  # noqa: E402 - after the path
from netloupe.explorer.readers.load import load  # noqa: E402
from netloupe.explorer.render.asked_view import make_view  # noqa: E402
from netloupe.explorer.render.labels import Labels  # noqa: E402
from netloupe.explorer.render.wire import SceneEncoder  # noqa: E402
from netloupe.explorer.view import View, ViewOptions  # noqa: E402
from tests.benchmarks.shares import RoomTimer  # noqa: E402

SIZES = (1_000, 10_000, 100_000, 500_000)
NAMELESS = 10_000
DOT_SECONDS = 60.0
#: netloupe gives Graphviz far less
DOT_MEMORY = 8 * 2**30
MOST_FOR_DOT = 15_000
EXPAND_SECONDS = 600.0
ROUNDS = 7


class DecoderWriter:
    """Writes a decoder as an exporter does: scoped names, shared mask, types of all values.

    Parameters
    ----------
    is_named
        Whether nodes have names and values tell where they come from.
    """

    def __init__(self, *, is_named: bool) -> None:
        self.is_named = is_named
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.types: list[onnx.ValueInfoProto] = []
        self._type = helper.make_tensor_type_proto(TensorProto.FLOAT, ["batch", "seq", 8])

    def weight(self, name: str, *shape: int) -> str:
        """Add a weight; return its name."""
        name = name if self.is_named else f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.zeros(shape, np.float32), name))
        return name

    def add(self, scope: str, op: str, *inputs: str) -> str:
        """Add a node; return the name of its result."""
        name = f"/model/{scope}/{op}_{len(self.nodes)}"
        output = f"{name}_output" if self.is_named else str(len(self.nodes))
        self.nodes.append(
            helper.make_node(op, list(inputs), [output], name=name if self.is_named else "")
        )
        if self.is_named:
            self.types.append(helper.make_value_info(output, self._type))
        return output

    def linear(self, scope: str, value: str) -> str:
        """Add a projection."""
        return self.add(scope, "MatMul", value, self.weight(f"{scope}.weight", 8, 8))

    def norm(self, scope: str, value: str) -> str:
        """Add a root mean square normalization."""
        mean = self.add(scope, "ReduceMean", self.add(scope, "Mul", value, value))
        root = self.add(scope, "Sqrt", self.add(scope, "Add", mean, "epsilon"))
        normal = self.add(scope, "Div", value, root)
        return self.add(scope, "Mul", normal, self.weight(f"{scope}.weight", 8))

    def layer(self, scope: str, value: str, mask: str) -> str:
        """Add an attention and a gated MLP, each with a residual connection."""
        attention, mlp = f"{scope}/self_attn", f"{scope}/mlp"
        normal = self.norm(f"{scope}/input_norm", value)
        heads = []
        for name in ("q_proj", "k_proj", "v_proj"):
            head = self.add(attention, "Reshape", self.linear(f"{attention}/{name}", normal), "to")
            heads.append(self.add(attention, "Transpose", head))
        scores = self.add(attention, "MatMul", heads[0], heads[1])
        scores = self.add(attention, "Add", self.add(attention, "Mul", scores, "epsilon"), mask)
        mixed = self.add(attention, "MatMul", self.add(attention, "Softmax", scores), heads[2])
        mixed = self.add(attention, "Reshape", self.add(attention, "Transpose", mixed), "back")
        value = self.add(scope, "Add", value, self.linear(f"{attention}/o_proj", mixed))
        normal = self.norm(f"{scope}/post_norm", value)
        gate = self.linear(f"{mlp}/gate_proj", normal)
        gate = self.add(f"{mlp}/act", "Mul", gate, self.add(f"{mlp}/act", "Sigmoid", gate))
        up = self.add(mlp, "Mul", gate, self.linear(f"{mlp}/up_proj", normal))
        return self.add(scope, "Add", value, self.linear(f"{mlp}/down_proj", up))

    def model(self, nodes: int) -> onnx.ModelProto:
        """Return a decoder of about so many nodes."""
        mask = self.add("mask", "Sub", "epsilon", self.add("mask", "Cast", "attention_mask"))
        del self.nodes[-2].attribute[:]
        self.nodes[-2].attribute.append(helper.make_attribute("to", TensorProto.FLOAT))
        value = self.add("embed", "Gather", self.weight("embed.weight", 16, 8), "input_ids")
        number = 0
        while len(self.nodes) < nodes - 7:
            value = self.layer(f"layers.{number}", value, mask)
            number += 1
        output = self.linear("lm_head", self.norm("norm", value))
        ids = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "seq"])
            for name in ("input_ids", "attention_mask")
        ]
        logits = helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", "seq", 8])
        shared = [
            numpy_helper.from_array(np.float32(1e-5), "epsilon"),
            numpy_helper.from_array(np.array([0, 0, 2, 4], np.int64), "to"),
            numpy_helper.from_array(np.array([0, 0, 8], np.int64), "back"),
        ]
        graph = helper.make_graph(
            self.nodes, "decoder", ids, [logits], shared + self.weights, value_info=self.types
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def write_models(folder: Path) -> list[Path]:
    """Write the decoders; return their paths."""
    paths = []
    for nodes in SIZES:
        paths.append(folder / f"decoder_{nodes // 1000}k.onnx")
        paths[-1].write_bytes(DecoderWriter(is_named=True).model(nodes).SerializeToString())
    paths.append(folder / f"decoder_{NAMELESS // 1000}k_noname.onnx")
    paths[-1].write_bytes(DecoderWriter(is_named=False).model(NAMELESS).SerializeToString())
    return paths


def flat_dot(path: Path) -> str:
    """Return the main graph in the DOT language, a box for each node."""
    graph = onnx.load(path).graph
    producers = {name: i for i, node in enumerate(graph.node) for name in node.output}
    lines = ["digraph {", "node [shape=box]"]
    edges = 0
    for index, node in enumerate(graph.node):
        lines.append(f'n{index} [label="{node.op_type}"]')
        for name in node.input:
            if name in producers:
                lines.append(f'n{producers[name]} -> n{index} [id="{edges}"]')
                edges += 1
    return "\n".join([*lines, "}"])


def worker_seconds(engine: LayoutEngine) -> float:
    """Return the processor time that a layout worker has taken since it began."""
    process = engine.process_id
    if process is None:
        return 0.0
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    """Return what an action gives, and its seconds in this process and the layout worker."""
    engine = shared_engine()
    start = time.process_time() + worker_seconds(engine)
    result = action()
    return result, time.process_time() + worker_seconds(engine) - start


def peak_mb() -> float:
    """Return the largest resident set so far, in MB.

    :func:`resource.getrusage` would count what the parent held when it started this process.
    """
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def compose(composer: Composer, view: View, labels: Labels) -> Any:
    """Lay out a view as pictures are."""
    return composer.compose(view, labels, wrap="auto", deadline=EXPAND_SECONDS)


def measure_first(path: Path) -> dict[str, float]:
    """Return the seconds of each step to the first Scene, and of ``onnx.load``."""
    best: dict[str, float] = {}
    ratios = []
    for _ in range(ROUNDS):
        gc.collect()
        times = {"onnx.load": timed(lambda: onnx.load(path))[1]}
        model, times["read"] = timed(lambda: load(path))
        (view, _), times["view"] = timed(lambda model=model: make_view(model, ViewOptions()))
        scene, times["layout"] = timed(lambda view=view: compose(Composer(), view, Labels()))
        ratios.append((times["read"] + times["view"] + times["layout"]) / times["onnx.load"])
        # what grouping alone takes is found by doing it once more
        with collector_paused():
            _, times["group"] = timed(lambda model=model: build_group_tree(model.graph))
        best = {name: min(best.get(name, taken), taken) for name, taken in times.items()}
        best["boxes"] = len(scene.boxes)
        best["nodes"] = len(model.graph.nodes)
        best["peak"] = peak_mb()
        del model, view, scene
    best["group"] = min(best["group"], best["view"])
    best["view"] -= best["group"]
    best["ratio"] = statistics.median(ratios)
    return best


def measure_recognition(path: Path) -> float:
    """Return which share of the time to the first Scene is spent on what nodes and groups are."""
    timer = RoomTimer("netloupe.explorer.patterns", "netloupe.explorer.roles")
    gc.collect()

    def first() -> None:
        view, _ = make_view(load(path), ViewOptions())
        compose(Composer(), view, Labels())

    with timer.watching():
        _, taken = timed(first)
    return timer.seconds / taken


def measure_opening(model: Model) -> dict[str, float]:
    """Return the seconds to open the stack of layers, and one layer of all unrolled."""
    opened, unrolled, count = [], [], 0
    for _ in range(ROUNDS):
        view, _ = make_view(model, ViewOptions(expand="none"))
        groups = view.borders(model.graph).tree.groups.values()
        repeats = [group for group in groups if group.kind == "repeat"]
        if not repeats:
            return {}
        stack = max(repeats, key=lambda group: group.node_count)
        count = len(stack.children)
        composer, labels = Composer(), Labels()
        encoder = SceneEncoder(labels.faces)
        view.reveal(stack.path)
        encoder.encode(compose(composer, view, labels))

        def open_one(
            path: str,
            view: View = view,
            composer: Composer = composer,
            labels: Labels = labels,
            encoder: SceneEncoder = encoder,
        ) -> None:
            view.open(path)
            encoder.encode(compose(composer, view, labels))

        opened.append(timed(lambda act=open_one, path=stack.path: act(path))[1])
        item = view.unroll(stack.path)
        encoder.encode(compose(composer, view, labels))
        groups_inside = [child for child in item.children if child.openable]
        middle = groups_inside[len(groups_inside) // 2]
        unrolled.append(timed(lambda act=open_one, path=middle.key: act(path))[1])
    return {"open": min(opened), "open_unrolled": min(unrolled), "layers": count}


def measure_all(model: Model) -> dict[str, Any]:
    """Return the seconds to show everything open, in processor time and by the clock."""
    start = time.perf_counter()

    def expand() -> Any:
        view, notices = make_view(model, ViewOptions(expand="all"))
        return compose(Composer(), view, Labels()), notices

    (scene, notices), taken = timed(expand)
    return {
        "all": taken,
        "all_wall": time.perf_counter() - start,
        "all_boxes": len(scene.boxes),
        "notices": [*notices, *scene.notices],
    }


def measure(path: Path) -> dict[str, Any]:
    """Measure one model."""
    tiny = load(DecoderWriter(is_named=True).model(40))
    compose(Composer(), make_view(tiny, ViewOptions())[0], Labels())
    found: dict[str, Any] = dict(measure_first(path))
    found["known"] = statistics.median(measure_recognition(path) for _ in range(3))
    model = load(path)
    found |= measure_opening(model)
    found |= measure_all(model)
    found["peak_all"] = peak_mb()
    shared_engine().stop()
    return found


def measure_dot(path: Path) -> float | None:
    """Return the processor time that plain ``dot`` takes; None where it is not done in time."""
    engine = LayoutEngine(most_memory=DOT_MEMORY)
    engine.start()
    dot = flat_dot(path)
    start = worker_seconds(engine)

    def stop(_what: str, _share: float | None) -> None:
        if worker_seconds(engine) - start > DOT_SECONDS:
            raise Cancelled

    try:
        with watched(stop):
            engine.place(dot, 10 * DOT_SECONDS)
        return worker_seconds(engine) - start
    except Cancelled:
        return None
    finally:
        engine.stop()


def measure_apart(path: Path) -> dict[str, Any]:
    """Measure one model in a process of its own."""
    command = [sys.executable, __file__, "--measure", str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def print_tables(paths: list[Path], *, with_dot: bool) -> None:
    """Measure models and print what was found."""
    rows = {}
    print(
        f"{'model':24}{'nodes':>8}{'boxes':>7}{'onnx.load':>11}{'read':>8}{'group':>8}"
        f"{'view':>8}{'layout':>8}{'known':>7}{'ratio':>7}{'peak MB':>9}"
    )
    for path in paths:
        row = rows[path] = measure_apart(path)
        steps = [row[name] for name in ("read", "group", "view", "layout")]
        print(
            f"{path.stem:24}{row['nodes']:8,}{row['boxes']:7}{row['onnx.load'] * 1e3:9.0f}ms"
            + "".join(f"{step * 1e3:6.0f}ms" for step in steps)
            + f"{row['known']:7.0%}{row['ratio']:6.1f}x{row['peak']:9.0f}",
            flush=True,
        )
    print(
        f"\n{'model':24}{'layers':>8}{'open':>8}{'open of N':>11}{'all':>9}{'by clock':>9}"
        f"{'boxes':>9}{'peak MB':>9}{'plain dot':>11}"
    )
    for path, row in rows.items():
        dot = ""
        if with_dot and row["nodes"] <= MOST_FOR_DOT:
            seconds = measure_dot(path)
            times = (seconds or DOT_SECONDS) / row["all"]
            dot = f"{'' if seconds else '> '}{seconds or DOT_SECONDS:.1f}s, {times:.0f}x"
        opened = [f"{row[name] * 1e3:.0f}ms" if name in row else "-" for name in
                  ("open", "open_unrolled")]  # fmt: skip
        print(
            f"{path.stem:24}{row.get('layers', 0):8,}{opened[0]:>8}{opened[1]:>11}"
            f"{row['all']:8.2f}s{row['all_wall']:8.2f}s{row['all_boxes']:9,}"
            f"{row['peak_all']:9.0f}  {dot}",
            flush=True,
        )
        for notice in row["notices"]:
            print(f"    {notice}")


def main(arguments: list[str]) -> int:
    """Measure the models that are named, or those that it makes."""
    if arguments[:1] == ["--measure"]:
        print(json.dumps(measure(Path(arguments[1]))))
        return 0
    with_dot = "--no-dot" not in arguments
    paths = [Path(argument) for argument in arguments if argument != "--no-dot"]
    if paths:
        print_tables(paths, with_dot=with_dot)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        print_tables(write_models(Path(folder)), with_dot=with_dot)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
