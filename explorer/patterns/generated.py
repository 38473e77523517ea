"""Weights that a network gives, actions that are drawn, and steps of a differential equation."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value
from netloupe.explorer.operators import LAYOUT_TRAITS

from .found_blocks import FoundBlock, FoundBlocks
from .operations import PICKING, Operations
from .walks import keep_own

_MOST_STEPS = 6
_MATRIX, _OF_SAMPLES = 2, 3
_ORDER = 4
#: what keeps a deviation positive, and within limits
_DEVIATING = ("Exp", "Softplus")
_LIMITING = ("Add", "Clip", "Max", "Min", "Mul")


def find_generated_weights(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find products with matrices that a layer gives for each sample, as one row of numbers.

    D. Ha and others, HyperNetworks, 2017, section 3; T. Rashid and others, QMIX, 2018, figure 2.
    """
    operations = blocks.operations
    for product, kind in enumerate(operations.kinds):
        if kind != "MatMul" or blocks.owner[product] is not None:
            continue
        node = operations.nodes[product]
        for place in (1, 0):
            matrix, other = node.input(place), node.input(1 - place)
            if matrix is None or other is None or operations.is_fixed(other):
                continue
            found = _read_generated(blocks, matrix)
            if found is None:
                continue
            numbers, widths = found
            end, numbers = product, {product, *numbers}
            bias = operations.only_user(product)
            if bias is not None and operations.kinds[bias] == "Add" and not blocks.owner[bias]:
                added = [v for v in operations.operands[bias] if operations.giver(v) != product]
                givers = {operations.giver(v) for v in added}
                if len(added) == 1 and _is_given(blocks, added[0]):
                    numbers |= {bias, *(g for g in givers if g is not None)}
                    end = bias
            own = keep_own(operations, _hold_whole(blocks, numbers), end)
            own = {n for n in own if (o := blocks.owner[n]) is None or o.numbers <= own}
            facts = (f"{widths[0]} → {widths[1]}",)
            yield FoundBlock("generated", "Hypernetwork layer", frozenset(own), end, facts)
            break


def _hold_whole(blocks: FoundBlocks, numbers: set[int]) -> set[int]:
    owners = [owner.numbers for n in numbers if (owner := blocks.owner[n]) is not None]
    return numbers.union(*owners)


def _read_generated(blocks: FoundBlocks, matrix: Value) -> tuple[set[int], tuple[int, int]] | None:
    """Return what gives a matrix for each sample, and its sizes."""
    operations = blocks.operations
    facts = find_value_facts(matrix.graph.model)
    dims, row = facts.find_dims(matrix), operations.source(matrix)
    before = facts.find_dims(row)
    if dims is None or before is None or len(dims) != _OF_SAMPLES or len(before) != _MATRIX:
        return None
    taken, given = dims[1:]
    if not isinstance(taken, int) or not isinstance(given, int) or taken * given != before[1]:
        return None
    # squares turn and move what they are multiplied with
    if dims[0] != before[0] or min(taken, given) < _MATRIX or taken == given:
        return None
    numbers = _walk_layer(blocks, row)
    return (numbers, (taken, given)) if numbers is not None else None


def _is_given(blocks: FoundBlocks, value: Value) -> bool:
    return _walk_layer(blocks, value) is not None


def _walk_layer(blocks: FoundBlocks, value: Value) -> set[int] | None:
    """Return a layer that gives a value, and what takes a part of it or its magnitude."""
    operations = blocks.operations
    numbers: set[int] = set()
    for _ in range(_MOST_STEPS):
        giver = operations.giver(value)
        if giver is None:
            return None
        layer = blocks.ending(giver, "linear", "mlp")
        if layer is not None:
            return numbers | layer.numbers
        node = operations.nodes[giver]
        if operations.kinds[giver] != "Abs" and not node.operator.has(*PICKING, "splits"):
            return None
        numbers.add(giver)
        value = operations.operands[giver][0]
    return None


