"""Types that the file does not state but that follow from a constant."""

from __future__ import annotations

import pytest

from netloupe.commands.info import summarize_model
from netloupe.explorer.costs.inferred_types import infer_type
from netloupe.explorer.describe import (
    describe_graph,
    describe_node,
    describe_value,
    format_text,
    to_json,
)
from netloupe.explorer.describe.operands import describe_origin
from netloupe.explorer.describe.place import Place
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.html import write_node_html
from netloupe.proto import onnx_pb2
from tests.onnx_text import load_text

MODEL = """g (float[4, 3] x) => (float[4, 3] y)
<int8[4, 3] w = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
 float16[4] s = {14336, 14336, 14336, 14336}, int8[4] p = {0, 0, 0, 0}, float t = {2.0}> {
    f = DequantizeLinear <axis = 0> (w, s, p)
    g = DequantizeLinear <axis = 0, output_dtype = 16> (w, s, p)
    c = Constant <value_floats = [1.0, 2.0]> ()
    d = DequantizeLinear (x, t)
    e = Cast <to = 1> (f)
    y = Sum (x, e, g, d, c)
}"""


@pytest.fixture
def model() -> Model:
    return load_text(MODEL)


@pytest.mark.parametrize(
    ("name", "described"),
    [
        ("f", "float16[4, 3]"),
        ("g", "bfloat16[4, 3]"),
        ("w", "int8[4, 3]"),
        ("t", "float32[]"),
        ("c", "float32[2]"),
        ("d", "None"),
        ("e", "None"),
        ("x", "None"),
    ],
)
def test_types_that_follow_from_constants(model: Model, name: str, described: str) -> None:
    assert str(infer_type(model.graph.values[name])) == described


def test_a_dequantized_weight_has_its_real_type(model: Model) -> None:
    told = describe_value(model.graph.values["f"])
    assert told.subtitle == "float16[4, 3], inferred · int8 · per channel"
    (row,) = [row for row in told.sections[0].rows if row.name == "type"]
    assert (row.value, row.note) == ("float16[4, 3]", "inferred: the file states none")
    assert "unknown" not in format_text(told)


def test_operands_tell_it_too(model: Model) -> None:
    values = model.graph.values
    assert describe_origin(values["f"], Place()).startswith("float16[4, 3], inferred · constant")
    assert describe_origin(values["w"], Place()) == "int8[4, 3] · constant · 48 bytes"
    assert describe_origin(values["e"], Place()).startswith("type unknown")
    assert "bfloat16[4, 3], inferred" in write_node_html(model.graph.nodes[-1])


def test_odd_wiring_infers_nothing() -> None:
    for line in ("f = DequantizeLinear ()", "f = DequantizeLinear (f, f)"):
        model = load_text(f"g (float[1] x) => (float[1] y) {{ {line} y = Add (x, f) }}")
        assert infer_type(model.graph.values["f"]) is None


def test_python_has_what_inspect_shows(model: Model) -> None:
    for value in model.graph.values.values():
        told = describe_value(value).subtitle.partition(" · ")[0]
        if value.inferred_type is not None:
            assert told == f"{value.inferred_type}, inferred"
            assert repr(value) == f"<Value {value.path!r} {value.inferred_type}, inferred>"
        else:
            assert told == str(value.type or "type unknown")
            assert "inferred" not in repr(value)
    assert str(model.value("f").inferred_type) == "float16[4, 3]"


def test_an_inferred_type_is_never_given_as_a_stated_one(model: Model) -> None:
    f, w, x = model.value("f"), model.value("w"), model.value("x")
    assert f.type is None
    assert w.inferred_type is None
    assert str(w.type) == "int8[4, 3]"
    assert x.inferred_type is None
    stated = load_text(
        """g (float[2] x) => (float[2] y) <int8[2] w = {1, 2}, float s = {0.5}, float16[N] f> {
            f = DequantizeLinear (w, s)
            y = Add (x, f)
        }"""
    ).value("f")
    assert str(stated.type) == "float16[N]"
    assert stated.inferred_type is None


@pytest.mark.parametrize(("opset", "inferred"), [(18, "float32[2]"), (19, "None"), (0, "None")])
def test_a_type_that_the_scale_decides_is_not_guessed(opset: int, inferred: str) -> None:
    proto = onnx_pb2.ModelProto(ir_version=10)
    if opset:
        proto.opset_import.add(version=opset)
    graph = proto.graph
    graph.input.add(name="scale")  # of a type that is not stated
    graph.initializer.add(name="w", data_type=3, dims=[2], raw_data=b"ab")
    graph.node.add(op_type="DequantizeLinear", input=["w", "scale"], output=["f"])
    assert str(load(proto.SerializeToString()).value("f").inferred_type) == inferred


def test_json_and_the_summary_tell_it_too() -> None:
    """As the description does: the same types, and that the file does not state them."""
    model = load_text(
        "g (float[4, 3] x) => (z) <int8[4, 3] w = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, "
        "float16 s = {14336}> { z = DequantizeLinear (w, s) n = Neg (z) }"
    )
    inferred = {"kind": "tensor", "dtype": "float16", "shape": [4, 3]}
    for told in (
        to_json(describe_value(model.graph.values["z"])),
        to_json(describe_node(model.graph.nodes[1]))["inputs"][0],
        to_json(describe_graph(model.graph))["outputs"][0],
    ):
        assert told["type"] is None
        assert told["inferred_type"] == inferred
    told = to_json(describe_value(model.graph.values["x"]))
    assert told["type"] == {"kind": "tensor", "dtype": "float32", "shape": [4, 3]}
    assert told["inferred_type"] is None
    assert summarize_model(model)["outputs"] == [{"name": "z", "type": "float16[4, 3]"}]
