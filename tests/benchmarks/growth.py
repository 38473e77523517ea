"""What must not take the square of its input: processor time at one size, and at four times that.

Run ``python tests/benchmarks/growth.py [WORDS …]``; with words only the cases are measured whose
names contain one of them. Each is measured three times and the least counts. The peer is the same
work on a quarter of the input: linear work takes 4 times as long, its square 16 times. The exit
status is 1 where it is more than :data:`MOST`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from netloupe.explorer.audit import audit  # noqa: E402 - after the path
from netloupe.explorer.checks import check, find_cycles  # noqa: E402
from netloupe.explorer.compare import diff  # noqa: E402
from netloupe.explorer.grouping import build_group_tree  # noqa: E402
from netloupe.explorer.panes.pairs import write_pairs  # noqa: E402
from netloupe.explorer.readers.load import load  # noqa: E402
from tests import hostile_models  # noqa: E402

MOST = 8.0
ROUNDS = 3
#: bytes of the file that weights share
_SHARED = 2**20


def prepare_cycle(count: int, _folder: Path) -> Callable[[], object]:
    ring = [[(vertex + 1) % count] for vertex in range(count)]
    return lambda: find_cycles(ring)


def prepare_scopes(count: int, _folder: Path) -> Callable[[], object]:
    nodes = [
        helper.make_node("Relu", [f"v{at}"], [f"v{at + 1}"], f"/s{at // 2}/{'xy'[at % 2]}")
        for at in range(2 * count)
    ]
    graph = load(_model_of(nodes)).graph
    return lambda: build_group_tree(graph, "names")


def prepare_flat(count: int, _folder: Path) -> Callable[[], object]:
    chance = np.random.default_rng(5)
    nodes = []
    for at in range(count):
        before = [f"v{max(0, at - int(back))}" for back in chance.integers(0, 30, 2)]
        nodes.append(helper.make_node("Sum", before, [f"v{at + 1}"]))
    graph = load(_model_of(nodes)).graph
    return lambda: build_group_tree(graph)


def prepare_initializers(count: int, _folder: Path) -> Callable[[], object]:
    one = np.ones(2, np.float32)
    weights = [numpy_helper.from_array(one, f"w{number}") for number in range(count)]
    model = load(_model_of([], weights))
    return lambda: check(model)


def prepare_shared_bytes(count: int, folder: Path) -> Callable[[], object]:
    path = _write_shared(count, folder, TensorProto.FLOAT, 4)
    return lambda: check(load(path), select=["NL-N"])


def prepare_shared_codes(count: int, folder: Path) -> Callable[[], object]:
    path = _write_shared(count, folder, TensorProto.INT8, 1)
    return lambda: audit(load(path))


def prepare_diff(make: Callable[[int], bytes]) -> Callable[[int, Path], Callable[[], object]]:
    """Return what compares a model with itself, and pairs what panes show of both."""

    def prepare(count: int, _folder: Path) -> Callable[[], object]:
        data = make(count)

        def compare() -> object:
            found = diff(data, data)
            return found.merging, write_pairs(found)

        return compare

    return prepare


def make_sharers(count: int) -> bytes:
    """Return a model of so many Reshapes to one stored shape."""
    nodes = [
        helper.make_node("Reshape", [f"v{at}", "shape"], [f"v{at + 1}"]) for at in range(count)
    ]
    return _model_of(nodes, [numpy_helper.from_array(np.array([2, 3]), "shape")])


def make_crowded(count: int) -> bytes:
    """Return a Reshape that is given so many stored shapes, which is too many."""
    names = [f"w{number}" for number in range(count)]
    shapes = [numpy_helper.from_array(np.array([2, 3]), name) for name in names]
    return _model_of([helper.make_node("Reshape", ["x", *names], ["y"])], shapes)


#: one kind of thing each, of which a model has very many
_KINDS: dict[str, tuple[Callable[[int], bytes], int]] = {
    **{
        make.__name__.replace("_", " "): (make, count)
        for make, count in (
            (hostile_models.annotations, 4_000),
            (hostile_models.attributes, 4_000),
            (hostile_models.branches, 2_000),
            (hostile_models.captures, 4_000),
            (hostile_models.consumers, 4_000),
            (hostile_models.empty_nodes, 4_000),
            (hostile_models.equal_attributes, 4_000),
            (hostile_models.equal_inputs, 20_000),
            (hostile_models.functions, 1_000),
            (hostile_models.graph_attribute, 1_000),
            (hostile_models.graph_inputs, 4_000),
            (hostile_models.initializers, 4_000),
            (hostile_models.metadata, 4_000),
            (hostile_models.op_types, 4_000),
            (hostile_models.opset_imports, 4_000),
            (hostile_models.outputs, 4_000),
            (hostile_models.redefined_values, 4_000),
            (hostile_models.undefined_inputs, 4_000),
        )
    },
    "nodes that share a shape": (make_sharers, 4_000),
    "shapes of one node": (make_crowded, 4_000),
}

CASES: dict[str, tuple[Callable[[int, Path], Callable[[], object]], int]] = {
    "cycles: one ring": (prepare_cycle, 50_000),
    "groups: scopes beside one another": (prepare_scopes, 5_000),
    "groups: a flat graph": (prepare_flat, 6_000),
    "check: initializers": (prepare_initializers, 3_000),
    "check: weights that share bytes": (prepare_shared_bytes, 100),
    "audit: weights that share bytes": (prepare_shared_codes, 100),
    **{f"diff: {name}": (prepare_diff(make), count) for name, (make, count) in _KINDS.items()},
}


def _model_of(nodes: list[NodeProto], weights: list[TensorProto] | None = None) -> bytes:
    graph = helper.make_graph(nodes, "g", [], [], weights)
    return bytes(helper.make_model(graph).SerializeToString())


def _write_shared(count: int, folder: Path, code: int, size: int) -> Path:
    """Write a model all of whose weights are the same bytes of a file, each one fewer of them."""
    (folder / "w.bin").write_bytes(bytes(_SHARED))
    nodes, weights = [], []
    for number in range(count):
        length = _SHARED // size - number
        tensor = TensorProto(name=f"w{number}", data_type=code, dims=[length])
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="w.bin")
        tensor.external_data.add(key="length", value=str(size * length))
        scale = numpy_helper.from_array(np.array(0.1, np.float32), f"s{number}")
        weights += [tensor, scale]
        nodes.append(
            helper.make_node("DequantizeLinear", [f"w{number}", f"s{number}"], [f"y{number}"])
        )
    path = folder / f"shared_{count}_{size}.onnx"
    path.write_bytes(_model_of(nodes, weights))
    return path


def measure(prepare: Callable[[int, Path], Callable[[], object]], count: int) -> float:
    """Return the least seconds of processor time; the input is made before the clock starts."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            work = prepare(count, Path(folder))
            started = time.process_time()
            work()
            found.append(time.process_time() - started)
    return min(found)


def main(words: list[str]) -> int:
    """Print a line for each case; return 1 where one grows too fast."""
    worst = 0.0
    for name, (prepare, count) in CASES.items():
        if words and not any(word in name for word in words):
            continue
        few, many = measure(prepare, count), measure(prepare, 4 * count)
        worst = max(worst, many / few)
        print(f"{name:36} {count:7,} {few:7.2f} s {4 * count:9,} {many:7.2f} s {many / few:6.1f} x")
    print(f"worst: {worst:.1f} times as long for four times the input (at most {MOST:.0f})")
    return worst > MOST


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
