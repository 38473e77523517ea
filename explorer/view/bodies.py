"""How a node's operands and results correspond to the inputs and outputs of its body.

The rules are those of the ONNX operator specifications (If, Loop, Scan, SequenceMap) and of
the IR specification for model-local functions.
"""

from __future__ import annotations

from netloupe.explorer.model import Graph, Node, Value

from .item import Instance


def bind_body(instance: Instance, node: Node) -> None:
    """Fill an instance's bindings and results for the body of a node.

    * A function's inputs and outputs are the node's, one by one.
    * Loop: body inputs (iteration number, condition, carried values) stand for the operands
      (trip count, condition, initial values); the body's outputs after the condition are the
      results.
    * Scan and SequenceMap: inputs and outputs correspond one by one.
    * If: the branches have no inputs; their outputs are the results.

    * Nets within operators of Caffe2: a blob is a result where the operator gives a blob of the
      same name; only a Do has other names outside, one by one.

    Subgraphs of operators that netloupe does not know are bound one by one where the numbers
    agree, and not at all otherwise.
    """
    graph = instance.graph
    operands, results = _formal_pairs(graph, node)
    for formal, operand in operands:
        instance.bindings.setdefault(formal, operand)
    for inner, outer in results:
        if outer is not None:
            instance.results[inner] = (*instance.results.get(inner, ()), outer)


def _formal_pairs(
    graph: Graph, node: Node
) -> tuple[list[tuple[Value, Value | None]], list[tuple[Value, Value | None]]]:
    inputs, outputs = list(node.inputs), list(node.outputs)
    if graph.kind == "function":
        padded = inputs + [None] * (len(graph.inputs) - len(inputs))
        return list(zip(graph.inputs, padded, strict=False)), _pairs(graph.outputs, outputs)
    if node.graph.model.format == "Caffe2" and node.op_type != "Do":
        # nets see the blobs around by name: they have no formal inputs
        return [], [
            (inner, outer)
            for outer in outputs
            for inner in graph.outputs
            if outer is not None and inner.name == outer.name
        ]
    if node.op_type == "Loop":
        # the iteration number is counted from 0 to the trip count: it stands for no operand
        carried = list(zip(graph.inputs[1:], inputs[1:], strict=False))
        return carried, _pairs(graph.outputs[1:], outputs)
    if node.op_type in ("If", "Scan", "SequenceMap"):
        return list(zip(graph.inputs, inputs, strict=False)), _pairs(graph.outputs, outputs)
    is_bound = len(graph.inputs) == len(inputs) and node.graph.model.format != "Caffe2"
    return (
        list(zip(graph.inputs, inputs, strict=False)) if is_bound else [],
        _pairs(graph.outputs, outputs) if len(graph.outputs) == len(outputs) else [],
    )


def _pairs(inner: list[Value], outer: list[Value | None]) -> list[tuple[Value, Value | None]]:
    return list(zip(inner, outer, strict=False))


def resolve_operand(body: Instance, value: Value) -> tuple[Value, Instance]:
    """Follow a formal input of a function to the operand of the outermost call that gives it.

    Inputs of subgraphs are not followed: a Loop or Scan gives them another value in each turn.

    Returns
    -------
    tuple
        The value that is found in the end, and the occurrence whose graph it belongs to.
    """
    instance = body.occurrence
    while instance.caller is not None:
        while value.graph is not instance.graph and instance.caller is not None:
            # a captured value belongs to a graph around
            instance = instance.caller.instance.occurrence
        operand = instance.bindings.get(value)
        if operand is None or instance.caller is None or instance.graph.kind != "function":
            break
        value = operand
        instance = instance.caller.instance.occurrence
    return value, instance
