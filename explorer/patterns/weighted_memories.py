"""Memories that gates weigh, histories that a target weighs, and experts that all tokens share."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count

from .attention_forms import find_gate
from .found_blocks import FoundBlock, FoundBlocks
from .leading import find_leading
from .operations import PICKING, Operations
from .readings import read_int
from .walks import keep_own, walk_back

_MOST_STEPS = 12
#: of steps in chunks, each of which is written out
_MOST_CHUNKED = 300
_MOST_OF_EXPERTS = 300
_LEAST_EXPERTS = 2
_PRODUCTS = ("MatMul", "Einsum")
_BOTH = 2
#: what weights of a history go through before they weigh it, and a mask of it is made by
_MASKING = ("Add", "Div", "Mul", "Sigmoid", "Softmax", "Where")
_MOST_OF_MASK, _MOST_MASKS = 8, 4
#: slots are taken apart for the experts, and put together again
_SLOTS = ((*PICKING, "splits"), ("joins",))
#: what gates of a memory go through before they are factors of scores
_GATING = frozenset(
    {"Abs", "Add", "CumSum", "Div", "Exp", "Max", "Mul", "Neg", "ReduceMax", "ReduceSum", "Sub"}
    | {"Where"}
)


def find_matrix_memories(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find scores times exponentials of gates, divided by max(|Σ|, exp(-m)), times values.

    M. Beck and others, xLSTM: Extended Long Short-Term Memory, 2024, equations 19 to 27 (mLSTM),
    written for all steps at once, or for chunks of steps, to which the memory of those before is
    added (M. Beck and others, xLSTM 7B, 2025, section 3.2).
    """
    yield from _find_chunked(blocks)
    operations = blocks.operations
    for limit, kind in enumerate(operations.kinds):
        if kind != "Max" or blocks.owner[limit] is not None:
            continue
        division = operations.only_user(limit)
        taken = operations.operands[limit]
        magnitude = next((n for v in taken if (n := operations.given_by(v, "Abs"))), None)
        floor = next((n for v in taken if (n := operations.given_by(v, "Exp"))), None)
        if division is None or operations.kinds[division] != "Div" or len(taken) != 2:
            continue
        if magnitude is None or floor is None:
            continue
        total = operations.given_by(operations.operands[magnitude][0], "ReduceSum")
        scores = operations.operands[total][0] if total is not None else None
        weighed = operations.given_by(scores, "Mul") if scores is not None else None
        divided = operations.operands[division][0]
        if total is None or weighed is None:
            continue
        product = operations.only_user(division) if divided is scores else operations.giver(divided)
        if product is None or operations.kinds[product] not in _PRODUCTS:
            continue
        if divided is not scores and scores not in operations.operands[product]:
            continue
        end = max(product, division)
        numbers = {limit, division, magnitude, floor, total, weighed, product}
        for _ in range(_MOST_STEPS):
            numbers |= {
                giver
                for n in numbers
                for giver in operations.givers(n)
                if blocks.owner[giver] is None
                and numbers.issuperset(operations.users[giver])
                and operations.kinds[giver] in (*_GATING, *_PRODUCTS)
            }
        if all(blocks.owner[number] is None for number in numbers):
            own = keep_own(operations, numbers, end)
            yield FoundBlock("matrix memory", "mLSTM", frozenset(own), end)


