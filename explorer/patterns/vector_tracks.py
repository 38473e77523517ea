"""Vectors of atoms beside their features: how both are sent along edges, and how they mix."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .walks import find_whole

_BOTH = 2
VECTOR_MESSAGES = "Equivariant message passing"
_FACT = "scalars and vectors"
_MOST_FACTORS = 8
_MOST_OF_LENGTH = 5
_PARTING = ("slices", "splits")
_LENGTHS = ("Mul", "Pow", "ReduceSum", "Add", "Sqrt", "Clip", "Max", "ReduceL2", "ReduceSumSquare")


def find_vector_messages(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find parts of one product that are sent to atoms: features, and what scales two vectors.

    One vector is that of the atom at the other end, and the other one is the direction of the edge
    (K. Schütt and others, Equivariant Message Passing for the Prediction of Tensorial Properties
    and Molecular Spectra, 2021, equations 7 and 8).
    """
    operations = blocks.operations
    sums: dict[Value, list[int]] = {}
    for number in range(len(operations)):
        part = find_whole(operations, _read_updates(operations, number))
        if part is not None:
            sums.setdefault(part[0], []).append(number)
    for end in range(len(operations)):
        updates = _read_updates(operations, end)
        total = operations.given_by(updates, "Add") if updates is not None else None
        if updates is None or total is None or len(operations.operands[total]) != _BOTH:
            continue
        products = [operations.given_by(v, "Mul") for v in operations.operands[total]]
        if None in products:
            continue
        numbers = {end, total}
        wholes: set[Value] = set()
        lookups = shares = 0
        for product in products:
            if product is None:
                continue
            numbers.add(product)
            for value in operations.operands[product]:
                part = find_whole(operations, value)
                giver = operations.giver(value)
                if part is not None:
                    shares += 1
                    wholes.add(part[0])
                    numbers.add(part[1])
                elif giver is not None and _looks_up(operations, giver):
                    lookups += 1
                    numbers.add(giver)
        scalars = sums.get(next(iter(wholes)), []) if len(wholes) == 1 else []
        if lookups != 1 or shares != _BOTH or len(scalars) != 1:
            continue
        whole = wholes.pop()
        numbers |= {scalars[0], *_list_parts(operations, whole)}
        _add_factors(blocks, whole, numbers)
        yield FoundBlock("graph network", VECTOR_MESSAGES, frozenset(numbers), end, (_FACT,))


def _read_updates(operations: Operations, number: int) -> Value | None:
    """Return what is added up where edges end."""
    node = operations.nodes[number]
    place = node.operator.operands.find("updates") if node.operator.has("scatters") else None
    value = node.input(place) if place is not None else None
    return operations.source(value) if value is not None else None


def _list_parts(operations: Operations, whole: Value) -> list[int]:
    giver = operations.giver(whole)
    users = operations.users[giver] if giver is not None else []
    return [u for u in users if u >= 0 and operations.nodes[u].operator.has(*_PARTING)]


def _looks_up(operations: Operations, number: int) -> bool:
    """Return whether rows are looked up by places that are computed or given."""
    node = operations.nodes[number]
    is_lookup = node.operator.has("looks_up", "gathers")
    return is_lookup and not operations.is_fixed(node.input(1))


def _add_factors(blocks: FoundBlocks, whole: Value, numbers: set[int]) -> None:
    """Add the products and lookups that a value is made of, and the layers of a filter."""
    operations = blocks.operations
    pending = [operations.giver(whole)]
    for _ in range(_MOST_FACTORS):
        number = pending.pop() if pending else None
        if number is None or not numbers.issuperset(operations.users[number]):
            continue
        linear = blocks.ending(number, "linear")
        if linear is not None:
            numbers |= linear.numbers
        elif operations.kinds[number] == "Mul" and blocks.owner[number] is None:
            numbers.add(number)
            pending += [operations.giver(value) for value in operations.operands[number]]
        elif _looks_up(operations, number):
            numbers.add(number)


def find_vector_updates(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find two projections of vectors whose products and lengths meet features in an MLP.

    Parts of what it gives scale one projection, and the products of both (K. Schütt and others,
    2021, equation 9).
    """
    operations = blocks.operations
    for product, kind in enumerate(operations.kinds):
        taken = operations.operands[product]
        layers = [blocks.ending(operations.giver(value), "linear") for value in taken]
        total = operations.only_user(product) if kind == "Mul" and len(taken) == _BOTH else None
        known = [layer for layer in layers if layer is not None]
        if total is None or operations.kinds[total] != "ReduceSum" or len(known) != _BOTH:
            continue
        of = {value for layer in known for value in operations.operands[min(layer.numbers)]}
        if len(of) != 1 or known[0] is known[1]:
            continue
        for value, other in (taken, taken[::-1]):
            found = _follow_length(blocks, value)
            if found is None:
                continue
            numbers, made = found
            scaled = _find_scaled(operations, made, other, total)
            if scaled is None:
                continue
            every = {product, total, *numbers, *scaled}.union(*(one.numbers for one in known))
            yield FoundBlock("unit", "Equivariant update", frozenset(every), max(scaled), (_FACT,))
            break


def _follow_length(blocks: FoundBlocks, value: Value) -> tuple[set[int], Value] | None:
    """Return what makes lengths of vectors, joins them to features, and the MLP behind."""
    operations = blocks.operations
    start = operations.giver(value)
    for first in operations.users[start] if start is not None else []:
        numbers: set[int] = set()
        number: int | None = first
        for _ in range(_MOST_OF_LENGTH):
            if number is None or number < 0 or operations.kinds[number] not in _LENGTHS:
                break
            numbers.add(number)
            number = operations.only_user(number)
        kinds = {operations.kinds[one] for one in numbers}
        is_length = "ReduceL2" in kinds or {"ReduceSum", "Sqrt"} <= kinds
        if number is None or number < 0 or not is_length:
            continue
        behind = blocks.holding(operations.only_user(number), "mlp")
        if operations.nodes[number].operator.has("joins") and behind is not None:
            result = operations.nodes[behind.end].output(0)
            if result is not None:
                return {*numbers, number, *behind.numbers}, result
    return None


def _find_scaled(
    operations: Operations, made: Value, vectors: Value, total: int
) -> set[int] | None:
    """Return the parts of a value, and what they multiply: vectors, and products of them."""
    parts = _list_parts(operations, made)
    numbers = {*parts}
    scales_products = False
    for part in parts:
        for user in operations.users[part]:
            if user < 0 or operations.kinds[user] != "Mul":
                continue
            taken = operations.operands[user]
            is_of_products = any(operations.giver(value) == total for value in taken)
            scales_products |= is_of_products
            if is_of_products or vectors in taken:  # vectors are left as they were in the end
                numbers.add(user)
    return numbers if scales_products else None
