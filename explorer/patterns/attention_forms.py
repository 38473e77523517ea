"""Forms that attention has besides its scores: gates of results, keys of latent features."""

from __future__ import annotations

import re
from collections.abc import Iterable

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node, Value

from .attention_heads import BEFORE_PRODUCTS
from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .linear import make_pointwise
from .operations import OUTSIDE, Operations
from .readings import read_str
from .score_axes import find_compared_axis
from .weight_sizes import read_dims, read_type_dims

#: so many operations before the products of an attention are looked at
_MOST_BEFORE = 60
#: so many operations are looked at from queries to the table that they are of
_MOST_TO_TABLE = 20
#: what facts of an attention say of learned queries
_QUERIES = re.compile(r"(?P<count>[\d,]+)(?: × [\d,]+)? (?:latents|learned quer(?:y|ies))")


def find_gate(blocks: FoundBlocks, end: int) -> tuple[set[int], int]:
    """Return what gates the result of an attention, and the operation that gives what is gated.

    The result, perhaps normalized, is multiplied by a squashed projection of what attention takes
    (S. Yang and others, Gated Delta Networks, 2024, figure 1; Z. Qiu and others, Gated Attention
    for Large Language Models, 2025, equation 5).
    """
    operations = blocks.operations
    numbers: set[int] = set()
    users = operations.takers(end)
    norm = blocks.holding(users[0] if users else None, "norm")
    last = end
    if norm is not None and norm.numbers.issuperset(users):
        numbers |= norm.numbers
        last = norm.end
        users = operations.users[last]
    product = users[0] if len(users) == 1 else OUTSIDE
    if product == OUTSIDE or operations.kinds[product] != "Mul":
        return set(), end
    for value in operations.operands[product]:
        squashed = blocks.ending(operations.giver(value), "activation")
        if squashed is None or squashed.name not in ("SiLU", "Sigmoid") or squashed.end == last:
            continue
        if operations.only_user(squashed.end) == product:
            return {*numbers, *squashed.numbers, product}, product
    return set(), end


def add_pointwise_projections(blocks: FoundBlocks, core: set[int], end: int) -> None:
    """Take convolutions of single places around an attention for the projections that they are.

    So an attention among convolutions has them (Z. Dai and others, CoAtNet, 2021, section 2.1).
    """
    operations = blocks.operations
    pending = [giver for number in core for giver in operations.givers(number)]
    seen = {*core}
    for _ in range(_MOST_BEFORE):
        if not pending:
            break
        number = pending.pop()
        if number in seen:
            continue
        seen.add(number)
        found = make_pointwise(blocks, number, are_grouped=True)
        if found is not None:
            blocks.add(found)
        elif blocks.owner[number] is None and operations.kinds[number] in BEFORE_PRODUCTS:
            pending += operations.givers(number)
    user = operations.only_user(end)
    found = make_pointwise(blocks, user, are_grouped=True) if user is not None else None
    if found is not None:
        blocks.add(found)


def is_latent(blocks: FoundBlocks, norm: FoundBlock, core: set[int]) -> bool:
    """Return whether a norm is of a projection, or a part of one, that nothing else takes."""
    operations = blocks.operations
    inside = core | norm.numbers
    starts = {giver for number in norm.numbers for giver in operations.givers(number)} - inside
    start = starts.pop() if len(starts) == 1 else None
    if start is not None and operations.nodes[start].operator.has("picks"):
        if not inside.issuperset(operations.users[start]):
            return False
        inside.add(start)
        start = next(iter(operations.givers(start)), None)
    linear = blocks.ending(start, "linear")
    return linear is not None and inside.issuperset(operations.users[linear.end])


def skip_scale(operations: Operations, number: int) -> int:
    """Return what gives what a number multiplies, as latent features may be; else the operation.

    Features of few numbers are scaled up to what those of all would be (Meituan LongCat Team,
    LongCat-Flash Technical Report, 2025, section 2.3).
    """
    givers = operations.givers(number)
    is_alone = len(operations.operands[number]) == 1 == len(givers)
    is_scale = is_alone and operations.kinds[number] == "Mul"
    return givers[0] if is_scale and operations.scalar(number) is not None else number


