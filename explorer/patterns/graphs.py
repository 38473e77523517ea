"""Layers over graphs that are given as a square of numbers, or found by which points are near."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import TensorType, Value

from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations

_MOST_STEPS = 6
#: what an adjacency may go through before it is used: loops of a node to itself, shares of each
_PREPARING = ("adds", "casts", "divides", "multiplies_elements", "reshapes", "compares", "copies")
#: what scores go through before they are shares
_BEFORE_SHARES = ("Add", "LeakyRelu", "Mul", "Div", "Where")


def find_graph_convolutions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find A·(x·W) or (A·x)·W, where A is a square that is fed: who is joined to whom.

    T. Kipf and M. Welling, Semi-Supervised Classification with Graph Convolutional Networks, 2017,
    equation 2.
    """
    operations = blocks.operations
    for product, kind in enumerate(operations.kinds):
        taken = operations.operands[product]
        if kind != "MatMul" or len(taken) != 2 or blocks.owner[product] is not None:
            continue
        adjacency, features = taken
        if not _is_adjacency(operations, adjacency) or _is_adjacency(operations, features):
            continue
        layer = blocks.ending(operations.giver(features), "linear")
        end = product
        if layer is None or operations.only_user(layer.end) != product:
            user = operations.only_user(product)
            layer = blocks.holding(user, "linear")
            if layer is None or user != min(layer.numbers):
                continue
            end = layer.end
        numbers = {product, *layer.numbers}
        user = operations.only_user(end)
        is_bias = (
            user is not None
            and operations.kinds[user] == "Add"
            and len(operations.operands[user]) == 1
            and blocks.owner[user] is None
        )
        if is_bias and user is not None:
            numbers.add(user)
            end = user
        facts, details = layer.facts, layer.details
        yield FoundBlock(
            "graph convolution", "Graph convolution", frozenset(numbers), end, facts, details
        )


def _is_adjacency(operations: Operations, value: Value) -> bool:
    """Return whether a value is an input of the model whose last two axes are of one length."""
    for _ in range(_MOST_STEPS):
        if operations.giver(value) is None and value.producer is None:
            break
        node = value.producer
        if node is None or not node.operator.has(*_PREPARING):
            return False
        data = [v for v in node.inputs if v is not None and not operations.is_fixed(v)]
        if len(data) != 1:
            return False
        value = data[0]
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    if not value.is_input or shape is None or len(shape) < 2:
        return False
    rows, columns = shape[-2:]
    return rows.value == columns.value and rows.value not in (None, 1)


def find_graph_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find softmax(LeakyReLU(a·Wh + b·Wh) where the graph has an edge) · Wh.

    P. Veličković and others, Graph Attention Networks, 2018, equations 3 and 4.
    """
    operations = blocks.operations
    for softmax, kind in enumerate(operations.kinds):
        product = operations.only_user(softmax) if kind == "Softmax" else None
        if product is None or operations.kinds[product] != "MatMul":
            continue
        if blocks.owner[product] is not None:
            continue
        others = [v for v in operations.operands[product] if operations.giver(v) != softmax]
        features = operations.giver(others[0]) if len(others) == 1 else None
        layer = blocks.ending(features, "linear")
        scored = _read_scores(blocks, softmax, others[0]) if layer is not None else None
        if scored is None or layer is None:
            continue
        numbers = {softmax, product, *scored, *layer.numbers}
        if any(
            user not in numbers and user != product
            for number in numbers - {product}
            for user in operations.users[number]
        ):
            continue
        facts, details = layer.facts, layer.details.read_as(FeatureDetails)
        yield FoundBlock(
            "attention", "Graph attention", frozenset(numbers), product, facts, details
        )


def _read_scores(blocks: FoundBlocks, softmax: int, features: Value) -> set[int] | None:
    """Return the operations of scores that two projections of features add up to, by a graph."""
    operations = blocks.operations
    numbers: set[int] = set()
    number = operations.giver(operations.operands[softmax][0])
    is_masked = False
    for _ in range(_MOST_STEPS):
        if number is None or operations.kinds[number] not in _BEFORE_SHARES:
            return None
        owner = blocks.owner[number]
        if owner is not None and (owner.kind != "activation" or len(owner.numbers) > 1):
            return None
        numbers.add(number)
        taken = operations.operands[number]
        graphs = [v for v in taken if _is_adjacency(operations, v)]
        is_masked = is_masked or bool(graphs)
        for value in graphs:
            giver = operations.giver(value)
            if giver is not None and operations.only_user(giver) == number:
                numbers.add(giver)
        rest = [v for v in taken if v not in graphs]
        if len(rest) == 2:
            layers = [blocks.ending(operations.giver(v), "linear") for v in rest]
            if not is_masked or operations.kinds[number] != "Add":
                return None
            for layer in layers:
                if layer is None or operations.operands[min(layer.numbers)] != [features]:
                    return None
                numbers |= layer.numbers
            return numbers
        number = operations.giver(rest[0]) if len(rest) == 1 else None
    return None


def find_edge_features(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find what the nearest neighbours of each point differ by from it, beside the point itself.

    Y. Wang and others, Dynamic Graph CNN for Learning on Point Clouds, 2019, equations 7 and 8.
    """
    operations = blocks.operations
    for near in [found for found in blocks.list_outermost() if isinstance(found, FoundBlock)]:
        if near.kind != "neighbours":
            continue
        numbers = {*near.numbers}
        end, looked = near.end, -1
        for _ in range(_MOST_STEPS):
            user = operations.only_user(end)
            if user is None or blocks.owner[user] is not None:
                break
            operator = operations.nodes[user].operator
            if operator.has("gathers", "looks_up") and looked < 0:
                looked = user
            elif not (operator.has("adds", "multiplies_elements") and looked < 0):
                break
            numbers.add(user)
            end = user
        difference = (
            next((u for u in operations.users[looked] if u >= 0), None) if looked >= 0 else None
        )
        if difference is None or operations.kinds[difference] != "Sub":
            continue
        points = operations.operands[looked][0]
        if points not in operations.operands[difference] or blocks.owner[difference] is not None:
            continue
        numbers.add(difference)
        end = difference
        join = operations.only_user(difference)
        if (
            join is not None
            and operations.nodes[join].operator.has("joins")
            and blocks.owner[join] is None
        ):
            numbers.add(join)
            end = join
        yield FoundBlock("edges", "Edge features", frozenset(numbers), end, near.facts)
