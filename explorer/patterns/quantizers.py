"""Values that are put in place of by the nearest entry of a code book."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value, constant_tensor

from .details import EmbeddingDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import PICKING, Operations
from .readings import holds_ones
from .weight_sizes import read_features

#: what distances to the entries of a code book are computed with
_OF_DISTANCES = (
    *("adds", "clips", "joins", "multiplies_elements", "subtracts", "takes_power", "takes_root"),
    *("divides", "multiplies", "negates", "reduces", "solves"),
)
_LIMITING = frozenset({"Max", "Relu"})
_MOST_OF_DISTANCES = 16
_LEAST = 2
#: the operand of a scatter that is put at places, and how many places there are at most
_UPDATES, _MOST_MARKS = 2, 1 << 16
QUANTIZER = "Vector quantizer"
#: one whose codes alone go on
NEAREST = "Nearest code"
#: of what is joined beside the value: its square, and 1
_MOST_BESIDE = 2


def find_quantizers(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find features that are replaced by the nearest entry of a code book.

    The least distance is searched, |x|² - 2·x·e + |e|², or the largest where all signs are turned;
    and the entry comes from the book that distances are to (A. van den Oord and others, Neural
    Discrete Representation Learning, 2017, equations 1 and 2). Behind it x + (e - x) passes
    gradients on.
    """
    operations = blocks.operations
    for number in range(len(operations)):
        table = blocks.ending(number, "embedding") or _find_marked_rows(blocks, number)
        if table is None:
            continue
        start = min(table.numbers)
        indices = operations.operands[start]
        nearest = operations.giver(indices[-1]) if indices else None
        if nearest is None or not operations.nodes[nearest].operator.has("finds_largest"):
            continue
        distances = _walk_distances(blocks, {nearest, *table.numbers}, nearest)
        known = table.details.read_as(EmbeddingDetails)
        if len(distances) < _LEAST or not _is_nearest(operations, distances, nearest, known):
            continue
        facts = (f"{known.rows:,} codes × {known.width}",) if known.rows and known.width else ()
        numbers = {nearest, *table.numbers, *distances}
        end = _pass_straight(operations, numbers, table.end)
        yield FoundBlock(*("quantizer", QUANTIZER, frozenset(numbers), end, facts, table.details))


def _find_marked_rows(blocks: FoundBlocks, number: int) -> FoundBlock | None:
    """Return rows that a product with a 1 at the place of each picks; None where it does not."""
    operations = blocks.operations
    product = blocks.ending(number, "linear")
    taken = operations.operands[min(product.numbers)] if product is not None else []
    marks = operations.giver(taken[0]) if len(taken) == 1 else None
    if product is None or marks is None or blocks.owner[marks] is not None:
        return None
    node = operations.nodes[marks]
    ones = node.input(_UPDATES) if node.operator.has("scatters") else None
    if ones is None or not holds_ones(_find_filling(ones), _MOST_MARKS):
        return None
    rows, width = read_features(operations.nodes[min(product.numbers)])
    details = EmbeddingDetails(rows=rows, width=width)
    numbers = frozenset({marks, *product.numbers})
    return FoundBlock("embedding", "Embedding", numbers, product.end, details=details)


def _find_filling(value: Value) -> object:
    """Return the stored numbers that a value has, or the one that it is filled with."""
    stored, node = constant_tensor(value), value.producer
    if stored is not None or node is None or not node.operator.has("fills"):
        return stored
    filling = node.attributes.get("value")
    return None if filling is None else filling.value


def find_distances_to_codes(blocks: FoundBlocks, nearest: int) -> set[int]:
    """Return what computes distances to stored codes for a search; nothing where it does not."""
    distances = _walk_distances(blocks, {nearest}, nearest)
    is_search = len(distances) >= _LEAST
    known = EmbeddingDetails()
    return (
        distances
        if is_search and _is_nearest(blocks.operations, distances, nearest, known)
        else set()
    )


