"""Names that an exporter gives to operators, and names of modules."""

from __future__ import annotations

import pytest
from onnx import parser

from netloupe.explorer.readers.load import load
from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.view import View

_SCOPES = "pkg.torch.onnx.name_scopes"
_TEXT = """<ir_version: 10, opset_import: ["": 21]>
g (float[2, 9, 4] x, int64[2, 9] mask) => (float[2, 4] y)
<float[4, 4] w = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7},
 int64[1] last = {2}, int64[1] axis = {1}>
{
  h = MatMul (x, w)
  wide = Unsqueeze (mask, last)
  counted = Cast <to = 1> (wide)
  kept = Mul (h, counted)
  y = ReduceMax <keepdims = 0> (kept, axis)
}"""


def _tell(scope: str) -> list[str]:
    """Return the titles of all boxes where the product and its mask are in a scope."""
    proto = parser.parse_model(_TEXT)
    classes = "pkg.torch.onnx.class_hierarchy"
    for node in proto.graph.node:
        node.name = f"node_{node.output[0]}"
        inner = scope if node.output[0] in ("wide", "counted", "kept") else node.output[0]
        kind = "aten.mul.Tensor" if inner == "mul_12" else "net.Keep"
        node.metadata_props.add(key=_SCOPES, value=f"['', '{inner}']")
        node.metadata_props.add(key=classes, value=f"['net.Net', '{kind}']")
    faces = FaceBook("facts")
    view = View(load(proto.SerializeToString()))
    return [
        faces.face(item).texts[0].text for item in view.items.values() if faces.face(item).texts
    ]


@pytest.mark.parametrize(("scope", "title"), [("mul_12", "Mul"), ("keep_12", "keep_12")])
def test_an_operator_is_called_by_its_own_name_and_no_number(scope: str, title: str) -> None:
    assert title in _tell(scope)


@pytest.mark.parametrize(
    ("scope", "is_circle"),
    [("add", True), ("add_1", True), ("layers.0.2", True), ("sum_up", False)],
)
def test_a_sum_in_a_module_called_after_it_is_a_circle(scope: str, is_circle: bool) -> None:
    text = """<ir_version: 10, opset_import: ["": 21]>
    g (float[4] x) => (float[4] y) { h = Exp (x) k = Sin (h) y = Add (h, k) }"""
    proto = parser.parse_model(text)
    for node in proto.graph.node:
        inner = scope if node.op_type == "Add" else node.op_type.lower()
        node.metadata_props.add(key=_SCOPES, value=f"['', '{inner}']")
        classes = f"['net.Net', 'net.{inner.title()}']"
        node.metadata_props.add(key="pkg.torch.onnx.class_hierarchy", value=classes)
    faces = FaceBook("facts")
    items = View(load(proto.SerializeToString())).items.values()
    assert is_circle == any(faces.face(item).outline == "junction" for item in items)
