import json
import subprocess
import sys
from pathlib import Path

import pytest

from netloupe.explorer.operators import (
    AttributeSchema,
    OperatorSchema,
    find_schema,
    read_documentation,
)

ROOT = Path(__file__).resolve().parents[2]


def require_schema(domain: str, op_type: str, opset_version: int | None) -> OperatorSchema:
    schema = find_schema(domain, op_type, opset_version)
    assert schema is not None
    return schema


@pytest.mark.parametrize(
    ("domain", "op_type", "version", "inputs", "outputs"),
    [
        ("", "Conv", 11, "X W B?", "Y"),
        ("", "Gemm", 13, "A B C?", "Y"),
        ("", "Gemm", 7, "A B C", "Y"),
        ("", "Concat", 13, "inputs*", "concat_result"),
        ("", "If", 16, "cond", "outputs*"),
        ("", "Loop", 13, "M? cond? v_initial*", "v_final_and_scan_outputs*"),
        ("", "QuantizeLinear", 21, "x y_scale y_zero_point?", "y"),
        ("", "LayerNormalization", 17, "X Scale B?", "Y Mean? InvStdDev?"),
        ("", "SimplifiedLayerNormalization", 17, "X scale", "Y inv_std_var?"),
        ("ai.onnx.ml", "ZipMap", 3, "X", "Z"),
        ("ai.onnx.preview.training", "Adam", 1, "R T inputs*", "outputs*"),
        ("com.microsoft", "MatMulNBits", 1, "A B scales zero_points? g_idx? bias?", "Y"),
        ("com.microsoft", "FusedMatMul", 1, "A B", "Y"),
        (
            "com.microsoft",
            "QLinearSigmoid",
            1,
            "X X_scale X_zero_point? Y_scale Y_zero_point?",
            "Y",
        ),
        ("qonnx.custom_op.general", "Quant", 1, "X scale zeropt bitwidth", "Y"),
    ],
)
def test_formal_parameters(
    domain: str, op_type: str, version: int, inputs: str, outputs: str
) -> None:
    marks = {"single": "", "optional": "?", "variadic": "*"}
    schema = require_schema(domain, op_type, version)
    assert " ".join(p.name + marks[p.option] for p in schema.inputs) == inputs
    assert " ".join(p.name + marks[p.option] for p in schema.outputs) == outputs


def test_names_by_position() -> None:
    conv = require_schema("", "Conv", 11)
    assert [conv.input_name(index) for index in range(4)] == ["X", "W", "B", None]
    assert [conv.output_name(index) for index in (-1, 0, 1)] == [None, "Y", None]
    loop = require_schema("", "Loop", 13)
    assert [loop.input_name(index) for index in range(4)] == [
        "M",
        "cond",
        "v_initial[0]",
        "v_initial[1]",
    ]
    assert require_schema("", "Concat", 13).input_name(2) == "inputs[2]"
    assert require_schema("", "If", 16).output_name(0) == "outputs[0]"
    assert require_schema("", "Constant", 13).input_name(0) is None


@pytest.mark.parametrize(
    ("version", "since"),
    [(1, 1), (5, 1), (6, 6), (9, 9), (13, 9), (14, 14), (15, 15), (99999, 15), (None, 15)],
)
def test_the_imported_version_selects_the_schema(version: int | None, since: int) -> None:
    assert require_schema("", "BatchNormalization", version).since_version == since


def test_versions_differ_where_the_operator_changed() -> None:
    old = require_schema("", "BatchNormalization", 9)
    new = require_schema("", "BatchNormalization", 15)
    assert [p.name for p in old.inputs] == ["X", "scale", "B", "mean", "var"]
    assert [p.name for p in new.inputs] == ["X", "scale", "B", "input_mean", "input_var"]
    assert "training_mode" in new.attributes
    assert "training_mode" not in old.attributes


def test_an_unchanged_declaration_is_shared_but_keeps_its_version() -> None:
    shared = require_schema("", "Loop", 11)
    assert shared.since_version == 11
    assert shared.inputs == require_schema("", "Loop", 1).inputs


def test_types_of_operands() -> None:
    old, new = require_schema("", "Add", 7), require_schema("", "Add", 14)
    assert [p.variable for p in (*new.inputs, *new.outputs)] == ["T", "T", "T"]
    assert "uint8" in new.inputs[0].types
    assert "uint8" not in old.inputs[0].types
    assert require_schema("", "Shape", 13).outputs[0].types == {"int64"}
    assert not require_schema("", "Loop", 13).inputs[2].is_homogeneous
    assert "seq(float32)" in require_schema("", "SequenceInsert", 11).inputs[0].types


@pytest.mark.parametrize(
    ("domain", "op_type", "version"),
    [("", "NoSuchOp", 11), ("no.such.domain", "Conv", 11), ("", "Gelu", 11), ("", "Conv", -1)],
)
def test_what_is_not_declared_gives_none(domain: str, op_type: str, version: int) -> None:
    assert find_schema(domain, op_type, version) is None


