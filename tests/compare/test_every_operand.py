"""Two operands of any known operator that change places are told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from onnx import helper, numpy_helper

from netloupe.commands.diff import read_fail_on
from netloupe.explorer.compare import diff
from netloupe.explorer.compare.difference import Diff
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.proto import caffe2_pb2, onnx_pb2
from tests.fuzzing.operator_models import list_operators

#: of these the order of all operands makes no difference, by their specifications
_ANY_ORDER = frozenset(
    {
        *("Add", "Mul", "Max", "Min", "Sum", "Mean", "And", "Or", "Xor", "Equal"),
        *("BitwiseAnd", "BitwiseOr", "BitwiseXor", "ComplexMul", "EQ", "NE"),
        *("Int8Add", "Int8AddRelu", "Int8Sum", "Int8SumRelu"),
    }
)
#: operands of one that takes any number of them
_VARIADIC = 3


class Operator(NamedTuple):
    """The newest version of an operator, and how many operands and results it may have."""

    domain: str
    op_type: str
    version: int
    operands: int
    results: int

    @property
    def name(self) -> str:
        """Its name, with the domain."""
        return f"{self.domain}::{self.op_type}"


def count_declared(declared: list[Any]) -> int:
    """Return how many operands or results a schema declares, a variadic one three times."""
    texts = [each if isinstance(each, str) else each[0] for each in declared]
    return len(texts) + sum(_VARIADIC - 1 for text in texts if "*" in text or "..." in text)


def list_newest(*, is_caffe2: bool) -> list[Operator]:
    """Return the newest version of each operator that can have two operands."""
    newest: dict[tuple[str, str], tuple[int, dict[str, Any]]] = {}
    for domain, op_type, version, schema in list_operators(is_caffe2):
        if version >= newest.get((domain, op_type), (0, {}))[0]:
            newest[domain, op_type] = version, schema
    found = [
        Operator(
            domain,
            op_type,
            version,
            count_declared(schema.get("inputs", [])),
            max(count_declared(schema.get("outputs", [])), 1),
        )
        for (domain, op_type), (version, schema) in newest.items()
    ]
    return [one for one in found if one.operands > 1]


def make_onnx(operator: Operator, kinds: str, order: list[int]) -> onnx_pb2.ModelProto:
    """Return a model with one node of an operator.

    Parameters
    ----------
    operator
        Of the node.
    kinds
        A letter for each operand: ``v`` computed, ``c`` constant.
    order
        Which operand stands at each place.
    """
    nodes, tensors, inputs = [], [], []
    for number, kind in enumerate(kinds):
        if kind == "c":
            values = np.arange(4, dtype=np.float32).reshape(2, 2) + 10 * number
            tensors.append(numpy_helper.from_array(values, f"x{number}"))
        else:
            inputs.append(helper.make_tensor_value_info(f"i{number}", 1, [2, 2]))
            nodes.append(helper.make_node("Relu", [f"i{number}"], [f"x{number}"]))
    results = [f"y{number}" for number in range(operator.results)]
    nodes.append(
        helper.make_node(
            operator.op_type,
            [f"x{number}" for number in order],
            results,
            "target",
            domain=operator.domain,
        )
    )
    outputs = [helper.make_tensor_value_info(name, 1, None) for name in results]
    graph = helper.make_graph(nodes, "g", inputs, outputs, tensors)
    versions = {"": 21, operator.domain: operator.version}
    made = helper.make_model(
        graph, opset_imports=[helper.make_opsetid(*pair) for pair in versions.items()]
    )
    return onnx_pb2.ModelProto.FromString(made.SerializeToString())


def make_caffe2(operator: Operator, kinds: str, order: list[int]) -> tuple[bytes, ...]:
    """Return a net with one operator and the net that fills its constants, where it has any."""
    net, init = caffe2_pb2.NetDef(name="n"), caffe2_pb2.NetDef(name="i")
    for number, kind in enumerate(kinds):
        if kind == "c":
            fill = init.op.add(type="GivenTensorFill", output=[f"x{number}"])
            fill.arg.add(name="shape", ints=[2])
            fill.arg.add(name="values", floats=[1.0 + number, 2.0])
        else:
            net.external_input.append(f"i{number}")
            net.op.add(type="Relu", input=[f"i{number}"], output=[f"x{number}"])
    net.external_input.extend(output for fill in init.op for output in fill.output)
    results = [f"y{number}" for number in range(operator.results)]
    net.op.add(type=operator.op_type, input=[f"x{number}" for number in order], output=results)
    net.external_output.extend(results)
    return tuple(each.SerializeToString() for each in (net, init) if each.op)


def judge(operator: Operator, found: Diff) -> str:
    """Return what is wrong with what is said of operands that have changed places."""
    if operator.op_type in _ANY_ORDER:
        return "identical" if found.verdict == "identical" else ""
    if found.verdict != "structure" or not read_fail_on("structure")[0].applies(found):
        return found.verdict
    return ""


def find_untold(
    operators: list[Operator], open_one: Callable[[Operator, str, list[int]], Model]
) -> Iterator[tuple[str, str, int, str]]:
    """Yield where an operand changes places with the next one and something wrong is said.

    All are computed, or every second one is constant.
    """
    for operator in operators:
        count = operator.operands
        for kinds in ("v" * count, ("vc" * count)[:count]):
            order = [*range(count)]
            left = open_one(operator, kinds, order)
            for place in range(count - 1):
                turned = order.copy()
                turned[place : place + 2] = order[place + 1], order[place]
                said = judge(operator, diff(left, open_one(operator, kinds, turned)))
                if said:
                    yield operator.name, kinds, place, said


ONNX, CAFFE2 = list_newest(is_caffe2=False), list_newest(is_caffe2=True)


def test_all_operators_with_two_operands_are_there() -> None:
    by_domain: dict[str, list[Operator]] = defaultdict(list)
    for operator in [*ONNX, *CAFFE2]:
        by_domain[operator.domain].append(operator)
    assert {"", "ai.onnx.ml", "com.microsoft", "caffe2"} <= {*by_domain}
    known = {one.name: one.operands for one in [*ONNX, *CAFFE2]}
    assert known["::Where"] == 3
    assert known["::Concat"] == _VARIADIC
    assert known["::QLinearConv"] == 9
    assert known["caffe2::Sub"] == 2


@pytest.mark.parametrize("part", range(8))
def test_operands_of_onnx_that_change_places_are_told(part: int) -> None:
    def open_one(operator: Operator, kinds: str, order: list[int]) -> Model:
        return load(make_onnx(operator, kinds, order))

    assert [*find_untold(ONNX[part::8], open_one)] == []


@pytest.mark.parametrize("part", range(4))
def test_operands_of_caffe2_that_change_places_are_told(part: int) -> None:
    def open_one(operator: Operator, kinds: str, order: list[int]) -> Model:
        return load(*make_caffe2(operator, kinds, order))

    assert [*find_untold(CAFFE2[part::4], open_one)] == []
