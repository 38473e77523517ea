"""The text form of a model: equal for equal models, and for others different in few lines."""

from __future__ import annotations

import difflib
import random

import numpy as np
import onnx
import pytest
from onnx import external_data_helper, helper, numpy_helper

from netloupe.explorer.describe.canonical import write_canonical
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.readers.load import load
from tests.compare.networks import make_layers, make_nested, make_normed
from tests.corpus import CASES, corpus_file


def write(model: onnx.ModelProto) -> list[str]:
    return [*write_canonical(load(model))]


def copy_of(model: onnx.ModelProto) -> onnx.ModelProto:
    return onnx.ModelProto.FromString(model.SerializeToString())


def list_changed(left: onnx.ModelProto, right: onnx.ModelProto) -> list[str]:
    lines = difflib.unified_diff(write(left), write(right), lineterm="", n=0)
    return [line for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---")]


def test_a_small_model_is_told_fact_by_fact() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21], producer_name: "me">
        g (float[n, 2] x) => (float[n, 2] y) <float[2] w = {1.5, -2}>
        { [act] a = LeakyRelu <alpha = 0.5> (x) y = Add (a, w) }
    """)
    assert write(model) == [
        "model ONNX",
        "  ir_version 10",
        '  producer "me"',
        '  opset "ai.onnx" = 21',
        'graph "g"',
        '  input "x" float32[n, 2]',
        '  output "y" float32[n, 2]',
        '  initializer "w" float32[2] = [1.5, -2]',
        '  node "LeakyRelu"',
        '    name "act"',
        '    input 0 "x"',
        '    output 0 "a"',
        '    attribute "alpha" = 0.5',
        '  node "Add"',
        '    input 0 "a"',
        '    input 1 "w"',
        '    output 0 "y" float32[n, 2]',
    ]


@pytest.mark.parametrize("make", [make_layers, make_nested, make_normed])
def test_order_and_storage_mean_nothing(make: object) -> None:
    model = make()  # type: ignore[operator]
    other = copy_of(model)
    chance = random.Random(4)
    nodes = [*other.graph.node]
    givers = {name: node for node in nodes for name in node.output}
    ordered: list[onnx.NodeProto] = []
    while nodes:  # another order in which each comes behind what it takes
        ready = [
            node
            for node in nodes
            if all(name not in givers or givers[name] in ordered for name in list_taken(node))
        ]
        chosen = chance.choice(ready)
        nodes.remove(chosen)
        ordered.append(chosen)
    del other.graph.node[:]
    other.graph.node.extend(ordered)
    tensors = [*other.graph.initializer]
    del other.graph.initializer[:]
    for tensor in reversed(tensors):
        array = numpy_helper.to_array(tensor)
        typed = helper.make_tensor(tensor.name, tensor.data_type, tensor.dims, array.ravel())
        other.graph.initializer.append(typed)
    assert write(other) == write(model)


def list_taken(node: onnx.NodeProto) -> list[str]:
    inner = [name for a in node.attribute for one in a.g.node for name in one.input]
    return [*node.input, *inner]


def test_external_weights_are_those_inside(tmp_path: object) -> None:
    model = make_layers(2)
    other = copy_of(model)
    external_data_helper.convert_model_to_external_data(
        other, location="weights.bin", size_threshold=0
    )
    onnx.save(other, f"{tmp_path}/other.onnx")
    assert [*write_canonical(load(f"{tmp_path}/other.onnx"))] == write(model)


def test_without_its_file_a_weight_is_told_by_where_it_should_be() -> None:
    other = make_layers(1)
    external_data_helper.convert_model_to_external_data(
        other, location="weights.bin", size_threshold=0
    )
    for tensor in other.graph.initializer:
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="weights.bin")
    lines = [line for line in write(other) if "initializer" in line]
    assert lines
    assert all('unread external "location" = "weights.bin"' in line for line in lines)


def test_one_change_changes_few_lines() -> None:
    model = make_layers(4)
    weight = copy_of(model)
    array = np.array(numpy_helper.to_array(weight.graph.initializer[1]))
    array[0, 0] += 1
    weight.graph.initializer[1].raw_data = array.tobytes()
    removed, added = list_changed(model, weight)
    assert removed.startswith('-  initializer "layers.0.fc.weight" float32[4, 4] ')
    assert added.startswith('+  initializer "layers.0.fc.weight" float32[4, 4] ')
    named = copy_of(model)
    named.graph.node[2].name = "other"
    assert list_changed(model, named) == [
        '-    name "/layers.0/fc/Add"',
        '+    name "other"',
    ]


def test_large_weights_are_digests() -> None:
    model = make_layers(1, width=32)
    (line,) = [line for line in write(model) if '"layers.0.fc.weight" float32' in line]
    assert line.rpartition(" ")[2].startswith("sha256:")
    lines = [*write_canonical(load(model), reads_weights=False)]
    (line,) = [line for line in lines if '"layers.0.fc.weight" float32' in line]
    assert line.endswith("float32[32, 32]")


def test_texts_are_on_one_line_and_obeyed_by_no_terminal() -> None:
    model = make_layers(1)
    model.doc_string = "a\nnode \x1b[31m\u202e"
    (line,) = [line for line in write(model) if line.startswith("  doc")]
    assert line == '  doc "a\\nnode \\u001b[31m\\u202e"'


@pytest.mark.parametrize("case", CASES, ids=str)
def test_everything_that_opens_has_a_text(case: object) -> None:
    try:
        model = load(corpus_file(str(case)))
    except NetloupeError:
        return
    lines = [*write_canonical(model)]
    assert lines[0] == f"model {model.format}"
    assert not any("\n" in line for line in lines)
