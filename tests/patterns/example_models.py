"""The examples of patterns as models, and what differs from them in one place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import onnx
import onnx.numpy_helper
import onnx.parser

from netloupe.explorer.model import Graph, Node
from netloupe.explorer.readers.load import load

#: operators with two operands that count alike; any other node is replaced by one of one operand
_OF_TWO = frozenset({"Add", "Concat", "Div", "MatMul", "Mul", "Sub"})


@dataclass(frozen=True)
class Mutant:
    """A model in which one thing differs from an example.

    Parameters
    ----------
    graph
        Its graph.
    change
        What was changed: ``replaced``, ``swapped``, ``dropped``, ``attribute``, ``number``.
    place
        Where: the first result of the node, or the name of the initializer.
    """

    graph: Graph
    change: str
    place: str


def read_example(text: str) -> Graph:
    """Return the graph of an example."""
    return load(onnx.parser.parse_model(text)).graph


def list_block(graph: Graph) -> list[Node]:
    """Return the nodes of an example's block: those with names, or all where none has one."""
    return [node for node in graph.nodes if node.name] or [*graph.nodes]


def list_mutants(text: str) -> Iterator[Mutant]:
    """Yield models that differ from an example in one place each.

    For each node of the block but those that only fill weights: an operator that no pattern has,
    Ceil or Mod, in its place; the first two operands the other way around; one operand less; one
    attribute less. For each initializer: other numbers, or other sizes.
    """
    model = onnx.parser.parse_model(text)
    nodes = [node for node in model.graph.node if node.name] or [*model.graph.node]
    for node in nodes:
        if node.op_type == "ConstantOfShape":
            continue
        before = onnx.NodeProto()
        before.CopyFrom(node)
        for change in _change(node):
            yield Mutant(load(model.SerializeToString()).graph, change, before.output[0])
            node.CopyFrom(before)
    for tensor in model.graph.initializer:
        stored = onnx.TensorProto()
        stored.CopyFrom(tensor)
        numbers = onnx.numpy_helper.to_array(tensor)
        other = numbers + 1 if numbers.dtype.kind == "i" else numbers * numbers.dtype.type(0.7)
        tensor.CopyFrom(onnx.numpy_helper.from_array(other, stored.name))
        yield Mutant(load(model.SerializeToString()).graph, "number", stored.name)
        tensor.CopyFrom(stored)


def _change(node: onnx.NodeProto) -> Iterator[str]:
    """Change a node; it is as it was before whenever this goes on."""
    operands = [*node.input]
    is_of_two = node.op_type in _OF_TWO
    names = [attribute.name for attribute in node.attribute]
    node.op_type, node.domain = "Mod" if is_of_two else "Ceil", ""
    node.ClearField("attribute")
    del node.input[2 if is_of_two else 1 :]
    yield "replaced"
    if len(operands) > 1:
        node.input[:2] = operands[1::-1]
        yield "swapped"
        for place in range(len(operands)):
            node.input[place] = ""
            yield "dropped"
    for place in range(len(names)):
        del node.attribute[place]
        yield "attribute"
