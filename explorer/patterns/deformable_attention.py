"""Attention that looks features up at places which a layer of the query chooses."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Sequence

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import find_giver
from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import ARRANGING, PARTING, Operations
from .transformer_details import AttentionDetails

DEFORMABLE = "Deformable self-attention"
_CROSS = "Cross-attention"
#: what makes places of queries, samples features there and sums them up
_SAMPLING = (
    *("adds", "chooses", "divides", "joins", "distributes", "multiplies_elements"),
    *("reduces", "samples", "subtracts", *PARTING),
)
_MOST_SAMPLING = 80
#: so many operations stand between what is looked up, the layer before it and the one behind it
_MOST_BETWEEN = 8
#: of queries, one layer gives places and one weights
_OF_QUERIES = 2
#: of maps, and of places by query and point
_AXES = 4


def find_deformable_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find attention that samples maps of features at a few places, and weighs what it finds there.

    Both the places and the softmaxed weights are linear in the query, and what is sampled is a
    projection of another value, or of the queries without their positions (X. Zhu and others,
    Deformable DETR, 2021, equations 2 and 3 and section 4.1). Of each head it is told how many maps
    are sampled, and at how many places.
    """
    operations = blocks.operations
    done: set[int] = set()
    for number, node in enumerate(operations.nodes):
        if not node.operator.has("samples") or number in done:
            continue
        last = _find_end(blocks, number)
        if last is None:
            continue
        numbers, layers = _walk_back(blocks, last)
        samplers = sorted(n for n in numbers if operations.nodes[n].operator.has("samples"))
        done.update(samplers)
        sampled = {id(one): one for n in samplers if (one := _find_sampled(blocks, n)) is not None}
        asking = [one for one in layers if id(one) not in sampled]
        shares = [n for n in numbers if operations.kinds[n] == "Softmax"]
        if len(sampled) != 1:
            continue
        (content,) = sampled.values()
        name = _name(operations, content, asking, shares, numbers)
        if not name:
            continue
        heads, width = _count_heads(operations, samplers[0], content)
        details = AttentionDetails(
            attention=name, deformable=True, heads=heads or None, head_width=width or None
        )
        facts = [] if name == DEFORMABLE else ["deformable"]
        facts += [f"{heads} heads × {width}" if heads > 1 else f"1 head × {width}"] if heads else []
        facts += _tell_places(operations, samplers)
        parts = (content, *asking, last)
        yield FoundBlock(
            "attention", name, frozenset(numbers), last.end, tuple(facts), details, parts
        )


def _name(
    operations: Operations,
    content: FoundBlock,
    asking: Sequence[FoundBlock],
    shares: Sequence[int],
    numbers: Iterable[int],
) -> str:
    """Return what attention is called by what queries and values are of; "" for what is none.

    The queries of a first layer may be stored, and all that follows from them with them.
    """
    if not any(_weighs_by_shares(operations, number) for number in numbers):
        return ""
    if not asking and not shares:
        return _CROSS
    memory = _find_taken(operations, content)
    queries = {_find_taken(operations, one) for one in asking}
    query = queries.pop() if len(queries) == 1 else None
    if len(asking) != _OF_QUERIES or len(shares) != 1 or query is None or query is memory:
        return ""
    return DEFORMABLE if memory is not None and _is_of(operations, query, memory) else _CROSS


def _weighs_by_shares(operations: Operations, number: int) -> bool:
    """Return whether an operation multiplies by shares that a softmax gives."""
    node = operations.nodes[number]
    return node.operator.has("multiplies_elements") and any(
        find_giver(value, "distributes", through=ARRANGING, most=_MOST_BETWEEN) is not None
        for value in node.inputs
        if value is not None
    )


def _find_end(blocks: FoundBlocks, sampler: int) -> FoundBlock | None:
    """Return the linear layer that takes the sum of what is sampled."""
    current: int | None = sampler
    for _ in range(_MOST_BETWEEN):
        current = blocks.operations.only_user(current) if current is not None else None
        layer = blocks.holding(current, "linear")
        if current is None or layer is not None:
            return layer
        if not blocks.operations.nodes[current].operator.has(*_SAMPLING):
            return None
    return None


