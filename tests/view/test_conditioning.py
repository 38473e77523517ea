"""What steers many blocks is called after the step that it is computed of."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.model import Value
from netloupe.explorer.readers.load import load
from netloupe.explorer.view.conditioning import name_conditioning


def make_value(
    *, places: tuple[int, ...] = (1,), learned: bool = True, beside: str = "", waves: int = 1
) -> Value:
    """Return the result of an MLP of sines of a step, activated, and what stands beside it."""
    nodes, weights = [], []

    def add(kind: str, *inputs: str, **attributes: object) -> str:
        result = f"v{len(nodes)}"
        nodes.append(helper.make_node(kind, inputs, [result], **attributes))
        return result

    def weigh(*dims: int) -> str:
        weights.append(numpy_helper.from_array(np.ones(dims, np.float32), f"w{len(weights)}"))
        return weights[-1].name

    inputs = [helper.make_tensor_value_info("step", TensorProto.FLOAT, places)]
    inputs.append(helper.make_tensor_value_info("label", TensorProto.INT64, (1,)))
    inputs.append(helper.make_tensor_value_info("seen", TensorProto.FLOAT, (1, 6)))
    parts = []
    for number in range(waves):
        if number:
            inputs.append(helper.make_tensor_value_info(f"s{number}", TensorProto.FLOAT, (1,)))
        angles = add("Mul", f"s{number}" if number else "step", weigh(1, 4))
        parts.append(add("Concat", add("Sin", angles), add("Cos", angles), axis=-1))
    value = parts[0]
    for part in parts[1:]:
        value = add("Add", value, part)
    if learned:
        value = add("MatMul", value, weigh(8, 8))
        value = add("Add", value, weigh(8))
    if beside == "sum":
        value = add("Add", value, add("Gather", weigh(10, 8), "label"))
    if beside == "join":
        value = add("Concat", "seen", value, axis=-1)
    if beside == "odd":
        value = add("Add", value, add("CumSum", "seen", "label"))
    value = add("Mul", value, add("Sigmoid", value))
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    nodes.append(helper.make_node("Relu", [value], ["y"]))
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    model = load(helper.make_model(graph).SerializeToString())
    found = model.graph.nodes[-1].input(0)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("beside", "name"),
    [
        ("", "time embedding"),
        ("sum", "conditioning"),
        ("join", "seen, time embedding"),
        ("odd", ""),
    ],
)
def test_it_is_called_after_the_step_and_what_is_beside_it(beside: str, name: str) -> None:
    assert name_conditioning(make_value(beside=beside)) == name


def test_positions_of_many_places_are_no_step() -> None:
    assert name_conditioning(make_value(places=(1, 20, 1), beside="")) == ""
    assert name_conditioning(make_value(places=(1, 1))) == "time embedding"


def test_sines_alone_and_several_steps_have_no_such_name() -> None:
    assert name_conditioning(make_value(learned=False)) == ""
    assert name_conditioning(make_value(waves=2)) == ""
