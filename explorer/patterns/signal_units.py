"""What is made of spectra and of levels in them, and numbers put as cosines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import isclose, pi

from netloupe.explorer.model import Value
from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.notation import write_count

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_numbers
from .walks import leads_to

_BOTH = 2
_MOST_STEPS = 4
_MOST_OF_GAIN = 8
_MOST_SMOOTHING = 400
_MOST_WAVES = 4096
_LEAST_WAVES = 4
#: what gives no number below 0
_POSITIVE = ("Abs", "Exp", "Relu", "Sigmoid", "Softplus", "Sqrt")


def find_polar_spectra(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find m · cos p and m · sin p: a complex spectrum of its magnitude and its phase.

    H. Siuzdak, Vocos: Closing the Gap between Time-Domain and Fourier-Based Neural Vocoders, 2024,
    equations 2 to 5; the magnitude is no number below 0, as it is an exponential.
    """
    operations = blocks.operations
    waves: dict[tuple[Value, Value], dict[str, int]] = {}
    for product, kind in enumerate(operations.kinds):
        taken = operations.operands[product]
        if kind != "Mul" or len(taken) != _BOTH or blocks.owner[product] is not None:
            continue
        for size, wave in (taken, taken[::-1]):
            giver = operations.given_by(wave, "Cos", "Sin")
            if giver is not None:
                phase = operations.operands[giver][0]
                waves.setdefault((size, phase), {})[operations.kinds[giver]] = product
    for (size, _), found in waves.items():
        positive = _find_positive(operations, size)
        if len(found) != _BOTH or not positive:
            continue
        products = {*found.values()}
        numbers = {*products, *(n for p in products for n in operations.givers(p))}
        users = {user for product in products for user in operations.users[product]}
        join = users.pop() if len(users) == 1 else None
        is_joined = join is not None and join >= 0 and operations.nodes[join].operator.has("joins")
        end = join if is_joined and join is not None else max(products)
        kept = {*numbers, *positive, end}
        for number in sorted(kept - products - {end}, reverse=True):
            if not kept.issuperset(operations.users[number]):
                kept.discard(number)
        if all(blocks.owner[number] is None for number in kept):
            name = "Spectrum of magnitude and phase"
            yield FoundBlock("unit", name, frozenset(kept), end)


def _find_positive(operations: Operations, value: Value) -> set[int]:
    """Return what makes a value one of numbers of which none is below 0; else nothing."""
    numbers: set[int] = set()
    for _ in range(_MOST_STEPS):
        giver = operations.giver(value)
        if giver is None or len(operations.operands[giver]) != 1:
            return set()
        numbers.add(giver)
        if operations.kinds[giver] in _POSITIVE:
            return numbers
        if not operations.nodes[giver].operator.has("clips"):
            return set()
        value = operations.operands[giver][0]
    return set()


def find_channel_energies(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find (E / (ε + M)^α + δ)^r - δ^r, M being a smoothed E.

    Y. Wang and others, Trainable Frontend for Robust and Far-field Keyword Spotting, 2017, equation
    1; the quotient may be a product with an exponential of logarithms.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Sub" or len(taken) != 1 or blocks.owner[end] is not None:
            continue
        power = operations.given_by(taken[0], "Pow")
        raised = operations.operands[power] if power is not None else []
        total = operations.given_by(raised[0], "Add") if len(raised) == 1 else None
        moved = operations.operands[total] if total is not None else []
        quotient = operations.given_by(moved[0], "Div", "Mul") if len(moved) == 1 else None
        if power is None or total is None or quotient is None:
            continue
        if len(operations.operands[quotient]) != _BOTH:
            continue
        for energy, gain in (
            operations.operands[quotient],
            operations.operands[quotient][::-1],
        ):
            found = _read_gain(operations, gain, is_product=operations.kinds[quotient] == "Mul")
            if found is None:
                continue
            numbers, smooth = found
            if smooth is energy or not leads_to(operations, energy, smooth, _MOST_SMOOTHING):
                continue
            every = frozenset({end, power, total, quotient, *numbers})
            if all(blocks.owner[number] is None for number in every):
                name = "Per-channel energy normalization"
                yield FoundBlock("unit", name, every, end)
                break


def _read_gain(
    operations: Operations, gain: Value, *, is_product: bool
) -> tuple[set[int], Value] | None:
    """Return the operations of (ε + M)^α, or of exp(-α · log(ε + M)), and M."""
    numbers: set[int] = set()
    kinds: list[str] = []
    value = gain
    for _ in range(_MOST_OF_GAIN):
        giver = operations.giver(value)
        if giver is None or len(operations.operands[giver]) != 1:
            break
        kind = operations.kinds[giver]
        if kind not in ("Add", "Div", "Exp", "Log", "Mul", "Neg", "Pow", "Reciprocal"):
            break
        numbers.add(giver)
        kinds.append(kind)
        value = operations.operands[giver][0]
    is_power = kinds[:2] == ["Pow", "Add"] if not is_product else False
    is_root = is_product and kinds[:1] == ["Exp"] and "Log" in kinds and "Add" in kinds
    return (numbers, value) if is_power or is_root else None


def find_cosine_embeddings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find cosines of π, 2π, 3π and so on times a number.

    Of a share of all that may come (W. Dabney and others, Implicit Quantile Networks for
    Distributional Reinforcement Learning, 2018, equation 4).
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        if kind != "Cos" or blocks.owner[end] is not None:
            continue
        numbers, factor = {end}, 1.0
        value = operations.operands[end][0]
        count = 0
        for _ in range(_MOST_STEPS):
            product = operations.given_by(value, "Mul")
            fixed = operations.fixed(product) if product is not None else []
            if product is None or len(fixed) != 1 or len(operations.operands[product]) != 1:
                break
            multiples = read_numbers(constant_tensor(fixed[0]), _MOST_WAVES)
            numbers.add(product)
            value = operations.operands[product][0]
            if len(multiples) == 1:
                factor *= multiples[0]
            elif count or not _are_even(multiples):
                count = 0
                break
            else:
                count = len(multiples)
                factor *= multiples[1] - multiples[0]
        if count and isclose(factor, pi, rel_tol=1e-3):
            facts = (write_count(count, "cosine", "cosines"),)
            name = "Cosine embedding"
            yield FoundBlock("positions", name, frozenset(numbers), end, facts)


def _are_even(numbers: tuple[float, ...] | list[float]) -> bool:
    """Return whether numbers are multiples of the first step, from 0 or from that step on."""
    if len(numbers) < _LEAST_WAVES:
        return False
    step = numbers[1] - numbers[0]
    is_first = isclose(numbers[0], step, rel_tol=1e-3) or numbers[0] == 0.0
    return (
        step > 0
        and is_first
        and all(isclose(b - a, step, rel_tol=1e-2) for a, b in pairwise(numbers))
    )
