"""Profiles of ONNX Runtime: every trap of the format, and how nodes are found again."""

from __future__ import annotations

from pathlib import Path

import pytest

import netloupe
from netloupe import Overlay, OverlayError
from netloupe.explorer.model import Model
from netloupe.explorer.overlays import Column, read_column_file
from netloupe.explorer.overlays.formats import ort_profile
from netloupe.explorer.overlays.formats.ort_names import list_candidates
from tests.onnx_text import load_text
from tests.overlays.profiles import chain, event, loop, profile_of, run_of

NODES = [("conv", 40, "Conv"), ("relu", 10, "Relu"), ("add", 20, "Add"), ("mul", 30, "Mul")]


def read(tmp_path: Path, text: str) -> Column:
    file = tmp_path / "profile.json"
    file.write_text(text, "utf-8")
    (column,) = read_column_file(file)
    return column


def lay(model: Model, column: Column) -> Overlay:
    return netloupe.overlay(model, column)


def test_times_are_added_in_microseconds_and_less_is_better(tmp_path: Path) -> None:
    column = read(tmp_path, profile_of([run_of(NODES, 1000)]))
    assert column.values == {"conv": 40, "relu": 10, "add": 20, "mul": 30}
    assert (column.unit, column.better, column.aggregation) == ("µs", "lower", "sum")
    overlay = lay(chain(), column)
    assert overlay.measure("main").value == 100
    assert overlay.measure("main/conv").share == 40 / 110  # of the run, not of the nodes


def test_names_with_quotes_and_backslashes_are_read_although_nothing_escapes_them(
    tmp_path: Path,
) -> None:
    nodes = [('a "quoted" name', 7, "Relu"), ("back\\slash\\q", 9, "Add"), ("plain", 3, "Mul")]
    column = read(tmp_path, profile_of([run_of(nodes, 1000)]))
    assert column.values == {'a "quoted" name': 7, "back\\slash\\q": 9, "plain": 3}
    assert column.operators['a "quoted" name'] == "Relu"
    assert "2 names with quotes or backslashes repaired" in column.notes


def test_an_array_that_the_end_of_the_process_left_open_is_read(tmp_path: Path) -> None:
    whole = profile_of([run_of(NODES, 1000), run_of(NODES, 2000), run_of(NODES, 3000)])
    cut = whole[: whole.rindex('"name" :"add_kernel')]
    column = read(tmp_path, cut)
    assert column.values["conv"] == 40
    assert any(note.startswith("the file breaks off after") for note in column.notes)
    assert "1 line could not be read" in column.notes
    closed = read(tmp_path, whole)
    assert not any("breaks off" in note for note in closed.notes)


def test_where_the_profiler_stops_silently_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = profile_of([run_of(NODES, 1000)])
    assert not any("stops silently" in note for note in read(tmp_path, text).notes)
    monkeypatch.setattr(ort_profile, "MOST_EVENTS", 8)
    assert any("stops silently at 8 events" in note for note in read(tmp_path, text).notes)


def test_names_of_the_optimized_graph_are_found_or_the_remedy_is_given(tmp_path: Path) -> None:
    nodes = [("conv_token_5", 60, "Conv"), ("somewhere_else", 20, "Gelu")]
    overlay = lay(chain(), read(tmp_path, profile_of([run_of(nodes, 1000, gap=10)])))
    assert overlay.measure("main/conv").value == 60
    assert [one.name for one in overlay.unplaced] == ["somewhere_else"]
    first, second, *rest = overlay.describe_placement()
    assert first == "60 % of 100 µs placed; 1 of 2 entries placed"
    assert second == "1 not placed: nothing in the model has this name: somewhere_else"
    assert any("optimized_model_filepath" in line for line in rest)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("conv_token_12", "conv"),
        ("r_nchwc", "relu"),  # the output r
        ("add/MatMulAddFusion", "add"),
        ("add/LayerNormFusion/", "add"),
        ("mul_quant", "mul"),
        ("c_QuantizeLinear", "conv"),
        ("c_DequantizeLinear_3", "conv"),
        ("y", "mul"),  # an output
        ("add/MatMulAddFusion_token_4", "add"),
    ],
)
def test_the_ladder_of_names(tmp_path: Path, name: str, found: str) -> None:
    overlay = lay(chain(), read(tmp_path, profile_of([run_of([(name, 8, "")], 1000)])))
    assert overlay.unplaced == []
    assert overlay.measure(f"main/{found}").value == 8


def test_an_exact_name_comes_before_what_it_may_stand_for(tmp_path: Path) -> None:
    model = load_text("""
        two (float[4] x) => (float[4] y) {
            [a] t = Relu (x)
            [a_token_1] y = Relu (t)
        }""")
    overlay = lay(model, read(tmp_path, profile_of([run_of([("a_token_1", 5, "Relu")], 1000)])))
    assert overlay.measure("main/a_token_1").value == 5
    assert overlay.measure("main/a").value is None
    assert list_candidates("_token_1", -1, "") == ()


def test_a_node_without_a_name_is_found_by_operator_and_index(tmp_path: Path) -> None:
    model = load_text("two (float[4] x) => (float[4] y) { t = Relu (x) y = Abs (t) }")
    lines = [event("Abs_1", 1005, 9, "Abs", index=1), event("Relu_1", 1020, 4, "Relu", index=1)]
    run = [*lines, event("model_run", 1000, 30, category="Session")]
    overlay = lay(model, read(tmp_path, profile_of([run])))
    assert overlay.measure("main/#1:Abs").value == 9
    assert [one.name for one in overlay.unplaced] == ["Relu_1"]  # that node is no Relu


