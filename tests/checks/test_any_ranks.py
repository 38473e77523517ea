"""Operands of any rank, or none: no rule fails of them, whichever operator takes them."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

from netloupe.explorer.checks import check
from netloupe.explorer.operators import find_schema
from netloupe.explorer.operators.schemas import _load_operators
from netloupe.explorer.readers.load import load

_OPERATORS = [
    (domain, op_type)
    for domain in ("", "com.microsoft", "ai.onnx.ml")
    for op_type in _load_operators()[domain]
]
_RANKS = range(5)
#: in turn, so that neighbours have others
_SIZES = ((1, 0), (4, 2))


@pytest.mark.parametrize(
    ("domain", "op_type"), _OPERATORS, ids=[f"{d or 'ai.onnx'}.{o}" for d, o in _OPERATORS]
)
def test_no_rule_fails_of_ranks(domain: str, op_type: str) -> None:
    schema = find_schema(domain, op_type, None)
    assert schema is not None
    inputs = [f"x{place}" for place, _ in enumerate(schema.inputs)]
    outputs = [f"y{place}" for place, _ in enumerate(schema.outputs)]
    node = helper.make_node(op_type, inputs, outputs, domain=domain)
    opsets = [helper.make_opsetid("", max(schema.since_version, 26) if not domain else 26)]
    if domain:
        opsets.append(helper.make_opsetid(domain, schema.since_version))
    for rank in _RANKS:
        for sizes in _SIZES:
            dims = [sizes[axis % 2] for axis in range(rank)]
            ends = [
                [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name in names]
                for names in (inputs, outputs)
            ]
            graph = helper.make_graph([node], "graph", *ends)
            model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
            list(check(load(model.SerializeToString())))


@pytest.mark.parametrize(
    ("domain", "op_type"), _OPERATORS, ids=[f"{d or 'ai.onnx'}.{o}" for d, o in _OPERATORS]
)
def test_no_rule_fails_of_what_a_node_lacks(domain: str, op_type: str) -> None:
    """A file may give a node fewer operands than its operator takes, and no result."""
    schema = find_schema(domain, op_type, None)
    assert schema is not None
    names = [f"x{place}" for place, _ in enumerate(schema.inputs)]
    results = [f"y{place}" for place, _ in enumerate(schema.outputs)]
    opsets = [helper.make_opsetid("", max(schema.since_version, 26) if not domain else 26)]
    if domain:
        opsets.append(helper.make_opsetid(domain, schema.since_version))
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4, 6])
        for name in (*names, *results)
    ]
    for inputs in ([], names[:1], ["", *names[1:]], names):
        for outputs in ([], ["", *results[1:]], results):
            node = helper.make_node(op_type, inputs, outputs, domain=domain)
            graph = helper.make_graph([node], "graph", values[: len(names)], values[len(names) :])
            model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
            found = load(model.SerializeToString())
            list(check(found))
            found.to_svg()
