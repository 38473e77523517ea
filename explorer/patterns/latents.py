"""Latent variables: how they are drawn, and the codes that they are put in place of."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .details import EmbeddingDetails, FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import PICKING, Operations

#: what distances to the entries of a code book are computed with
_OF_DISTANCES = ("adds", "subtracts", "multiplies_elements", "takes_power", "takes_root")
_OF_SUMS = ("multiplies", "reduces", "negates", "solves")
_MOST_OF_DISTANCES = 16


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


def find_quantizers(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find features that are replaced by the nearest entry of a code book.

    A. van den Oord and others, Neural Discrete Representation Learning, 2017, equations 1 and 2.
    """
    operations = blocks.operations
    for number in range(len(operations)):
        table = blocks.ending(number, "embedding")
        if table is None:
            continue
        start = min(table.numbers)
        indices = operations.operands[start]
        nearest = operations.giver(indices[-1]) if indices else None
        if nearest is None or not operations.nodes[nearest].operator.has("finds_largest"):
            continue
        distances = _walk_distances(blocks, {nearest, *table.numbers}, nearest)
        if len(distances) < 2 or not _is_nearest(operations, nearest, distances):
            continue
        known = table.details.read_as(EmbeddingDetails)
        compared = _read_compared(blocks, distances)
        if compared and known.width and compared != known.width:
            continue
        facts = (f"{known.rows:,} codes × {known.width}",) if known.rows and known.width else ()
        numbers = frozenset({nearest, *table.numbers, *distances})
        yield FoundBlock("quantizer", "Vector quantizer", numbers, table.end, facts, table.details)


def _is_nearest(operations: Operations, nearest: int, distances: set[int]) -> bool:
    """Return whether the entry is looked for whose distance is the least.

    Products with entries are the larger the nearer these are; squares of differences the smaller.
    """
    if operations.kinds[nearest] == "ArgMin":
        return True
    products = [n for n in distances if operations.nodes[n].operator.has("multiplies")]
    squares = [n for n in distances if operations.nodes[n].operator.has("reduces", "solves")]
    taking_off = ("negates", "subtracts")
    if not any(operations.nodes[n].operator.has(*taking_off) for n in distances):
        return False  # they are scores
    if products:
        return _follow_sign(operations, min(products), distances) > 0
    return bool(squares) and _follow_sign(operations, min(squares), distances) < 0


def _follow_sign(operations: Operations, number: int, through: set[int]) -> int:
    """Return 1 where what is looked for grows with what an operation gives, -1 where it falls."""
    sign = 1
    for giver in operations.givers(number):
        if (operations.scalar(giver) or 0) < 0 and operations.kinds[giver] == "Mul":
            sign = -sign
    for _ in range(_MOST_OF_DISTANCES):
        user = next((one for one in operations.users[number] if one in through), None)
        if user is None:
            break
        node = operations.nodes[user]
        last = node.inputs[-1] if node.inputs else None
        is_taken_off = last is not None and operations.giver(operations.source(last)) == number
        is_scaled = node.operator.has("multiplies_elements", "divides")
        is_turned = is_scaled and (operations.scalar(user) or 0) < 0
        if node.operator.has("negates") or is_turned:
            sign = -sign
        elif node.operator.has("subtracts") and is_taken_off:
            sign = -sign
        number = user
    return sign


def _read_compared(blocks: FoundBlocks, distances: set[int]) -> int:
    """Return how many features are compared with those of entries; 0 where that is not known."""
    found = [blocks.holding(number, "linear") for number in sorted(distances)]
    widths = {
        one.details.read_as(FeatureDetails).in_features for one in found if one is not None
    }
    return (widths.pop() or 0) if len(widths) == 1 else 0


def find_residual_quantizers(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find vector quantizers of which each takes what the ones before it left of a value.

    N. Zeghidour and others, SoundStream, 2021, algorithm 1.
    """
    operations = blocks.operations
    quantizers = [
        found
        for number in range(len(operations))
        if (found := blocks.ending(number, "quantizer")) is not None
    ]
    taken: set[int] = set()
    for first in quantizers:
        if first.end in taken:
            continue
        chain, numbers = [first], {*first.numbers}
        while (rest := _find_rest(blocks, chain[-1])) is not None:
            following = next((one for one in quantizers if _starts_at(blocks, one, rest)), None)
            if following is None or following in chain:
                break
            numbers |= {rest, *following.numbers}
            chain.append(following)
        if len(chain) > 1:
            taken.update(one.end for one in chain)
            numbers |= _find_sums(blocks, chain)
            end = max(numbers)
            same = {one.facts for one in chain}
            facts = (f"{len(chain)} levels", *(first.facts if len(same) == 1 else ()))
            yield FoundBlock(
                "residual quantizer", "Residual vector quantizer", frozenset(numbers), end, facts
            )


def _find_rest(blocks: FoundBlocks, quantizer: FoundBlock) -> int | None:
    """Return the operation that subtracts what a quantizer gives from what it takes."""
    operations = blocks.operations
    sources = _list_sources(blocks, quantizer)
    for user in operations.users[quantizer.end]:
        if user >= 0 and operations.kinds[user] == "Sub":
            first, *others = operations.operands[user]
            if first in sources and len(others) == 1:
                return user
    return None


def _starts_at(blocks: FoundBlocks, quantizer: FoundBlock, number: int) -> bool:
    giver = blocks.operations.giver
    return number in quantizer.numbers or any(
        giver(value) == number for value in _list_sources(blocks, quantizer)
    )


def _list_sources(blocks: FoundBlocks, quantizer: FoundBlock) -> set[Value]:
    operations = blocks.operations
    return {
        value
        for number in quantizer.numbers
        for value in operations.operands[number]
        if operations.giver(value) not in quantizer.numbers
    }


def _find_sums(blocks: FoundBlocks, chain: list[FoundBlock]) -> set[int]:
    """Return what adds up what quantizers give."""
    operations = blocks.operations
    ends = {one.end for one in chain}
    found: set[int] = set()
    for number in sorted({u for end in ends for u in operations.users[end] if u >= 0}):
        givers = {*operations.givers(number)}
        is_sum = operations.kinds[number] in ("Add", "Sum") and blocks.owner[number] is None
        if is_sum and givers and givers <= ends | found:
            found.add(number)
    return found


def _walk_distances(blocks: FoundBlocks, core: set[int], nearest: int) -> set[int]:
    """Return what leads to the search for the nearest entry alone."""
    operations = blocks.operations
    found: set[int] = set()
    pending = [*operations.givers(nearest)]
    while pending and len(found) < _MOST_OF_DISTANCES:
        number = pending.pop()
        owner = blocks.owner[number]
        inner = owner.numbers if owner is not None else frozenset({number})
        if owner is not None and owner.kind != "linear":
            continue
        if number in found or not {*core, *found}.issuperset(
            user for each in inner for user in operations.users[each] if user not in inner
        ):
            continue
        if not all(operations.nodes[n].operator.has(*_OF_DISTANCES, *_OF_SUMS) for n in inner):
            continue
        found |= inner
        pending += [giver for each in inner for giver in operations.givers(each)]
    return found
