"""Attention: fused operators, and what exporters write out."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.constant import constant_tensor

from .attention_forms import (
    add_pointwise_projections,
    find_gate,
    has_latents,
    is_latent,
    read_latent,
    write_latents,
)
from .attention_heads import BEFORE_PRODUCTS, count_heads, list_attended, read_fused
from .attention_scores import (
    MASK_TRAITS,
    are_of_distances,
    find_position_scores,
    has_linear_biases,
    is_causal,
    is_relative,
    is_rotary,
    read_masked_window,
)
from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import ARRANGING, OUTSIDE, PICKING, Operations, list_data
from .readings import read_int, read_numbers, read_str
from .transformer_details import AttentionDetails

#: of LinearAttention: how the state takes up a token, where that is not by a sum alone
_UPDATE_RULES = {"gated": "gated", "delta": "delta rule", "gated_delta": "gated delta rule"}
#: what gives LinearAttention its decay and rate, of projections of their own, and what mixes each
#: channel with those before it
_BEFORE_STATES = frozenset({"CausalConvWithState", "Exp", "Log", "Sigmoid", "Softplus"})
_PRODUCTS = frozenset({"Einsum", "MatMul"})
#: what may stand between the two products of an attention
_SCORES = frozenset(
    {"Add", "And", "Clip", "Div", "IsNaN", "Max", "Mul", "Slice", "Softmax", "Sub", "Tanh", "Where"}
    | {"Pad"}
)
_MOST_OF_ATTENTION = 120
_MOST_STEPS = 14


def find_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find softmax(q·kᵀ/√d + mask)·v with its projections (A. Vaswani and others, 2017, 3.2).

    Self-attention takes q, k and v from one value, cross-attention k and v from another one than
    q. In grouped-query attention several heads of q share one of k and v (J. Ainslie and others,
    GQA, 2023, figure 2). Fused operators are com.microsoft's ``Attention``,
    ``MultiHeadAttention``, ``GroupQueryAttention`` and others, ``Attention`` of opset 23, and
    ``LinearAttention`` of opset 27, which has a state in place of scores (A. Katharopoulos and
    others, Transformers are RNNs, 2020; S. Yang and others, Gated Delta Networks, 2024).
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        if operations.nodes[number].operator.has("attends"):
            core: set[int] = {number}
            end = number
            scores: list[int] = []
        elif kind == "Softmax":
            found = _find_core(operations, number)
            if found is None:
                continue
            core, end, scores = found
        else:
            continue
        if any(blocks.owner[n] is not None and blocks.owner[n].kind == "attention" for n in core):  # type: ignore[union-attr]
            continue
        yield _complete(blocks, core, end, scores, number)


def _find_core(operations: Operations, softmax: int) -> tuple[set[int], int, list[int]] | None:
    """Return what stands between the products, the second one, and the way from the first."""
    back = _search(operations, softmax, operations.givers, has_latents)
    onward = _search(
        operations, softmax, lambda n: [user for user in operations.users[n] if user != OUTSIDE]
    )
    if back is None or onward is None:
        return None
    core = {softmax, *back, *onward}
    # what tests the scores, as for rows that are masked in whole
    for number in list(core):
        core.update(
            user
            for user in operations.users[number]
            if user >= 0
            and operations.kinds[user] in _SCORES
            and core.issuperset(operations.users[user])
        )
    return core, onward[-1], back


def _search(
    operations: Operations,
    start: int,
    follow: Callable[[int], list[int]],
    is_product: Callable[[Operations, int], bool] = lambda operations, number: False,
) -> list[int] | None:
    """Return the shortest way from a Softmax to a product of two computed tensors.

    Or to what ``is_product`` says is one.
    """
    ways = [[start]]
    seen = {start}
    for _ in range(_MOST_STEPS):
        longer = []
        for way in ways:
            for number in follow(way[-1]):
                if number in seen:
                    continue
                seen.add(number)
                kind = operations.kinds[number]
                if kind in _PRODUCTS and len(operations.operands[number]) > 1:
                    return [*way[1:], number]
                if is_product(operations, number):
                    return [*way[1:], number]
                if kind in _SCORES:
                    longer.append([*way, number])
        ways = longer[:16]
    return None


def _complete(
    blocks: FoundBlocks, core: set[int], end: int, scores: list[int], anchor: int
) -> FoundBlock:
    """Add the projections before and behind a core, and tell what it is."""
    operations = blocks.operations
    is_linear = operations.nodes[anchor].operator.has("attends_linearly")
    by_positions = find_position_scores(operations, scores)
    core |= by_positions
    add_pointwise_projections(blocks, core, end)
    gate, end = find_gate(blocks, end)
    whole = core | gate
    projections = _add_projections(blocks, whole, _BEFORE_STATES if is_linear else frozenset())
    _add_feeders(blocks, core, whole)
    users = operations.takers(end)  # what a fused operator keeps for the next step goes outside
    last = blocks.holding(users[0] if users else None, "linear")
    if last is not None and last.numbers.issuperset(users):
        whole |= last.numbers
        end = last.end
    facts: list[str] = []
    rule, positions = "", ""
    node = operations.nodes[anchor]
    if scores:
        product = list_data(operations.nodes[scores[-1]])[:2]
        sources = [_trace(blocks, value, whole) for value in product]
        behind = operations.nodes[_second_product(operations, core, anchor)]
        sources.append(_trace(blocks, _value_operand(operations, behind, core), whole))
        given = last.details.read_as(FeatureDetails).in_features if last is not None else None
        heads, width, shared = count_heads(operations, product, sources, given or 0)
        is_masked = any(is_causal(operations, n) for n in core)
        found = [source for source, _ in sources]
        if not any(projection for _, projection in sources):
            found = [_find_uncut(operations, source) for source in found]
        name = _name_by_sources(found)
    else:
        inputs = list_attended(node)
        sources = [_trace(blocks, value, whole) for value in inputs]
        if is_linear or gate:  # without those of its decay, rate and gate
            found_ones = [projection for _, projection in sources if projection is not None]
            projections = list({id(one): one for one in found_ones}.values())
        heads, width, shared, is_masked = read_fused(operations, anchor, projections)
        found = [source for source, _ in sources]
        # the operator projects one value itself, or takes what one projection gives
        name = "Self-attention" if len(inputs) == 1 else _name_by_sources(found)
        if is_linear:
            name = "Linear attention"
            rule = _UPDATE_RULES.get(read_str(node, "update_rule") or "gated_delta", "")
            if rule:
                facts.append(rule)
            is_masked = True  # the state holds nothing of what comes later
    if shared > heads or (shared and heads % shared):  # each key is shared by as many queries
        shared = 0
    latent = read_latent(blocks, sources, whole)
    if latent and name == "Self-attention":
        name = "Latent attention"
    else:
        latent = 0
    if heads and shared and shared != heads:
        name = name.replace("Self-attention", "Grouped-query attention")
        if shared == 1:
            name = name.replace("Grouped-query", "Multi-query")
    if heads:
        text = f"{heads} heads" if heads > 1 else "1 head"
        if width:
            text += f" × {width}"
        if shared and shared != heads:
            text += f" over {shared}"
        facts.append(text)
    if latent:
        facts.append(f"latent {latent}")
    if scores and has_latents(operations, scores[-1]):
        name = "Cross-attention"
        facts += write_latents(operations, scores[-1])
    if is_rotary(operations, whole, anchor):
        facts.append("rotary")
        positions = "rotary"
    elif are_of_distances(operations, by_positions) or any(
        is_relative(operations, n) for n in scores
    ):
        facts.append("relative positions")
        positions = "relative"
    elif scores and any(has_linear_biases(operations, n) for n in scores):
        facts.append("ALiBi")
        positions = "ALiBi"
    if is_masked:
        facts.append("causal")
    window = max([_read_stated_window(node), *(read_masked_window(operations, n) for n in core)])
    if window:
        facts.append(f"window {window}")
    details = AttentionDetails(
        rule=rule or None,
        latent=latent or None,
        heads=heads or None,
        head_width=width if heads and width else None,
        kv_heads=shared if heads and shared and shared != heads else None,
        positions=positions or None,
        causal=is_masked,
        window=window or None,
        attention=name,
    )
    return FoundBlock("attention", name, frozenset(whole), end, tuple(facts), details)


def _read_stated_window(node: Node) -> int:
    """Return how many tokens a fused operator attends to, with the one that attends; 0 for all.

    com.microsoft's GroupQueryAttention counts that one, ONNX's Attention only what is left of it,
    and LongformerAttention what is on either side.
    """
    beside = read_int(node, "window") if node.operator.has("attends") else None
    if beside:  # on each side
        return 2 * beside + 1
    if read_int(node, "local_window_size") is not None:
        return max(read_int(node, "local_window_size") or 0, 0)
    left = read_int(node, "left_window_size")
    return left + 1 if left is not None and left >= 0 else 0


def _second_product(operations: Operations, core: set[int], anchor: int) -> int:
    onward = _search(
        operations, anchor, lambda n: [user for user in operations.users[n] if user != OUTSIDE]
    )
    return onward[-1] if onward else anchor


def _value_operand(operations: Operations, product: Node, core: set[int]) -> Value | None:
    """Return the operand of the second product that is not the weighting."""
    taken = list_data(product)[:2]
    for value in taken:
        if value is not None and operations.giver(operations.source(value)) not in core:
            return value
    return taken[1] if len(taken) > 1 else None


def _add_projections(
    blocks: FoundBlocks, core: set[int], passed: frozenset[str] = frozenset()
) -> list[FoundBlock]:
    """Add what alone leads to the core, back to the projections and these.

    ``passed`` are operators that may stand between besides.
    """
    operations = blocks.operations
    projections: list[FoundBlock] = []
    latent: set[int] = set()
    pending = [-giver for number in core for giver in operations.givers(number)]
    heapq.heapify(pending)
    first = len(core)
    # users come later in the order, so that those that belong are in already
    while pending and len(core) - first < _MOST_OF_ATTENTION:
        number = -heapq.heappop(pending)
        # what is kept of keys and values for the next step goes outside, too
        users = {*operations.users[number]} - {OUTSIDE} - core
        if number in core or any(operations.users[user] for user in users):
            continue  # but of some only the shape is taken
        core |= users
        linear = blocks.ending(number, "linear")
        if linear is not None:
            core |= linear.numbers
            projections.append(linear)
            for giver in operations.givers(min(linear.numbers)):
                if blocks.ending(giver, "norm") is not None and giver not in latent:
                    latent.add(giver)
                    heapq.heappush(pending, -giver)
            continue
        norm = blocks.holding(number, "norm")
        if number in latent and (norm is None or not is_latent(blocks, norm, core)):
            continue
        if norm is not None:
            # a norm of queries or keys; not one before the projections, nor of both
            if norm.end == number and operations.is_closed(set(norm.numbers), number):
                core |= norm.numbers
                for inner in norm.numbers:
                    for giver in operations.givers(inner):
                        heapq.heappush(pending, -giver)
            continue
        kind, owner = operations.kinds[number], blocks.owner[number]
        is_alone = owner is None or (kind in passed and len(owner.numbers) == 1)
        if not is_alone or kind not in BEFORE_PRODUCTS | passed:
            continue
        core.add(number)
        for giver in operations.givers(number):
            heapq.heappush(pending, -giver)
    return projections


def _add_feeders(blocks: FoundBlocks, core: set[int], whole: set[int]) -> None:
    """Add masks and the like that only the scores use; no weights are among them."""
    operations = blocks.operations
    pending = [-giver for number in core for giver in operations.givers(number)]
    heapq.heapify(pending)
    added = 0
    while pending and added < _MOST_OF_ATTENTION:
        number = -heapq.heappop(pending)
        if number in whole or not whole.issuperset(operations.users[number]):
            continue
        if (
            not operations.nodes[number].operator.has(*MASK_TRAITS)
            or blocks.owner[number] is not None
        ):
            continue
        whole.add(number)
        added += 1
        for giver in operations.givers(number):
            heapq.heappush(pending, -giver)


def _trace(
    blocks: FoundBlocks, value: Value | None, whole: set[int]
) -> tuple[Value | None, FoundBlock | None]:
    """Return the value that an operand is a projection of, and the projection."""
    operations = blocks.operations
    projection: FoundBlock | None = None
    for _ in range(40):
        if value is None:
            return None, projection
        value = operations.source(value)
        giver = operations.giver(value)
        if giver is None or giver not in whole:
            return value, projection
        linear = blocks.ending(giver, "linear")
        if linear is not None:
            projection = projection or linear
            # positions may be added before, or a norm of fewer features be there
            value = operations.source(operations.operands[min(linear.numbers)][0])
            if operations.giver(value) in whole:
                continue
            return value, projection
        taken = operations.operands[giver]
        if not taken:
            return value, projection
        kind = operations.kinds[giver]
        if kind == "Concat":
            # what was cached comes first, what is new behind it; of features those come first that
            # tell no position
            joins_features = read_int(operations.nodes[giver], "axis") in (-1, 3)
            value = taken[0] if joins_features else taken[-1]
            continue
        inside = [v for v in taken if operations.giver(v) in whole]
        value = (inside or taken)[0]
    return None, projection


def _find_uncut(operations: Operations, value: Value | None) -> Value | None:
    """Return what a value is cut out of, as queries are of one projection for all three."""
    for _ in range(4):
        node = value.producer if value is not None else None
        taken = node.inputs if node is not None else ()
        if node is None or not node.operator.has(*PICKING) or taken[0] is None:
            break
        if any(one is not None and not operations.is_fixed(one) for one in taken[1:]):
            break
        value = operations.source(taken[0])
    return value


def _name_by_sources(sources: list[Value | None]) -> str:
    query, key, content = (*sources, None, None, None)[:3]
    if query is None or key is None:
        return "Attention"
    if query is key or _is_sampled_from(query, key):
        return "Self-attention"
    if key is content or _is_sum_with(key, content):
        return "Cross-attention"
    return "Attention"


def _is_sampled_from(query: Value, key: Value) -> bool:
    """Return whether queries are every second place of what keys are of, or pooled from it.

    B. Graham and others, LeViT, 2021, section 4.2: attention that subsamples takes its queries of
    fewer places than keys and values.
    """
    samples, value = False, query
    for _ in range(_MOST_STEPS):
        if value is key:
            return samples
        node = value.producer
        data = node.input(0) if node is not None else None
        if node is None or data is None:
            break
        if _subsamples(node):
            samples = True
        elif not node.operator.has(*ARRANGING):
            break
        value = data
    return False


def _subsamples(node: Node) -> bool:
    """Return whether a node picks every second place or the like, as it says."""
    if node.operator.has("pools") and not node.operator.has("pools_all"):
        return True
    steps = constant_tensor(value) if (value := node.input(4)) is not None else None
    return node.operator.has("picks") and any(step > 1 for step in read_numbers(steps))


def _is_sum_with(value: Value, other: Value | None) -> bool:
    """Return whether a value is another one with positions added."""
    node = value.producer
    return other is not None and node is not None and node.op_type == "Add" and other in node.inputs
