"""The arithmetic of an affine coupling, whose network stands elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.model import Value
from netloupe.explorer.operators import HANDING_TRAITS

from .found_blocks import FoundBlock, FoundBlocks
from .operations import OUTSIDE, PARTING, Operations

#: a step is a sum, a product, an exponential, and what cuts, turns and bounds what these take
_LEAST, _MOST = 3, 16
_BOTH = 2
_MOST_STEPS = 10
#: a network between what stays and the scales has so many nodes at most
_MOST_OF_NETWORK = 2_000
#: what a scale goes through before its exponential
_BOUNDING = ("Add", "Clip", "Div", "Exp", "Mul", "Neg", "Sigmoid", "Sub", "Tanh")
_SUMS, _PRODUCTS = ("Add", "Sub"), ("Div", "Mul")
_SIGNS = {"Add": "+", "Sub": "−", "Div": "/", "Mul": "·"}


class _Step(NamedTuple):
    """What is moved, by what, and how that is written."""

    moved: Value
    exponential: int
    shift: Value
    text: str


def find_coupling_steps(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find x · exp(s) + t or its inverse (x − t) / exp(s) of one part of a value.

    The scale and the shift are parts of what a network makes of that value's other part (L. Dinh
    and others, Density Estimation Using Real NVP, 2017, equations 7 and 8; R. Prenger and others,
    WaveGlow, 2019, section 2.1), which may be too large to be seen as one with it.
    """
    operations = blocks.operations
    count = len(operations)
    if not _LEAST <= count <= _MOST:
        return
    if any(owner is not None and owner.kind != "activation" for owner in blocks.owner):
        return
    ends = [n for n, users in enumerate(operations.users) if OUTSIDE in users or not users]
    step = _read_step(operations, ends[0]) if len(ends) == 1 else None
    if step is None:
        return
    scale = operations.nodes[step.exponential].output(0)
    made, shifting = _find_whole(operations, scale), _find_whole(operations, step.shift)
    whole = _find_whole(operations, step.moved)
    if made is None or made is not shifting or whole is None or whole is made:
        return
    result = operations.nodes[ends[0]].output(0)
    if _comes_of(made, whole) and result is not None and _is_joined(result, whole):
        numbers = frozenset(range(count))
        yield FoundBlock("coupling", "Affine coupling", numbers, ends[0], (step.text,))


def _read_step(operations: Operations, end: int) -> _Step | None:
    """Return what is scaled by an exponential and shifted; None where all is not that."""
    outer, taken = operations.kinds[end], operations.operands[end]
    kinds = {True: _PRODUCTS, False: _SUMS}.get(outer in _SUMS, ())
    if outer not in (*_SUMS, *_PRODUCTS) or len(taken) != _BOTH:
        return None
    for value, other in (taken, taken[::-1]):
        inner = operations.given_by(value, *kinds)
        if inner is None or len(operations.operands[inner]) != _BOTH:
            continue
        scaling, factors = (inner, operations.operands[inner]), other
        if outer in _PRODUCTS:
            scaling, factors = (end, [value, other]), operations.operands[inner][1]
        step = _put_together(operations, end, inner, scaling, factors)
        in_order = outer not in ("Sub", "Div") or value is taken[0]
        if step is not None and in_order and _is_all(operations, {end, inner}, step):
            return step
    return None


def _put_together(
    operations: Operations,
    end: int,
    inner: int,
    scaling: tuple[int, list[Value]],
    shift: Value,
) -> _Step | None:
    """Return a step by the product in it, and what is added or subtracted."""
    product, factors = scaling
    sign = _SIGNS[operations.kinds[product]]
    for scaled, factor in (factors, factors[::-1]):
        exponential = operations.given_by(factor, "Exp")
        if exponential is None or (sign == "/" and factor is not factors[1]):
            continue
        negated = operations.given_by(operations.operands[exponential][0], "Neg") is not None
        scale = "exp(−s)" if negated else "exp(s)"
        if product == inner:
            text = f"x {sign} {scale} {_SIGNS[operations.kinds[end]]} t"
            return _Step(scaled, exponential, shift, text)
        moved = operations.operands[inner][0]
        text = f"(x {_SIGNS[operations.kinds[inner]]} t) {sign} {scale}"
        return _Step(moved, exponential, shift, text)
    return None


def _is_all(operations: Operations, core: set[int], step: _Step) -> bool:
    """Return whether nothing else is computed than the scale, of values that are cut out."""
    rest = {*range(len(operations))} - core - {step.exponential}
    return all(
        operations.kinds[number] in _BOUNDING or operations.nodes[number].operator.has(*PARTING)
        for number in rest
    )


def _find_whole(operations: Operations, value: Value | None) -> Value | None:
    """Return what a value is a part of, which was only bounded or turned since."""
    for _ in range(_MOST_STEPS):
        value = find_source(value, *HANDING_TRAITS)
        node = value.producer if value is not None else None
        if node is None:
            return None
        if node.operator.has(*PARTING):
            return find_source(node.input(0), *HANDING_TRAITS)
        data = [one for one in node.inputs if one is not None and not operations.is_fixed(one)]
        if node.operator.form not in _BOUNDING or len(data) != 1:
            return None
        value = data[0]
    return None


def _is_joined(result: Value, whole: Value) -> bool:
    """Return whether what is moved is put together with a part of the value that stays."""
    pending = [result]
    for _ in range(_MOST_STEPS):
        value = pending.pop(0) if pending else None
        for node in value.users if value is not None else ():
            others = [one for one in node.inputs if one is not None and one is not value]
            if node.operator.has("joins") and any(_is_part(one, whole) for one in others):
                return True
            if node.operator.has(*HANDING_TRAITS):
                pending += [one for one in node.outputs if one is not None]
    return False


def _is_part(value: Value, whole: Value) -> bool:
    source = find_source(value, *HANDING_TRAITS)
    node = source.producer if source is not None else None
    if node is None or not node.operator.has(*PARTING):
        return False
    return find_source(node.input(0), *HANDING_TRAITS) is whole


def _comes_of(made: Value, whole: Value) -> bool:
    """Return whether a value follows from another one."""
    pending, seen = [made], {made}
    while pending and len(seen) < _MOST_OF_NETWORK:
        node = pending.pop().producer
        for operand in node.inputs if node is not None else ():
            if operand is whole:
                return True
            if operand is not None and operand not in seen:
                seen.add(operand)
                pending.append(operand)
    return False