def test_a_convolution_fused_with_what_follows_has_one_number_for_both(tmp_path: Path) -> None:
    column = read(tmp_path, profile_of([run_of([("r_nchwc", 50, "Conv")], 1000)]))
    overlay = lay(chain(), column)
    assert overlay.measure("main/relu").in_set == overlay.measure("main/conv").in_set == 2
    assert overlay.measure("main/conv").value == 50
    assert overlay.measure("main").value == 50  # not twice


def test_a_loop_has_the_time_of_its_body_in_it_and_nothing_is_added_twice(tmp_path: Path) -> None:
    lines = [
        event("before", 1005, 10, "Relu"),
        event("stop", 1020, 5, "Identity"),
        event("inner", 1026, 15, "Abs"),
        event("stop", 1045, 5, "Identity"),
        event("inner", 1051, 25, "Abs"),
        event("loop", 1018, 70, "Loop"),
        event("model_run", 1000, 100, category="Session"),
    ]
    column = read(tmp_path, profile_of([lines]))
    assert column.nested == {"stop", "inner"}
    assert column.values["inner"] == 40  # twice in one run: together
    overlay = lay(loop(), column)
    assert overlay.measure("main").value == 80
    assert overlay.measure("main/loop").value == 70
    assert overlay.measure("main/loop.body/inner").value == 40
    assert overlay.describe_placement()[0].startswith("80 % of 100 µs placed")
    assert "20 µs of 100 µs a run is between the nodes" in column.notes


def test_a_node_right_behind_a_loop_is_not_inside_of_it(tmp_path: Path) -> None:
    lines = [
        event("loop", 1010, 20, "Loop"),
        event("before", 1030, 10, "Relu"),
        event("model_run", 1000, 50, category="Session"),
    ]
    assert read(tmp_path, profile_of([lines])).nested == frozenset()


def test_the_first_of_several_runs_is_left_out_and_the_others_are_told_apart(
    tmp_path: Path,
) -> None:
    runs = [
        run_of([("conv", time, "Conv")], 1000 * k) for k, time in enumerate((900, 40, 60, 50), 1)
    ]
    column = read(tmp_path, profile_of(runs))
    assert column.values == {"conv": 50}
    measured = column.runs["conv"]
    assert (measured.count, measured.median, measured.least, measured.p95) == (3, 50, 40, 59)
    assert column.whole == 60  # the median run, with 5 before and after the node
    assert "the first of 4 runs, which warms up, is left out" in column.notes
    assert "median of 3 runs" in column.notes


def test_a_single_run_is_taken_although_it_is_the_first(tmp_path: Path) -> None:
    column = read(tmp_path, profile_of([run_of(NODES, 1000)]))
    assert column.runs["conv"].count == 1
    assert not any("left out" in note for note in column.notes)


def test_a_node_that_one_run_does_not_reach_has_no_time_in_it(tmp_path: Path) -> None:
    runs = [
        run_of(NODES, 1000),
        run_of([("conv", 10, "Conv"), ("relu", 4, "Relu")], 2000),
        run_of([("conv", 30, "Conv")], 3000),
    ]
    column = read(tmp_path, profile_of(runs))
    assert column.values == {"conv": 20, "relu": 2}


def test_the_gap_between_run_and_nodes_is_shown_and_what_profiling_costs(tmp_path: Path) -> None:
    notes = read(tmp_path, profile_of([run_of(NODES, 1000, gap=50)])).notes
    assert "100 µs of 200 µs a run is between the nodes" in notes
    assert any("profiling costs time" in note for note in notes)
    beside = [event("conv", 1000, 80), event("relu", 1000, 80)]
    parallel = [*beside, event("model_run", 1000, 100, category="Session")]
    assert (
        "nodes ran beside each other: 160 µs in 100 µs a run"
        in read(tmp_path, profile_of([parallel])).notes
    )


@pytest.mark.parametrize(
    ("name", "operator", "provider"),
    [
        ("TensorrtExecutionProvider_TRTKernel_graph_main_1_0", "TRTKernel", "Tensorrt"),
        ("DmlFusedNode_0_0", "DmlFusedNode", "DmlExecutionProvider"),
        ("QNNExecutionProvider_QNN_4_1", "QNN_4", "QNNExecutionProvider"),
    ],
)
def test_a_compiled_part_of_the_graph_is_one_opaque_node(
    tmp_path: Path, name: str, operator: str, provider: str
) -> None:
    run = [
        event(name, 1005, 70, operator, provider=provider),
        event("relu", 1080, 10),
        event("model_run", 1000, 100, category="Session"),
    ]
    overlay = lay(chain(), read(tmp_path, profile_of([run])))
    (left,) = overlay.unplaced
    assert "compiled into one node" in left.reason
    assert left.value == 70
    assert overlay.describe_placement()[0].startswith("10 % of 100 µs placed")


def test_kernels_that_run_beside_the_nodes_are_counted_and_not_added(tmp_path: Path) -> None:
    run = run_of(NODES, 1000)
    run.insert(1, event("cudaKernel", 1006, 500, category="Kernel"))
    column = read(tmp_path, profile_of([run]))
    assert sum(float(value) for value in column.values.values()) == 100
    assert any("1 event of kernels" in note for note in column.notes)


def test_a_profile_in_one_line_is_read_too(tmp_path: Path) -> None:
    text = profile_of([run_of(NODES, 1000)]).replace("\n", " ")
    assert read(tmp_path, text).values["mul"] == 30


def test_a_profile_without_a_run_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(OverlayError, match=r"profile\.json.*Run the session before end_profiling"):
        read(tmp_path, profile_of([]))