def test_attributes() -> None:
    conv = require_schema("", "Conv", 11).attributes
    assert conv["group"] == AttributeSchema("group", "int", required=False, default=1)
    assert conv["auto_pad"].default == "NOTSET"
    assert conv["kernel_shape"] == AttributeSchema("kernel_shape", "ints", False, None)
    assert require_schema("", "Concat", 13).attributes["axis"].required
    assert require_schema("", "If", 16).attributes["then_branch"].kind == "graph"
    assert require_schema("", "RNN", 14).attributes["activations"].default == ("Tanh", "Tanh")
    assert require_schema("", "LeakyRelu", 16).attributes["alpha"].default == 0.01
    bits = require_schema("com.microsoft", "MatMulNBits", 1).attributes
    assert bits["bits"].default == 4
    assert bits["block_size"].required


def test_defaults_are_recognised_as_the_file_holds_them() -> None:
    alpha = require_schema("", "LeakyRelu", 16).attributes["alpha"]
    assert alpha.is_default(0.009999999776482582)  # 0.01 in 32 bits
    assert not alpha.is_default(0.011)
    assert not alpha.is_default(1e300)
    assert not alpha.is_default("0.01")
    axes = require_schema("", "MeanVarianceNormalization", 13).attributes["axes"]
    assert axes.is_default([0, 2, 3])
    assert not axes.is_default([0, 2])
    assert not axes.is_default(0)
    assert not require_schema("", "Conv", 11).attributes["pads"].is_default([])


def test_deprecated() -> None:
    assert require_schema("", "Upsample", 10).deprecated
    assert not require_schema("", "Upsample", 9).deprecated


def test_every_entry_of_the_table_can_be_read() -> None:
    table = json.loads((ROOT / "explorer/operators/table.json").read_text(encoding="utf-8"))
    count = 0
    for domain, by_type in table["operators"].items():
        for op_type, versions in by_type.items():
            for version in versions:
                schema = require_schema(domain, op_type, int(version))
                assert schema.since_version == int(version)
                assert all(p.option != "variadic" for p in schema.inputs[:-1])
                count += 1
    assert count > 800


def test_documentation_comes_from_onnx() -> None:
    pytest.importorskip("onnx")
    documentation = read_documentation("", "Relu", 14)
    assert documentation is not None
    assert documentation.startswith("Relu takes one input data")
    assert read_documentation("", "Relu", None) is not None
    assert read_documentation("", "Relu", 2**62) is not None
    assert read_documentation("", "Relu", -(2**62)) is None
    assert read_documentation("com.microsoft", "MatMulNBits", 1) is None


def test_neither_onnx_nor_protobuf_is_needed() -> None:
    code = """
import sys
sys.modules["onnx"] = None  # an import of it raises ImportError
from netloupe.explorer.operators import find_schema, read_documentation
assert find_schema("", "Conv", 11).input_name(1) == "W"
assert read_documentation("", "Conv", 11) is None
assert "google.protobuf" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=300)


@pytest.mark.parametrize(
    ("op_type", "version", "first", "op_types"),
    [
        ("SwiGLU", 28, 28, {"Swish", "Mul"}),
        ("Swish", 24, 24, {"Constant", "CastLike", "Mul", "Sigmoid"}),
        ("Swish", 25, None, set()),  # CastLike is another one since 25
        ("Softplus", 18, 18, {"Exp", "Constant", "CastLike", "Add", "Log"}),
        ("Softplus", 17, None, set()),  # the body came later than the operator
        ("Softplus", 19, None, set()),
        ("LayerNormalization", 17, 17, None),  # depends on the node
        ("LayerNormalization", 23, 18, None),
        ("Conv", 21, None, set()),
    ],
)
def test_bodies_are_for_some_opsets(
    op_type: str, version: int, first: int | None, op_types: set[str] | None
) -> None:
    body = require_schema("", op_type, version).find_body(version)
    if first is None:
        assert body is None
        return
    assert body is not None
    assert body.first == first
    assert (body.nodes and {node.op_type for node in body.nodes}) == op_types


def test_values_in_a_body_are_called_as_the_parameters() -> None:
    schema = require_schema("", "ReduceLogSumExp", 18)
    body = schema.find_body(18)
    assert body is not None
    assert body.nodes is not None
    assert body.nodes[0] == ("Cast", ("data",), ("data_double",), "float64")
    given = {name for node in body.nodes for name in node.outputs}
    taken = {name for node in body.nodes for name in node.inputs if name}
    assert taken - given <= {parameter.name for parameter in schema.inputs}
    assert {parameter.name for parameter in schema.outputs} <= given
    assert require_schema("", "Swish", 24).find_body(None) is None  # of the newest opset
    assert require_schema("", "SwiGLU", 28).find_body(None) is not None
