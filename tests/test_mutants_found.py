"""What mutants of operators have found in rules, costs, roles, patterns, scales and reports."""

from __future__ import annotations

import math
from typing import get_args

import pytest

from netloupe.explorer.checks import check
from netloupe.explorer.errors import OverlayError
from netloupe.explorer.model import Model, Node
from netloupe.explorer.overlays import overlay
from netloupe.explorer.overlays.column import LARGEST, SCALE_KINDS, ColourStop, to_number
from netloupe.explorer.patterns.shape_values import describe_shape_value
from netloupe.explorer.readers.load import load
from netloupe.explorer.report.content import RowLevel
from netloupe.explorer.report.reviewed import _list_items
from netloupe.explorer.review import LEVELS, Level, ReviewItem
from netloupe.proto import caffe2_pb2, onnx_pb2

from .fuzzing.target import examine
from .onnx_text import load_text


def make_nodes(*nodes: tuple[str, list[str], str]) -> onnx_pb2.ModelProto:
    proto = onnx_pb2.ModelProto(ir_version=10)
    proto.opset_import.add(version=21)
    for op_type, inputs, output in nodes:
        proto.graph.node.add(op_type=op_type, input=inputs, output=[output])
    for name in ("x", "s"):
        proto.graph.input.add(name=name).type.tensor_type.elem_type = 1
    proto.graph.output.add(name=nodes[-1][2])
    return proto


CIRCLES = {
    "one": [("Mul", ["a", "s"], "a")],
    "two": [("Mul", ["b", "s"], "a"), ("Mul", ["a", "s"], "b")],
    "arranged": [("Mul", ["b", "s"], "a"), ("Reshape", ["a", "s"], "b")],
    "ranges": [("Range", ["b", "s", "s"], "a"), ("Range", ["a", "s", "s"], "b")],
    "row, last first": [("Mul", [f"v{n}", "s"], f"v{n + 1}") for n in reversed(range(1500))],
    "of many": [("Mul", [f"v{n}", "s"], f"v{(n + 1) % 1200}") for n in range(1200)],
}


@pytest.mark.parametrize("name", CIRCLES)
def test_producers_in_a_circle_are_followed_once(name: str) -> None:
    proto = make_nodes(*CIRCLES[name])
    constant = proto.graph.initializer.add(name="s", data_type=1, dims=[1], float_data=[0.5])
    assert constant.name == "s"
    examine(load(proto), draws=False)


def test_ranges_of_ranges_are_described_so_deep_alone() -> None:
    proto = make_nodes(*[("Range", [f"v{n}", "s", "s"], f"v{n + 1}") for n in range(2000)])
    model = load(proto)
    assert describe_shape_value(model.graph.values["v2000"]) == "? … ? … ? … ?"


def test_an_attribute_of_another_kind_is_no_order_of_axes() -> None:
    proto = make_nodes(("Transpose", ["x"], "a"), ("Transpose", ["a"], "y"), ("Cast", ["y"], "z"))
    for node in proto.graph.node[:2]:
        node.attribute.add(name="perm", type=onnx_pb2.AttributeProto.TENSOR).t.dims.append(1)
    proto.graph.node[2].attribute.add(name="to", type=7, ints=[1, 2])
    examine(load(proto), draws=False)
    proto.graph.node[0].attribute[0].CopyFrom(
        onnx_pb2.AttributeProto(name="perm", type=6, floats=[1.0, 0.0])
    )
    examine(load(proto), draws=False)


def test_learned_numbers_of_impossible_dims_are_counted() -> None:
    proto = make_nodes(("TreeEnsemble", ["x"], "y"))
    proto.opset_import.add(domain="ai.onnx.ml", version=5)
    node = proto.graph.node[0]
    node.domain = "ai.onnx.ml"
    splits = node.attribute.add(name="nodes_splits", type=onnx_pb2.AttributeProto.TENSOR).t
    splits.data_type = 1
    splits.dims.extend([2**62, 2**62])
    model = load(proto)
    assert model.totals.attribute_values == 2**124
    examine(model, draws=False)


@pytest.mark.parametrize("depth", [3, 12, 40])
def test_a_body_that_was_not_walked_is_forgotten_without_an_error(depth: int) -> None:
    """Each Loop is walked twice, its state grows: of many in one another the last are left out."""
    proto = onnx_pb2.ModelProto(ir_version=10)
    proto.opset_import.add(version=21)
    graph = proto.graph
    state = graph.input.add(name="s").type.tensor_type
    state.elem_type = 1
    state.shape.dim.add(dim_value=1)
    bodies = []
    for _ in range(depth):
        loop = graph.node.add(op_type="Loop", input=["", "", "s"], output=["y"])
        graph.output.add(name="y")
        graph = loop.attribute.add(name="body", type=onnx_pb2.AttributeProto.GRAPH).g
        bodies.append(graph)
        for name in ("i", "c", "x"):
            graph.input.add(name=name)
        graph.output.add(name="c")
        grown = graph.node.add(op_type="Concat", input=["x", "x"], output=["z"])
        grown.attribute.add(name="axis", type=onnx_pb2.AttributeProto.INT, i=0)
    graph.output.add(name="z")
    other = bodies[0].node.add(op_type="If", input=["c"], output=["w"])  # comes after all Loops
    branch = other.attribute.add(name="else_branch", type=onnx_pb2.AttributeProto.GRAPH).g
    branch.node.add(op_type="Neg", input=["x"], output=["w"])
    branch.output.add(name="w")
    examine(load(proto), draws=False)


