"""What is told of operands and outputs says which one it is, and each thing is told once."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from onnx import parser

import netloupe
from netloupe import Diff
from netloupe.commands.diff import read_fail_on
from netloupe.explorer.describe.differences import format_diff
from netloupe.proto import caffe2_pb2

_HEAD = '<ir_version: 9, opset_import: ["":18]>\n'
_SCAN = f"""{_HEAD}g (float[4] x, float[5,4] p, float[5,4] q) => (float[4] y, float[5,4] s) {{
 y, s = Scan <num_scan_inputs=2, body = b (float[4] a, float[4] d, float[4] e)
   => (float[4] sum, float[4] rest) {{ sum = Add(a, d) rest = Sub(sum, e) }}>(x, p, q)
}}"""
_IF = f"""{_HEAD}g (float[4] x, bool c) => (float[4] y) {{
 y = If(c) <then_branch = th () => (float[4] r) {{ r = Relu(x) }},
   else_branch = el () => (float[4] q) {{ b = Neg(x) q = Abs(b) }}>
}}"""


def _diff(left: str, right: str) -> Diff:
    models = [parser.parse_model(text).SerializeToString() for text in (left, right)]
    return netloupe.diff(netloupe.load(models[0]), netloupe.load(models[1]))


def test_inputs_of_one_name_are_told_by_their_place() -> None:
    found = _diff(_SCAN, _SCAN.replace("float[4] d, float[4] e", "float[4] e, float[4] d"))
    told = [(c.what, c.left, c.right) for one in found.nodes for c in one.changes if not c.aspect]
    body = "main/#0:Scan.body/%"
    assert sorted(told) == [
        ("input 1", f"{body}d (input 1 of the graph)", f"{body}d (input 2 of the graph)"),
        ("input 1", f"{body}e (input 2 of the graph)", f"{body}e (input 1 of the graph)"),
    ]


def test_an_initializer_that_becomes_an_input_is_told_apart() -> None:
    stored = f"{_HEAD}g (float[4] x) => (float[4] y) <float[4] w={{1,2,3,4}}> {{ y = Sub(x, w) }}"
    given = f"{_HEAD}g (float[4] x, float[4] w) => (float[4] y) {{ y = Sub(x, w) }}"
    text = format_diff(_diff(stored, given))
    assert "main/%w → main/%w" not in text
    for line in text.splitlines()[1:]:
        left, arrow, right = line.rpartition(": ")[2].partition(" → ")
        assert not arrow or left != right


def test_another_output_of_a_branch_is_told_once_and_of_that_branch() -> None:
    found = _diff(_IF, _IF.replace("el () => (float[4] q)", "el () => (float[4] b)"))
    branch = "main/#0:If.else_branch"
    (change,) = (change for change in found.about if not change.aspect)
    assert change.what == f"what gives output q of {branch}"
    assert (change.left, change.right) == (f"{branch}/#1:Abs", f"{branch}/#0:Neg")


def test_all_names_of_what_a_body_takes_and_gives_are_told() -> None:
    names = {"a": "one", "d": "two", "e": "three", "sum": "four", "rest": "five"}
    renamed = _SCAN
    for old, new in names.items():
        renamed = re.sub(rf"\b{old}\b", new, renamed)
    found = _diff(_SCAN, renamed)
    told = {c.what: (c.left, c.right) for c in found.about}
    where = "of main/#0:Scan.body"
    assert found.verdict == "cosmetic"
    assert told == {
        f"name of input 0 {where}": ("a", "one"),
        f"name of input 1 {where}": ("d", "two"),
        f"name of input 2 {where}": ("e", "three"),
        f"name of output 0 {where}": ("sum", "four"),
        f"name of output 1 {where}": ("rest", "five"),
    }


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace('"":18', '"":17', 1),
        lambda text: text.replace("ir_version: 9", "ir_version: 10"),
    ],
    ids=["opset", "IR version"],
)
def test_what_makes_models_differ_is_not_among_what_is_only_written_otherwise(
    edit: Callable[[str], str],
) -> None:
    found = _diff(_IF, edit(_IF))
    text = format_diff(found)
    assert found.verdict == "structure"
    assert text.splitlines()[1].startswith("The models differ: ")
    assert "Only written otherwise" not in text
    assert "Other versions: 1" in text
    assert b"Other versions" in found.to_ladder()


def _make_net(scale: float, zero: int) -> netloupe.Model:
    """Return a Caffe2 net whose first operator gives codes with scale and zero point."""
    net = caffe2_pb2.NetDef(name="net", external_input=["x"], external_output=["y"])
    fill = net.op.add(type="Int8GivenTensorFill", output=["w"])
    fill.arg.add(name="shape", ints=[4])
    fill.arg.add(name="values", s=bytes([1, 2, 3, 4]))
    fill.arg.add(name="Y_scale", f=scale)
    fill.arg.add(name="Y_zero_point", i=zero)
    net.op.add(type="Int8Add", input=["x", "w"], output=["y"])
    return netloupe.load(net.SerializeToString())


@pytest.mark.parametrize(("scale", "zero", "is_other"), [(1, 0, False), (2, 0, True), (1, 3, True)])
def test_codes_that_stand_for_other_numbers_are_other_weights(
    scale: float, zero: int, is_other: bool
) -> None:
    found = netloupe.diff(_make_net(1.0, 0), _make_net(scale, zero))
    assert found.has_other_structure is is_other
    for kind in ("weights", "weights:1e-3"):
        assert any(one.applies(found) for one in read_fail_on(kind)) is is_other
