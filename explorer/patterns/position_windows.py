"""Places of a sequence or memory that are read by windows which go along it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value
from netloupe.explorer.model.constant import constant_tensor

from .found_blocks import FoundBlock, FoundBlocks
from .leading import find_leading
from .operations import Operations
from .readings import read_axes, read_numbers, read_scalar

_BOTH = 2
_MOST_STEPS = 5
_MOST_PLACES = 4096
_MOST_OF_HEAD = 60
_SCALING = ("Div", "Mul", "Neg")
#: what becomes the power of weights: a number above 1
_MOST_BACK = 24


def find_position_windows(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find shares of places by how near each is to some centres that a network moves.

    Σ a · exp(-b · (k - u)²), u being the stored number of each place, and what is summed up by
    these (A. Graves, Generating Sequences with Recurrent Neural Networks, 2013, equations 46 and
    47).
    """
    operations = blocks.operations
    for near, kind in enumerate(operations.kinds):
        if kind != "Exp" or blocks.owner[near] is not None:
            continue
        inside = _read_distance(operations, near)
        product = operations.only_user(near)
        total = operations.only_user(product) if product is not None else None
        if not inside or product is None or total is None:
            continue
        if operations.kinds[product] != "Mul" or operations.kinds[total] != "ReduceSum":
            continue
        if len(operations.operands[product]) != _BOTH:
            continue
        numbers, end = {near, *inside, product, total}, total
        user = operations.only_user(total)
        if user is not None and operations.kinds[user] == "MatMul":
            numbers.add(user)
            end = user
        elif user is not None and operations.kinds[user] == "Mul":
            summed = operations.only_user(user)
            if summed is not None and operations.kinds[summed] == "ReduceSum":
                numbers |= {user, summed}
                end = summed
        if any(blocks.owner[number] is not None for number in numbers):
            continue
        facts = _count_windows(operations, product, total)
        name = "Gaussian window attention"
        yield FoundBlock("attention", name, frozenset(numbers), end, facts)


def _read_distance(operations: Operations, near: int) -> set[int]:
    """Return the operations of -b · (k - u)², b and k computed and u stored; else nothing."""
    numbers: set[int] = set()
    pending = [*operations.operands[near]]
    has_width = False
    for _ in range(_MOST_STEPS):
        squares = [n for v in pending if (n := operations.given_by(v, "Pow")) is not None]
        squares = [n for n in squares if operations.scalar(n) == float(_BOTH)]
        if squares and has_width:
            apart = operations.given_by(operations.operands[squares[0]][0], "Sub")
            stored = operations.fixed(apart) if apart is not None else []
            if apart is None or len(stored) != 1 or not _holds_places(stored[0]):
                return set()
            turning = {n for v in pending if (n := operations.given_by(v, "Neg")) is not None}
            turning = {n for n in turning if operations.only_user(n) in numbers}
            return {*numbers, *turning, squares[0], apart}
        scaling = [n for v in pending if (n := operations.given_by(v, *_SCALING)) is not None]
        if not scaling:
            return set()
        numbers.update(scaling)
        has_width |= any(len(operations.operands[n]) == _BOTH for n in scaling)
        pending = [v for n in scaling for v in operations.operands[n]]
    return set()


def _holds_places(value: Value) -> bool:
    """Return whether stored numbers are those of places, one after another."""
    numbers = read_numbers(constant_tensor(value), _MOST_PLACES)
    return len(numbers) > _BOTH and all(two - one == 1 for one, two in pairwise(numbers))


def _count_windows(operations: Operations, product: int, total: int) -> tuple[str, ...]:
    node = operations.nodes[product]
    dims = find_value_facts(node.graph.model).find_dims(node.output(0))
    axes = read_axes(operations.nodes[total])
    if dims is None or axes is None or len(axes) != 1 or not -len(dims) <= axes[0] < len(dims):
        return ()
    count = dims[axes[0]]
    return (f"{count} windows",) if isinstance(count, int) and count > 1 else ()


def find_addressings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find w^γ / Σ w^γ, w being a share by likeness and the weights before, moved by a kernel.

    A. Graves and others, Neural Turing Machines, 2014, equations 5 to 9. The layers that give the
    key, the gate and the other numbers are a part of it.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Div" or len(taken) != _BOTH or blocks.owner[end] is not None:
            continue
        power = operations.given_by(taken[0], "Pow")
        numbers = {end}
        total = operations.giver(taken[1])
        if total is not None and operations.kinds[total] in ("Add", "Clip"):
            if len(operations.operands[total]) != 1:
                continue
            numbers.add(total)
            total = operations.giver(operations.operands[total][0])
        if power is None or total is None or operations.kinds[total] != "ReduceSum":
            continue
        if operations.operands[total] != [taken[0]] or len(operations.operands[power]) != _BOTH:
            continue
        mix = _find_interpolation(operations, operations.operands[power][0])
        if mix is None:
            continue
        numbers |= {power, total}
        stops = [
            operations.operands[min(owner.numbers)][0]
            for owner in {id(o): o for o in blocks.owner if o is not None}.values()
            if owner.kind == "linear"
        ]
        leading = find_leading(
            operations, numbers, operations.operands[power], stops, _MOST_OF_HEAD
        )
        if leading is not None and mix in leading.numbers:
            name = "NTM addressing"
            yield FoundBlock("unit", name, frozenset(numbers | leading.numbers), end)


def _find_interpolation(operations: Operations, value: Value) -> int | None:
    """Return the sum g · content + (1 - g) · before that weights are made of."""
    met, pending = {value}, [value]
    while pending and len(met) < _MOST_BACK:
        number = operations.giver(pending.pop())
        if number is None:
            continue
        taken = operations.operands[number]
        if operations.kinds[number] == "Add" and len(taken) == _BOTH:
            one, other = (operations.given_by(each, "Mul") for each in taken)
            if one is not None and other is not None and _is_mix(operations, one, other):
                return number
        pending += [each for each in taken if each not in met]
        met.update(taken)
    return None


def _is_mix(operations: Operations, one: int, other: int) -> bool:
    """Return whether two products have a gate and one less that gate, and one is of a softmax."""
    for first, second in ((one, other), (other, one)):
        for value in operations.operands[second]:
            less = operations.given_by(value, "Sub")
            if less is None or len(operations.operands[less]) != 1:
                continue
            fixed = operations.fixed(less)
            is_one = len(fixed) == 1 and operations.nodes[less].input(0) is fixed[0]
            is_one = is_one and read_scalar(fixed[0]) == 1.0
            gate = operations.operands[less][0]
            kinds = {operations.given_by(v, "Softmax") for v in operations.operands[first]}
            is_gate = operations.given_by(gate, "Sigmoid") is not None
            if is_one and is_gate and gate in operations.operands[first] and kinds != {None}:
                return True
    return False
