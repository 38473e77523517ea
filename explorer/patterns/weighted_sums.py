"""Weighted sums whose weights a Softmax gives: attention without a product of queries and keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from netloupe.explorer.model import Node, Value

from .convolution_details import ConvolutionDetails
from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import OUTSIDE, PICKING, Operations
from .readings import read_axes
from .shares import ScoreShares, list_shares
from .weight_sizes import read_type_dims

#: what may stand between scores and their Softmax
_BEFORE_SHARES = ("Add", "Div", "Mul", "Where")
_MOST_STEPS = 4
#: what takes shares besides: a sum of those of all steps, a mixture with a vocabulary
_MOST_USERS = 4
#: so many layers of what gives scores are looked at
_MOST_LAYERS = 8
_LEAST_EXPERTS = 2
#: channels of shares: those before, and the sum of all
_MOST_OF_SHARES = 2
_SCORING = ("activation", "gate", "linear", "mlp", "norm")


def find_weighted_sums(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find sums of values by shares that a linear layer gives scores for.

    In additive attention the scores are of tanh(W·query + U·key) (D. Bahdanau and others, Neural
    Machine Translation by Jointly Learning to Align and Translate, 2015, appendix A.1.2), of all
    pairs where queries, keys and values are of one sequence (G. Zheng and others, OpenTag, 2018,
    equations 5 and 6); a layer of the sum of all shares before keeps it from places that were
    covered (A. See and others, Get To The Point, 2017, equation 11). It is
    sensitive to location where a convolution of the shares before is added (J. Chorowski and
    others, Attention-Based Models for Speech Recognition, 2015, equations 8 and 9). Where
    they are of the values alone it is attention pooling (Z. Lin and others, A Structured
    Self-attentive Sentence Embedding, 2017, equations 5 and 6; M. Ilse and others, Attention-based
    Deep Multiple Instance Learning, 2018, equations 8 and 9).
    """
    for numbers, layer, values, window in _list_sums(blocks):
        made = _make_additive(blocks, {*numbers}, layer, values, window)
        made = made or _make_pooling(blocks, {*numbers}, layer, values)
        if made is not None:
            yield made