def _walk_back(blocks: FoundBlocks, last: FoundBlock) -> tuple[set[int], list[FoundBlock]]:
    """Return what gives to nothing but a layer, as far as to other layers, and these."""
    operations = blocks.operations
    inside = {*last.numbers}
    layers: list[FoundBlock] = []
    pending = [-giver for n in last.numbers for giver in operations.givers(n)]
    heapq.heapify(pending)
    seen = {*pending} | {-n for n in inside}
    while pending and len(inside) < _MOST_SAMPLING:
        number = -heapq.heappop(pending)
        if number in inside or not inside.issuperset(operations.users[number]):
            continue
        layer = blocks.ending(number, "linear")
        if layer is not None:
            inside |= layer.numbers
            layers.append(layer)
            continue
        is_activation = blocks.holding(number, "activation") is not None
        if not is_activation and not operations.nodes[number].operator.has(*_SAMPLING):
            continue
        if blocks.owner[number] is not None and not is_activation:
            continue
        inside.add(number)
        for giver in operations.givers(number):
            if -giver not in seen:
                seen.add(-giver)
                heapq.heappush(pending, -giver)
    return inside, layers


def _find_sampled(blocks: FoundBlocks, sampler: int) -> FoundBlock | None:
    """Return the layer that gives what is sampled; what is padded may be set to 0 between."""
    operations = blocks.operations
    value = operations.nodes[sampler].input(0)
    for _ in range(_MOST_BETWEEN):
        giver = operations.giver(operations.source(value)) if value is not None else None
        layer = blocks.ending(giver, "linear")
        if giver is None or layer is not None:
            return layer
        node = operations.nodes[giver]
        if node.operator.has("chooses"):
            layers = [
                operand
                for operand in operations.operands[giver]
                if blocks.ending(operations.giver(operand), "linear") is not None
            ]
            value = layers[0] if len(layers) == 1 else None
        elif node.operator.has("multiplies_elements", *PARTING):
            value = node.input(0)
        else:
            return None
    return None


def _find_taken(operations: Operations, layer: FoundBlock) -> Value | None:
    taken = operations.operands[min(layer.numbers)]
    return operations.source(taken[0]) if taken else None


def _is_of(operations: Operations, query: Value, memory: Value) -> bool:
    """Return whether queries are what is sampled, and positions added to it."""
    node = query.producer
    taken = node.inputs if node is not None and node.operator.has("adds") else ()
    return any(one is not None and operations.source(one) is memory for one in taken)


def _count_heads(operations: Operations, sampler: int, content: FoundBlock) -> tuple[int, int]:
    """Return how many heads of which width sample; 0 where that is not known.

    The maps of all heads stand behind one another along the first axis.
    """
    node = operations.nodes[sampler]
    facts = find_value_facts(operations.context.graph.model)
    dims = facts.find_dims(node.input(0)) or ()
    given = facts.find_dims(operations.nodes[content.end].output(0)) or ()
    width, features = (dims[1] if len(dims) == _AXES else None), (given[-1] if given else None)
    if not isinstance(width, int) or not isinstance(features, int) or width < 1:
        return 0, 0
    return (features // width, width) if features % width == 0 else (0, 0)


def _tell_places(operations: Operations, samplers: Collection[int]) -> list[str]:
    """Return at how many places of how many maps each head samples: ``4 levels × 4 points``."""
    facts = find_value_facts(operations.context.graph.model)
    found = set[object]()
    for number in samplers:
        dims = facts.find_dims(operations.nodes[number].input(1)) or ()
        found.add(dims[2] if len(dims) == _AXES else None)
    points = found.pop()
    if found or not isinstance(points, int):
        return []
    told = f"{points} point{'' if points == 1 else 's'}"
    return [f"{len(samplers)} levels × {told}" if len(samplers) > 1 else told]
