"""Attention whose keys and values are multiplied first, so that no scores of pairs are computed."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value
from netloupe.explorer.model.constant import constant_tensor

from .attention_forms import add_pointwise_projections
from .chunked_attention import find_chunked_attentions
from .convolutions import read_convolution
from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .layers_around import add_layers_around
from .operations import ARRANGING, OUTSIDE, PICKING, Operations
from .readings import read_float, read_int, read_ints, read_numbers, read_scalar
from .transformer_details import AttentionDetails

_PRODUCTS = ("Einsum", "MatMul")
_MOST_STEPS = 5
#: more operations are no positions that are added to a result
_MOST_BESIDE = 24
#: axes of examples and heads, and of a matrix for each
_OF_HEADS = 4
#: what may stand between the products and the projections: maps that are positive, and heads
_MAPS = ("activation",)


def find_linear_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find φ(q)·(φ(k)ᵀ·v), divided by φ(q)·Σφ(k) where φ makes no shares.

    A. Katharopoulos and others, Transformers are RNNs, 2020, equation 7, where φ is ELU + 1; Z.
    Shen and others, Efficient Attention, 2021, equation 3, where it is a softmax. The sum may be of
    ones that are put beside v (H. Cai and others, EfficientViT, 2023, equation 3, with a ReLU).
    Queries may stay as they are where the keys' softmax makes shares of tokens (W. Xu and others,
    CoaT, 2021, equation 3; I. Bello, LambdaNetworks, 2021, equation 1), and what convolves values
    may be added (CoaT, equation 7).
    """
    yield from find_chunked_attentions(blocks)
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind not in _PRODUCTS or len(taken) != 2 or blocks.owner[end] is not None:
            continue
        for query, context in (taken, taken[::-1]):
            inner = operations.given_by(context, *_PRODUCTS)
            if inner is None or len(operations.operands[inner]) != 2:
                continue
            if blocks.owner[inner] is not None or operations.only_user(inner) != end:
                continue
            asked = _read_map(blocks, query)
            keys = [(_read_map(blocks, value), value) for value in operations.operands[inner]]
            compared = [(found, value) for found, value in keys if found is not None]
            if len(compared) != 1 or compared[0][0] is None:
                continue
            made, key = compared[0]
            if asked is None and _shares_tokens(operations, made, inner, key):
                asked = (made[0], set())
            if asked is None or made[0] != asked[0] or made[1] & asked[1]:
                continue
            numbers = {end, inner, *asked[1], *made[1]}
            last = end
            if not asked[1]:
                numbers, last = _add_beside(blocks, numbers, last)
            elif asked[0] != "Softmax":
                divided = _find_division(blocks, end, query, key)
                if divided is None:
                    values = [v for v in operations.operands[inner] if v is not key]
                    divided = _find_padded_division(blocks, end, values)
                if divided is None:
                    continue
                numbers |= divided[0]
                last = divided[1]
            is_placed = not asked[1] and _convolves_places(operations, numbers)
            add_pointwise_projections(blocks, numbers, last)
            numbers, last = add_layers_around(blocks, numbers, last)
            name = "Linear attention"
            positions = "relative" if is_placed else None
            heads, width = _count_heads(operations, inner, blocks.holding(last, "linear"))
            told = [f"{heads} heads × {width}"] if heads > 1 else []
            facts = (*told, *([f"{positions} positions"] if positions else []))
            details = AttentionDetails(
                attention=name,
                positions=positions,
                heads=heads or None,
                head_width=width or None,
            )
            yield FoundBlock("attention", name, frozenset(numbers), last, facts, details)
            break


def _count_heads(operations: Operations, product: int, last: FoundBlock | None) -> tuple[int, int]:
    """Return how many heads of which width keys and values are multiplied in; 0 where not known.

    The product is a matrix of features by features for each head, and all heads together are what
    the last layer takes.
    """
    facts = find_value_facts(operations.context.graph.model)
    dims = facts.find_dims(operations.nodes[product].output(0)) or ()
    taken = last.details.read_as(FeatureDetails).in_features if last is not None else None
    if len(dims) != _OF_HEADS or not taken:
        return 0, 0
    _, heads, *sides = dims
    widths = [side for side in sides if isinstance(side, int)]
    if not isinstance(heads, int) or len(widths) < len(sides):
        return 0, 0
    width = min(widths)  # ones may be put beside values
    return (heads, width) if heads * width == taken else (0, 0)


def _convolves_places(operations: Operations, numbers: Collection[int]) -> bool:
    """Return whether values of places around are summed up by where these are (CoaT, section 3.2).

    By such convolutions LambdaNetworks (section 3.2) and CoaT tell how far places are apart.
    """
    return any(
        operations.nodes[number].operator.has("convolves")
        and max(read_convolution(operations, number).kernel, default=1) > 1
        for number in numbers
    )


def _read_map(blocks: FoundBlocks, value: Value) -> tuple[str, set[int]] | None:
    """Return the activation that makes features positive, and its operations, with + 1."""
    operations = blocks.operations
    numbers: set[int] = set()
    number = operations.giver(value)
    for _ in range(_MOST_STEPS):
        found = blocks.ending(number, *_MAPS)
        if found is not None:
            return found.name, numbers | found.numbers
        if number is None or operations.kinds[number] not in ("Add", "Div", "Mul"):
            return None
        if blocks.owner[number] is not None or len(operations.operands[number]) != 1:
            return None
        numbers.add(number)
        number = operations.giver(operations.operands[number][0])
    return None