@pytest.fixture
def row() -> Model:
    return load_text("main (float[2] x) => (float[2] y) { a = Relu (x) b = Abs (a) y = Neg (b) }")


@pytest.mark.parametrize("scale", SCALE_KINDS)
@pytest.mark.parametrize("how", ["sum", "mean", "max"])
@pytest.mark.parametrize("ends", [(-1e308, 1e308), (-LARGEST, LARGEST), (5e-324, LARGEST)])
def test_every_scale_of_numbers_at_the_ends(
    row: Model, scale: str, how: str, ends: tuple[float, float]
) -> None:
    paths = [node.path for node in row.graph.nodes]
    laid = overlay(row, dict(zip(paths, (*ends, 1.0), strict=True)), scale=scale, aggregation=how)
    assert all(text and "inf" not in text for _, text in laid.list_rows())
    assert all(math.isfinite(bound) for bound in laid.scale.bounds)
    beyond = [name for name, value in zip(paths, ends, strict=False) if abs(value) > LARGEST]
    assert [one.name for one in laid.unplaced] == beyond
    assert all("beyond 1e+290" in one.reason for one in laid.unplaced)


def test_a_gradient_between_the_ends(row: Model) -> None:
    paths = [node.path for node in row.graph.nodes]
    stops = (ColourStop(0.0, "#000000"), ColourStop(1.0, "#ffffff"))
    numbers = dict(zip(paths, (-LARGEST, LARGEST, 0.0), strict=True))
    laid = overlay(row, numbers, gradient=stops)
    assert [laid.scale.tone(numbers[path]) for path in paths[:2]] == ["#000000", "#ffffff"]


def test_a_middle_beyond_all_numbers_is_refused(row: Model) -> None:
    with pytest.raises(OverlayError, match="midpoint"):
        overlay(row, {row.graph.nodes[0].path: 1.0}, midpoint=1e300)


def test_counts_too_large_for_a_number_are_not_known() -> None:
    assert [to_number(count) for count in (3, 10**400, None)] == [3.0, None, None]


@pytest.mark.parametrize("level", LEVELS)
def test_a_report_has_a_row_of_every_level(level: Level) -> None:
    item = ReviewItem("difference", level, "something", "a", "diff", ("main/a",))
    (table,) = [_list_items("Differences", [item])]
    assert table.rows[0].level in get_args(RowLevel)
    assert table.rows[0].cells[0].text


def test_a_producer_in_the_graph_around_has_no_role_in_the_body() -> None:
    """Its index is that of another node of the body, or of none."""
    before = " ".join(f"k{n} = Neg (x)" for n in range(9))
    model = load_text(f"""
        main (float[4] x, int64 n, bool c) => (float[4] y) <float[4,4] w> {{
          {before}
          y = Loop (n, c, x) <body = b (int64 i, bool go, float[4] v) => (bool on, float[4] u) {{
            on = Identity (go)
            q = Add (v, k8)
            r = Transpose (k8)
            s = Mul (r, k7)
            t = MatMul (q, w)
            u = Add (t, s)
          }}>
        }}
    """)
    examine(model, draws=True)
    (body,) = model.graph.nodes[-1].subgraphs
    assert isinstance(model.graph.nodes[-1], Node)
    assert len(body.nodes) == 6
    assert check(model) is not None


@pytest.mark.parametrize("bias", [math.nan, math.inf, -math.inf, 0.5, 1e308])
@pytest.mark.parametrize("scale", [0.5, math.nan, math.inf, 0.0])
def test_zero_points_of_qtensors_may_be_no_numbers(bias: float, scale: float) -> None:
    stored = caffe2_pb2.QTensorProto(name="q", dims=[2, 2], precision=8, is_signed=True)
    stored.scale, stored.bias = scale, bias
    stored.data.extend([1, 2, 3, -4])
    examine(load(stored.SerializeToString()), draws=False)


@pytest.mark.parametrize("count", [32, 3_000])
def test_dimensions_may_claim_more_than_can_be_written(count: int) -> None:
    stored = caffe2_pb2.QTensorProto(name="q", dims=[120] * count, precision=8, is_signed=True)
    stored.scale, stored.bias = 0.5, 0.0
    stored.data.extend([1, 2, 3, -4])
    examine(load(stored.SerializeToString()), draws=False)


@pytest.mark.parametrize("count", [4, 600])
def test_quantized_weights_may_claim_more_than_can_be_written(count: int) -> None:
    proto = make_nodes(("DequantizeLinear", ["q", "s"], "w"), ("Add", ["x", "w"], "y"))
    proto.graph.initializer.add(name="q", data_type=3, dims=[2**62] * count)
    proto.graph.initializer.add(name="s", data_type=1, float_data=[0.5])
    examine(load(proto), draws=False)


@pytest.mark.parametrize("dims", [(0,), (0, 4), (4, 0), (2, 0, 2)])
@pytest.mark.parametrize("axis", [0, 1, 8])
def test_quantized_weights_may_have_no_elements(dims: tuple[int, ...], axis: int) -> None:
    proto = make_nodes(
        ("QuantizeLinear", ["w", "s"], "q"),
        ("DequantizeLinear", ["q", "s"], "d"),
        ("MatMul", ["x", "d"], "y"),
    )
    for node in proto.graph.node[:2]:
        node.attribute.add(name="axis", type=2, i=axis)
    for name, stated in (("w", dims), ("s", dims), ("s1", (1,))):
        proto.graph.initializer.add(name=name, data_type=1, dims=stated)
    examine(load(proto), draws=False)
    proto.graph.node[0].input[1] = "w"
    examine(load(proto), draws=False)
