"""How much of a model a page holds: of what multiplies without end only a part."""

from __future__ import annotations

import pytest

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.standalone.limits import (
    OF_WHAT_MULTIPLIES,
    USUAL,
    choose_limits,
    count_opened,
)
from netloupe.explorer.standalone.page import draw_page
from netloupe.proto import onnx_pb2
from tests import hostile_models

_OPERATORS = ("Relu", "Neg", "Exp", "Abs", "Tanh", "Sigmoid", "Ceil", "Floor")


def make_calls(depth: int, calls: int) -> Model:
    """Return functions that each call the one before several times, with other nodes between."""
    proto = onnx_pb2.ModelProto(ir_version=10)
    proto.opset_import.add(version=21)
    proto.opset_import.add(domain="local", version=1)
    for number in range(depth):
        function = proto.functions.add(name=f"f{number}", domain="local", input=["v0"])
        function.output.append(f"v{2 * calls}")
        function.opset_import.add(version=21)
        function.opset_import.add(domain="local", version=1)
        for place in range(calls):
            one, two, three = (f"v{2 * place + shift}" for shift in range(3))
            function.node.add(op_type=_OPERATORS[place], input=[one], output=[two])
            if number:
                function.node.add(
                    op_type=f"f{number - 1}", domain="local", input=[two], output=[three]
                )
            else:
                function.node.add(op_type="Sqrt", input=[two], output=[three])
    proto.graph.input.add(name="x").type.tensor_type.elem_type = 1
    proto.graph.node.add(op_type=f"f{depth - 1}", domain="local", input=["x"], output=["y"])
    proto.graph.output.add(name="y")
    return load(proto)


@pytest.mark.parametrize("calls", [1, 2, 8])
@pytest.mark.parametrize("depth", [1, 2, 9])
def test_every_call_is_counted_open(depth: int, calls: int) -> None:
    inside = 2 * calls
    for _ in range(depth - 1):
        inside = calls * (2 + inside)
    assert count_opened(make_calls(depth, calls)) == 1 + inside


def test_what_multiplies_is_told_in_part() -> None:
    assert choose_limits(make_calls(9, 8)) is OF_WHAT_MULTIPLIES
    assert choose_limits(make_calls(400, 2)) is OF_WHAT_MULTIPLIES
    assert choose_limits(make_calls(3, 4)) is USUAL


@pytest.mark.parametrize("depth", [14, 30])
def test_a_page_of_what_multiplies_is_small_however_deep_it_goes(depth: int) -> None:
    page = draw_page(load(hostile_models.laughs(depth)))
    assert len(page) < len(draw_page(load(hostile_models.laughs(2)))) + 200_000


def test_functions_that_call_themselves_are_opened_once() -> None:
    proto = onnx_pb2.ModelProto(ir_version=10)
    proto.opset_import.add(domain="local", version=1)
    for name, called in (("f", "g"), ("g", "f")):
        function = proto.functions.add(name=name, domain="local", input=["a"], output=["b"])
        function.opset_import.add(domain="local", version=1)
        for _ in range(2):
            function.node.add(op_type=called, domain="local", input=["a"], output=["b"])
    proto.graph.node.add(op_type="f", domain="local", input=["x"], output=["y"])
    assert 1 < count_opened(load(proto)) < 20
