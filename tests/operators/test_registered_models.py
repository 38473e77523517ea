"""Models with operators that are registered: what is found, shown and counted of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from onnx import numpy_helper, parser

from netloupe import check, load, register_operators
from netloupe.explorer.costs.polynomial import symbol, write_expression
from netloupe.explorer.describe.element import describe_element
from netloupe.explorer.describe.text import format_text
from netloupe.explorer.model import Model
from netloupe.explorer.render.category import category_of
from netloupe.explorer.roles import find_weight
from tests.operators.registered import only_shipped

LINEAR = {
    "operands": "data weight bias",
    "results": "data",
    "traits": "multiplies",
    "family": "attention",
    "weight": "linear linear_transposed",
    "dims": "... K, N K, N -> ... N",
    "macs": "...*N*K",
}
TAG = {"operands": "data data", "results": "data", "dims": "..., ... -> ...", "macs": 0}
GRAPH = """g (float[b, 6] x, float[b, 6] u) => (float[b, 5] z)
{ t = com.example.Tag (x, u) z = com.example.Linear (t, w, c) }"""


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with only_shipped():
        yield


def make_model(text: str, **stored: tuple[int, ...]) -> Model:
    """Return the model of a graph in ONNX text, with initializers of ones."""
    head = '<ir_version: 8, opset_import: ["": 17, "com.example": 1]>\n'
    model = parser.parse_model(head + text)
    for name, dims in stored.items():
        model.graph.initializer.append(numpy_helper.from_array(np.ones(dims, np.float32), name))
    return load(model)


def make_registered() -> Model:
    register_operators({"com.example": {"Linear": LINEAR, "Tag": TAG}})
    return make_model(GRAPH, w=(5, 6), c=(5,))


def test_a_check_does_not_call_it_unknown() -> None:
    (before,) = check(make_model(GRAPH, w=(5, 6), c=(5,)))
    assert (before.id, before.severity) == ("NL-P04", "warning")
    findings = check(make_registered())
    (after,) = findings
    assert (after.id, after.severity) == ("NL-P04", "note")
    assert "which are registered here" in after.message
    skipped = " ".join(map(str, findings.skipped_rules))
    assert "com.example::Tag is registered without types" in skipped
    assert "not known" not in skipped


def test_neither_does_it_in_a_domain_of_onnx_or_of_functions() -> None:
    text = """g (float[4] x) => (float[4] z) { y = BrandNew (x) z = com.example.Double (y) }
    <domain: "com.example", opset_import: ["": 17]> Other (a) => (b) { b = Relu (a) }"""
    unknown = {"unknown-operator", "unknown-function"}
    assert unknown <= {finding.name for finding in check(make_model(text))}
    register_operators({"ai.onnx": {"BrandNew": {"macs": 0}}, "com.example": {"Double": {}}})
    assert not unknown & {finding.name for finding in check(make_model(text))}


def test_a_function_of_the_model_cannot_stand_for_an_operator_of_onnx() -> None:
    text = """g (float[4] x) => (float[4] z) { z = BrandNew (x) }
    <domain: "", opset_import: ["": 17]> BrandNew (a) => (b) { b = Relu (a) }"""
    register_operators({"ai.onnx": {"BrandNew": {"macs": 0}}})
    assert "unknown-operator" in {finding.name for finding in check(make_model(text))}


def test_it_is_told_with_roles_family_weight_and_macs() -> None:
    model = make_registered()
    tag, linear = model.graph.nodes
    assert category_of(linear) == "attention"
    weight = find_weight(linear)
    assert weight is not None
    assert (weight.kind, weight.index) == ("linear", 1)
    assert model.costs().macs_expression == write_expression(symbol("b") * 30)
    assert not model.costs().macs_is_lower_bound
    assert model.costs().unknown == ()
    lines = [line.split() for line in format_text(describe_element(model, linear)).splitlines()]
    assert ["weight", "w"] in [line[:2] for line in lines]
    assert ["bias", "c"] in [line[:2] for line in lines]
    assert ["schema", "registered"] in lines
    lines = [line.split() for line in format_text(describe_element(model, tag)).splitlines()]
    assert [line[:2] for line in lines if line[:1] in (["data[0]"], ["data[1]"])] == [
        ["data[0]", "x"],
        ["data[1]", "u"],
    ]
    described = format_text(describe_element(model, model.graph.values["w"]))
    assert "Linear · weight" in described
    svg = model.to_svg()
    assert ">weight<" in svg
    assert ">bias<" in svg
    html = linear._repr_html_()
    assert "bias" in html
    assert "weight" in html


def test_a_scale_that_is_not_there_raises_nothing() -> None:
    register_operators(
        {
            "com.example": {
                "FastConv": {
                    "operands": "data data.scale weight weight.scale",
                    "results": "data",
                    "form_of": "Conv",
                    "quantized": "linear",
                    "weight": "convolution conv",
                }
            }
        }
    )
    for operands in ("x", "x, s", "x, , w", ""):
        graph = (
            f"g (float[1, 1, 4, 4] x, float s) => (z) {{ z = com.example.FastConv ({operands}) }}"
        )
        model = make_model(graph, w=(1, 1, 2, 2))
        assert model.costs().macs_is_lower_bound
        check(model)
        model.to_svg()
        for node in model.graph.nodes:
            find_weight(node)
            format_text(describe_element(model, node))


def test_what_it_is_a_form_of_is_told() -> None:
    register_operators({"com.example": {"FastConv": {"form_of": "Conv"}}})
    model = make_model(
        "g (float[1, 1, 4, 4] x) => (z) { z = com.example.FastConv (x, w) }", w=(1, 1, 2, 2)
    )
    (conv,) = model.graph.nodes
    assert "registered, a form of Conv" in format_text(describe_element(model, conv))
    weight = find_weight(conv)
    assert weight is not None
    assert weight.kind == "convolution"
    assert model.costs().macs == 9 * 4