def _is_nearest(
    operations: Operations, distances: set[int], nearest: int, known: EmbeddingDetails
) -> bool:
    """Return whether the least of distances to the entries of a book is searched, and no other."""
    products = [n for n in distances if operations.kinds[n] == "Gemm"]
    if not products:  # the squares of differences
        sign = _follow_sign(operations, distances, min(distances), nearest)
        squares = any(operations.nodes[n].operator.has("reduces") for n in distances)
        return squares and sign * _wanted(operations, nearest) > 0
    (product, *others) = products
    if others or not _adds_squares(operations, distances, product):
        return False
    taken, given = read_features(operations.nodes[product])
    width, rows = known.width or taken, known.rows or given
    if given not in (0, rows) or (taken and not width <= taken <= width + _MOST_BESIDE):
        return False
    if operations.kinds[nearest] != "ArgMin" and not any(_turns(operations, n) for n in distances):
        return False  # they are scores
    sign = _read_factor_sign(operations, distances, product)
    sign *= _follow_sign(operations, distances, product, nearest)
    return sign * _wanted(operations, nearest) <= 0


def _wanted(operations: Operations, nearest: int) -> int:
    """Return the sign with which distances are searched for the nearest."""
    return 1 if operations.kinds[nearest] == "ArgMin" else -1


def _turns(operations: Operations, number: int) -> bool:
    """Return whether an operation subtracts, or turns the sign."""
    is_scaling = operations.nodes[number].operator.has("multiplies_elements", "divides")
    is_negative = is_scaling and (operations.scalar(number) or 0) < 0
    return is_negative or operations.nodes[number].operator.has("negates", "subtracts")


def _adds_squares(operations: Operations, distances: set[int], product: int) -> bool:
    """Return whether squares are added to products, or joined with what is multiplied."""
    return any(
        operations.nodes[number].operator.has("adds", "joins", "subtracts")
        for number in distances
        if number != product
    )


def _read_factor_sign(operations: Operations, distances: set[int], product: int) -> int:
    """Return the sign of what a value is multiplied by before a product; 0 where not known."""
    sign, number = 1, operations.giver(operations.operands[product][0])
    for _ in range(_MOST_OF_DISTANCES):
        if number is None or number not in distances:
            break
        sign *= _read_sign(operations, number, None)
        number = operations.giver(operations.operands[number][0])
    return sign


def _follow_sign(operations: Operations, distances: set[int], start: int, end: int) -> int:
    """Return the sign with which what an operation gives reaches another; 0 where not known."""
    sign, number = 1, start
    for _ in range(_MOST_OF_DISTANCES):
        following = operations.only_user(number)
        if following is None or following == end or following not in distances:
            break
        sign *= _read_sign(operations, following, number)
        number = following
    return sign


def _read_sign(operations: Operations, number: int, before: int | None) -> int:
    """Return 1 or -1 as an operation keeps or turns the sign of one that it takes from; else 0."""
    node = operations.nodes[number]
    if node.operator.has("negates"):
        return -1
    if node.operator.has("subtracts"):
        second = node.input(1)
        source = operations.source(second) if second is not None else None
        is_second = source is not None and operations.giver(source) == before
        return -1 if before is not None and is_second else 1
    if node.operator.has("multiplies_elements", "divides"):
        factor = operations.scalar(number)
        if factor is None:
            return 0 if len(operations.operands[number]) == 1 else 1
        return 1 if factor > 0 else -1
    return 1


def _pass_straight(operations: Operations, numbers: set[int], end: int) -> int:
    """Add x + (e - x) to what a quantizer consists of; return what gives its result."""
    taken = {
        v for n in numbers for v in operations.operands[n] if operations.giver(v) not in numbers
    }
    apart = operations.only_user(end)
    if apart is None or operations.kinds[apart] != "Sub" or len(operations.operands[apart]) != 2:
        return end
    first, second = operations.operands[apart]
    total = operations.only_user(apart)
    if operations.giver(first) != end or second not in taken or total is None:
        return end
    if operations.kinds[total] != "Add" or second not in operations.operands[total]:
        return end
    numbers |= {apart, total}
    return total


