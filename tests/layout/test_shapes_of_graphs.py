"""Graphs of every shape give a first view: chains, fans, grids, dense, random, deep and wide."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from netloupe.explorer.layout import Composer, LayoutEngine
from netloupe.explorer.model import Model
from netloupe.explorer.progress import Cancelled, watched
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.asked_view import make_view
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.view import Item, View, ViewOptions, expand_view
from netloupe.proto import onnx_pb2
from tests.corpus import also_beside, corpus_file
from tests.layout.test_geometry import chain_of_layers
from tests.scene_check import find_geometry_faults

#: what no first view has more of
MOST_BOXES = 400

Edges = Iterator[tuple[str, list[str], str]]


def build(nodes: Edges, outputs: list[str]) -> Model:
    """Return a model of nodes, each given by its name, inputs and result."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    graph: Any = proto.graph
    graph.input.add(name="x")
    for name, inputs, output in nodes:
        op_type = "Relu" if len(inputs) == 1 else "Sum"
        graph.node.add(op_type=op_type, name=name, input=inputs, output=[output])
    for output in outputs:
        graph.output.add(name=output)
    return load(proto.SerializeToString())


def chain() -> Model:
    """One node after the other, without scopes."""
    nodes = ((f"relu_{i}", [f"v{i - 1}" if i else "x"], f"v{i}") for i in range(3000))
    return build(nodes, ["v2999"])


def fan() -> Model:
    """One value to a thousand nodes, joined by tens of operands."""

    def nodes() -> Edges:
        for i in range(1000):
            yield f"/branch.{i}/Relu", ["x"], f"a{i}"
        for i in range(20):
            yield f"/join.{i}/Sum", [f"a{50 * i + j}" for j in range(50)], f"s{i}"
        yield "/join/Sum", [f"s{i}" for i in range(20)], "y"

    return build(nodes(), ["y"])


def grid() -> Model:
    """Every node takes from the one above and the one at its left."""

    def name(row: int, column: int) -> str:
        return f"g{row}_{column}" if row >= 0 and column >= 0 else "x"

    def nodes() -> Edges:
        for i in range(30):
            for j in range(30):
                yield f"/row.{i}/col.{j}/Add", [name(i - 1, j), name(i, j - 1)], name(i, j)

    return build(nodes(), [name(29, 29)])


def dense() -> Model:
    """Every node takes from all before."""
    nodes = ((f"/dense/{i}/Sum", ["x", *(f"v{j}" for j in range(i))], f"v{i}") for i in range(80))
    return build(nodes, ["v79"])


def noise() -> Model:
    """Nodes wired at random, near and far, without scopes."""
    source = random.Random(0)

    def nodes() -> Edges:
        for i in range(1500):
            inputs = [f"v{max(0, i - 1 - source.randrange(20))}" if i else "x"]
            if i > 50 and source.random() < 0.3:
                inputs.append(f"v{source.randrange(i)}")
            yield f"n{i}", inputs, f"v{i}"

    return build(nodes(), ["v1499"])


def islands() -> Model:
    """Many chains that nothing joins."""

    def nodes() -> Edges:
        for i in range(100):
            for j in range(10):
                yield f"/part.{i}/layer.{j}/Relu", [f"v{i}_{j - 1}" if j else "x"], f"v{i}_{j}"

    return build(nodes(), [f"v{i}_9" for i in range(100)])


def depth() -> Model:
    """Scopes in scopes, sixty of them."""

    def nodes() -> Edges:
        for i in range(300):
            scope = "/".join(f"level{j}" for j in range(1 + i % 60))
            yield f"/{scope}/Relu_{i}", [f"v{i - 1}" if i else "x"], f"v{i}"

    return build(nodes(), ["v299"])


def breadth() -> Model:
    """Thousands of scopes of two nodes beside each other, no two of one size."""

    def nodes() -> Edges:
        for i in range(2000):
            yield f"/scope{i}/a", ["x"] * (1 + i % 7), f"a{i}"
            yield f"/scope{i}/b", [f"a{i}"] * (1 + i % 5), f"b{i}"

    return build(nodes(), ["b0", "b1999"])


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def check(model: Model, engine: LayoutEngine, **options: Any) -> None:
    """Check that a first view comes in time, has a readable size and is sound."""
    picture = make_picture(model, ViewOptions.parse(options), composer=Composer(engine))
    assert find_geometry_faults(picture.scene, picture.view, picture.insets) == []
    assert 1 < len(picture.scene.boxes) <= MOST_BOXES
    assert all("simpler layout" in notice for notice in picture.notices)


@pytest.mark.parametrize("direction", ["TB", "LR"])
@pytest.mark.parametrize("shape", [chain, fan, grid, dense, noise, islands, depth, breadth])
def test_a_first_view_of_every_shape(
    engine: LayoutEngine, shape: Callable[[], Model], direction: str
) -> None:
    check(shape(), engine, direction=direction)


@pytest.mark.parametrize(
    "name",
    also_beside(
        [
            "case_names",
            "cycle_scc_dense",
            "cycle_self",
            "dup_node_names",
            "empty_names",
            "evil_names",
            "evil_scopes",
            "name_1mb_nospace_unicode",
            "parallel_edges",
            "scope_cycle",
            "scope_wide_20000",
        ],
        "hostile/{}.onnx",
    ),
)
def test_a_first_view_of_hostile_graphs(engine: LayoutEngine, name: str) -> None:
    check(load(corpus_file(name)), engine)


class Stop:
    """Ends the work that it watches after so many steps."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self, _what: str, _share: float | None) -> None:
        self.left -= 1
        if self.left < 0:
            raise Cancelled


def test_opening_everything_can_be_cancelled_half_way() -> None:
    view = View(chain_of_layers(200))
    with pytest.raises(Cancelled), watched(Stop(100)):
        expand_view(view, "all")
    assert 50 < sum(1 for _ in view.open_items()) < 150
    whole = View(view.model)
    with watched(Stop(1000)):
        expand_view(whole, "all")
    assert sum(1 for _ in whole.open_items()) == 202


def test_a_flat_layer_can_be_cancelled_before_graphviz_has_it(engine: LayoutEngine) -> None:
    class Measured(Labels):
        count = 0

        def size(self, item: Item) -> tuple[float, float]:
            self.count += 1
            return super().size(item)

    view, _ = make_view(chain_of_layers(1000), ViewOptions(grouping="none"))
    labels = Measured()
    with pytest.raises(Cancelled), watched(Stop(3)):
        Composer(engine).compose(view, labels)
    assert 0 < labels.count < 1000
