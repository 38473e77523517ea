"""Descriptions as text and as JSON, also of hostile names."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import netloupe
from netloupe.explorer.describe import add_statistics, describe_element, format_text, to_json
from netloupe.explorer.describe.description import Row, make_section
from netloupe.explorer.describe.file_text import write_array, write_list, write_scalar, write_text
from netloupe.explorer.model import Model


def encode(model: Model, path: str) -> dict[str, object]:
    told = to_json(describe_element(model, model[path]))
    decoded: dict[str, object] = json.loads(json.dumps(told, allow_nan=False))
    return decoded


def test_text_is_aligned(model: Model) -> None:
    lines = format_text(describe_element(model, model["main/conv"])).split("\n")
    assert lines[:2] == ["Conv  (ai.onnx 18)", "main/conv"]
    assert "  pads      [1, 1, 1, 1]  (ints)" in lines
    start = next(i for i, line in enumerate(lines) if line.startswith("  trace"))
    assert lines[start : start + 2] == ["  trace  File a.py", "             y = conv(x)"]


def test_text_of_a_tensor_has_bars(model: Model) -> None:
    text = format_text(add_statistics(describe_element(model, model["W"])))
    assert "Histogram" in text
    assert "█" in text


def test_json_of_a_node_holds_raw_values(model: Model) -> None:
    told = encode(model, "main/conv")
    assert (told["kind"], told["op_type"], told["opset_version"]) == ("node", "Conv", 18)
    assert told["attributes"]["pads"] == {  # type: ignore[index]
        "kind": "ints",
        "value": [1, 1, 1, 1],
        "default": False,
    }
    assert told["attributes"]["auto_pad"]["default"] is True  # type: ignore[index]
    weight = told["inputs"][1]  # type: ignore[index]
    assert (weight["formal"], weight["path"], weight["constant"]) == ("W", "main/%W", True)
    assert weight["type"] == {"kind": "tensor", "dtype": "float32", "shape": [8, 3, 3, 3]}


def test_json_of_a_tensor_holds_statistics_and_histogram(model: Model) -> None:
    told = encode(model, "W")
    assert (told["dtype"], told["dims"], told["bytes"]) == ("float32", [8, 3, 3, 3], 864)
    assert told["statistics"]["minimum"] == -1.6875  # type: ignore[index]
    histogram = told["histogram"]
    assert len(histogram["edges"]) == len(histogram["counts"]) + 1  # type: ignore[index]
    assert sum(histogram["counts"]) == 216  # type: ignore[index]


def test_json_of_a_value_holds_its_quantization(model: Model) -> None:
    told = encode(model, "main/%q")
    assert told["quantization"]["scale"] == 0.5  # type: ignore[index]
    assert told["consumers"] == [{"path": "main/dequantize", "input": 0}]


def test_every_kind_of_element_is_json(model: Model) -> None:
    for element in (model, model.graph, model.functions[0], *model.graph.nodes):
        told = to_json(describe_element(model, element))
        json.dumps(told, allow_nan=False)


def test_numbers_that_json_lacks_are_strings() -> None:
    onnx = pytest.importorskip("onnx")
    node = onnx.helper.make_node("Odd", ["x"], ["y"], "odd", alpha=math.nan, beta=[math.inf, 1.0])
    ends = [onnx.helper.make_tensor_value_info(n, 1, None) for n in "xy"]
    graph = onnx.helper.make_graph([node], "g", ends[:1], ends[1:])
    model = netloupe.load(onnx.helper.make_model(graph))
    attributes = to_json(describe_element(model, model.graph.nodes[0]))["attributes"]
    assert attributes["alpha"]["value"] == "NaN"
    assert attributes["beta"]["value"] == ["Infinity", 1.0]


def test_hostile_names_are_cleaned_and_bounded() -> None:
    onnx = pytest.importorskip("onnx")
    name = "a\x1b[31m\u202e" + "n" * 100_000 + "\nend"
    node = onnx.helper.make_node("Re\x00lu", [name], ["y"], name)
    node.attribute.add(name="s", s=b"\xff\xfe", type=onnx.AttributeProto.STRING)
    node.doc_string = "d" * 1_000_000
    ends = [onnx.helper.make_tensor_value_info(n, 1, None) for n in (name, "y")]
    graph = onnx.helper.make_graph([node], "g", ends[:1], ends[1:])
    model = netloupe.load(onnx.helper.make_model(graph))
    for element in (model, model.graph, *model.graph.nodes, *model.graph.values.values()):
        description = describe_element(model, element)
        text = format_text(description)
        assert len(text) < 60_000
        assert not any(ord(character) < 32 and character != "\n" for character in text)
        assert "\u202e" not in text
        json.dumps(to_json(description), allow_nan=False).encode()
    assert "end" in format_text(describe_element(model, model.graph.nodes[0]))


def test_lists_are_bounded() -> None:
    assert write_list(tuple(range(5_000)), 2) == "[0, 1, … 4,998 more]"
    assert write_array(np.arange(5_000), 2) == "[0, 1, … 4,998 more]"
    assert write_array(np.array(["a", b"\xff"], object)) == "[\"a\", b'\\xff']"
    section = make_section("s", [Row(str(i), "v") for i in range(9)], most=3)
    assert section.rows[-1] == Row("…", "6 more")
    assert len(write_scalar("x" * 10_000)) < 400
    assert "more characters" in write_text("y" * 100_000)
