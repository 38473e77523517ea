"""How alike two sets of vectors are, as models of two towers end."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Node, TensorType, Value
from netloupe.explorer.model.constant import constant_tensor

from .found_blocks import FoundBlock, FoundBlocks
from .graph_context import GraphContext
from .norms import find_norms
from .operations import Operations, list_data
from .readings import read_int, read_ints, read_numbers

#: what a division by a norm is written out with, the division last
_IN_NORMS = frozenset(
    {"Add", "Cast", "Clip", "Div", "Expand", "LpNormalization", "Max", "Mul", "Pow", "ReduceL2"}
    | {"ReduceSum", "ReduceSumSquare", "Sqrt"}
)
_MOST_OF_NORM = 8


def find_similarities(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the products of all pairs of normalized vectors, times a number: their cosines, scaled.

    A. Radford and others, Learning Transferable Visual Models from Natural Language Supervision,
    2021, figure 3.
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        taken = operations.operands[number]
        if kind != "MatMul" or len(taken) != 2 or taken[0] is taken[1]:
            continue
        given = list_data(operations.nodes[number])[:2]
        is_turned = [
            any(node.op_type == "Transpose" for node in operations.path(value)) for value in given
        ]
        if is_turned != [False, True] or operations.nodes[number].op_type != "MatMul":
            continue
        if not all(_is_normalized(value, operations.context) for value in taken):
            continue
        numbers, end = {number}, number
        facts: tuple[str, ...] = ()
        scaled = operations.only_user(number)
        if (
            scaled is not None
            and operations.kinds[scaled] == "Mul"
            and len(operations.operands[scaled]) == 1
        ):
            numbers.add(scaled)
            end, facts = scaled, ("scaled",)
        yield FoundBlock("similarity", "Cosine similarity", frozenset(numbers), end, facts)


def find_similarity(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find operations that all together are one such product."""
    for found in find_similarities(blocks):
        if len(found.numbers) == len(blocks.operations):
            yield found


def _is_normalized(value: Value, context: GraphContext) -> bool:
    """Return whether a value is what it was divided by its Euclidean norm, wherever that is."""
    end = value.producer
    if end is None or end.op_type not in ("Div", "LpNormalization"):
        return False
    nodes = [end]
    for node in nodes:  # grows
        for operand in node.inputs:
            giver = operand.producer if operand is not None else None
            if giver is None or giver.graph is not end.graph or giver in nodes:
                continue
            if giver.op_type in _IN_NORMS and len(nodes) < _MOST_OF_NORM:
                nodes.append(giver)
    operations = Operations(sorted(nodes, key=end.graph.index_of), context)
    return any(
        found.name == "L2 normalize"
        and operations.nodes[found.end] is end
        and all(_is_over_last(operations.nodes[number]) for number in found.numbers)
        for found in find_norms(FoundBlocks(operations))
    )


def _is_over_last(node: Node) -> bool:
    """Return whether a node, if it takes elements together, does so along the last axis."""
    if node.op_type == "LpNormalization":
        return read_int(node, "axis") in (None, -1)
    if not node.op_type.startswith("Reduce"):
        return True
    axes: tuple[float, ...] = read_ints(node, "axes")
    data, stored = node.input(0), node.input(1)
    if stored is not None:
        axes = read_numbers(constant_tensor(stored))
    stated = data.type if data is not None else None
    shape = stated.shape if isinstance(stated, TensorType) else None
    return axes == (-1,) or (shape is not None and axes == (len(shape) - 1,))