def _find_chunked(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find what scores within a chunk and the memory of earlier ones give together."""
    operations = blocks.operations
    layers = [one for one in blocks.owner if one is not None and one.kind == "linear"]
    given = {value for one in layers if (value := operations.nodes[one.end].output(0)) is not None}
    unused: set[int] = set()  # as the memory behind the last chunk
    for number in reversed(range(len(operations))):
        if unused.issuperset(operations.users[number]):
            unused.add(number)
    for limit, kind in enumerate(operations.kinds):
        taken = operations.operands[limit]
        if kind != "Max" or len(taken) != _BOTH or blocks.owner[limit] is not None:
            continue
        magnitude = next((n for v in taken if (n := operations.given_by(v, "Abs"))), None)
        floor = next((n for v in taken if (n := operations.given_by(v, "Exp"))), None)
        user = operations.only_user(limit)
        if user is not None and operations.kinds[user] == "Add":  # a small number
            user = operations.only_user(user) if operations.scalar(user) is not None else None
        if magnitude is None or floor is None or user is None or operations.kinds[user] != "Div":
            continue
        size = operations.given_by(operations.operands[magnitude][0], "Add")
        mixed = operations.given_by(operations.operands[user][0], "Add")
        if size is None or mixed is None or not _share_scores(operations, size, mixed):
            continue
        core = {user, *unused}
        leading = find_leading(operations, core, operations.operands[user], given, _MOST_CHUNKED)
        if leading is None:
            continue
        own = {user, *leading.numbers}
        own |= {n for n in unused if own.intersection(operations.givers(n))}
        end = _add_gate(blocks, own, user)
        alone = (one for one in layers if own.issuperset(operations.users[one.end]))
        numbers = frozenset(own.union(*(one.numbers for one in alone)))
        owners = [owner for n in numbers if (owner := blocks.owner[n]) is not None]
        sums = any(operations.nodes[n].operator.has("accumulates") for n in numbers)
        if sums and all(owner.numbers <= numbers for owner in owners):
            yield FoundBlock("matrix memory", "mLSTM", numbers, end, ("in chunks",))


def _add_gate(blocks: FoundBlocks, own: set[int], end: int) -> int:
    """Take in the gate of what a memory gives, and the layer behind it; return what ends it."""
    operations = blocks.operations
    user = operations.only_user(end)
    if user is not None and operations.nodes[user].operator.has("joins"):
        if len(operations.operands[user]) > 1:
            return end
        last = user  # of one chunk
    else:
        last = end
    gate, gated = find_gate(blocks, last)
    layer = blocks.holding(operations.only_user(gated), "linear")
    if not gate or layer is None or operations.only_user(gated) != min(layer.numbers):
        return end
    own |= {last, *gate, *layer.numbers}
    return layer.end


def _share_scores(operations: Operations, size: int, mixed: int) -> bool:
    """Return whether both are sums: of scores that are summed up, and of values mixed by them.

    To each a product with what is kept is added.
    """
    totals = [n for n in operations.givers(size) if operations.kinds[n] == "ReduceSum"]
    products = [n for n in operations.givers(mixed) if operations.kinds[n] in _PRODUCTS]
    others = [n for n in operations.givers(size) if operations.kinds[n] in _PRODUCTS]
    if len(totals) != 1 or len(products) != _BOTH or len(others) != 1:
        return False
    scores = operations.operands[totals[0]][0]
    asked = operations.operands[others[0]][0]
    taken = [operations.operands[n][0] for n in products]
    return sorted(taken, key=id) == sorted((scores, asked), key=id)


def find_target_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a history that is summed up by what a network makes of each of it beside a target.

    G. Zhou and others, Deep Interest Network for Click-Through Rate Prediction, 2018, equation 3.
    The sum may be a product of matrices, and what pads a history be masked.
    """
    operations = blocks.operations
    for total, kind in enumerate(operations.kinds):
        if blocks.owner[total] is not None or kind not in ("MatMul", "ReduceSum"):
            continue
        product, pairs = total, [operations.operands[total]]
        if kind == "ReduceSum":
            inner = operations.given_by(operations.operands[total][0], "Mul")
            if inner is None or blocks.owner[inner] is not None:
                continue
            factors = operations.operands[inner]
            product, pairs = inner, [factors, factors[::-1]]
        for pair in pairs:
            found = _read_target(blocks, *pair) if len(pair) == _BOTH else None
            if found is not None:
                own = keep_own(operations, {product, *found}, total)
                yield FoundBlock("attention", "Target attention", frozenset(own), total)
                break


def _read_target(blocks: FoundBlocks, weight: Value, history: Value) -> set[int] | None:
    """Return what makes one number of each of a history, and of its products with a target."""
    operations = blocks.operations
    weight, numbers = _leave_masks(blocks, weight)
    layer = blocks.ending(operations.giver(weight), "mlp")
    dims = find_value_facts(weight.graph.model).find_dims(weight)
    if layer is None or dims is None or not dims or dims[-1] != 1:
        return None
    join = operations.giver(operations.operands[min(layer.numbers)][0])
    if join is None or not operations.nodes[join].operator.has("joins"):
        return None
    beside = operations.operands[join]
    met = {
        n
        for v in beside
        if (n := operations.given_by(v, "Mul", "Sub")) is not None
        and history in operations.operands[n]
        and len({*operations.operands[n]}) > 1
    }
    return {*numbers, *layer.numbers, join, *met} if history in beside and met else None


def _leave_masks(blocks: FoundBlocks, weight: Value) -> tuple[Value, set[int]]:
    """Return what weights were before they were made shares, scaled and masked, and what did so."""
    operations = blocks.operations
    numbers: set[int] = set()
    for _ in range(_MOST_MASKS):
        number = operations.given_by(weight, *_MASKING)
        if number is None or blocks.ending(number, "mlp") is not None:
            break
        taken = operations.operands[number]
        scores = [v for v in taken if _is_weight(blocks, v)] if len(taken) > 1 else taken
        if len(scores) != 1:
            break
        numbers.add(number)
        for mask in {*taken} - {*scores}:
            leading = find_leading(operations, numbers, [mask], most=_MOST_OF_MASK)
            numbers |= leading.numbers if leading is not None else set()
        weight = scores[0]
    return weight, numbers


def _is_weight(blocks: FoundBlocks, value: Value, steps: int = _MOST_MASKS) -> bool:
    """Return whether a value comes of the layers that weigh."""
    operations = blocks.operations
    number = operations.giver(value)
    if number is None or blocks.ending(number, "mlp") is not None:
        return number is not None
    is_masked = operations.kinds[number] in _MASKING and steps > 0
    return is_masked and any(_is_weight(blocks, v, steps - 1) for v in operations.operands[number])


def find_soft_mixtures(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find tokens mixed into slots, experts of these, and slots mixed back, by the same scores.

    J. Puigcerver and others, From Sparse to Soft Mixtures of Experts, 2024, equations 1 to 3.
    """
    operations = blocks.operations
    shares: dict[Value, list[int]] = {}
    for number, kind in enumerate(operations.kinds):
        if kind == "Softmax":
            shares.setdefault(operations.operands[number][0], []).append(number)
    for logits, both in shares.items():
        if len(both) != 2 or _read_axis(operations, both[0]) == _read_axis(operations, both[1]):
            continue
        for first, second in (both, both[::-1]):
            dispatch, combine = operations.only_user(first), operations.only_user(second)
            if dispatch is None or combine is None or dispatch == combine:
                continue
            if any(operations.kinds[n] not in _PRODUCTS for n in (dispatch, combine)):
                continue
            slots = operations.nodes[dispatch].output(0)
            mixed = [v for v in operations.operands[combine] if operations.giver(v) != second]
            if slots is None or len(mixed) != 1:
                continue
            inner = walk_back(operations, mixed[0], {slots}, _MOST_OF_EXPERTS)
            experts = {id(o): o for n in inner or () if (o := blocks.owner[n]) and o.kind == "mlp"}
            if inner is None or len(experts) < _LEAST_EXPERTS:
                continue
            nodes = [operations.nodes[n] for n in inner if blocks.owner[n] is None]
            if not all(any(node.operator.has(*traits) for node in nodes) for traits in _SLOTS):
                continue
            numbers = {dispatch, combine, first, second, *inner}
            scores = operations.giver(logits)
            owner = blocks.owner[scores] if scores is not None else None
            if scores is None or operations.kinds[scores] not in (*_PRODUCTS, "Gemm"):
                continue
            numbers |= owner.numbers if owner is not None and owner.kind == "linear" else {scores}
            facts = (write_count(len(experts), "expert", "experts"),)
            name = "Soft mixture of experts"
            own = keep_own(operations, numbers, combine)
            yield FoundBlock("experts", name, frozenset(own), combine, facts)
            break


def _read_axis(operations: Operations, number: int) -> tuple[int | None, object]:
    """Return the axis of shares, with how many axes there are."""
    node = operations.nodes[number]
    value = node.input(0)
    dims = find_value_facts(node.graph.model).find_dims(value) if value is not None else None
    axis = read_int(node, "axis")
    count = len(dims) if dims is not None else 0
    return (axis % count if count and axis is not None else axis), count
