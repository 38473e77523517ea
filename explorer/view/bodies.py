"""How a node's operands and results correspond to the inputs and outputs of its body.

What corresponds to what the catalogue of operators says, or else the dialect; of ONNX the rules are
those of the operator specifications (If, Loop, Scan, SequenceMap) and of the IR specification for
model-local functions.
"""

from __future__ import annotations

from netloupe.explorer.model import Graph, Node, Value

from .item import Instance


def bind_body(instance: Instance, node: Node) -> None:
    """Fill an instance's bindings and results for the body of a node.

    A function's inputs and outputs are the node's, one by one; a subgraph's are as the
    operator says (:class:`~netloupe.explorer.model.dialect.BodyBinding`).
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
    binding = graph.dialect.body_binding(node.operator)
    if binding.by_name:
        return [], [
            (inner, outer)
            for outer in outputs
            for inner in graph.outputs
            if outer is not None and inner.name == outer.name
        ]
    formals, given = graph.inputs[binding.first_operand :], inputs[binding.first_operand :]
    results = graph.outputs[binding.first_output :]
    takes_operands = binding.takes_operands
    if binding.needs_equal_numbers:
        takes_operands = takes_operands and len(formals) == len(given)
        results = results if len(results) == len(outputs) else []
    pairs = list(zip(formals, given, strict=False)) if takes_operands else []
    return pairs, _pairs(results, outputs)


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
