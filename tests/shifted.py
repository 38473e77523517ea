"""Models whose nodes are moved into bodies, with other nodes before what these bodies take.

Twins differ in nothing but the count of unrelated nodes that stand before all others, in the graph
around a body or in the body itself: the indices of the nodes behind them are shifted, and what is
said of the other graph has to stay the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import onnx
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

Holder = Literal["If", "Loop", "Scan", "function"]
#: nodes are put into the graph around a body, or into the body
Place = Literal["around", "inside"]

#: the name of the node that holds the body
HOLDER = "holder"


@dataclass(frozen=True, slots=True)
class Shape:
    """How a flat model is cut in two: what stays around, and the body of a node that holds a graph.

    Parameters
    ----------
    model
        A model without subgraphs.
    cut
        So many nodes stay in the graph around.
    holder
        What runs the others.
    with_weights
        Whether the body has the weights, that it alone takes, itself.
    """

    model: ModelProto
    cut: int
    holder: Holder
    with_weights: bool = False


def make_twin(shape: Shape, count: int, place: Place = "around") -> ModelProto:
    """Return a model that is cut in two, with so many unrelated nodes before one of its parts."""
    made = ModelProto()
    made.CopyFrom(shape.model)
    graph = made.graph
    nodes = [*graph.node]
    for number, node in enumerate(nodes):
        node.name = node.name or f"n{number}"
    outer, inner = nodes[: shape.cut], nodes[shape.cut :]
    given = {name for node in inner for name in node.output}
    outputs = [value for value in graph.output if value.name in given]
    kept = [value for value in graph.output if value.name not in given]
    infos = {value.name: value for value in graph.value_info}
    own = [infos[name] for name in given if name in infos]
    tensors = _take_own(graph, outer, inner) if shape.with_weights else []
    padding = [*_make_padding(count, "rows" if place == "around" else "")]
    body = [*(padding if place == "inside" else ()), *inner]
    holder, ends = _hold(shape.holder, body, outputs, own, tensors)
    around = [*(padding if place == "around" else ()), *outer, holder]
    del graph.node[:], graph.output[:]
    graph.node.extend(around)
    graph.output.extend([*kept, *ends])
    graph.input.append(helper.make_tensor_value_info("condition", TensorProto.BOOL, []))
    graph.input.append(helper.make_tensor_value_info("trips", TensorProto.INT64, []))
    graph.input.append(helper.make_tensor_value_info("rows", TensorProto.FLOAT, [3, 2]))
    if shape.holder == "function":
        _call(made)
    return made


def _make_padding(count: int, taken: str) -> Iterator[NodeProto]:
    """Yield nodes that nothing else takes from, of kinds that are of other roles than most.

    They take a value, or a constant of their own where none is named.
    """
    op_types = ("Relu", "Shape", "MatMul", "Constant", "Softmax")
    for number in range(count):
        op_type = op_types[number % len(op_types)] if taken else "Constant"
        given = f"unrelated.{number}"
        taken = taken or given
        operands = {"Constant": [], "MatMul": [taken, taken]}.get(op_type, [taken])
        known = {"value_floats": [1.5, 2.0]} if op_type == "Constant" else {}
        yield helper.make_node(op_type, operands, [given], name=given, **known)


def _take_own(
    graph: onnx.GraphProto, outer: Iterable[NodeProto], inner: Iterable[NodeProto]
) -> list[TensorProto]:
    """Take the weights out of a graph that nodes of the body alone need."""
    around, inside = ({name for node in nodes for name in node.input} for nodes in (outer, inner))
    inputs = {value.name for value in graph.input}
    tensors = [*graph.initializer]
    own = [t for t in tensors if t.name in inside - around - inputs]
    names = {tensor.name for tensor in own}
    del graph.initializer[:]
    graph.initializer.extend(tensor for tensor in tensors if tensor.name not in names)
    return own


def _hold(
    holder: Holder,
    nodes: Sequence[NodeProto],
    outputs: Sequence[ValueInfoProto],
    infos: Sequence[ValueInfoProto],
    tensors: Sequence[TensorProto],
) -> tuple[NodeProto, list[ValueInfoProto]]:
    """Return a node that runs nodes, and what it gives."""
    ends = []
    for value in outputs:
        end = ValueInfoProto()
        end.CopyFrom(value)
        end.name = f"{value.name}.held"
        if holder in ("Loop", "Scan"):  # what it gives has an axis more
            end.ClearField("type")
            end.type.tensor_type.elem_type = value.type.tensor_type.elem_type
        ends.append(end)
    names = [end.name for end in ends]
    if holder == "Loop":
        going = helper.make_node("Identity", ["is_going"], ["goes_on"], name="goes_on")
        taken = [
            helper.make_tensor_value_info("turn", TensorProto.INT64, []),
            helper.make_tensor_value_info("is_going", TensorProto.BOOL, []),
        ]
        goes_on = helper.make_tensor_value_info("goes_on", TensorProto.BOOL, [])
        body = helper.make_graph([*nodes, going], "body", taken, [goes_on, *outputs], tensors)
        body.value_info.extend(infos)
        return helper.make_node("Loop", ["trips", "condition"], names, HOLDER, body=body), ends
    if holder == "Scan":
        taken = [helper.make_tensor_value_info("row", TensorProto.FLOAT, [2])]
        body = helper.make_graph(nodes, "body", taken, outputs, tensors)
        body.value_info.extend(infos)
        held = helper.make_node("Scan", ["rows"], names, HOLDER, body=body, num_scan_inputs=1)
        return held, ends
    then = helper.make_graph(nodes, "then", [], outputs, tensors)
    then.value_info.extend(infos)
    others = [
        helper.make_node(
            "Cast", ["condition"], [f"{v.name}.other"], to=v.type.tensor_type.elem_type
        )
        for v in outputs
    ]
    given = [helper.make_value_info(f"{value.name}.other", value.type) for value in outputs]
    other = helper.make_graph(others, "otherwise", [], given)
    branches = {"then_branch": then, "else_branch": other}
    return helper.make_node("If", ["condition"], names, HOLDER, **branches), ends


def _call(model: ModelProto) -> None:
    """Put all nodes of a model into a function that it calls, and its weights into Constants."""
    graph = model.graph
    weights = [
        helper.make_node("Constant", [], [t.name], name=f"{t.name}.constant", value=t)
        for t in graph.initializer
    ]
    held = {tensor.name for tensor in graph.initializer}
    inputs = [value.name for value in graph.input if value.name not in held]
    outputs = [value.name for value in graph.output]
    # behind the others, these would be too late; before them, the others are shifted alike
    nodes = [*graph.node]
    function = helper.make_function(
        "local", "Part", inputs, outputs, [*weights, *nodes], model.opset_import
    )
    function.value_info.extend(graph.value_info)
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("local", 1))
    del graph.node[:], graph.initializer[:], graph.value_info[:]
    graph.node.append(helper.make_node("Part", inputs, outputs, name="call", domain="local"))
