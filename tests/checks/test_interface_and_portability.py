"""Inputs and outputs, versions and domains, security, denotations: a trigger and a near miss."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from netloupe.explorer.checks import check
from netloupe.explorer.checks.runtimes import find_runtime, list_runtimes
from netloupe.explorer.errors import CheckError
from netloupe.explorer.operators import find_release
from netloupe.explorer.readers.load import load
from tests.checks.ruling import Made, build, find, parse

_RELU = "g (float[N] x) => (float[N] y) { y = Relu(x) }"


def edited(change: Callable[[onnx.ModelProto], object], text: str = _RELU) -> Made:
    def make() -> onnx.ModelProto:
        proto = parse(text)()
        change(proto)
        return proto

    return make


def document(text: str) -> Made:
    def change(proto: onnx.ModelProto) -> None:
        proto.metadata_props.add(key="trained", value=text)

    return edited(change)


def denote(name: str) -> Made:
    def change(proto: onnx.ModelProto) -> None:
        proto.graph.input[0].type.denotation = name

    return edited(change)


_NORM = "g (float[N,4] x, float[4] w) => (float[N,4] y) { y = LayerNormalization(x, w) }"
_OPEN = """<ir_version: %d, opset_import: ["": 21]>
g (float[N] x, float[2] w) => (float[N] y) <float[2] w = {1.0, 2.0}> { y = Add(x, w) }"""

_CASES: list[tuple[str, Made, Made]] = [
    ("NL-I01", edited(lambda p: p.graph.output[0].ClearField("type")), _RELU),
    ("NL-I02", edited(lambda p: p.graph.output[0].type.tensor_type.ClearField("shape")), _RELU),
    (
        "NL-I03",
        edited(lambda p: p.graph.input[0].type.tensor_type.shape.dim[0].ClearField("dim_param")),
        _RELU,
    ),
    (
        "NL-I04",
        "g (float[N] x, float[N] z) => (float[N] y) { y = Relu(x) }",
        "g (float[N] x, float[N] z) => (float[N] y) { y = Add(x, z) }",
    ),
    (
        "NL-I05",
        "g (float[N] x) => (float[N] x, float[N] y) { y = Relu(x) }",
        "g (float[N] x) => (float[N] z, float[N] y) { z = Identity(x) y = Relu(x) }",
    ),
    (
        "NL-I06",
        "g (float[N] x) => (float[2] y) <float[2] w = {1.0, 2.0}> { y = Relu(w) }",
        "g (float[N] x) => (float[2] y) <float[2] w = {1.0, 2.0}> { y = Add(w, x) }",
    ),
    ("NL-I07", _OPEN % 10, _OPEN % 3),
    (
        "NL-P03",
        '<ir_version: 10, opset_import: ["": 6]> ' + _RELU,
        '<ir_version: 10, opset_import: ["": 7]> ' + _RELU,
    ),
    (
        "NL-P04",
        '<ir_version: 10, opset_import: ["": 21, "mine": 1]> ' + _RELU.replace("Relu", "mine.Op"),
        """<ir_version: 10, opset_import: ["": 21, "mine": 1]>
        g (float[N] x) => (float[N] y) { y = mine.Op(x) }
        <domain: "mine", opset_import: ["": 21]> Op (x) => (y) { y = Relu(x) }""",
    ),
    (
        "NL-P05",
        '<ir_version: 10, opset_import: ["": 21, "com.microsoft": 1]> '
        + _RELU.replace("Relu", "com.microsoft.QuickGelu"),
        _RELU,
    ),
    (
        "NL-P04",
        '<ir_version: 10, opset_import: ["": 21, "com.microsoft": 1]> '
        + _RELU.replace("Relu", "com.microsoft.NoSuchGelu"),
        '<ir_version: 10, opset_import: ["": 21, "com.microsoft": 1]> '
        + _RELU.replace("Relu", "com.microsoft.QuickGelu"),
    ),
    (
        "NL-P05",
        '<ir_version: 10, opset_import: ["": 12]> ' + _NORM,
        '<ir_version: 10, opset_import: ["": 17]> ' + _NORM,
    ),
    (
        "NL-S02",
        '<ir_version: 10, opset_import: ["": 21, "pyop": 1]> ' + _RELU.replace("Relu", "pyop.PyOp"),
        '<ir_version: 10, opset_import: ["": 21, "pyop": 1]> ' + _RELU.replace("Relu", "pyop.Copy"),
    ),
    (
        "NL-S03",
        build(
            [helper.make_node("Op", ["x"], ["y"], domain="d", code="import os; os.system('ls')")]
        ),
        build([helper.make_node("Op", ["x"], ["y"], domain="d", code="important: os")]),
    ),
    ("NL-S04", document("/home/maria/run7/best.pt"), document("/data/run7/home/best.pt")),
    ("NL-S04", document("C:\\Users\\maria\\best.pt"), document("C:\\data\\best.pt")),
    ("NL-S05", document("<script>alert(1)</script>"), document("a < b and c > d")),
    ("NL-S06", document("a" * 1_100_000), document("a" * 1_000_000)),
    (
        "NL-S07",
        "g () => (float[A, B] y) <int64[2] s = {60000, 60000}> { y = ConstantOfShape(s) }",
        "g () => (float[A, B] y) <int64[2] s = {600, 600}> { y = ConstantOfShape(s) }",
    ),
    ("NL-D01", denote("PICTURE"), denote("TENSOR")),
]


@pytest.mark.parametrize(("rule", "broken", "near"), _CASES)
def test_what_breaks_a_rule_and_what_nearly_does(rule: str, broken: Made, near: Made) -> None:
    assert {finding.id for finding in find(broken, rule)} == {rule}
    assert find(near, rule) == []


@pytest.mark.parametrize(
    ("rule", "broken", "near"), [("NL-P01", (10, 20), (9, 20)), ("NL-P02", (9, 21), (9, 20))]
)
def test_a_runtime_reads_up_to_its_versions(
    rule: str, broken: tuple[int, int], near: tuple[int, int]
) -> None:
    text = '<ir_version: %d, opset_import: ["": %d]> ' + _RELU
    (found,) = find(text % broken, rule, target="ort-1.17.3")
    assert "ONNX Runtime 1.17" in found.message
    assert find(text % near, rule, target="ort-1.17") == []
    assert find(text % broken, rule) == []  # no target, no rule


def test_runtimes_only_grow() -> None:
    rows = [(r.ir_version, r.opsets[""], r.opsets["ai.onnx.ml"]) for r in list_runtimes().values()]
    for column in zip(*rows, strict=True):
        assert list(column) == sorted(column)


@pytest.mark.parametrize("name", ["ort-9.9", "ort", "tensorrt", "ort-1.17.x", ""])
def test_targets_that_are_not_known(name: str) -> None:
    with pytest.raises(CheckError, match=r"is not known.*Known are ort-1\.0 to"):
        find_runtime(name)


def test_external_data_that_lead_out_of_the_folder(tmp_path: Path) -> None:
    proto = helper.make_model(helper.make_graph([], "g", [], []))
    for name in ("w.bin", "../secret.bin"):
        tensor = proto.graph.initializer.add(name=name, data_type=1, dims=[4])
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=name)
    (tmp_path / "model").mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(16))
    (tmp_path / "model" / "w.bin").write_bytes(bytes(16))
    path = tmp_path / "model" / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    found = check(load(path))
    assert [f.paths for f in found if f.id == "NL-S01"] == [("main/%../secret.bin",)]
    (reason,) = {skipped.reason for skipped in found.skipped_rules}
    assert reason.startswith("1 of the stored tensors cannot be read: main/%../secret.bin")
    assert "NL-N01" in {skipped.id for skipped in found.skipped_rules}


def test_sparse_initializers_count_among_those_that_are_inputs() -> None:
    def add_sparse(proto: onnx.ModelProto) -> None:
        values = helper.make_tensor("s", TensorProto.FLOAT, [1], [3.0])
        indices = helper.make_tensor("i", TensorProto.INT64, [1], [1])
        proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2]))
        proto.graph.input.append(helper.make_tensor_value_info("s", TensorProto.FLOAT, [2]))

    (found,) = find(edited(add_sparse, _OPEN % 10), "NL-I07")
    assert "2 initializers of 2 are also listed" in found.message


def test_what_no_list_of_the_runtime_has_is_not_said_to_be_of_it() -> None:
    text = '<ir_version: 10, opset_import: ["": 12, "com.microsoft": 1]> ' + _NORM.replace(
        "{ y", "{ a = com.microsoft.NoSuchGelu(x) b = com.microsoft.QuickGelu(a) y"
    )
    told = {each.message for each in find(text, "NL-P")}
    release = find_release("onnxruntime")
    neither = f"which neither ONNX nor the model defines, nor ONNX Runtime {release}"
    beside = "which ONNX Runtime has beside ONNX"
    assert told == {
        f"1 node of com.microsoft, {neither}: NoSuchGelu",
        f"1 node of com.microsoft, {beside}: QuickGelu",
        f"1 node of version 12 of ai.onnx, {beside}: LayerNormalization",
    }
