"""Numbers of attributes: each that has a limit, and each flag, on both sides of it."""

from __future__ import annotations

import math

import onnx
import pytest
from onnx import AttributeProto, helper

from netloupe.explorer.checks import Finding, check
from netloupe.explorer.checks.rules.attribute_limits import (
    FLAGS,
    LIMITS,
    REFUSED_FLAGS,
    find_limit,
)
from netloupe.explorer.checks.rules.attribute_values import ELEMENT_TYPES
from netloupe.explorer.operators import OperatorSchema, find_schema
from netloupe.explorer.operators.schemas import _load_operators
from netloupe.explorer.readers.load import load

_NUMBERS = ("int", "ints", "float", "floats")
_TRIED = (-100, -2, -1, 0, 1, 2, 3, 4, 5, 7, 8, 16, 17, 32, 48, 2**31 - 1, 2**40)
#: integers of ONNX that may be anything, or are held against operands by rules on shapes
FREE = {
    *("axis", "background_class", "batch_axis", "blocksize", "box_coding", "chunk_size"),
    *("default_int64", "drop_states", "end", "group", "ignore_index", "input_as_shape", "k"),
    *("left_window_size", "max_map", "max_output_boxes", "maxsplit", "multi_class", "n_supports"),
    *("num_groups", "num_outputs", "num_scan_inputs", "output_height", "output_width", "p"),
    *("pooled_size", "qk_matmul_output_mode", "replaced_value_int64", "right_window_size"),
    *("sample_size", "score_activation", "seed", "span", "start", "time_axis", "value_int"),
}


def _list_schemas(*domains: str) -> list[OperatorSchema]:
    """Return every version of every operator in the table."""
    found = []
    for domain in domains:
        for op_type, versions in _load_operators()[domain].items():
            for version in versions:
                schema = find_schema(domain, op_type, int(version))
                assert schema is not None
                found.append(schema)
    return found


_CASES = [
    (schema, name)
    for schema in _list_schemas("", "ai.onnx.ml", "ai.onnx.preview", "com.microsoft")
    for name, declared in schema.attributes.items()
    if find_limit(schema.domain, schema.op_type, name, declared.kind) is not None
    and not schema.deprecated
]
_IDS = [f"{s.domain or 'ai.onnx'}.{s.op_type}-{s.since_version}.{n}" for s, n in _CASES]


def judge(schema: OperatorSchema, name: str, *values: float) -> dict[float, Finding]:
    """Return what is found at a node for each of some values of an attribute."""
    nodes = []
    for number, value in enumerate(values):
        outputs = [f"y{number}"]
        node = helper.make_node(schema.op_type, ["x"], outputs, f"n{number}", domain=schema.domain)
        attribute = AttributeProto(name=name)
        kind = schema.attributes[name].kind
        attribute.type = AttributeProto.AttributeType.Value(kind.upper())
        if kind in ("int", "float"):
            setattr(attribute, kind[0], value)
        else:
            getattr(attribute, kind).append(value)
        node.attribute.append(attribute)
        nodes.append(node)
    inputs = [helper.make_tensor_value_info("x", 1, None)]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_empty_tensor_value_info("y0")])
    opsets = [helper.make_opsetid("", 21)] if schema.domain else []
    opsets.append(helper.make_opsetid(schema.domain, schema.since_version))
    proto = helper.make_model(graph, opset_imports=opsets)
    found = check(load(proto.SerializeToString()), select=["NL-L41"])
    told = f"{name} of {schema.op_type} "
    return {
        values[int(path.rpartition("n")[2])]: each
        for each in found
        if each.message.startswith(told) and "but must be" in each.message
        for path in each.paths
    }


def test_every_limit_is_one_of_an_attribute() -> None:
    known = {
        (schema.domain, f"{schema.op_type}.{name}")
        for schema, name in _CASES
        if schema.attributes[name].kind in _NUMBERS
    }
    assert {*LIMITS} <= known
    flags = {f"{schema.op_type}.{name}" for schema, name in _CASES if name in FLAGS}
    assert flags >= REFUSED_FLAGS
    assert {name.partition(".")[2] for name in flags} == FLAGS


def test_every_integer_of_onnx_is_limited_or_free() -> None:
    seen = {
        (schema.op_type, name)
        for schema in _list_schemas("", "ai.onnx.ml")
        for name, declared in schema.attributes.items()
        if declared.kind == "int" and not schema.op_type.endswith("_TRT")
    }
    limited = {(schema.op_type, name) for schema, name in _CASES}
    left = {name for op_type, name in seen - limited if name not in ELEMENT_TYPES}
    assert left <= FREE


@pytest.mark.parametrize(("schema", "name"), _CASES, ids=_IDS)
def test_numbers_outside_of_the_limit_are_found(schema: OperatorSchema, name: str) -> None:
    declared = schema.attributes[name]
    limit = find_limit(schema.domain, schema.op_type, name, declared.kind)
    assert limit is not None
    tried = [number for number in _TRIED if not declared.is_default(number)]
    right = [number for number in tried if limit.holds(number)]
    wrong = [number for number in tried if not limit.holds(number)]
    assert wrong
    is_flag = name in FLAGS and f"{schema.op_type}.{name}" not in REFUSED_FLAGS
    is_doubtful = is_flag and (schema.domain, f"{schema.op_type}.{name}") not in LIMITS
    found = judge(schema, name, *right, *wrong)
    assert {*found} == {*wrong}
    for each in found.values():
        assert each.severity == ("warning" if is_doubtful else "error")
        assert limit.says in each.message


def test_what_is_no_number_is_found() -> None:
    schema = find_schema("", "LRN", 13)
    assert schema is not None
    (found,) = judge(schema, "alpha", math.nan, 1.0).values()
    assert "is nan, but must be more than 0" in found.message
    attention = find_schema("", "Attention", 23)
    assert attention is not None
    assert judge(attention, "scale", math.nan) == {}  # ONNX Runtime takes it for none


@pytest.mark.parametrize(
    ("call", "outputs", "is_transposed"),
    [("transA = 0", "4, 5", False), ("transA = 1", "3, 5", True), ("transA = 7", "3, 5", True)],
)
def test_another_number_than_1_transposes_as_runtimes_have_it(
    call: str, outputs: str, is_transposed: bool
) -> None:
    first = "5, 3" if is_transposed else "4, 5"
    text = f"""<ir_version: 10, opset_import: ["": 21]>
    g (float[{first}] x, float[5, 5] w) => (float[{outputs}] y) {{ y = Gemm <{call}> (x, w) }}"""
    found = check(load(onnx.parser.parse_model(text).SerializeToString()), select=["NL-T"])
    assert [str(each) for each in found] == []


@pytest.mark.parametrize("op_type", ["ReduceMax", "ArgMax"])
@pytest.mark.parametrize(("keepdims", "shape"), [(0, "2"), (1, "2, 1"), (2, "2"), (-1, "2")])
def test_another_number_than_1_keeps_no_axis(op_type: str, keepdims: int, shape: str) -> None:
    kind, axes = ("int64", "axis = 1, ") if op_type == "ArgMax" else ("float", "axes = [1], ")
    text = f"""<ir_version: 8, opset_import: ["": 13]>
    g (float[2, 3] x) => ({kind}[{shape}] y)
    {{ y = {op_type} <{axes}keepdims = {keepdims}> (x) }}"""
    model = onnx.parser.parse_model(text)
    found = check(load(model.SerializeToString()), select=["NL-T"])
    assert [str(each) for each in found] == []
    onnx.checker.check_model(model, full_check=True)
