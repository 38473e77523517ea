"""Tables, node data, TensorRT, onnx-tool, QONNX; files that are none of them, and hostile ones."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest

import netloupe
from netloupe import Column, OverlayError
from netloupe.explorer.overlays import (
    ColourStop,
    make_overlays,
    read_column_file,
    write_node_data,
)
from netloupe.explorer.overlays.formats import tables
from netloupe.explorer.overlays.formats import text as texts
from netloupe.explorer.overlays.formats.tensorrt import split_metadata, split_name
from tests.overlays.profiles import chain


def read(tmp_path: Path, content: Any, name: str = "numbers") -> list[Column]:
    file = tmp_path / name
    written = content if isinstance(content, str | bytes) else json.dumps(content)
    file.write_bytes(written.encode() if isinstance(written, str) else written)
    return read_column_file(file)


@pytest.mark.parametrize(
    "content",
    [
        "conv,1\nrelu,2.5\n",
        "name,value\nconv,1\nrelu,2.5\n",
        "\ufeffname;value\nconv;1\nrelu;2.5\n",
        "value\tpath\n1\tconv\n2.5\trelu\n",
        {"conv": 1, "relu": 2.5},
        [["conv", 1], ["relu", 2.5]],
        [{"name": "conv", "value": 1}, {"name": "relu", "value": 2.5}],
        {"names": ["conv", "relu"], "values": [1, 2.5]},
        {"value": {"conv": 1, "relu": 2.5}},
    ],
)
def test_names_and_values_in_every_form(tmp_path: Path, content: Any) -> None:
    (column,) = read(tmp_path, content)
    assert (column.name, column.values) == ("value", {"conv": 1.0, "relu": 2.5})


def test_headings_tell_names_units_and_what_adds_up(tmp_path: Path) -> None:
    (latency, macs, error) = read(
        tmp_path,
        "layer,latency (ms),MACs,max_abs_error,note\n"
        '"/a/""b"", c",1.5,"1,234",0.1,x\n'
        "relu,2,5,0.2,y\nTotal,3.5,1239,0.3,z\n",
    )
    assert latency.values == {'/a/"b", c': 1.5, "relu": 2.0}
    assert (latency.name, latency.unit, latency.aggregation) == ("latency", "ms", "sum")
    assert (macs.unit, macs.values['/a/"b", c'], macs.aggregation) == ("MACs", 1234.0, "sum")
    assert (error.name, error.unit, error.aggregation) == ("max_abs_error", "", "max")


def test_words_are_taken_where_there_are_no_numbers(tmp_path: Path) -> None:
    (column,) = read(tmp_path, "name,precision\nconv,int8\nrelu,fp16\n")
    assert column.has_words
    assert column.values["conv"] == "int8"


def test_one_column_of_a_file_is_chosen_by_its_heading(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("name,time_ms,error\nconv,1,2\n", "utf-8")
    assert netloupe.overlay(chain(), f"{file}:error").measure("conv").value == 2.0
    assert netloupe.overlay(chain(), f"{file}:time (ms)").measure("conv").value == 1.0
    with pytest.raises(OverlayError, match=r"has no column 'gone'\. It has 'time_ms', 'error'"):
        netloupe.overlay(chain(), f"{file}:gone")


def test_tables_of_onnx_tool(tmp_path: Path) -> None:
    columns = read(
        tmp_path,
        "Name,Type,Forward_MACs,FPercent,Memory,MPercent,Params,PPercent,InShape,OutShape\n"
        "conv,Conv,1000,90.00%,400,50%,36,100%,1x4x8x8,1x4x8x8\n"
        "relu,Relu,100,10.00%,400,50%,0,0%,1x4x8x8,1x4x8x8\n"
        "Total,_,1100,100%,800,100%,36,100%,_,_\n",
    )
    assert [(one.name, one.unit, one.aggregation) for one in columns] == [
        ("MACs", "MACs", "sum"),
        ("memory", "B", "sum"),
        ("parameters", "", "sum"),
    ]
    assert columns[0].values == {"conv": 1000.0, "relu": 100.0}


def test_tables_of_earlier_versions_of_onnx_tool(tmp_path: Path) -> None:
    columns = read(
        tmp_path,
        "Name,MACs,CPercent,Memory,MPercent,Params,PPercent,InShape,OutShape\n"
        "image,0,0.00%,3145728,0.03%,0,0.00%,1x3x512x512,1x3x512x512\n"
        "Conv_8,939524096,0.17%,134232064,1.13%,3584,0.01%,1x3x512x512,1x128x512x512\n",
    )
    assert [(one.name, one.unit, one.aggregation) for one in columns] == [
        ("MACs", "MACs", "sum"),
        ("memory", "B", "sum"),
        ("parameters", "", "sum"),
    ]
    assert columns[0].values["Conv_8"] == 939524096.0
    assert "no multiplications" in columns[0].notes[0]
    # a table of one's own with a heading of the same name is none of these
    (own,) = read(tmp_path, "name,MACs\nconv,10\n")
    assert not own.notes


def test_cost_reports_of_qonnx(tmp_path: Path) -> None:
    costs = {"op_mac_INT8_INT8": 10.0, "op_mac_INT8_INT4": 5, "total_bops": 900, "mem_w_INT8": 36}
    columns = read(tmp_path, {"node_cost": {"conv": costs}, "total_cost": costs})
    assert {one.name: one.values["conv"] for one in columns} == {
        "MACs": 15.0,
        "bit operations": 900.0,
        "elements of weights": 36.0,
    }
    for alone in (costs, {"total_cost": costs}):
        with pytest.raises(OverlayError, match="has sums for the whole model alone"):
            read(tmp_path, alone)


# node data of Model Explorer


def test_node_data_is_read_with_thresholds_and_own_colours(tmp_path: Path) -> None:
    told = {
        "main": {
            "name": "latency (ms)",
            "results": {
                "conv": {"value": 5},
                "r": {"value": 10, "bgColor": "#F00"},
                "y": {"value": 40},
            },
            "thresholds": [
                {"value": 10, "bgColor": "rgb(0, 128, 255)"},
                {"value": 30, "bgColor": "gold", "textColor": "#000000"},
            ],
        }
    }
    (column,) = read(tmp_path, told)
    assert (column.name, column.unit, column.aggregation) == ("latency", "ms", "sum")
    assert column.thresholds == (ColourStop(10.0, "#0080ff"), ColourStop(30.0, "#ffd700"))
    overlay = netloupe.overlay(chain(), column)
    paint = {path: overlay.paint_of(overlay.measure(path)).tone for path in ("conv", "relu", "mul")}
    assert paint == {"conv": "#0080ff", "relu": "#ff0000", "mul": "category-other"}
    assert [tuple(row) for row in overlay.list_rows()] == [
        ("#0080ff", "≤ 10 ms"),
        ("#ffd700", "10 ms to 30 ms"),
        ("category-other", "> 30 ms"),
    ]


def test_a_threshold_is_the_largest_number_of_its_colour_and_a_gradient_wins(
    tmp_path: Path,
) -> None:
    stops = [{"stop": 0, "bgColor": "#000000"}, {"stop": 1, "bgColor": "#ffffff"}]
    told = {
        "results": {"conv": {"value": 0}, "relu": {"value": 5}, "add": {"value": 10}},
        "thresholds": [{"value": 5, "bgColor": "#ff0000"}, {"value": 9, "bgColor": "#00ff00"}],
    }
    (column,) = read(tmp_path, told)
    overlay = netloupe.overlay(chain(), column)
    assert overlay.scale.tone(5.0) == "#ff0000"
    assert overlay.scale.tone(5.001) == "#00ff00"
    (column,) = read(tmp_path, {**told, "gradient": stops})
    assert column.thresholds == ()
    overlay = netloupe.overlay(chain(), column)
    assert [overlay.scale.tone(at) for at in (0.0, 5.0, 10.0)] == ["#000000", "#808080", "#ffffff"]


def test_what_is_written_as_node_data_is_read_as_the_same(tmp_path: Path) -> None:
    file = tmp_path / "node_data.json"
    numbers = {"conv": 1.0, "relu": 30.0, "add": 5.5, "mul": 90.0}
    overlay = netloupe.overlay(chain(), numbers, name="error", unit="dB", aggregation="max")
    written = json.loads(write_node_data(overlay, file))
    assert json.loads(file.read_text("utf-8")) == written
    (graph,) = written.values()
    # by the names of outputs, which every adapter knows
    assert {key: one["value"] for key, one in graph["results"].items()} == {
        "c": 1, "r": 30, "a": 5.5, "y": 90,
    }  # fmt: skip
    (column,) = read_column_file(file)
    again = netloupe.overlay(chain(), column)
    tones = netloupe.explorer.render.theme.load_theme("light").tones
    for path in numbers:
        before = tones[overlay.paint_of(overlay.measure(path)).tone].fill
        assert again.paint_of(again.measure(path)).tone == before
    words = netloupe.overlay(chain(), {"conv": "int8", "relu": "fp32"})
    (graph,) = json.loads(write_node_data(words)).values()
    assert graph["results"]["c"]["value"] == "int8"
    assert "bgColor" in graph["results"]["c"]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"results": {"a": {"value": [1]}}}, "the result of 'a' has no value"),
        ({"results": {"a": 1}, "thresholds": [{"value": "x"}]}, "entry 1 of thresholds"),
        ({"results": {"a": 1}, "thresholds": {}}, "thresholds is no list"),
        ({"results": {"a": {"value": 1, "bgColor": "url(x)"}}}, "'url\\(x\\)' is no colour"),
        ({"results": {"a": 1}, "gradient": [{"bgColor": "red"}]}, "entry 1 of gradient"),
    ],
)
def test_node_data_that_is_wrong_is_an_error_at_its_place(
    tmp_path: Path, told: Any, message: str
) -> None:
    with pytest.raises(OverlayError, match=message):
        read(tmp_path, told)


# TensorRT


def test_names_of_fused_layers_are_taken_apart() -> None:
    assert split_name("Conv_0 + Relu_1") == ("Conv_0", "Relu_1")
    assert split_name("Conv_2 || Conv_3 [profile 1]") == ("Conv_2", "Conv_3")
    assert split_name("PWN(PWN(Sigmoid_1), Mul_2)") == ("Sigmoid_1", "Mul_2")
    assert split_name("conv + PWN(relu)") == ("conv", "relu")
    assert split_name("a+b") == ("a+b",)
    assert split_metadata("[ONNX Layer: /a/Conv]\x1e[ONNX Layer: /b/[x]\x1f[ONNX Layer: /c]") == (
        *("/a/Conv", "/b/[x", "/c"),
    )
    assert split_metadata("plain\x1fother") == ("plain", "other")


PROFILE = [
    {"count": 100},
    {"name": "conv + relu", "timeMs": 30.0, "averageMs": 0.3, "medianMs": 0.3, "percentage": 60.0},
    {"name": "Reformatting CopyNode for Input Tensor 0 to mul", "averageMs": 0.05},
    {"name": "__myl_MulAdd_1 [profile 0]", "averageMs": 0.15},
]
LAYERS = {
    "Layers": [
        {
            "Name": "conv + relu",
            "LayerType": "CaskConvolution",
            "ParameterType": "Convolution",
            "TacticName": "sm80_xmma",
            "Outputs": [{"Name": "r", "Format/Datatype": "Thirty-two wide row major Int8 format"}],
            "Metadata": "[ONNX Layer: conv]\x1e[ONNX Layer: relu]",
        },
        {"Name": "__myl_MulAdd_1", "Metadata": "[ONNX Layer: add]\x1f[ONNX Layer: mul]"},
    ],
    "Bindings": [],
}


def test_time_of_what_tensorrt_adds_is_not_that_of_the_nodes_it_is_named_after(
    tmp_path: Path,
) -> None:
    added = [
        "Reformatting CopyNode for Output Tensor 0 to w + QuantizeLinear_90 + Conv_94",
        "Reformatting CopyNode for Input Tensor 0 to Conv_0 + PWN(Clip_3)",
        "/act/Mul_output_0 copy",
        "copied_squeeze_after_(Unnamed Layer* 850) [ElementWise]",
        "(Unnamed Layer* 718) [NMS]_1_output[DevicetoShapeHostCopy]",
        "(Unnamed Layer* 1) [Convolution]",
        "{ForeignNode[/Split_2.../Concat_1]}",
        "[trainStation1]",
    ]
    fused = "w + QuantizeLinear_90 + Conv_94 + PWN(Clip_16)"
    profile = [{"count": 10}, *({"name": name, "averageMs": 1.0} for name in (*added, fused))]
    (time,) = read(tmp_path, profile)
    assert [*time.values] == added
    assert {*time.reasons} == {*added}
    assert [one.names for one in time.sets] == [("w", "QuantizeLinear_90", "Conv_94", "Clip_16")]
    assert time.whole == 9.0


def test_layer_information_of_dynamic_shapes_has_no_precision(tmp_path: Path) -> None:
    layer = {
        "Name": "conv",
        "LayerType": "CaskConvolution",
        "Outputs": [{"Name": "y", "Format/Datatype": "N/A due to dynamic shapes"}],
        "ParameterType": "Convolution",
    }
    columns = {one.name: one.values for one in read(tmp_path, {"Layers": [layer]})}
    assert "precision" not in columns
    assert columns["layer type"] == {"conv": "Convolution"}


def test_names_in_metadata_may_follow_one_another_without_a_sign_between() -> None:
    both = ("/attn/MatMul", "softmax[0]")
    assert split_metadata("[ONNX Layer: /attn/MatMul][ONNX Layer: softmax[0]]") == both
    assert split_metadata("[ONNX Layer: /attn/MatMul]\x1f[ONNX Layer: softmax[0]]") == both


def test_a_profile_of_tensorrt_does_not_divide_times_of_fused_nodes(tmp_path: Path) -> None:
    (column,) = read(tmp_path, PROFILE)
    assert (column.unit, column.whole) == ("ms", pytest.approx(0.5))
    overlay = netloupe.overlay(chain(), column)
    assert overlay.measure("conv").value == overlay.measure("relu").value == 0.3
    assert overlay.measure("main").value == 0.3
    reasons = {one.name: one.reason for one in overlay.unplaced}
    assert "TensorRT has added it" in reasons["Reformatting CopyNode for Input Tensor 0 to mul"]
    assert overlay.describe_placement()[0] == "60 % of 500 µs placed; 1 of 3 entries placed"
    assert any("--exportLayerInfo" in line for line in overlay.describe_placement())


def test_layer_information_tells_a_profile_which_nodes_its_layers_are(tmp_path: Path) -> None:
    (tmp_path / "profile.json").write_text(json.dumps(PROFILE), "utf-8")
    (tmp_path / "layers.json").write_text(json.dumps(LAYERS), "utf-8")
    files = [str(tmp_path / "profile.json"), str(tmp_path / "layers.json")]
    times, precision, kind, kernel, together = make_overlays(chain(), files)
    assert times.measure("add").value == times.measure("mul").value == 0.15
    assert times.measure("main").value == pytest.approx(0.45)
    assert precision.measure("conv").value == "Int8"
    assert kind.measure("relu").value == "Convolution"
    assert kernel.measure("conv").value == "sm80_xmma"
    assert together.measure("mul").value == 2.0


def test_layer_information_of_names_alone_says_how_to_get_more(tmp_path: Path) -> None:
    with pytest.raises(OverlayError, match="profilingVerbosity=detailed"):
        read(tmp_path, {"Layers": ["conv", "relu"], "Bindings": []})
    with pytest.raises(OverlayError, match="entry 2 has no name with an averageMs"):
        read(tmp_path, [{"name": "a", "averageMs": 1}, {"name": "b", "averageMs": "x"}])


# files that are nothing of this, and hostile ones


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the table is empty"),
        ("just words\n", "line 1 has one field"),
        ("name,a\nconv,\n", "no field beside the names"),
        ("path,x\n", "no field beside the names"),
        ("x,path\n1,a\n2\n", "line 3 has 1 fields, and names are in field 2"),
        ('name,a\n"unclosed,1\n' + "x" * (2**20 + 10), "is no CSV"),
        (b"\xff\xfe\x00\x01", "byte 0 is no UTF-8"),
        ('{"a": ', "is no valid JSON"),
        ("[1, 2, 3]", "is JSON, but nothing to colour by"),
        ("{}", "is JSON, but nothing to colour by"),
        ('{"a": null, "b": []}', "is JSON, but nothing to colour by"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "cannot be read"),
        ({"names": ["a"], "values": [1, 2]}, "has 1 name and 2 values"),
        (",".join("abcdefgh" * 30) + "\n", "there may be 200"),
    ],
)
def test_what_cannot_be_read_is_one_message_with_file_and_place(
    tmp_path: Path, content: Any, message: str
) -> None:
    with pytest.raises(OverlayError, match=message) as caught:
        read(tmp_path, content)
    assert "numbers" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1_000


def test_folders_pipes_and_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OverlayError, match="is a directory"):
        read_column_file(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OverlayError, match="no regular file"):
        read_column_file(tmp_path / "pipe")
    with pytest.raises(OverlayError, match="there is no such file"):
        read_column_file(tmp_path / "gone")
    with pytest.raises(OverlayError, match="no path that a file can have"):
        read_column_file("a\0b")


def test_too_much_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "LARGEST_TEXT", 10)
    with pytest.raises(OverlayError, match="more than the 10 that are read"):
        read(tmp_path, "name,value\nconv,1\n")
    monkeypatch.setattr(texts, "LARGEST_TEXT", 10_000)
    monkeypatch.setattr(texts, "LARGEST_JSON", 10)
    with pytest.raises(OverlayError, match="characters of JSON, more than"):
        read(tmp_path, {"conv": 1, "relu": 2})


def test_numbers_that_are_none_have_no_place(tmp_path: Path) -> None:
    (column,) = read(tmp_path, '{"conv": NaN, "relu": Infinity, "add": 1e999, "mul": -2}')
    overlay = netloupe.overlay(chain(), column)
    assert overlay.placement.reasons == {"the number is not finite": 3}
    assert overlay.measure("main").value == -2.0


def test_a_cyclic_mapping_and_deep_values_are_refused() -> None:
    cyclic: dict[str, Any] = {}
    cyclic["conv"] = cyclic
    with pytest.raises(OverlayError, match="neither a number nor a word"):
        netloupe.overlay(chain(), cyclic)


ROWS = {
    "plain": ["a,1,2", "b,3.5,-1e3", "a,nan,inf"],
    "spaces": [" a , 1 ,\t2 ", "b,3,4", "c\u2003,\u20031,2"],
    "signs": ["a,1,2", 'b,12 %,"1,234"', "c,3,4"],
    "words": ["a,1,2", "b,x,4", "a,5,y", "c,7,8", "d,9,10"],
    "gaps": ["a,1,2", "", "b,,4", ",,", ",5,6", "c,7,8"],
    "lengths": ["a,1,2", "b,3", "c,5,6,7"],
    "sums": ["a,1,2", "Total,9,9", " mean ,1,1", "b,3,4"],
    "long": [f"{'n' * 5000},1,2", f"b,{'9' * 400},3"],
    "lines": ['"a', 'b",1,2', "c,3,4"],
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("heading", ["name,x,y", "x,path,y"])
def test_rows_taken_together_are_those_taken_one_by_one(
    name: str, heading: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\n".join([heading, *ROWS[name], *ROWS["plain"]])
    read = {}
    for rows in (1, 2, 5_000):
        monkeypatch.setattr(tables, "_ROWS", rows)
        read[rows] = repr(tables.read_csv(text, "t.csv"))
    taken = tables._take_plain
    monkeypatch.setattr(tables, "_take_plain", lambda *given: False)
    assert {*read.values()} == {repr(tables.read_csv(text, "t.csv"))}
    rows = [(n, line.split(",")) for n, line in enumerate(ROWS["plain"])]
    numbers: list[dict[str, float | str]] = [{} for _ in range(3)]
    assert taken(rows, 0, numbers)  # the usual ones are
    assert numbers[2] == {"a": math.inf, "b": -1e3}


def test_the_first_of_two_faults_is_told() -> None:
    long = "x" * (2**20 + 1)
    with pytest.raises(OverlayError, match="line 3 has 1 field"):
        tables.read_csv(f"x,name,y\n1,a,2\n3\n4,{long},5", "t.csv")
    with pytest.raises(OverlayError, match="line 3 is no CSV"):
        tables.read_csv(f"x,name,y\n1,a,2\n4,{long},5\n3", "t.csv")


def test_a_table_of_a_million_rows_is_read_and_laid_over(tmp_path: Path) -> None:
    rows = "\n".join(f"node{number},{number}" for number in range(1_000_000))
    (column,) = read(tmp_path, f"name,value\n{rows}\nconv,3\n")
    overlay = netloupe.overlay(chain(), column)
    assert overlay.placement.unplaced_count == 1_000_000
    assert len(overlay.unplaced) == 1_000
    assert overlay.measure("conv").value == 3.0


def test_names_with_markup_are_escaped_wherever_they_are_shown() -> None:
    name = '<script>alert("x")</script>'
    overlay = netloupe.overlay(chain(), {"conv": name, "relu": "&amp;"}, name=name)
    svg = chain().to_svg(color_by=overlay)
    assert "<script" not in svg
    page = chain().to_html(color_by=overlay)
    assert (
        "alert(" not in page.replace("\\u003c", "<").split('id="nl-data"')[0].split("<script>")[0]
    )
    assert name not in page
