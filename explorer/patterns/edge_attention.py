"""Attention and moves along the edges of a graph whose ends are given."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_str
from .walks import keep_own

_MOST_STEPS = 6
_LIMITING = ("Add", "Clip", "Max")


def find_edge_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find exponentials divided by their sums where edges end: shares of the edges of each node.

    Where what is sent along the edges is multiplied by these shares and added up, it is graph
    attention (P. Velickovic and others, Graph Attention Networks, 2018, equations 3 and 4).
    """
    operations = blocks.operations
    for division, kind in enumerate(operations.kinds):
        taken = operations.operands[division]
        if kind != "Div" or len(taken) != 2 or blocks.owner[division] is not None:
            continue
        exponential = operations.given_by(taken[0], "Exp")
        numbers = _read_sums(operations, taken[1], taken[0])
        if exponential is None or numbers is None:
            continue
        numbers |= {division, exponential}
        numbers |= _read_largest(operations, exponential)
        if any(blocks.owner[number] is not None for number in numbers):
            continue
        end = division
        product = operations.only_user(division)
        if product is not None and operations.kinds[product] == "Mul":
            total = operations.only_user(product)
            if total is not None and _adds_up(operations, total):
                both = {product, total}
                if all(blocks.owner[number] is None for number in both):
                    numbers |= both
                    end = total
        if end == division:
            yield FoundBlock("edge softmax", "Edge softmax", frozenset(numbers), end)
        else:
            facts = ("over edges",)
            yield FoundBlock("attention", "Graph attention", frozenset(numbers), end, facts)


def _adds_up(operations: Operations, number: int) -> bool:
    node = operations.nodes[number]
    return node.operator.has("scatters") and read_str(node, "reduction") == "add"


def _read_sums(operations: Operations, value: Value, summed: Value) -> set[int] | None:
    """Return what adds a value up where edges end, and hands the sums back to the edges."""
    numbers: set[int] = set()
    is_handed = False
    for _ in range(_MOST_STEPS):
        giver = operations.giver(value)
        if giver is None:
            return None
        node, taken = operations.nodes[giver], operations.operands[giver]
        numbers.add(giver)
        if is_handed and _adds_up(operations, giver):
            return numbers if summed in taken else None
        is_limit = operations.kinds[giver] in _LIMITING and len(taken) == 1
        if node.operator.has("looks_up") and not is_handed:
            is_handed = True
        elif not is_limit:
            return None
        value = taken[0]
    return None


def _read_largest(operations: Operations, exponential: int) -> set[int]:
    """Return what takes off the largest of all scores, or of those of a node, before."""
    difference = operations.given_by(operations.operands[exponential][0], "Sub")
    taken = operations.operands[difference] if difference is not None else []
    if difference is None or len(taken) != 2 or operations.only_user(difference) != exponential:
        return set()
    numbers = {difference}
    value = taken[1]
    for _ in range(_MOST_STEPS):
        giver = operations.giver(value)
        if giver is None or not numbers.issuperset(operations.users[giver]):
            return {difference}
        numbers.add(giver)
        node = operations.nodes[giver]
        if taken[0] in operations.operands[giver]:
            is_largest = node.operator.form == "ReduceMax" or read_str(node, "reduction") == "max"
            return numbers | _list_bases(operations, giver) if is_largest else {difference}
        if not node.operator.has("looks_up"):
            return {difference}
        value = operations.operands[giver][0]
    return {difference}


def _list_bases(operations: Operations, number: int) -> set[int]:
    """Return what gives something a scatter of the largest begins with, where nothing else does.

    Exporters that leave out what was there before put the least number there first.
    """
    return {
        giver
        for giver in operations.givers(number)
        if operations.nodes[giver].operator.has("scatters")
        and operations.only_user(giver) == number
    }


def find_coordinate_updates(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find places that move along the differences to their neighbours, each times one number.

    So what is turned is turned as well behind it (V. Satorras and others, E(n) Equivariant Graph
    Neural Networks, 2021, equation 4).
    """
    operations = blocks.operations
    for total in range(len(operations)):
        if not _adds_up(operations, total) or blocks.owner[total] is not None:
            continue
        products = [operations.given_by(v, "Mul") for v in operations.operands[total]]
        product = next((one for one in products if one is not None), None)
        averaged = _walk_average(blocks, total)
        end = operations.only_user(max(averaged, key=lambda n: (n > total, n)))
        if product is None or end is None or operations.kinds[end] != "Add":
            continue
        places = [v for v in operations.operands[end] if operations.giver(v) not in averaged]
        factors = operations.operands[product]
        if len(places) != 1 or len(factors) != 2 or blocks.owner[end] is not None:
            continue
        for difference, factor in (factors, factors[::-1]):
            apart = _read_difference(operations, difference, places[0])
            if not apart or not _is_one_number(factor):
                continue
            numbers = keep_own(operations, {*averaged, product, *apart}, end)
            if all(blocks.owner[number] is None for number in numbers):
                name = "Equivariant coordinate update"
                yield FoundBlock("coordinates", name, frozenset(numbers), end)
            break


def _walk_average(blocks: FoundBlocks, total: int) -> set[int]:
    """Return a sum where edges end, and what divides it by how many there are."""
    operations = blocks.operations
    division = operations.only_user(total)
    if division is None or operations.kinds[division] != "Div" or blocks.owner[division]:
        return {total}
    numbers = {total, division}
    for value in operations.operands[division]:
        for _ in range(_MOST_STEPS):
            giver = operations.giver(value)
            if giver is None or not numbers.issuperset(operations.users[giver]):
                break
            numbers.add(giver)
            if operations.nodes[giver].operator.has("scatters"):
                break
            value = operations.operands[giver][0]
    return numbers


def _is_one_number(value: Value) -> bool:
    dims = find_value_facts(value.graph.model).find_dims(value)
    return dims is not None and len(dims) > 1 and dims[-1] == 1


def _read_difference(operations: Operations, value: Value, places: Value) -> set[int]:
    """Return what gives how two ends of edges differ, perhaps divided by a length; else nothing."""
    giver = operations.given_by(value, "Div", "Sub")
    numbers = set() if giver is None else {giver}
    if giver is not None and operations.kinds[giver] == "Div":
        giver = operations.given_by(operations.operands[giver][0], "Sub")
        numbers |= set() if giver is None else {giver}
    taken = operations.operands[giver] if giver is not None else []
    ends = [operations.giver(one) for one in taken]
    are_ends = len(ends) == 2 and all(
        end is not None
        and operations.nodes[end].operator.has("looks_up")
        and operations.operands[end][0] is places
        for end in ends
    )
    return numbers.union(end for end in ends if end is not None) if are_ends else set()