def read_latent(
    blocks: FoundBlocks, sources: list[tuple[Value | None, FoundBlock | None]], whole: set[int]
) -> int:
    """Return of how many features keys and values are that are one projection of them; else 0.

    A projection of what attention takes gives the features, which are normalized (DeepSeek-AI,
    DeepSeek-V2, 2024, section 2.1 and figure 3).
    """
    key, value = (sources[1][1], sources[2][1]) if len(sources) == 3 else (None, None)
    if key is None or key is not value or key is sources[0][1]:
        return 0
    givers = blocks.operations.givers(min(key.numbers))
    width = key.details.read_as(FeatureDetails).in_features
    is_inside = bool(givers) and whole.issuperset(givers)
    start = skip_scale(blocks.operations, givers[0]) if is_inside else None
    is_normal = blocks.holding(start, "norm") is not None
    return width if is_normal and width is not None else 0


def has_latents(operations: Operations, number: int) -> bool:
    """Return whether an operation compares keys with queries that are learned.

    A. Jaegle and others, Perceiver, 2021, section 3.2: queries of a table of latents, whatever is
    attended to. That is no weight of a linear layer: it has heads, or was put into another form.
    """
    node = operations.nodes[number]
    if not node.operator.has("multiplies") or len(operations.operands[number]) != 1:
        return False
    first = node.input(0)
    if first is None or not operations.is_fixed(first):
        return False
    dims = _find_dims(first)
    return len(dims) > 2 and dims[-2] is not None and not _has_keys(node)


def _has_keys(product: Node) -> bool:
    """Return whether the first operand of an Einsum has a row for each key, as positions have."""
    first, _, rest = read_str(product, "equation").replace(" ", "").partition(",")
    keys = rest[-1:]
    return bool(keys) and keys in first


def count_queries(facts: Iterable[str]) -> str:
    """Return how many learned queries facts of an attention tell; "" for none."""
    found = (_QUERIES.fullmatch(fact) for fact in facts)
    return next((match["count"] for match in found if match is not None), "")


def _are_fewer(product: Node, count: int) -> bool:
    """Return whether so many queries are fewer than the keys that a product compares them with."""
    keys, axis = _find_dims(product.input(1)), find_compared_axis(product, 1)
    attended = keys[axis] if axis is not None and -axis <= len(keys) else None
    return attended is None or count < attended


def _find_dims(value: Value | None) -> tuple[int | None, ...]:
    """Return the dimensions of a value, as stated or else as the operators before it give them."""
    stated = read_type_dims(value) or read_dims(value)
    if stated or value is None:
        return stated
    found = find_value_facts(value.graph.model).find_dims(value) or ()
    return tuple(dim if isinstance(dim, int) else None for dim in found)


def write_queries(operations: Operations, number: int) -> list[str]:
    """Return ``256 × 1024 latents``: how many learned queries there are, and how wide they are.

    Before their projection, where they are found; else only how many. They are latents where they
    are several, and fewer than what they attend to: what comes in is put into a smaller set.
    """
    value = operations.nodes[number].input(0)
    shape = _find_dims(value)
    count = shape[-2] if len(shape) > 1 else None
    if count is None:
        return []
    for _ in range(_MOST_TO_TABLE):
        node = value.producer if value is not None else None
        if value is None or node is None:
            break
        value = node.input(0)
    dims = [dim for dim in read_dims(value) if dim != 1]
    is_table = len(dims) == 2 and dims[0] == count
    noun = "latents" if _are_fewer(operations.nodes[number], count) else "learned queries"
    noun = "learned query" if count == 1 else noun
    return [f"{count:,} × {dims[1]:,} {noun}" if is_table else f"{count:,} {noun}"]
