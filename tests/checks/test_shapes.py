"""Shapes: each demand is broken once, and nearly broken once; both judges see what we see."""

from __future__ import annotations

import pytest
from onnx import AttributeProto, helper

from netloupe.explorer.checks import RULES, check
from netloupe.explorer.checks.rules import (
    arranged_shapes,
    axes,
    operand_ranks,
    operand_shapes,
    windows,
)
from netloupe.explorer.readers.load import load
from tests.checks.shape_cases import CASES, ShapeCase

_MODULES = (operand_shapes, windows, axes, arranged_shapes, operand_ranks)
_RULES = [rule.id for module in _MODULES for rule in module.RULES]

INTS = AttributeProto.INTS


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_breaks_a_demand_is_found(case: ShapeCase) -> None:
    found = check(load(case.make()), select=_RULES)
    assert {each.id for each in found} == {case.rule}, [str(each) for each in found]
    severity = next(rule.severity for rule in RULES if rule.id == case.rule)
    assert all(each.severity == severity and len(each.message) > 10 for each in found)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_nearly_breaks_a_demand_is_not(case: ShapeCase) -> None:
    found = check(load(case.make(is_right=True)), select=[*_RULES, "NL-T01", "NL-T02"])
    assert [str(each) for each in found] == []


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_not_known_breaks_nothing(case: ShapeCase) -> None:
    model = case.make()
    for value in model.graph.input:
        value.type.tensor_type.ClearField("shape")
    del model.graph.initializer[:]
    assert [
        str(each) for each in check(load(model), select=_RULES) if _needs_shapes(each.message)
    ] == []


def _needs_shapes(message: str) -> bool:
    return not any(word in message for word in _FROM_ATTRIBUTES)


#: what is wrong whatever the operands are
_FROM_ATTRIBUTES = (
    *("perm is", "terms", "batch_axis", "num_outputs", "has an axis twice"),
    *("entries must be at least", "smaller than the kernel", "spatial axes"),
    "value of ConstantOfShape",
)


@pytest.mark.parametrize("name", ["kernel_shape", "strides", "dilations", "pads"])
@pytest.mark.parametrize("op_type", ["Conv", "MaxPool"])
def test_lists_are_held_against_the_kernel_where_no_rank_is_known(name: str, op_type: str) -> None:
    def judge(count: int, least: int = 1) -> list[str]:
        numbers = [1] * (count - 1) + [least] if count else []
        lists = {"kernel_shape": [3, 3], "strides": [1, 1], name: numbers}
        operands = ["x"] if op_type == "MaxPool" else ["x", "w"]
        node = helper.make_node(op_type, operands, ["y"], "n")
        for each, entries in lists.items():
            node.attribute.append(helper.make_attribute(each, entries, attr_type=INTS))
        values = [helper.make_tensor_value_info(each, 1, None) for each in (*operands, "y")]
        graph = helper.make_graph([node], "g", values[:-1], values[-1:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
        return [each.message for each in check(load(model), select=["NL-T14"])]

    right = 4 if name == "pads" else 2
    assert judge(right) == []
    assert len(judge(right + 1)) == 1
    assert "entries must be at least" in judge(right, -1)[0]
    assert name == "kernel_shape" or judge(0) == []  # as good as left out


def test_every_operator_with_a_demand_has_a_case() -> None:
    demanding = {
        op_type
        for module in _MODULES
        for rule in module.RULES
        for demands in rule.find.keywords.values()  # type: ignore[attr-defined]
        for op_type in demands
    }
    assert demanding == {case.op_type for case in CASES}
