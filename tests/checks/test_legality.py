"""What specification, readers and schemas demand: a model that breaks it, and a near miss."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import pytest
from onnx import TensorProto, helper

from netloupe.explorer.checks import check
from netloupe.explorer.readers.load import load
from tests.checks.ruling import Made, build, find, parse
from tests.onnx_text import load_text

_RELU = "g (float[N] x) => (float[N] y) { y = Relu(x) }"


def edited(change: Callable[[onnx.ModelProto], object], text: str = _RELU) -> Made:
    def make() -> onnx.ModelProto:
        proto = parse(text)()
        change(proto)
        return proto

    return make


def add_tensor(proto: onnx.ModelProto, **fields: object) -> None:
    tensor = proto.graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[2])
    tensor.raw_data = bytes(8)
    for name, value in fields.items():
        setattr(tensor, name, value)


def name_nodes(proto: onnx.ModelProto, *names: str) -> None:
    for node, name in zip(proto.graph.node, names, strict=True):
        node.name = name


def annotate(proto: onnx.ModelProto, name: str) -> None:
    proto.graph.quantization_annotation.add(tensor_name=name)


_TWO = "g (float[N] x) => (float[N] y) { a = Relu(x) y = Neg(a) }"
_IF = """g (bool c, float[N] x) => (float[N] y) {
    a = Neg(x)
    y = If (c) <then_branch = t () => (%s) { %s = Relu(x) },
                else_branch = e () => (b) { b = Abs(x) }>
}"""
_CALL = """<ir_version: 10, opset_import: ["": 21, "local": 1]>
g (float[N] x) => (float[N] y) { y = local.%s(x) }
<domain: "local", opset_import: ["": 21, "local": 1]>
F (x) => (y) { y = %s(x) }"""
_LOOP = """g (int64 n, bool c, float[N] x) => (float[N] y) {
    y = Loop (n, c, x) <body = b (%s) => (bool d, float[N] w) { d = Identity(e) w = Relu(v) }>
}"""

#: by rule: what breaks it, and what nearly does
_CASES: list[tuple[str, Made, Made]] = [
    ("NL-L01", "g (float[N] x) => (float[N] y) { y = Add(x, z) }", _RELU),
    ("NL-L02", "g (float[N] x) => (float[N] y) { y = Neg(a) a = Relu(x) }", _TWO),
    ("NL-L03", edited(lambda p: (add_tensor(p), add_tensor(p))), edited(add_tensor)),
    ("NL-L04", edited(lambda p: add_tensor(p, raw_data=bytes(4))), edited(add_tensor)),
    (
        "NL-L05",
        edited(lambda p: p.graph.node[0].attribute.add(name="a", type=1, i=3)),
        edited(lambda p: p.graph.node[0].attribute.add(name="a", type=2, i=3)),
    ),
    ("NL-L06", "g (float[N] x) => (float[N] y) { y = Add(x, a) a = Neg(y) }", _TWO),
    (
        "NL-L07",
        edited(lambda p: name_nodes(p, "n", "n"), _TWO),
        edited(lambda p: name_nodes(p, "n", "m"), _TWO),
    ),
    ("NL-L08", _IF % ("a", "a"), _IF % ("t1", "t1")),
    (
        "NL-L09",
        edited(lambda p: p.graph.input.append(helper.make_tensor_value_info("", 1, [1]))),
        _RELU,
    ),
    ("NL-L10", _CALL % ("F", "local.F"), _CALL % ("F", "Relu")),
    ("NL-L11", _CALL % ("G", "Relu"), _CALL % ("F", "Relu")),
    ("NL-L12", "g (float[N] x) => (float[N] y) { y = other.Relu(x) }", _RELU),
    (
        "NL-L14",
        edited(lambda p: p.graph.initializer.add(name="w", data_type=1, dims=[1] * 65)),
        _RELU,
    ),
    (
        "NL-L15",
        edited(lambda p: p.graph.initializer.add(name="w", data_type=1, dims=[2])),
        edited(lambda p: p.graph.initializer.add(name="w", data_type=1, dims=[0])),
    ),
    (
        "NL-L16",
        """<ir_version: 10, opset_import: ["": 21]>
        g (float[N] x) => (float[N] y) { y = Relu(x) }
        <domain: "", opset_import: ["": 21]> Relu (x) => (y) { y = Abs(x) }""",
        _CALL % ("F", "Relu"),
    ),
    ("NL-L17", edited(lambda p: annotate(p, "gone")), edited(lambda p: annotate(p, "x"))),
    ("NL-L18", edited(lambda p: p.ClearField("ir_version")), _RELU),
    ("NL-L19", edited(lambda p: p.opset_import.add(domain="", version=20)), _RELU),
    (
        "NL-L20",
        edited(lambda p: p.functions.append(p.functions[0]), _CALL % ("F", "Relu")),
        _CALL % ("F", "Relu"),
    ),
    ("NL-L22", edited(lambda p: p.graph.node[0].ClearField("op_type")), _RELU),
    ("NL-L30", "g (float[N] x) => (float[N] y) { y = Rellu(x) }", _RELU),
    (
        "NL-L30",
        build([helper.make_node("Gelu", ["x"], ["y"])], opset=19),
        build([helper.make_node("Gelu", ["x"], ["y"])], opset=20),
    ),
    (
        "NL-L31",
        build([helper.make_node("Upsample", ["x", "s"], ["y"])], opset=10),
        build([helper.make_node("Upsample", ["x", "s"], ["y"])], opset=9),
    ),
    (
        "NL-L32",
        "g (float[N] x) => (float[N] y) { y = Add(x) }",
        "g (float[N] x) => (float[N] y) { y = Add(x, x) }",
    ),
    (
        "NL-L32",
        build([helper.make_node("Conv", ["x", "", "x"], ["y"])]),
        build([helper.make_node("Clip", ["x", "", "x"], ["y"])]),
    ),
    (
        "NL-L33",
        "g (float[N] x) => (float[N] y) { y = Relu<axis = 1>(x) }",
        "g (float[N] x) => (float[N] y) { y = Softmax<axis = 0>(x) }",
    ),
    (
        "NL-L33",
        "g (float[N] x) => (float[N] y) { y = Cast(x) }",
        "g (float[N] x) => (float[N] y) { y = Cast<to = 1>(x) }",
    ),
    (
        "NL-L33",
        "g (float[N] x) => (float[N] y) { y = Softmax<axis = 1.5>(x) }",
        "g (float[N] x) => (float[N] y) { y = Elu<alpha = 1.5>(x) }",
    ),
    ("NL-L34", _IF % ("t1, x", "t1"), _IF % ("t1", "t1")),
    (
        "NL-L35",
        _LOOP % "int64 i, bool e, float[N] v, float[N] u",
        _LOOP % "int64 i, bool e, float[N] v",
    ),
    (
        "NL-L36",
        edited(
            lambda p: (
                add_tensor(p),
                p.graph.value_info.append(helper.make_tensor_value_info("w", 10, [2])),
            )
        ),
        edited(
            lambda p: (
                add_tensor(p),
                p.graph.value_info.append(helper.make_tensor_value_info("w", 1, ["K"])),
            )
        ),
    ),
]


@pytest.mark.parametrize(("rule", "broken", "near"), _CASES)
def test_what_breaks_a_rule_and_what_nearly_does(rule: str, broken: Made, near: Made) -> None:
    found = find(broken, rule)
    assert {finding.id for finding in found} == {rule}
    assert all(finding.message and finding.remedy and finding.paths for finding in found)
    assert find(near, rule) == []


@pytest.mark.parametrize(
    ("rule", "broken", "near"),
    [("NL-L13", b"\xff\xfe", "ÿþ".encode()), ("NL-L21", b"\xba\x3e\x01a", b"")],
)
def test_bytes_that_no_library_writes(rule: str, broken: bytes, near: bytes) -> None:
    def make(part: bytes) -> bytes:
        proto = parse(_RELU)()
        if rule == "NL-L21":  # a field 999 behind the message
            return proto.SerializeToString() + part
        proto.graph.node[0].name = "n" * len(part)
        return proto.SerializeToString().replace(b"n" * len(part), part)

    assert {finding.id for finding in check(load(make(broken)), select=[rule])} == {rule}
    assert list(check(load(make(near)), select=[rule])) == []


def test_a_name_that_is_given_later_is_not_hidden() -> None:
    found = find(_IF % ("y", "y"), "NL-L08")
    assert [finding.severity for finding in found] == ["note"]


def test_operators_of_newer_sets_than_are_known_are_not_judged() -> None:
    text = '<ir_version: 10, opset_import: ["": 99]> ' + _RELU.replace("Relu", "FutureOp")
    assert find(text, "NL-L30") == []


@pytest.mark.parametrize(
    ("node", "rule", "severity", "said"),
    [
        ("MultiHeadAttention (x, x, x)", "NL-L33", "error", "lacks the attribute 'num_heads'"),
        ("RotaryEmbedding <num_heads = 0.5> (x, i, x, x)", "NL-L33", "error", "of the kind float"),
        ("FastGelu <slope = 1> (x)", "NL-L33", "warning", "in the release of ONNX Runtime that"),
        ("QuantizeLinear (x)", "NL-L32", "error", "has 1 input, but takes 2 to 3"),
        ("FastGelu (x, x, x)", "NL-L32", "warning", "has 3 inputs, but takes 1 to 2"),
        ("QuantizeLinear (, x)", "NL-L32", "error", "has no input 'x', which it must have"),
        ("GroupQueryAttention <num_heads = 1, kv_num_heads = 1> (x, , , , , i, i)", "", "", ""),
    ],
)
def test_what_operators_of_onnx_runtime_demand(
    node: str, rule: str, severity: str, said: str
) -> None:
    made = parse(
        f"""<ir_version: 10, opset_import: ["": 21, "com.microsoft": 1]>
        g (float[2, 4] x, int32[2] i) => (float[A, B] y) {{ y = com.microsoft.{node} }}"""
    )
    found = [
        each for each in check(load(made()), select=["NL-L"]) if each.id in ("NL-L32", "NL-L33")
    ]
    assert [(each.id, each.severity) for each in found] == [(rule, severity)] * bool(rule)
    assert all(said in each.message for each in found)


def test_what_readers_say_is_shown_by_a_rule_each() -> None:
    model = load_text("g (float[N] x) => (float[N] y) { y = Add(x, z) }")
    assert [str(warning) for warning in model.all_warnings()] == [
        "main/#0:Add: uses %z, which nothing defines"
    ]
    assert [
        f.message for f in find("g (float[N] x) => (float[N] y) { y = Add(x, z) }", "NL-L01")
    ] == ["uses %z, which nothing defines"]


@pytest.mark.parametrize(
    ("carried", "inner", "nodes", "is_result"),
    [
        ("s", "<float[3] h = {3.0, 1.0, 1.0}>", "r = Mul(s, h)", False),
        ("h", "", "r = Neg(h)", False),
        ("s", "", "h = Neg(s) r = Abs(h)", True),
    ],
)
@pytest.mark.parametrize(
    ("inputs", "stored", "node"),
    [
        (", float[3] h", "", ""),
        ("", "<float[3] h = {1.0, 2.0, 3.0}>", ""),
        ("", "", "h = Relu(x)"),
    ],
)
def test_only_results_of_nodes_may_not_hide_what_is_around(
    inputs: str, stored: str, node: str, carried: str, inner: str, nodes: str, is_result: bool
) -> None:
    """Whatever it is that is hidden; as onnx.checker says."""
    text = f"""<ir_version: 10, opset_import: ["": 20]>
    g (float[3] x, int64 n, bool c{inputs}) => (float[3] y) {stored} {{
        {node}
        k = Add(x, h)
        y = Loop (n, c, k) <
            body = b (int64 i, bool d, float[3] {carried}) => (bool e, float[3] r) {inner} {{
                e = Identity(d) {nodes} }}>
    }}"""
    (finding,) = find(text, "NL-L08")
    assert finding.severity == ("error" if is_result else "warning")
    if is_result:
        with pytest.raises(onnx.checker.ValidationError, match="single static assignment"):
            onnx.checker.check_model(parse(text)(), full_check=True)
    else:
        onnx.checker.check_model(parse(text)(), full_check=True)
