"""Types: for every operator with type constraints, models that break each of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest
from onnx import TypeProto, helper

from netloupe.explorer import operators
from netloupe.explorer.checks import Finding, check
from netloupe.explorer.operators import OperatorSchema, Parameter, find_schema
from netloupe.explorer.readers.load import load
from tests.checks.ruling import find, parse, read_made

_TABLE = json.loads(Path(operators.__file__).with_name("table.json").read_text("utf-8"))
_DOMAINS = ("", "ai.onnx.ml", "com.microsoft")
#: what no model can hold in a file, and versions that nothing imports
_CODES = {
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "float8_e4m3fn": "FLOAT8E4M3FN",
    "float8_e4m3fnuz": "FLOAT8E4M3FNUZ",
    "float8_e5m2": "FLOAT8E5M2",
    "float8_e5m2fnuz": "FLOAT8E5M2FNUZ",
    "float8_e8m0fnu": "FLOAT8E8M0",
    "float6_e2m3fn": "FLOAT6E2M3",
    "float6_e3m2fn": "FLOAT6E3M2",
    "float4_e2m1fn": "FLOAT4E2M1",
}


#: whose results have types that attributes or bodies decide
_FROM_ATTRIBUTES = {"Cast", "CastLike", "If", "Loop", "Scan", "Constant"} | {
    "QuantizeLinear",
    "DequantizeLinear",
}


def list_schemas() -> Iterator[OperatorSchema]:
    """Yield every declaration in the table that has types."""
    for domain in _DOMAINS:
        for op_type, versions in _TABLE["operators"][domain].items():
            for version in versions:
                schema = find_schema(domain, op_type, int(version))
                if schema is not None and any(p.types for p in schema.inputs):
                    yield schema


def make_type(text: str) -> TypeProto:
    """Return the type that the table writes so."""
    found = TypeProto()
    opening, _, inner = text.rstrip(")").partition("(")
    if not inner:
        name = _CODES.get(text, text.upper())
        found.tensor_type.elem_type = onnx.TensorProto.DataType.Value(name)
    elif opening == "seq":
        found.sequence_type.elem_type.CopyFrom(make_type(text[4:-1]))
    elif opening == "optional":
        found.optional_type.elem_type.CopyFrom(make_type(text[9:-1]))
    elif opening == "map":
        key, _, value = text[4:-1].partition(",")
        found.map_type.key_type = onnx.TensorProto.DataType.Value(key.upper())
        found.map_type.value_type.CopyFrom(make_type(value))
    else:
        found.sparse_tensor_type.elem_type = make_type(text[14:-1]).tensor_type.elem_type
    return found


def choose_types(parameters: tuple[Parameter, ...]) -> list[str]:
    """Return a type for each parameter that its operator takes."""
    chosen: dict[str, str] = {}
    types = []
    for place, each in enumerate(parameters):
        known = sorted(each.types, key=lambda text: ("(" in text, text))
        first = known[0] if known else "float32"
        types.append(chosen.setdefault(each.variable or f"#{place}", first))
    return types


class Builder:
    """Makes a model with nodes of one operator, each with operands of its own."""

    def __init__(self, schema: OperatorSchema) -> None:
        self.schema = schema
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []

    def add(self, name: str, types: list[str], **attributes: object) -> None:
        names = []
        for place, text in enumerate(types):
            names.append(f"{name}.{place}")
            self.inputs.append(helper.make_value_info(names[-1], make_type(text)))
        domain = self.schema.domain
        made = helper.make_node(
            self.schema.op_type, names, [f"{name}.y"], name, domain=domain, **attributes
        )
        self.nodes.append(made)

    def find(self, rule: str) -> dict[str, Finding]:
        """Return what a rule finds, by node."""
        outputs = [helper.make_tensor_value_info(n.output[0], 1, None) for n in self.nodes]
        graph = helper.make_graph(self.nodes, "g", self.inputs, outputs)
        opsets = [helper.make_opsetid(self.schema.domain, self.schema.since_version)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        found = check(load(model), select=[rule])
        return {path.removeprefix("main/"): each for each in found for path in each.paths}


def find_other_type(each: Parameter) -> str | None:
    """Return a type of a tensor that a parameter does not take."""
    others = ("string", "float8_e5m2", "bool", "complex64", "float32", "int64", "float16")
    return next((text for text in others if text not in each.types), None)


@pytest.mark.parametrize("domain", _DOMAINS)
def test_every_type_that_is_refused_is_found(domain: str) -> None:
    broken = 0
    for schema in list_schemas():
        if schema.domain != domain:
            continue
        builder, wanted = Builder(schema), set()
        types = choose_types(schema.inputs)
        builder.add("right", types)
        for place, each in enumerate(schema.inputs):
            other = find_other_type(each) if each.types else None
            if other is not None:
                builder.add(f"wrong{chr(97 + place)}", [*types[:place], other, *types[place + 1 :]])
                wanted.add(f"wrong{chr(97 + place)}")
        found = builder.find("NL-T01")
        assert set(found) == wanted, (schema.op_type, schema.since_version)
        for name, finding in found.items():
            place = ord(name.removeprefix("wrong")) - 97
            assert finding.severity == "error"
            formal = schema.input_name(place)
            assert formal is not None
            assert formal in finding.message
        broken += len(wanted)
    assert broken > 20


@pytest.mark.parametrize("domain", _DOMAINS)
def test_every_variable_stands_for_one_type(domain: str) -> None:
    broken = 0
    for schema in list_schemas():
        if schema.domain != domain or schema.op_type in ("If", "Loop", "Scan", "SequenceMap"):
            continue
        builder, wanted = Builder(schema), set()
        types = choose_types(schema.inputs)
        builder.add("right", types)
        firsts: dict[str, int] = {}
        for place, each in enumerate(schema.inputs):
            more = sorted(text for text in each.types if text != types[place])
            is_again = firsts.setdefault(each.variable, place) != place
            if more and each.variable and each.is_homogeneous and is_again:
                builder.add(
                    f"wrong{chr(97 + place)}", [*types[:place], more[0], *types[place + 1 :]]
                )
                wanted.add(f"wrong{chr(97 + place)}")
            if each.option == "variadic" and each.is_homogeneous and more and each.variable:
                builder.add("more", [*types[: place + 1], more[0]])
                wanted.add("more")
        assert set(builder.find("NL-T02")) == wanted, (schema.op_type, schema.since_version)
        broken += len(wanted)
    assert broken > (0 if domain == "ai.onnx.ml" else 50)


def test_operands_that_may_differ_in_type_do() -> None:
    text = "g (float[2] x, int64[2] n, bool c) => (float[2] y, int64[2] m) {{ y, m = {} }}"
    loop = """Loop <body = b (int64 i, bool k, float[2] p, int64[2] q)
        => (bool l, float[2] r, int64[2] s) {{ l = Identity (k) r = Relu (p) s = Identity (q) }}>
        ("", c, x, n)"""
    assert find(parse(text.format(loop.replace("{{", "{").replace("}}", "}"))), "NL-T") == []


def test_a_type_that_is_stated_otherwise_than_it_is_given() -> None:
    broken = 0
    for schema in list_schemas():
        given = schema.output(0)
        if given is None or schema.op_type in (
            "Cast",
            "CastLike",
            "If",
            "Loop",
            "Scan",
            "Constant",
        ):
            continue
        types = choose_types(schema.inputs)
        variables = {p.variable: t for p, t in zip(schema.inputs, types, strict=True)}
        right = next(iter(given.types)) if len(given.types) == 1 else variables.get(given.variable)
        if right is None or "(" in right or not given.is_homogeneous:
            continue
        graph_inputs = [helper.make_value_info(f"x{i}", make_type(t)) for i, t in enumerate(types)]
        node = helper.make_node(
            schema.op_type, [v.name for v in graph_inputs], ["y"], domain=schema.domain
        )
        for stated, is_wrong in ((right, False), ("string" if right != "string" else "int8", True)):
            graph = helper.make_graph(
                [node], "g", graph_inputs, [helper.make_value_info("y", make_type(stated))]
            )
            opsets = [helper.make_opsetid(schema.domain, schema.since_version)]
            model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
            found = check(load(model), select=["NL-T03"])
            assert [each.paths for each in found] == ([("main/%y",)] if is_wrong else []), (
                schema.op_type,
                schema.since_version,
                stated,
            )
        broken += 1
    assert broken > 500


def test_the_message_names_operands_and_types() -> None:
    (finding,) = find(
        parse("g (float16[2, 3] x, float[3] w) => (float16[2, 3] y) { y = Add(x, w) }"), "NL-T02"
    )
    assert re.search(r"A \(x\) is float16\[2, 3\] and B \(w\) is float32\[3\]", finding.message)
    assert "Cast" in finding.message
    assert finding.evidence["operands"] == ["x", "w"]


def test_what_cannot_be_judged_is_said() -> None:
    text = (
        '<ir_version: 10, opset_import: ["": 21, "strange": 1]>'
        "g (float[2] x) => (float y) { a = strange.Op(x) y = Relu(a) }"
    )
    found = check(read_made(parse(text)), select=["NL-T01"])
    assert [each.reason for each in found.skipped_rules] == [
        "types and shapes at 1 node: strange::Op is not known (main/#0:Op)",
        "types and shapes at 1 node: the type of an operand is not known (main/#1:Relu)",
    ]
    known = check(read_made(parse("g (float[N] x) => (float[N] y) { y = Relu(x) }")))
    assert known.skipped_rules == ()
