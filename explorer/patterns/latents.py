"""Latent variables that are drawn."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import PICKING, Operations


def find_draws(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find mean + deviation · noise, the deviation of half the logarithm of a variance.

    D. Kingma and M. Welling, Auto-Encoding Variational Bayes, 2014, section 2.4: so a sample
    passes gradients on. Or the deviation of its logarithm itself, where that and the mean are parts
    of one projection, and noise is taken for nothing else (R. Child, Very Deep VAEs, 2021).
    """
    operations = blocks.operations
    for exponential, kind in enumerate(operations.kinds):
        # the deviation may be compared with that of a prior, too
        for product in operations.users[exponential] if kind == "Exp" else ():
            found = _find_draw(operations, exponential, product) if product >= 0 else None
            if found is not None:
                facts = ("mean + deviation · noise",)
                yield FoundBlock("draw", "Reparametrisation", found[0], found[1], facts)


def _find_draw(
    operations: Operations, exponential: int, product: int
) -> tuple[frozenset[int], int] | None:
    """Return the operations of a draw whose deviation is multiplied by noise, and its end."""
    end = operations.only_user(product) if operations.kinds[product] == "Mul" else None
    if end is None or operations.kinds[end] != "Add" or len(operations.operands[end]) != 2:
        return None
    exponent = operations.operands[exponential][0]
    half = operations.giver(exponent)
    is_halved = (
        half is not None
        and operations.kinds[half] in ("Mul", "Div")
        and operations.scalar(half) in (0.5, 2.0)
        and operations.only_user(half) == exponential
    )
    others = [v for v in operations.operands[product] if operations.giver(v) != exponential]
    noise = others[0] if others else None
    drawn = _find_noise(operations, noise, product)
    if drawn is None:
        return None
    numbers = {product, end, *drawn}
    if operations.only_user(exponential) == product:
        numbers.add(exponential)
        numbers |= {half} if is_halved and half is not None else set()
    if not is_halved:
        mean = next(v for v in operations.operands[end] if operations.giver(v) != product)
        is_given = noise is not None and len(noise.users) == 1
        if not is_given or not _are_parts(operations, mean, exponent):
            return None
        split = operations.giver(mean)
        if split is not None and numbers.issuperset(operations.users[split]):
            numbers.add(split)
    return frozenset(numbers), end


def _are_parts(operations: Operations, one: Value, other: Value) -> bool:
    """Return whether two values are different parts of one."""
    wholes: list[Value] = []
    for value in (one, other):
        giver = operations.giver(value)
        for _ in range(len(("limit", "part"))):
            if giver is not None and operations.kinds[giver] in ("Clip", "Max", "Min"):
                giver = next(iter(operations.givers(giver)), None)
        if giver is None or not operations.nodes[giver].operator.has(*PICKING, "splits"):
            return False
        wholes.append(operations.operands[giver][0])
    return one is not other and wholes[0] is wholes[1]


def _find_noise(operations: Operations, noise: Value | None, product: int) -> list[int] | None:
    """Return the operations that draw noise, none where it is given; None where it is no noise."""
    if noise is None:  # it depends on a shape alone
        fixed = operations.fixed(product)
        producer = fixed[0].producer if fixed else None
        return [] if producer is not None and producer.operator.has("random") else None
    giver = operations.giver(noise)
    if giver is None:
        is_drawn = noise.producer is None or noise.producer.operator.has("random")
        return [] if is_drawn else None
    return [giver] if operations.nodes[giver].operator.has("random") else None