def find_residual_quantizers(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find vector quantizers of which each takes what the ones before it left of a value.

    N. Zeghidour and others, SoundStream, 2021, algorithm 1.
    """
    operations = blocks.operations
    quantizers = [
        _add_projections(blocks, found)
        for number in range(len(operations))
        if (found := blocks.ending(number, "quantizer")) is not None
        and found.name in (QUANTIZER, NEAREST)
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
            # of the last level the number alone may be taken
            search = _find_search(blocks, rest, chain[-1]) if rest is not None else set()
            numbers |= {rest, *search} if rest is not None and search else set()
            end = max(numbers)
            codes = _find_joined_codes(blocks, numbers)
            numbers |= codes
            if chain[-1].name == NEAREST and codes:
                end = max(codes)
            # the last may give its code alone, whose width is not known then
            same = all(one.facts and first.facts[0].startswith(one.facts[0]) for one in chain)
            levels = len(chain) + bool(search)
            facts = (f"{levels} levels", *(first.facts if first.facts and same else ()))
            yield FoundBlock(
                "residual quantizer", "Residual vector quantizer", frozenset(numbers), end, facts
            )


def _add_projections(blocks: FoundBlocks, quantizer: FoundBlock) -> FoundBlock:
    """Return a quantizer with the projections to its code book and back, if it has both.

    J. Yu and others, Vector-Quantized Image Modeling with Improved VQGAN, 2022, section 3.2: codes
    have fewer features.
    """
    operations = blocks.operations
    sources = {operations.giver(value) for value in _list_sources(blocks, quantizer)}
    before = [blocks.ending(giver, "conv", "linear") for giver in sources]
    users = {blocks.holding(user, "conv", "linear") for user in operations.users[quantizer.end]}
    behind = users.pop() if len(users) == 1 else None
    first = before[0] if len(before) == 1 else None
    if first is None or behind is None:
        return quantizer
    numbers = quantizer.numbers | first.numbers | behind.numbers
    if not operations.is_closed({*numbers}, behind.end):
        return quantizer
    return quantizer._replace(numbers=numbers, end=behind.end)


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


def _find_search(blocks: FoundBlocks, rest: int, before: FoundBlock) -> set[int]:
    """Return what searches the nearest entry to what is left, whose number alone is taken."""
    operations = blocks.operations
    pending, seen, found = [rest], {rest}, set()
    while pending and len(seen) < 2 * _MOST_OF_DISTANCES:
        for user in operations.users[pending.pop()]:
            if user < 0 or user in seen:
                continue
            seen.add(user)
            if operations.nodes[user].operator.has("finds_largest"):
                found.add(user)
            elif _is_of_distances(operations, user):
                pending.append(user)
    nearest = found.pop() if len(found) == 1 else None
    if nearest is None:
        return set()
    distances = _walk_distances(blocks, {nearest}, nearest)
    known = before.details.read_as(EmbeddingDetails)
    is_nearest = len(distances) >= _LEAST and _is_nearest(operations, distances, nearest, known)
    return {nearest, *distances} if is_nearest else set()


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


def _find_joined_codes(blocks: FoundBlocks, numbers: set[int]) -> set[int]:
    """Return what puts the codes of all levels side by side, and nothing else."""
    operations = blocks.operations
    searches = [n for n in numbers if operations.nodes[n].operator.has("finds_largest")]
    joins = {u for n in searches for u in operations.users[n] if u >= 0} - numbers
    return {
        join
        for join in joins
        if operations.nodes[join].operator.has("joins")
        and sorted(operations.givers(join)) == sorted(searches)
        and blocks.owner[join] is None
    }


def _walk_distances(blocks: FoundBlocks, core: set[int], nearest: int) -> set[int]:
    """Return what leads to the search for the nearest entry alone."""
    operations = blocks.operations
    found: set[int] = set()
    is_product_met = False
    pending = [*operations.givers(nearest)]
    while pending and len(found) < _MOST_OF_DISTANCES:
        number = pending.pop()
        owner = blocks.owner[number]
        inner = owner.numbers if owner is not None else frozenset({number})
        if owner is not None and owner.kind != "linear":
            continue
        if operations.kinds[number] == "Gemm" or owner is not None:
            if is_product_met:
                continue  # a layer before it
            is_product_met = True
        if number in found or not {*core, *found}.issuperset(
            user for each in inner for user in operations.users[each] if user not in inner
        ):
            continue
        if not all(_is_of_distances(operations, each) for each in inner):
            continue
        found |= inner
        pending += [giver for each in inner for giver in operations.givers(each)]
    return found


def _is_of_distances(operations: Operations, number: int) -> bool:
    node = operations.nodes[number]
    if node.operator.has(*PICKING) and node.input(1) is not None:
        return operations.is_fixed(node.input(1))  # one of a batch
    is_known = node.operator.has(*_OF_DISTANCES)
    # of distances that are computed for a batch of one, these
    is_known |= node.operator.has(*PICKING) and len(operations.operands[number]) == 1
    return is_known or operations.kinds[number] in _LIMITING