def find_soft_routing(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find such sums of several values side by side: the results of experts, or others.

    Experts take what their shares are made of, too (R. Jacobs and others, Adaptive Mixtures of
    Local Experts, 1991, equation 1; J. Ma and others, Multi-gate Mixture-of-Experts, 2018,
    equations 6 and 7). Others are features of which some are selected (B. Lim and others, Temporal
    Fusion Transformers, 2021, section 4.2).
    """
    for numbers, layer, values, _ in _list_sums(blocks):
        made = _make_routing(blocks, {*numbers}, layer, values)
        if made is not None:
            yield made


def _list_sums(blocks: FoundBlocks) -> Iterator[tuple[set[int], FoundBlock, Value, int]]:
    """Yield the operations of each sum by shares, the layer that gives scores, and the values.

    And to how many places in a row the shares are limited.
    """
    for shares in list_shares(blocks):
        found = _find_sum(blocks, shares)
        scoring = _find_scoring(blocks, shares.scores)
        if found is not None and scoring is not None:
            layer, between = scoring
            numbers = {*shares.numbers, *found[0], *between, *layer.numbers}
            yield numbers, layer, found[1], shares.window


def _find_sum(blocks: FoundBlocks, shares: ScoreShares) -> tuple[set[int], Value] | None:
    """Return what sums values up by shares, and the values.

    ScoreShares may be told besides, and kept for the next step.
    """
    users = [user for user in blocks.operations.users[shares.end] if user != OUTSIDE]
    sums = [_read_sum(blocks, shares, user) for user in users[:_MOST_USERS]]
    found = [one for one in sums if one is not None]
    return found[0] if len(found) == 1 else None


def _read_sum(
    blocks: FoundBlocks, shares: ScoreShares, product: int
) -> tuple[set[int], Value] | None:
    operations = blocks.operations
    if blocks.owner[product] is not None:
        return None
    taken = operations.operands[product]
    if len(taken) != 2 or operations.giver(taken[0]) == operations.giver(taken[1]):
        return None
    values = taken[1] if operations.giver(taken[0]) == shares.end else taken[0]
    if operations.kinds[product] == "MatMul":
        return {product}, values
    total = operations.only_user(product)
    if operations.kinds[product] != "Mul" or total is None:
        return None
    if operations.kinds[total] != "ReduceSum" or blocks.owner[total] is not None:
        return None
    summed = read_axes(operations.nodes[total])
    if summed is None or len(summed) != 1:
        return None
    # an axis may have been put in between, so that only -1, which would not move, has to fit
    is_fit = shares.axis in (*summed, None, -1) or shares.axis == summed[0] - 1
    return ({product, total}, values) if is_fit else None


def _find_scoring(blocks: FoundBlocks, scores: Value) -> tuple[FoundBlock, set[int]] | None:
    """Return the linear layer that scores are of, and what stands between."""
    operations = blocks.operations
    between: set[int] = set()
    number = operations.giver(scores)
    for _ in range(_MOST_STEPS):
        layer = blocks.holding(number, "linear", "mlp") or _find_vector(blocks, number)
        if layer is not None and layer.end == number:
            return layer, between
        if number is None or operations.kinds[number] not in _BEFORE_SHARES:
            return None
        if blocks.owner[number] is not None or len(operations.users[number]) != 1:
            return None
        between.add(number)
        computed = [v for v in operations.operands[number] if operations.giver(v) is not None]
        number = operations.giver(computed[0]) if len(computed) == 1 else None
    return None


def _find_vector(blocks: FoundBlocks, number: int | None) -> FoundBlock | None:
    """Return the product with one vector that is written as a sum of elements times its own."""
    operations = blocks.operations
    if number is None or operations.kinds[number] != "ReduceSum":
        return None
    axes = read_axes(operations.nodes[number])
    dims = read_type_dims(operations.nodes[number].input(0))
    giver = operations.giver(operations.operands[number][0])
    if axes not in ((-1,), (len(dims) - 1,)) or giver is None:
        return None
    fixed = operations.fixed(giver)
    if operations.kinds[giver] != "Mul" or len(fixed) != 1 or len(operations.operands[giver]) != 1:
        return None
    if operations.only_user(giver) != number or {blocks.owner[number], blocks.owner[giver]} != {
        None
    }:
        return None
    return FoundBlock("linear", "Linear", frozenset({giver, number}), number)


def _make_additive(
    blocks: FoundBlocks, numbers: set[int], layer: FoundBlock, values: Value, window: int
) -> FoundBlock | None:
    operations = blocks.operations
    squashed = _find_before(blocks, layer)
    if squashed is None or squashed.name != "tanh" or len(squashed.numbers) != 1:
        return None
    total = operations.giver(operations.operands[squashed.end][0])
    if total is None or operations.kinds[total] != "Add" or blocks.owner[total] is not None:
        return None
    last, sums = total, {total}
    if len(operations.operands[total]) == 1:  # a bias is added to the sum
        inner = operations.giver(operations.operands[total][0])
        if inner is None or operations.kinds[inner] != "Add" or blocks.owner[inner] is not None:
            return None
        if operations.only_user(inner) != total:
            return None
        sums.add(inner)
        total = inner
    givers = [operations.giver(value) for value in operations.operands[total]]
    for giver in [*givers]:
        # a third one of where the shares before were
        is_inner = giver is not None and operations.kinds[giver] == "Add"
        if giver is None or not is_inner or blocks.owner[giver] is not None:
            continue
        if operations.only_user(giver) == total and len(operations.operands[giver]) == len(givers):
            givers.remove(giver)
            givers += [operations.giver(value) for value in operations.operands[giver]]
            sums.add(giver)
            break
    projections = [blocks.ending(giver, "linear") for giver in givers]
    known = [one for one in projections if one is not None]
    placed = [one for one in known if _is_of_places(blocks, one)]
    covered = [one for one in known if one.details.read_as(FeatureDetails).in_features == 1]
    located = placed + covered
    if len(givers) != 2 + len(located) or not known or operations.only_user(last) != squashed.end:
        return None
    is_of_one = len(known) == 2 and _source(blocks, known[0]) is _source(blocks, known[1])
    if is_of_one and not _makes_pairs(operations, operations.nodes[total]):
        return None  # of one value: no query is compared with keys
    numbers |= squashed.numbers | sums
    for one in known:
        if operations.only_user(one.end) in sums:
            numbers |= one.numbers
    for one in located:
        numbers |= _find_convolution(blocks, one)
    name = "Location-sensitive attention" if placed else "Additive attention"
    if is_of_one and values is _source(blocks, known[0]):
        name = "Additive self-attention"
    facts = (*_write_facts(known, window), *(("coverage",) if covered else ()))
    return _finish(blocks, numbers, name, facts)


def _makes_pairs(operations: Operations, node: Node) -> bool:
    """Return whether a sum is of each place of one operand with each place of the other."""
    taken = node.input(0), node.input(1)
    inserted = [
        read_axes(one) for v in taken for one in operations.path(v) if one.op_type == "Unsqueeze"
    ]
    if len(inserted) == 2 and all(inserted):
        return inserted[0] != inserted[1]
    one, other = (read_type_dims(value) for value in taken)
    spread = {(a == 1, b == 1) for a, b in zip(one, other, strict=False)}
    return len(one) == len(other) and {(True, False), (False, True)} <= spread


def _write_facts(projections: Sequence[FoundBlock], window: int) -> tuple[str, ...]:
    """Return how many features queries and keys are compared by, and how many places are seen."""
    details = [one.details.read_as(FeatureDetails) for one in projections]
    widths = {one.out_features for one in details if one.out_features}
    width = (f"{widths.pop()} units",) if len(widths) == 1 else ()
    return (*width, *((f"window {window}",) if window else ()))


def _is_of_places(blocks: FoundBlocks, layer: FoundBlock) -> bool:
    """Return whether a layer takes what a convolution along a sequence gives of few channels."""
    before = blocks.ending(blocks.operations.giver(_source(blocks, layer)), "conv")
    details = before.details.read_as(ConvolutionDetails) if before is not None else None
    return (
        details is not None
        and len(details.kernel) == 1
        and 0 < (details.in_features or 0) <= _MOST_OF_SHARES
    )


def _find_convolution(blocks: FoundBlocks, layer: FoundBlock) -> frozenset[int]:
    """Return the convolution that a layer alone takes from."""
    before = blocks.ending(blocks.operations.giver(_source(blocks, layer)), "conv")
    is_alone = before is not None and blocks.operations.only_user(before.end) in layer.numbers
    return before.numbers if before is not None and is_alone else frozenset()


def _make_routing(
    blocks: FoundBlocks, numbers: set[int], layer: FoundBlock, values: Value
) -> FoundBlock | None:
    operations = blocks.operations
    node = values.producer
    if node is None or not node.operator.has("joins"):
        return None
    experts = {value for value in node.inputs if not operations.is_fixed(value)}
    count = len(node.inputs)
    if not _LEAST_EXPERTS <= len(experts) == count:
        return None
    if layer.details.read_as(FeatureDetails).out_features != count:
        return None
    source = _source(blocks, layer)
    are_experts = all(_is_made_of(blocks, value, source) for value in experts)
    join = operations.giver(values)
    if join is not None and operations.only_user(join) in numbers:
        numbers.add(join)
    if are_experts:
        return _finish(blocks, numbers, "Routing", (f"{count} experts", "weighted sum"), "experts")
    return _finish(blocks, numbers, "Soft selection", (f"of {count}",), "selection")


def _is_made_of(blocks: FoundBlocks, value: Value | None, source: Value) -> bool:
    """Return whether layers alone make a value of another one, also those outside of the nodes."""
    known = blocks.operations
    for _ in range(_MOST_LAYERS):
        if value is None or value is source:
            return value is not None
        producer = value.producer
        if producer is None:
            return False
        value = next((v for v in producer.inputs if v is not None and not known.is_fixed(v)), None)
    return False


def _make_pooling(
    blocks: FoundBlocks, numbers: set[int], layer: FoundBlock, values: Value
) -> FoundBlock | None:
    """Return the pooling of values by scores that are of them alone."""
    operations = blocks.operations
    current = layer
    for _ in range(_MOST_LAYERS):
        sources = {
            value
            for number in current.numbers
            for value in operations.operands[number]
            if operations.giver(value) not in current.numbers
        }
        if sources == {values}:
            return _finish(blocks, numbers, "Attention pooling")
        givers = {operations.giver(value) for value in sources}
        before = blocks.ending(givers.pop(), *_SCORING) if len(givers) == 1 else None
        if before is None and current.kind == "gate":  # its two layers take one value
            before = _find_twin(blocks, sources)
        if before is None or not numbers.issuperset(
            user for user in operations.users[before.end] if user != OUTSIDE
        ):
            return None
        numbers |= before.numbers
        current = before
    return None


def _find_twin(blocks: FoundBlocks, sources: set[Value]) -> FoundBlock | None:
    """Return several linear layers of one value as one block."""
    operations = blocks.operations
    layers = [blocks.ending(operations.giver(value), "linear") for value in sources]
    known = [one for one in layers if one is not None]
    if len(known) < len(layers) or len({_source(blocks, one) for one in known}) != 1:
        return None
    if not all(operations.only_user(one.end) is not None for one in known):
        return None
    numbers = frozenset[int]().union(*(one.numbers for one in known))
    return FoundBlock("linear", "Linear", numbers, max(one.end for one in known))


def _find_before(blocks: FoundBlocks, layer: FoundBlock) -> FoundBlock | None:
    value = _source(blocks, layer)
    return blocks.ending(blocks.operations.giver(value), "activation")


def _source(blocks: FoundBlocks, layer: FoundBlock) -> Value:
    return blocks.operations.operands[min(layer.numbers)][0]


def _finish(
    blocks: FoundBlocks,
    numbers: set[int],
    name: str,
    facts: tuple[str, ...] = (),
    kind: str = "attention",
) -> FoundBlock:
    end = max(numbers)
    for number in [*numbers]:  # what cuts values out for the scores alone
        for giver in blocks.operations.givers(number):
            picks = blocks.operations.nodes[giver].operator.has(*PICKING)
            is_alone = numbers.issuperset(blocks.operations.users[giver])
            if picks and is_alone and blocks.owner[giver] is None:
                numbers.add(giver)
    return FoundBlock(kind, name, frozenset(numbers), end, facts)
