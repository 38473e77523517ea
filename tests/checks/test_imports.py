"""Operator sets that a model or a function imports, or does not, beside what two judges say."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import onnx
import onnx.parser
import pytest

from netloupe.explorer.checks import check
from netloupe.explorer.readers.load import load
from tests.checks.ruling import find
from tests.judges import Judges

_MAIN = "g (float[2] x) => (float[2] y) { y = "
_BRANCH = """g (float[2] x, bool c) => (float[2] y) {{
    y = If (c) <then_branch = t () => (float[2] p) {{ p = {}(x) }},
                else_branch = e () => (float[2] q) {{ q = Relu(x) }}>
}}"""
_G = '\n<domain: "b", opset_import: ["": 18]> G (i) => (o) { o = Relu(i) }'
_BODY_BRANCH = """g (float[2] x, bool c) => (float[2] y) {{ y = a.F(x, c) }}
<domain: "a", opset_import: ["": 18{}]> F (i, c) => (o) {{
    o = If (c) <then_branch = t () => (float[2] p) {{ p = b.G(i) }},
                else_branch = e () => (float[2] q) {{ q = Relu(i) }}>
}}"""


def call(operator: str) -> str:
    """Return a graph of one node."""
    return _MAIN + operator + "(x) }"


def define(imports: str, operator: str) -> str:
    """Return a function a.F of one node."""
    return f'\n<domain: "a", opset_import: [{imports}]> F (i) => (o) {{ o = {operator}(i) }}'


class Case(NamedTuple):
    """A model, and the rules whose errors it has; none where both judges accept it."""

    imports: str
    text: str
    errors: tuple[str, ...] = ()


_BOTH = '"": 18, "a": 1'
_ALL = '"": 18, "a": 1, "b": 1'
_NO_IMPORT, _LACKED, _LONG = ("NL-L12",), ("NL-L38",), ("NL-L40",)

_CASES = {
    "a function": Case(_BOTH, call("a.F") + define('"": 18', "Relu")),
    "a called set": Case('"": 18', call("a.F") + define('"": 18', "Relu"), _NO_IMPORT),
    "a called set, in a branch": Case(
        '"": 18', _BRANCH.format("a.F") + define('"": 18', "Relu"), _NO_IMPORT
    ),
    "a set that nothing knows": Case('"": 18', call("foo.Bar"), _NO_IMPORT),
    "that, in a branch": Case('"": 18', _BRANCH.format("foo.Bar"), _NO_IMPORT),
    "a set of a runtime": Case('"": 18', call("com.microsoft.Gelu"), _NO_IMPORT),
    "of a function, by the function alone": Case(
        _BOTH, call("a.F") + _G + define('"b": 1', "b.G"), _LACKED
    ),
    "by the model alone": Case(_ALL, call("a.F") + _G + define('"": 18', "b.G"), _NO_IMPORT),
    "by neither": Case(_BOTH, call("a.F") + _G + define('"": 18', "b.G"), _NO_IMPORT),
    "by both": Case(_ALL, call("a.F") + _G + define('"b": 1', "b.G")),
    "by both, of other versions": Case(
        '"": 18, "a": 1, "b": 2', call("a.F") + _G + define('"b": 1', "b.G")
    ),
    "by the function alone, called in a branch": Case(
        _BOTH, _BRANCH.format("a.F") + _G + define('"b": 1', "b.G"), _LACKED
    ),
    "by the function alone, in a branch": Case(
        _BOTH, _BODY_BRANCH.format(', "b": 1') + _G, _LACKED
    ),
    "by neither, in a branch": Case(_BOTH, _BODY_BRANCH.format("") + _G, _NO_IMPORT),
    "by the function alone, three deep": Case(
        _ALL,
        call("a.F")
        + '\n<domain: "c", opset_import: ["": 18]> H (i) => (o) { o = Relu(i) }'
        + '\n<domain: "b", opset_import: ["c": 1]> G (i) => (o) { o = c.H(i) }'
        + define('"b": 1', "b.G"),
        _LACKED,
    ),
    "by the function alone, not called": Case(_BOTH, call("Relu") + _G + define('"b": 1', "b.G")),
    "by neither, not called": Case(_BOTH, call("Relu") + _G + define('"": 18', "b.G"), _NO_IMPORT),
    "ONNX's own, by the model alone": Case(
        _BOTH, call("a.F") + define('"b": 1', "Relu"), _NO_IMPORT
    ),
    "ONNX's own, by the function alone": Case('"a": 1', call("a.F") + define('"": 18', "Relu")),
    "a runtime's, by the function alone": Case(
        _BOTH, call("a.F") + define('"com.microsoft": 1', "com.microsoft.Gelu")
    ),
    "a function in a runtime's set, by the function alone": Case(
        _BOTH,
        call("a.F")
        + _G.replace('"b"', '"com.microsoft"')
        + define('"com.microsoft": 1', "com.microsoft.G"),
    ),
    "a runtime's, by the model alone": Case(
        '"": 18, "a": 1, "com.microsoft": 1',
        call("a.F") + define('"": 18', "com.microsoft.Gelu"),
        _NO_IMPORT,
    ),
    "a function in ONNX's set": Case(
        '"": 18, "ai.onnx.ml": 3',
        call("ai.onnx.ml.G") + _G.replace('"b"', '"ai.onnx.ml"'),
        ("NL-L30",),
    ),
    "a function in the place of an operator": Case(
        '"": 18', call("Neg") + _G.replace('"b"', '""').replace("G (i)", "Neg (i)")
    ),
    "the model imports the long name": Case('"ai.onnx": 18', call("Relu")),
    "a node with the long name": Case('"": 18', call("ai.onnx.Relu"), _LONG),
    "both with it": Case('"ai.onnx": 18', call("ai.onnx.Relu"), _LONG),
    "a node in a branch with it": Case('"": 18', _BRANCH.format("ai.onnx.Neg"), _LONG),
    "a function imports it": Case(_BOTH, call("a.F") + define('"ai.onnx": 18', "Relu"), _LONG),
    "a function imports it, not called": Case(
        _BOTH, call("Relu") + define('"ai.onnx": 18', "Relu"), _LONG
    ),
    "a function imports it, and needs none": Case(
        _BOTH, call("Relu") + _G + define('"ai.onnx": 18, "b": 1', "b.G")
    ),
    "a function imports both": Case(_BOTH, call("a.F") + define('"ai.onnx": 18, "": 18', "Relu")),
    "a node of a body with it": Case(_BOTH, call("a.F") + define('"": 18', "ai.onnx.Relu"), _LONG),
}


def make(case: Case) -> onnx.ModelProto:
    """Return the model of a case."""
    return onnx.parser.parse_model(f"<ir_version: 10, opset_import: [{case.imports}]>\n{case.text}")


@pytest.mark.parametrize("name", _CASES)
def test_what_is_not_imported_is_an_error_where_it_counts(name: str) -> None:
    case = _CASES[name]
    found = check(load(make(case)))
    assert tuple({each.id: 0 for each in found if each.severity == "error"}) == case.errors


def test_two_judges_refuse_what_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    with Judges() as judges:
        for name, case in _CASES.items():
            path = tmp_path / "model.onnx"
            path.write_bytes(make(case).SerializeToString())
            said = judges.ask(path)
            assert any(said.values()) == bool(case.errors), (name, said)
            if case.errors == _LACKED:  # what the rule says of each judge
                assert not said["checker"], name
                assert "No opset import for domain" in said["runtime"], name


def test_it_is_told_who_lacks_the_import() -> None:
    (own,) = find(lambda: make(_CASES["by the model alone"]), "NL-L12")
    assert own.paths == ("functions/a::F",)
    assert own.message == "1 node of the operator set b, which the function does not import"
    (outer,) = find(lambda: make(_CASES["of a function, by the function alone"]), "NL-L38")
    assert outer.paths == ("functions/a::F",)
    assert outer.message == "its body calls functions of b, which the model does not import"


def test_graphs_in_defaults_of_attributes_belong_to_the_function() -> None:
    def hold(*domains: str) -> onnx.ModelProto:
        proto = make(_CASES["a function"])
        inner = onnx.parser.parse_graph("d (float[2] k) => (float[2] l) { l = foo.Bar(k) }")
        proto.functions[0].attribute_proto.append(onnx.helper.make_attribute("body", inner))
        imports = {"model": proto.opset_import, "function": proto.functions[0].opset_import}
        for each in domains:
            imports[each].add(domain="foo", version=1)
        return proto

    assert [*check(load(hold("function")), select=["NL-L12"])] == []
    for domains in ((), ("model",)):
        (found,) = check(load(hold(*domains)), select=["NL-L12"])
        assert found.paths == ("functions/a::F",)


@pytest.mark.parametrize("operator", ["foo.Bar", "a.F"])
def test_graphs_for_training_are_read_by_no_runtime(operator: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    proto = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 18]>\n' + call("Relu") + define('"": 18', "Relu")
    )
    text = f"t (float[2] k) => (float[2] l) {{ l = {operator}(k) m = ai.onnx.Relu(l) }}"
    proto.training_info.add().algorithm.CopyFrom(onnx.parser.parse_graph(text))
    found = check(load(proto))
    assert [each.severity for each in found if each.id == "NL-L12"] == ["warning"]
    assert [each.id for each in found if each.severity == "error"] == []
    path = tmp_path / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    with Judges() as judges:
        assert not any(judges.ask(path).values())
