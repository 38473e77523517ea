"""Layers over graphs that are given as a square of numbers, or found by which points are near."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from netloupe.explorer.model import Value

from .adjacencies import is_fed_adjacency
from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .leading import find_arranged_root
from .operations import Operations
from .picked_parts import read_parts

_MOST_STEPS = 6
#: what scores go through before they are shares
_BEFORE_SHARES = ("Add", "LeakyRelu", "Mul", "Div", "Where")


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
        graphs = [v for v in taken if is_fed_adjacency(operations, v)]
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
    yield from list_neighbour_edges(
        blocks, [found for found in blocks.list_outermost() if isinstance(found, FoundBlock)]
    )


def list_neighbour_edges(blocks: FoundBlocks, found: Iterable[FoundBlock]) -> Iterator[FoundBlock]:
    """Yield the edges to neighbours that some blocks find."""
    operations = blocks.operations
    for near in found:
        if near.kind != "neighbours":
            continue
        numbers, facts = {*near.numbers}, near.facts
        end, looked = near.end, -1
        for _ in range(_MOST_STEPS):
            user = operations.only_user(end)
            if user is None or blocks.owner[user] is not None:
                break
            operator = operations.nodes[user].operator
            if operator.has("gathers", "looks_up") and looked < 0:
                looked = user
            elif operator.has("slices") and looked < 0:  # every second of more
                facts = _tell_kept(operations, user, facts)
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
        compared = {find_arranged_root(value) for value in operations.operands[difference]}
        if find_arranged_root(points) not in compared or blocks.owner[difference] is not None:
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
        yield FoundBlock("edges", "Edge features", frozenset(numbers), end, facts, parts=(near,))


def _tell_kept(operations: Operations, number: int, facts: tuple[str, ...]) -> tuple[str, ...]:
    """Return how many neighbours are left of those found, where every n-th is taken.

    G. Li and others, DeepGCNs, 2019, section 3.3: dilated neighbourhoods.
    """
    parts = [part for part in read_parts(operations.nodes[number]) if part.step != 1]
    count = facts[0].partition(" ")[0] if facts else ""
    if len(parts) != 1 or not count.isdigit() or not parts[0].is_to_end:
        return ()
    start, step = parts[0].start, parts[0].step
    if start != 0 or not isinstance(step, int) or step < 1:
        return ()
    return f"{-(-int(count) // step)} of each", f"of the {count} nearest"
