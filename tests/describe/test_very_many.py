"""What is said of very many is looked at no further than it is shown."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType

import onnx
import onnx.parser
import pytest

import netloupe
from netloupe.explorer.describe import (
    Description,
    describe_outline,
    describe_path,
    describe_values,
    format_text,
)
from netloupe.explorer.describe.description import MOST_ROWS
from netloupe.explorer.model import Model
from netloupe.explorer.model.kept import get_kept
from netloupe.explorer.model.reading import get_graph_reading
from netloupe.explorer.quantization import find_quantization
from netloupe.explorer.quantization.sources import QuantizingNodes
from netloupe.explorer.readers.load import load
from tests.hostile_models import consumers, graph_inputs, undefined_inputs

MANY = 3_000


def count_calls(action: Callable[[], object]) -> int:
    """Return how many functions an action calls, every step of a generator too."""
    count = 0

    def note(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def test_types_of_inputs_that_are_not_listed_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(graph_inputs(MANY))
    loader = get_graph_reading(model.graph).value_loader
    assert loader is not None
    read: list[int] = []
    fill = type(loader).fill
    monkeypatch.setattr(
        type(loader),
        "fill",
        lambda self, value, place: (read.append(place), fill(self, value, place)),
    )
    inputs = next(s for s in describe_outline(model).sections if s.title == "Inputs")
    assert inputs.rows[0].value == "float32[2]"
    assert inputs.rows[-1].value == f"{MANY - MOST_ROWS:,} more"
    assert len(read) < 2 * MOST_ROWS


@pytest.mark.parametrize(
    "describe",
    [
        lambda model: describe_path(model, "main/%x"),
        lambda model: describe_values(model, ["main/%x"]),
    ],
)
def test_consumers_that_are_not_named_are_only_counted(
    describe: Callable[[Model], Description],
) -> None:
    few, many = load(consumers(MANY)), load(consumers(3 * MANY))
    for model in (few, many):  # what is made once for a graph
        assert model.graph.nodes[0].path
        describe(model)
    each = (count_calls(lambda: describe(many)) - count_calls(lambda: describe(few))) / 2 / MANY
    assert each <= 2
    text = format_text(describe(many))
    assert f"{3 * MANY - 50 + 1:,} more consumer" in text or f"{3 * MANY + 1:,} consumers" in text


def test_all_uses_by_one_node_are_counted() -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["": 18]>
        g (float[2] x) => (float[2] y) {
            [a] p = Sum (x, x, x)
            [b] y = Add (p, x)
        }"""
    )
    model.graph.node[0].input.extend(["x"] * 60)
    read = netloupe.load(model)
    rows = next(s.rows for s in describe_path(read, "main/%x").sections if s.title == "Uses")
    assert rows[-1].value == "14 more consumers"
    assert len(read.value("x").consumers) == 64


def test_quantization_is_found_among_very_many_users() -> None:
    model = onnx.ModelProto.FromString(consumers(MANY))
    graph = model.graph
    graph.initializer.append(
        onnx.helper.make_tensor("scale", onnx.TensorProto.FLOAT, [], [0.5]),
    )
    branch = onnx.GraphProto(name="branch")
    branch.node.add(op_type="QuantizeLinear", name="first", input=["x", "scale"], output=["q"])
    graph.node.add(op_type="If", input=["c"]).attribute.add(name="then_branch", type=5, g=branch)
    graph.node.add(op_type="QuantizeLinear", name="last", input=["x", "scale"], output=["r"])
    read = netloupe.load(model)
    x = read.value("x")
    found = find_quantization(x)
    assert found is not None
    assert found.scale is not None
    assert found.scale.item() == 0.5
    assert len(x.users) > MANY
    plain = netloupe.load(consumers(MANY)).value("x")
    assert find_quantization(plain) is None
    looked_at = get_kept(plain.graph, QuantizingNodes)
    assert looked_at is not None
    assert looked_at.by_value == {}


def test_where_many_values_are_spoken_of_is_remembered_in_little() -> None:
    def remember(count: int) -> int:
        model = load(graph_inputs(count))
        value = model.graph.inputs[-1]
        tracemalloc.start()
        try:
            assert value.unknown_fields == ()
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    assert (remember(20_000) - remember(10_000)) / 10_000 < 40


def test_where_many_inputs_are_is_remembered_in_little() -> None:
    def remember(count: int) -> int:
        model = load(undefined_inputs(count))
        value = model.graph.nodes[0].inputs[-1]
        assert value is not None
        tracemalloc.start()
        try:
            assert value.consumers == ((model.graph.nodes[0], count - 1),)
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    # the sizes of dicts are powers of two: between equal fillings nothing but the values counts
    assert (remember(40_000) - remember(20_000)) / 20_000 < 100
