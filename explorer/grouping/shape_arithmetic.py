"""Shape arithmetic: nodes that only compute the shapes, ranges and indices others work with.

Exporters write ``x.view(batch, -1)`` as a chain from Shape through Gather, Unsqueeze and Concat
to Reshape. Such integers mean nothing of their own, so that they are shown as text on the nodes
that use them. A node belongs to them if

- it is Shape or Size, or one of a few operators over constants and other such nodes, and
- all its results go to such nodes, or to operands that only tell a shape (`SHAPE_OPERANDS`).

Two passes over the nodes in file order, one forward and one backward: linear time.
"""

from __future__ import annotations

from netloupe.explorer.model import Graph, Node, Value, find_operators, is_constant_node

_ONNX = ("", "ai.onnx")
_SOURCES = frozenset({"Shape", "Size"})
#: operators that shape arithmetic is made of
_ARITHMETIC = frozenset(
    {
        "Add",
        "And",
        "Abs",
        "Cast",
        "Ceil",
        "Concat",
        "ConcatFromSequence",
        "ConstantOfShape",
        "Div",
        "Equal",
        "Expand",
        "Flatten",
        "Floor",
        "Gather",
        "Greater",
        "GreaterOrEqual",
        "Identity",
        "Less",
        "LessOrEqual",
        "Max",
        "Min",
        "Mod",
        "Mul",
        "Neg",
        "Not",
        "Or",
        "Range",
        "ReduceMax",
        "ReduceMin",
        "ReduceProd",
        "ReduceSum",
        "Reshape",
        "ScatterElements",
        "ScatterND",
        "SequenceAt",
        "SequenceConstruct",
        "Slice",
        "Split",
        "SplitToSequence",
        "Sqrt",
        "Squeeze",
        "Sub",
        "Sum",
        "Transpose",
        "Unsqueeze",
        "Where",
    }
)
#: operands that tell sizes, places or axes, by operator; everything else is data
SHAPE_OPERANDS: dict[str, frozenset[int]] = {
    "AffineGrid": frozenset({1}),
    "BlackmanWindow": frozenset({0}),
    "CenterCropPad": frozenset({1}),
    "Col2Im": frozenset({1, 2}),
    "ConstantOfShape": frozenset({0}),
    "CumSum": frozenset({1}),
    "DFT": frozenset({1, 2}),
    "Expand": frozenset({1}),
    "HammingWindow": frozenset({0}),
    "HannWindow": frozenset({0}),
    "If": frozenset({0}),
    "Loop": frozenset({0, 1}),
    "MaxUnpool": frozenset({2}),
    "OneHot": frozenset({1}),
    "Pad": frozenset({1, 3}),
    "Range": frozenset({0, 1, 2}),
    "ReduceL1": frozenset({1}),
    "ReduceL2": frozenset({1}),
    "ReduceLogSum": frozenset({1}),
    "ReduceLogSumExp": frozenset({1}),
    "ReduceMax": frozenset({1}),
    "ReduceMean": frozenset({1}),
    "ReduceMin": frozenset({1}),
    "ReduceProd": frozenset({1}),
    "ReduceSum": frozenset({1}),
    "ReduceSumSquare": frozenset({1}),
    "Reshape": frozenset({1}),
    "Resize": frozenset({1, 2, 3}),
    "STFT": frozenset({1, 3}),
    "SequenceAt": frozenset({1}),
    "Slice": frozenset({1, 2, 3, 4}),
    "Split": frozenset({1}),
    "SplitToSequence": frozenset({1}),
    "Squeeze": frozenset({1}),
    "Tile": frozenset({1, 2}),
    "TopK": frozenset({1}),
    "Trilu": frozenset({1}),
    "Unsqueeze": frozenset({1}),
    "Upsample": frozenset({1}),
}


def find_shape_nodes(graph: Graph) -> set[int]:
    """Return the indexes of the nodes of a graph that only do arithmetic on shapes."""
    nodes = graph.nodes
    sources = find_operators(graph, _SOURCES).tolist()
    if not any(nodes[index].domain in _ONNX for index in sources):
        return set()
    derived = bytearray(len(nodes))
    for node in nodes:
        if node.op_type in _SOURCES:
            derived[node.index] = node.domain in _ONNX
        elif node.op_type in _ARITHMETIC and node.domain in _ONNX and not node.subgraphs:
            derived[node.index] = all(
                value is None or _is_known(value, graph, derived) for value in node.inputs
            )
    accepted: set[int] = set()
    for node in reversed(nodes):
        if derived[node.index] and not is_constant_node(node) and _only_tells(node, accepted):
            accepted.add(node.index)
    return _reach_from_shapes(graph, accepted)


def _is_known(value: Value, graph: Graph, derived: bytearray) -> bool:
    """Return whether a value is a constant or comes from shape arithmetic before."""
    if value.initializer is not None:
        return True
    producer = value.producer
    return (
        producer is not None
        and producer.graph is graph
        and (bool(derived[producer.index]) or is_constant_node(producer))
    )


def _only_tells(node: Node, accepted: set[int]) -> bool:
    """Return whether all results of a node are used, and only to tell shapes."""
    used = False
    for value in node.outputs:
        if value is None:
            continue
        if value.is_output:
            return False
        for consumer, index in value.consumers:
            used = True
            if consumer.graph is node.graph and consumer.index in accepted:
                continue
            operands = SHAPE_OPERANDS.get(consumer.op_type)
            if operands is None or index not in operands or consumer.domain not in _ONNX:
                return False
    return used


def _reach_from_shapes(graph: Graph, accepted: set[int]) -> set[int]:
    """Return those that hang together with a Shape or Size.

    Arithmetic on nothing but constants is left alone.
    """
    neighbours: dict[int, list[int]] = {index: [] for index in accepted}
    for index in accepted:
        for value in graph.nodes[index].inputs:
            producer = value.producer if value is not None else None
            if producer is not None and producer.graph is graph and producer.index in accepted:
                neighbours[index].append(producer.index)
                neighbours[producer.index].append(index)
    pending = [index for index in accepted if graph.nodes[index].op_type in _SOURCES]
    reached = set(pending)
    # what takes from an ordinary node's integers by way of one that is not accepted counts too
    pending += [
        index
        for index in accepted
        if index not in reached and _takes_computed(graph.nodes[index], accepted)
    ]
    reached.update(pending)
    while pending:
        for other in neighbours[pending.pop()]:
            if other not in reached:
                reached.add(other)
                pending.append(other)
    return reached


def _takes_computed(node: Node, accepted: set[int]) -> bool:
    return any(
        value is not None
        and value.producer is not None
        and value.producer.index not in accepted
        and not is_constant_node(value.producer)
        for value in node.inputs
    )
