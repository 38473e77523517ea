"""Columns: where names lead, what groups have, and what has no place."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

import netloupe
from netloupe import Column, OverlayError, Paint
from netloupe.explorer.overlays import NodeSet
from netloupe.explorer.view import View
from tests.onnx_text import load_text
from tests.overlays.profiles import chain, loop

ROOT = Path(__file__).resolve().parents[2]

#: eight layers of two nodes each, which make a repeat
LAYERS = 8


def layers() -> netloupe.Model:
    nodes, before = [], "x"
    for number in range(LAYERS):
        scope = f"/layers.{number}"
        middle, after = f"m{number}", f"r{number}"
        nodes += [
            helper.make_node("MatMul", [before, "w"], [middle], f"{scope}/fc/MatMul"),
            helper.make_node("Relu", [middle], [after], f"{scope}/act/Relu"),
            helper.make_node("Abs", [after], [f"a{number}"], f"{scope}/act/Abs"),
        ]
        before = f"a{number}"
    values = [helper.make_tensor_value_info(name, 1, [4, 4]) for name in ("x", "w", before)]
    graph = helper.make_graph(nodes, "layers", values[:2], values[2:])
    return netloupe.load(helper.make_model(graph))


def test_arithmetic_intensity_is_operations_over_bytes_that_nodes_take_and_give() -> None:
    overlay = netloupe.overlay(layers(), "intensity")
    # [4, 4] times [4, 4]: 64 MACs, three matrices of 64 bytes
    product, relu, _ = (node.path for node in overlay.model.graph.nodes[:3])
    assert overlay.measure(product).value == pytest.approx(2 * 64 / (3 * 64))
    # what multiplies nothing has none, and its bytes count in what is around it
    assert overlay.measure(relu).value is None
    assert overlay.measure("main").value == pytest.approx(2 * 64 / (3 * 64 + 4 * 64))
    assert (overlay.column.unit, overlay.column.better) == ("operations/B", "higher")
    assert overlay.whole is None
    assert overlay.measure("main").share is None
    assert "arithmetic intensity (operations/B), ↑ better" in overlay.describe()


def test_arithmetic_intensity_is_said_of_known_sizes_alone() -> None:
    model = load_text(
        "open (float[N, 4] x, float[4, 4] w) => (float[N, 4] y) { y = MatMul (x, w) }"
    )
    node = model.graph.nodes[0].path
    free = netloupe.overlay(model, "intensity")
    assert free.measure(node).value == pytest.approx(2 * 16 / (16 + 64 + 16))
    assert "counted with N = 1" in free.describe_placement()
    bound = netloupe.overlay(model, "intensity", bind={"N": 8})
    assert bound.measure(node).value == pytest.approx(2 * 128 / (128 + 64 + 128))
    unknown = load_text("open (float[4] x) => (y) { h = Foo (x)  y = MatMul (h, h) }")
    assert netloupe.overlay(unknown, "intensity").measure(unknown.graph.nodes[1].path).value is None


CALLED = """
<opset_import: ["": 17, "here": 1]>
main (float[4] x) => (float[4] y) {
    [one] t = here.twice (x)
    [other] y = here.twice (t)
}
<domain: "here", opset_import: ["": 17]>
twice (a) => (b) {
    [first] c = Relu (a)
    [second] b = Abs (c)
}"""


@pytest.mark.parametrize("name", ["main/relu", "relu", "r", "%r", "main/%r"])
def test_a_node_is_found_by_path_name_and_output(name: str) -> None:
    overlay = netloupe.overlay(chain(), {name: 3.0})
    assert overlay.measure("main/relu").value == 3.0
    assert overlay.measure("main/conv").value is None


def test_a_weight_stands_for_what_uses_it_and_an_input_for_itself() -> None:
    model = load_text(
        """
        shared (float[4,4] x) => (float[4,4] y) <float[4,4] w = {0}> {
            [one] t = MatMul (x, w)
            [two] y = MatMul (t, w)
        }""".replace("{0}", "{" + ",".join("1" * 16) + "}")
    )
    error = netloupe.overlay(model, {"w": 0.5}, aggregation="max")
    assert error.measure("main/one").value == error.measure("main/two").value == 0.5
    size = netloupe.overlay(model, {"w": 64.0}, aggregation="sum")
    assert size.measure("main/one").value == 64
    assert size.measure("main/two").value is None
    given = netloupe.overlay(model, {"x": 1.0})
    assert given.unplaced == []
    assert given.placement.values == {"main/%x": 1.0}


def test_elements_and_pandas_are_taken() -> None:
    pandas = pytest.importorskip("pandas")
    model = chain()
    by_element = netloupe.overlay(model, {model.node("conv"): np.float32(2.5)})
    assert by_element.measure("main/conv").value == 2.5
    series = netloupe.overlay(model, pandas.Series({"conv": 1, "relu": 2}, name="latency_ms"))
    assert (series.name, series.column.unit, series.column.aggregation) == ("latency", "ms", "sum")
    frame = pandas.DataFrame({"time_us": [1.0, 2.0], "kind": ["a", "b"]}, index=["conv", "relu"])
    times, kinds = netloupe.explorer.overlays.make_overlays(model, [frame])
    assert times.measure("main").value == 3.0
    assert kinds.measure("main/relu").value == "b"
    with pytest.raises(OverlayError, match="has 2 columns: 'time', 'kind'"):
        netloupe.overlay(model, frame)
    assert netloupe.overlay(model, pandas.Series({"conv": None, "relu": 1.0})).placement.reasons


@pytest.mark.parametrize(
    ("aggregation", "value"), [("sum", 10.0), ("mean", 2.5), ("max", 4.0), ("min", 1.0)]
)
def test_groups_have_what_is_declared(aggregation: Any, value: float) -> None:
    numbers = {"conv": 1.0, "relu": 2.0, "add": 3.0, "mul": 4.0}
    overlay = netloupe.overlay(chain(), numbers, aggregation=aggregation)
    assert overlay.measure("main").value == value


def test_a_mean_is_weighted_where_weights_are_given() -> None:
    numbers = {"conv": 10.0, "relu": 40.0}
    column = Column("sparsity", numbers, aggregation="mean", weights={"conv": 3, "relu": 1})
    assert netloupe.overlay(chain(), column).measure("main").value == 17.5
    without = Column("sparsity", numbers, aggregation="mean", weights={"conv": 0, "relu": 0})
    assert netloupe.overlay(chain(), without).measure("main").value == 25.0


def test_a_group_has_the_most_frequent_word_or_the_worst() -> None:
    words = {"conv": "int8", "relu": "int8", "add": "float32"}
    measured = netloupe.overlay(chain(), words).measure("main")
    assert (measured.value, measured.words) == ("int8", (("int8", 2), ("float32", 1)))
    ordered = netloupe.overlay(chain(), words, order=("float32", "int8"))
    assert ordered.measure("main").value == "float32"


def test_repeats_tell_how_repetitions_differ_and_which_is_worst() -> None:
    model = layers()
    repeat = next(group for group in model.groups.groups if group.kind == "repeat")
    times = {f"/layers.{n}/fc/MatMul": 10.0 for n in range(LAYERS)} | {"/layers.5/fc/MatMul": 23.0}
    overlay = netloupe.overlay(model, times, aggregation="sum", unit="ms", better="lower")
    measured = overlay.measure(repeat.path)
    assert measured.value == 93.0
    spread = measured.spread
    assert spread is not None
    assert (spread.known, spread.median, spread.least, spread.most) == (8, 10, 10, 23)
    assert spread.mean == 93 / 8
    assert "5" in spread.worst
    assert spread.ratio == 2.3
    assert overlay.paint_of(measured).text == "93 ms · 100 %; layers.5: 2.3× median"
    _, opened = overlay.paint_path(View(model), repeat.path)
    assert opened is not None
    assert opened.text == "mean 11.6 ms, 10 ms to 23 ms; layers.5: 2.3× median"
    better = netloupe.overlay(model, times, aggregation="max", better="higher")
    found = better.measure(repeat.path).spread
    assert found is not None
    assert found.worst_number == 10


def test_shares_are_of_the_whole_and_of_the_group_around() -> None:
    model = layers()
    times = {f"/layers.{n}/fc/MatMul": 3.0 for n in range(LAYERS)}
    times |= {f"/layers.{n}/act/Relu": 1.0 for n in range(LAYERS)}
    overlay = netloupe.overlay(model, times, aggregation="sum")
    measured = overlay.measure("/layers.2/fc/MatMul")
    assert measured.share == 3 / 32
    assert measured.share_of_parent == 3 / 4


def test_a_body_fills_its_loop_where_nothing_is_said_of_that() -> None:
    inside = netloupe.overlay(loop(), {"stop": 1.0, "inner": 2.0, "before": 4.0}, aggregation="sum")
    assert inside.measure("main/loop").value == 3.0
    assert inside.measure("main").value == 7.0
    both = netloupe.overlay(loop(), {"inner": 2.0, "loop": 9.0}, aggregation="sum")
    assert both.measure("main").value == 9.0
    words = netloupe.overlay(loop(), {"inner": "slow"})
    assert words.measure("main/loop").value == "slow"


def test_each_call_of_a_function_has_what_is_said_of_it_by_its_path() -> None:
    model = load_text(CALLED)
    overlay = netloupe.overlay(
        model, {"main/one()/first": 5.0, "functions/here::twice/first": 2.0}, aggregation="sum"
    )
    assert overlay.measure("main/one()/first").value == 5.0
    assert overlay.measure("main/other()/first").value == 2.0
    assert overlay.measure("main/one").value == 5.0
    assert overlay.measure("main/other").value == 2.0
    assert overlay.measure("main").value == 7.0
    svg = model.to_svg(color_by=overlay, expand="all")
    assert svg.count(">5<") == 1


def test_one_number_of_several_nodes_is_not_divided() -> None:
    model = layers()
    names = ("/layers.0/fc/MatMul", "/layers.0/act/Relu", "/layers.1/fc/MatMul")
    column = Column(
        "time",
        {"/layers.1/act/Relu": 1.0},
        "ms",
        aggregation="sum",
        sets=(NodeSet(names, 6.0, "fused"),),
    )
    overlay = netloupe.overlay(model, column)
    for path in names:
        measured = overlay.measure(path)
        assert (measured.value, measured.in_set) == (6.0, 3)
    assert overlay.measure("main").value == 7.0
    inside = overlay.measure("main/layers.1/")
    assert (inside.value, inside.shared) == (1.0, 6.0)
    assert overlay.paint_of(inside).text == "1 ms · 14 % + 6 ms shared"
    touched = overlay.measure("main/layers.0/")
    assert (touched.value, touched.shared) == (None, 6.0)
    assert overlay.paint_of(touched) == Paint("missing", "6 ms shared", hatched=True)


def test_what_has_no_place_is_counted_and_says_why() -> None:
    model = load_text("""
        two (float[4] x) => (float[4] y) {
            [same] t = Relu (x)
            [same] y = Relu (t)
        }""")
    numbers = {"same": 1.0, "gone": 2.0, "t": math.nan, "y": math.inf, "x": 4.0, "main/gone/": 8.0}
    overlay = netloupe.overlay(model, numbers, aggregation="sum")
    assert {one.name: one.reason for one in overlay.unplaced} == {
        "same": "several elements have this name",
        "gone": "nothing in the model has this name",
        "t": "the number is not finite",
        "y": "the number is not finite",
        "main/gone/": "nothing in the model has this name",
    }
    assert overlay.describe_placement()[0] == "27 % of 15 placed; 1 of 6 entries placed"


def test_where_most_of_it_is_is_listed_until_it_is_enough() -> None:
    numbers = {"conv": 70.0, "relu": 15.0, "add": 10.0, "mul": 5.0}
    overlay = netloupe.overlay(chain(), numbers, aggregation="sum")
    found = overlay.find_most()
    assert [one.path for one in found] == ["main/conv", "main/relu"]
    assert [one.cumulative for one in found] == [0.7, 0.85]
    assert overlay.describe_ranking() == ["85 % is in 2 of 4 nodes: main/conv, main/relu"]
    assert len(overlay.find_most(0.7)) == 1
    assert netloupe.overlay(chain(), numbers, aggregation="max").find_most() == []
    worst = netloupe.overlay(chain(), numbers, better="higher").rank(1)
    assert worst[0].path == "main/mul"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (5, "a int is nothing to colour by"),
        ({"conv": [1, 2]}, "neither a number nor a word"),
        ({3: 1.0}, "3 names no element"),
        ("no_such_column", "neither a file nor a column of the model"),
    ],
)
def test_what_is_no_column_is_refused(given: Any, message: str) -> None:
    with pytest.raises(OverlayError, match=message):
        netloupe.overlay(chain(), given)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("aggregation", "median"),
        ("scale", "cubic"),
        ("better", "faster"),
        ("clip", (99, 1)),
        ("clip", 3),
        ("midpoint", math.nan),
        ("thresholds", ["a"]),
        ("colour", "red"),
    ],
)
def test_settings_that_do_not_fit_are_refused(setting: str, value: Any) -> None:
    with pytest.raises(OverlayError):
        netloupe.overlay(chain(), {"conv": 1.0}, **{setting: value})


def test_what_nodes_share_counts_once_in_the_fewest_that_have_most() -> None:
    model = load_text("""
        g (float[1, 4] x) => (float[1, 4] y)
        <float[4, 4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7},
         float[4, 1] v = {1, 2, 3, 4}, float[1, 4] u = {1, 2, 3, 5}>
        { a = MatMul (x, w) b = MatMul (a, w) c = MatMul (b, v) y = MatMul (c, u) }
    """)
    found = netloupe.overlay(model, "parameters")
    ranked = found.rank()
    assert [one.value for one in ranked] == [16, 16, 4, 4]
    assert {one.cumulative for one in ranked} == {None}  # w is not there twice
    assert [one.value for one in found.find_most(0.6)] == [16]
    assert len(found.find_most(0.8)) == 3


def test_a_weight_counts_at_the_node_that_takes_it_dequantized() -> None:
    found = netloupe.overlay(
        netloupe.load(ROOT / "demo_notebooks" / "models" / "digits_cnn.qdq.onnx"), "parameters"
    )
    ranked = found.rank()
    assert sum(one.share or 0.0 for one in ranked) == pytest.approx(1)
    assert "DequantizeLinear" not in {
        found.model.node(one.path).op_type for one in ranked if one.value
    }