def _shares_tokens(
    operations: Operations, made: tuple[str, set[int]], product: int, key: Value
) -> bool:
    """Return whether a softmax makes shares of what a product sums up, by its axis."""
    name, numbers = made
    softmax = operations.nodes[min(numbers)]
    if name != "Softmax" or len(numbers) != 1 or operations.kinds[product] != "MatMul":
        return False
    facts = find_value_facts(operations.context.graph.model)
    dims = facts.find_dims(softmax.output(0))
    if not dims:
        return False
    axis: int | None = (read_int(softmax, "axis") or 0) % len(dims)
    if read_int(softmax, "axis") is None:
        axis = len(dims) - 1
    inputs = [value for value in operations.nodes[product].inputs if value is not None]
    place = next(n for n, value in enumerate(inputs) if operations.source(value) is key)
    for node in reversed(operations.path(inputs[place])):
        turned = read_ints(node, "perm")
        if node.operator.has("permutes") and axis in turned:
            axis = turned.index(axis)
        elif node.operator.has(*ARRANGING) and not node.operator.has("casts", "copies"):
            return False
    return axis == len(dims) - (1 if place == 0 else 2)


def _add_beside(blocks: FoundBlocks, numbers: set[int], last: int) -> tuple[set[int], int]:
    """Add the scale of a result, and what is added to it of the same queries and values."""
    operations = blocks.operations
    found = {*numbers}
    end = operations.only_user(last)
    while end is not None and end >= 0 and operations.kinds[end] in ("Div", "Mul"):
        if len(operations.operands[end]) != 1 or blocks.owner[end] is not None:
            return numbers, last
        found.add(end)
        last = end
        end = operations.only_user(last)
    if (
        end is None
        or end < 0
        or operations.kinds[end] != "Add"
        or len(operations.operands[end]) != 2
    ):
        return found, last
    starts = {giver for number in numbers for giver in operations.givers(number)} - numbers
    beside = {end}
    pending = [giver for giver in operations.givers(end) if giver != last]
    while pending:
        number = pending.pop()
        if number in beside or number in starts or number in found:
            continue
        if not operations.givers(number) or len(beside) > _MOST_BESIDE:
            return found, last
        beside.add(number)
        pending += operations.givers(number)
    inside = beside | found
    is_own = all(inside.issuperset(operations.users[number]) for number in beside - {end})
    return (inside, end) if is_own else (found, last)


def _find_division(
    blocks: FoundBlocks, product: int, query: Value, key: Value
) -> tuple[set[int], int] | None:
    """Return what divides the result of an attention by the sum of its weights."""
    operations = blocks.operations
    end = operations.only_user(product)
    if end is None or operations.kinds[end] not in ("Div", "Mul") or blocks.owner[end] is not None:
        return None
    others = [v for v in operations.operands[end] if operations.giver(v) != product]
    number = operations.giver(others[0]) if len(others) == 1 else None
    numbers = {end}
    for _ in range(_MOST_STEPS):
        if number is None or blocks.owner[number] is not None:
            return None
        numbers.add(number)
        taken = operations.operands[number]
        if operations.kinds[number] in (*_PRODUCTS, "Mul") and len(taken) == 2:
            sums = [operations.given_by(v, "ReduceSum") for v in taken if v is not query]
            total = sums[0] if len(sums) == 1 else None
            if total is None or operations.operands[total] != [key]:
                return None
            return {*numbers, total}, end
        if operations.kinds[number] not in ("Add", "Clip", "Max", "Reciprocal", "Div"):
            return None
        number = operations.giver(taken[0]) if len(taken) == 1 else None
    return None


def _find_padded_division(
    blocks: FoundBlocks, product: int, values: list[Value]
) -> tuple[set[int], int] | None:
    """Return what divides a result by its last feature, which is of ones beside the values."""
    operations = blocks.operations
    beside = operations.giver(values[0]) if len(values) == 1 else None
    if beside is None or blocks.owner[beside] is not None or not _puts_ones(operations, beside):
        return None
    numbers = {beside}
    parts = operations.users[product]
    if len(parts) > len(("result", "sum")) or any(part < 0 for part in parts):
        return None
    ends: list[int] = []
    for part in parts:
        if not operations.nodes[part].operator.has(*PICKING, "splits"):
            return None
        numbers.add(part)
        for user in operations.users[part]:
            while user >= 0 and operations.kinds[user] in ("Add", "Clip", "Max", "Reciprocal"):
                numbers.add(user)
                user = operations.only_user(user) or OUTSIDE
            ends.append(user)
    end = ends[0] if ends and len({*ends}) == 1 else OUTSIDE
    if end < 0 or operations.kinds[end] not in ("Div", "Mul") or blocks.owner[end] is not None:
        return None
    return (numbers | {end}, end) if len(operations.operands[end]) > 1 else None


def _puts_ones(operations: Operations, number: int) -> bool:
    """Return whether an operation puts ones beside something."""
    node = operations.nodes[number]
    place = node.operator.operands.find("fill")
    if node.operator.has("pads") and place is not None:
        return read_scalar(node.input(place)) == 1
    if node.operator.has("pads"):
        return read_float(node, "value") == 1
    fixed = operations.fixed(number) if node.operator.has("joins") else []
    return any({*read_numbers(constant_tensor(value))} == {1.0} for value in fixed)