def find_squashed_draws(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find tanh(mean + deviation · noise), mean and deviation by layers of one value.

    T. Haarnoja and others, Soft Actor-Critic, 2018, appendix C.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        owner = blocks.owner[end]
        if kind != "Tanh" or (owner is not None and len(owner.numbers) > 1):
            continue
        total = operations.given_by(operations.operands[end][0], "Add")
        taken = operations.operands[total] if total is not None else []
        if total is None or len(taken) != 2:
            continue
        for mean, drawn in (taken, taken[::-1]):
            product = operations.given_by(drawn, "Mul")
            deviation = next(
                (
                    n
                    for v in (operations.operands[product] if product is not None else [])
                    if (n := operations.given_by(v, *_DEVIATING)) is not None
                ),
                None,
            )
            if product is None or deviation is None:
                continue
            logarithm = operations.operands[deviation][0]
            numbers = _walk_limits(blocks, logarithm)
            sources = [_find_source(operations, value) for value in (mean, logarithm)]
            is_of_one = sources[0] is not None and sources[0] is sources[1]
            if is_of_one and _is_noise(operations, product, deviation):
                facts = ("tanh(mean + deviation · noise)",)
                # the likelihood of what is drawn may be told of the same numbers
                own = {total, product, deviation}
                own |= keep_own(operations, own | numbers, end)
                if all((o := blocks.owner[n]) is None or len(o.numbers) == 1 for n in own):
                    name = "Squashed Gaussian"
                    yield FoundBlock("draw", name, frozenset(own), end, facts)
            break


def _walk_limits(blocks: FoundBlocks, value: Value) -> set[int]:
    """Return what keeps the logarithm of a deviation within limits."""
    operations = blocks.operations
    numbers: set[int] = set()
    for _ in range(_MOST_STEPS):
        giver = operations.giver(value)
        if giver is None or blocks.owner[giver] is not None:
            break
        if operations.kinds[giver] not in _LIMITING or len(operations.operands[giver]) != 1:
            break
        numbers.add(giver)
        value = operations.operands[giver][0]
    return numbers


def _find_source(operations: Operations, value: Value) -> Value | None:
    """Return what a layer takes that gives a value, perhaps within limits or as a part."""
    for _ in range(_MOST_STEPS + _ORDER):
        node = value.producer
        data = [v for v in node.inputs if v and not operations.is_fixed(v)] if node else []
        if node is None or len(data) != 1:
            return None
        if node.operator.has("multiplies"):
            return data[0]
        is_passing = node.operator.has(*PICKING, *LAYOUT_TRAITS, "adds", "clips", "splits")
        if not is_passing and node.operator.form not in (*_LIMITING, "Tanh"):
            return None
        value = data[0]
    return None


def _is_noise(operations: Operations, product: int, deviation: int) -> bool:
    """Return whether a deviation is multiplied by what is drawn, or fed for nothing else."""
    others = [v for v in operations.operands[product] if operations.giver(v) != deviation]
    value = others[0] if others else next(iter(operations.fixed(product)), None)
    if value is None:
        return False
    if value.producer is not None:
        return value.producer.operator.has("random")
    return value.is_input


def find_runge_kutta(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find x + h / 6 · (k₁ + 2·k₂ + 2·k₃ + k₄), where one network gives all four k.

    R. Chen and others, Neural Ordinary Differential Equations, 2018, section 2, with the classical
    method of Runge and Kutta.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Add" or len(taken) != 2 or blocks.owner[end] is not None:
            continue
        for state, change in (taken, taken[::-1]):
            scaled = operations.given_by(change, "Mul", "Div")
            if scaled is None or operations.scalar(scaled) is None:
                continue
            numbers = {end, scaled}
            slopes = _list_slopes(operations, operations.operands[scaled][0], numbers)
            networks = [blocks.ending(n, "mlp") for n in slopes]
            known = [one for one in networks if one is not None]
            weights = {_read_weights(operations, one) for one in known}
            factors = sorted(slopes.values())
            if len(known) != _ORDER or len(weights) != 1 or factors != [1.0, 1.0, 2.0, 2.0]:
                continue
            for one in known:
                numbers |= one.numbers
            for number in sorted({g for n in numbers for g in operations.givers(n)} - numbers):
                if numbers.issuperset(operations.users[number]) and operations.kinds[number] in (
                    "Add",
                    "Mul",
                ):
                    numbers.add(number)
                    numbers |= {
                        g
                        for g in operations.givers(number)
                        if operations.kinds[g] == "Mul"
                        and numbers.issuperset(operations.users[g])
                        and blocks.owner[g] is None
                    }
            starts = [one for one in known if operations.operands[min(one.numbers)] == [state]]
            if len(starts) != 1:
                continue
            facts = starts[0].facts[:1]
            name = "Runge-Kutta step"
            own = {n for n in numbers if (o := blocks.owner[n]) is None or o.numbers <= numbers}
            yield FoundBlock("integration", name, frozenset(own), end, facts)
            break


def _read_weights(operations: Operations, network: FoundBlock) -> tuple[Value, ...]:
    return tuple(
        value
        for number in sorted(network.numbers)
        if operations.kinds[number] == "Gemm"
        for value in operations.fixed(number)
    )


def _list_slopes(operations: Operations, value: Value, numbers: set[int]) -> dict[int, float]:
    """Return what is added up, by which number each is multiplied before; adds what does so."""
    slopes: dict[int, float] = {}
    pending = [value]
    while pending and len(slopes) <= _ORDER:
        current = pending.pop()
        giver = operations.giver(current)
        if giver is None:
            return {}
        taken = operations.operands[giver]
        if operations.kinds[giver] == "Add" and len(taken) == 2:
            numbers.add(giver)
            pending += taken
            continue
        factor = operations.scalar(giver) if operations.kinds[giver] == "Mul" else None
        inner = operations.giver(taken[0]) if factor is not None and len(taken) == 1 else None
        if inner is not None and factor is not None:
            numbers.add(giver)
            slopes[inner] = factor
        else:
            slopes[giver] = 1.0
    return slopes
