"""Parts of a series that explain it, and are taken off or exchanged."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Node, Value

from .found_blocks import FoundBlock, FoundBlocks
from .leading import find_leading
from .operations import ARRANGING, PICKING, Operations
from .picked_parts import read_parts
from .walks import leads_to, walk_back
from .weight_sizes import read_features

_BOTH = 2
_MOST_OF_BLOCK = 80
_MOST_OF_NET = 24
_LEAST_LAYERS = 3
_BACKCAST = "Backcast and forecast block"
_MOST_POOLED = 4
_MOST_ARRANGED = 8
_SUMS = ("Add", "Sum")
_PARTING = (*PICKING, "slices", "splits")
_WEIGHTED = ("Conv", "Gemm")
_OF_NETWORKS = ("activation", "basis", "conv", "linear", "mlp", "norm", "residual")
_BETWEEN = (*PICKING, "adds", "pads", "pools", "resamples", "slices", "splits")


def find_backcasts(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find x - b(h), where layers make h of x, and a forecast f(h) goes its own way.

    B. Oreshkin and others, N-BEATS: Neural Basis Expansion Analysis for Interpretable Time Series
    Forecasting, 2020, equations 1 and 7 (doubly residual stacking). Nothing takes the backcast of
    the last of them, so that it is not there.
    """
    yield from _find_last(blocks)
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Sub" or len(taken) != _BOTH or blocks.owner[end] is not None:
            continue
        series, explained = taken
        walked = walk_back(operations, explained, {series}, _MOST_OF_BLOCK)
        if not walked or _count_layers(operations, walked) < _LEAST_LAYERS:
            continue
        if not _is_network(blocks, walked):
            continue
        walked |= {n for m in walked if (o := blocks.owner[m]) is not None for n in o.numbers}
        forecast = _find_forecast(blocks, walked, explained)
        if forecast is None:
            continue
        numbers = {end, *walked, *forecast}
        cut = [
            o for n in numbers if (o := blocks.owner[n]) is not None and not o.numbers <= numbers
        ]
        if not cut:
            products = [n for n in sorted(walked) if operations.kinds[n] == "Gemm"][:-1]
            facts = _describe(operations, products)
            yield FoundBlock("unit", _BACKCAST, frozenset(numbers), end, facts)


def _describe(operations: Operations, products: list[int]) -> tuple[str, ...]:
    """Return how many layers are before the last ones, and how many features they all give."""
    widths = {read_features(operations.nodes[number])[1] for number in products}
    width = widths.pop() if len(widths) == 1 else 0
    return (f"{len(products)} layers of {width:,}",) if width else ()


def _find_last(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find layers that forecast of what is left of a series when a backcast is taken off it."""
    operations = blocks.operations
    for found in [one for one in blocks.list_outermost() if isinstance(one, FoundBlock)]:
        if found.kind != "mlp" or _count_layers(operations, {*found.numbers}) < _LEAST_LAYERS:
            continue
        numbers, end = {*found.numbers}, found.end
        basis = blocks.holding(operations.only_user(end), "basis")
        if basis is not None:
            numbers |= basis.numbers
            end = basis.end
        users = _list_users(operations.nodes[end])
        is_summed = len(users) == 1 and users[0].operator.form in _SUMS
        is_parted = bool(users) and all(user.operator.has(*_PARTING) for user in users)
        if (is_summed or is_parted) and _is_left_over(operations, found):
            products = [n for n in sorted(found.numbers) if operations.kinds[n] == "Gemm"][:-1]
            facts = _describe(operations, products)
            yield FoundBlock("unit", _BACKCAST, frozenset(numbers), end, facts)


def _list_users(node: Node) -> list[Node]:
    """Return who takes the result of a node, also after it was arranged."""
    found: list[Node] = []
    pending = [node]
    for giver in pending:  # grows on the way
        result = giver.output(0)
        for user in result.users if result is not None else ():
            if user.operator.has(*ARRANGING) and len(pending) < _MOST_ARRANGED:
                pending.append(user)
            elif not user.operator.has("reads_shape"):
                found.append(user)
    return found


def _is_left_over(operations: Operations, found: FoundBlock) -> bool:
    """Return whether layers take a series less what other layers make of it and forecast by."""
    value: Value | None = operations.operands[min(found.numbers)][0]
    for _ in range(_MOST_POOLED):
        node = value.producer if value is not None else None
        if node is None or not node.operator.has(*PICKING, *ARRANGING, "pools"):
            break
        value = node.input(0)
    node = value.producer if value is not None else None
    if node is None or node.operator.form != "Sub" or len(node.inputs) != _BOTH:
        return False
    series, explained = node.input(0), node.input(1)
    if series is None or explained is None or operations.is_fixed(explained):
        return False
    return leads_to(operations, series, explained, _MOST_OF_BLOCK)


def _is_network(blocks: FoundBlocks, numbers: set[int]) -> bool:
    """Return whether operations are layers, activations, and what stands between these."""
    operations = blocks.operations
    return all(
        ((owner := blocks.owner[number]) is not None and owner.kind in _OF_NETWORKS)
        or operations.nodes[number].operator.has(*_BETWEEN)
        for number in numbers
    )


def _count_layers(operations: Operations, numbers: set[int]) -> int:
    return sum(operations.kinds[number] in _WEIGHTED for number in numbers)


def _find_forecast(blocks: FoundBlocks, walked: set[int], explained: Value) -> set[int] | None:
    """Return the layer of what the others share that gives a forecast; None where there is none."""
    operations = blocks.operations
    last = operations.giver(explained)
    for number in sorted(walked - {last}, reverse=True):
        outside = [user for user in operations.users[number] if user >= 0 and user not in walked]
        for user in outside:
            layer = blocks.holding(user, "linear", "basis")
            if layer is not None and layer.end not in walked:
                return {*layer.numbers}
            # one layer gives both, of which parts are taken
            if operations.nodes[user].operator.has(*_PARTING):
                return set()
        if outside and operations.nodes[number].operator.has("splits"):
            return set()
    return None


def find_half_interactions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find even and odd places of a series, each times an exponential of a network of the other.

    Then what other networks give of these is added to one of them, and taken off the other (M. Liu
    and others, SCINet: Time Series Modeling and Forecasting with Sample Convolution and
    Interaction, 2022, equations 1 and 2).
    """
    operations = blocks.operations
    halves = _list_halves(operations)
    for one, other in halves:
        scaled = [
            _find_scaled(blocks, first, second)
            for first, second in (
                (one, other),
                (other, one),
            )
        ]
        if scaled[0] is None or scaled[1] is None:
            continue
        products = [scaled[0][0], scaled[1][0]]
        numbers = {*scaled[0][1], *scaled[1][1]}
        ends = [_find_exchanged(blocks, *pair) for pair in (products, products[::-1])]
        if ends[0] is None or ends[1] is None:
            continue
        numbers |= {*products, *ends[0][1], *ends[1][1], ends[0][0], ends[1][0]}
        numbers |= {n for v in (one, other) if (n := operations.giver(v)) is not None}
        cut = [
            o for n in numbers if (o := blocks.owner[n]) is not None and not o.numbers <= numbers
        ]
        if not cut:
            end = max(ends[0][0], ends[1][0])
            name = "Interaction of even and odd places"
            yield FoundBlock("unit", name, frozenset(numbers), end)


def _list_halves(operations: Operations) -> list[tuple[Value, Value]]:
    """Return the even and the odd places of values, where both are taken."""
    found: dict[Value, dict[int, Value]] = {}
    for number, node in enumerate(operations.nodes):
        if not node.operator.has("slices") or not operations.operands[number]:
            continue
        parts = [part for part in read_parts(node) if part.step != 1]
        output = node.output(0)
        start = parts[0].start if len(parts) == 1 and parts[0].step == _BOTH else None
        if isinstance(start, int) and start in (0, 1) and output is not None:
            found.setdefault(operations.operands[number][0], {})[start] = output
    return [(halves[0], halves[1]) for halves in found.values() if len(halves) == _BOTH]


def _find_scaled(blocks: FoundBlocks, half: Value, other: Value) -> tuple[int, set[int]] | None:
    """Return the product of a half and an exponential of what a network makes of the other."""
    operations = blocks.operations
    giver = operations.giver(half)
    for user in operations.users[giver] if giver is not None else ():
        if user < 0 or operations.kinds[user] != "Mul" or half not in operations.operands[user]:
            continue
        for value in operations.operands[user]:
            power = operations.given_by(value, "Exp")
            if power is None or operations.only_user(power) != user:
                continue
            walked = walk_back(operations, value, {other}, _MOST_OF_NET)
            is_network = bool(walked) and _is_network(blocks, (walked or set()) - {power})
            if walked and is_network and _count_layers(operations, walked):
                return user, walked
    return None


def _find_exchanged(blocks: FoundBlocks, one: int, other: int) -> tuple[int, set[int]] | None:
    """Return what adds to a product, or takes off it, what a network makes of another one."""
    operations = blocks.operations
    given = operations.nodes[other].output(0)
    for user in operations.users[one]:
        if user < 0 or operations.kinds[user] not in ("Add", "Sub") or given is None:
            continue
        others = [v for v in operations.operands[user] if operations.giver(v) != one]
        leading = find_leading(operations, {user}, others, [given], _MOST_OF_NET)
        found = {*leading.numbers} if leading is not None else set()
        is_of_other = leading is not None and len(others) == 1 and leading.sources == {given}
        if is_of_other and _is_network(blocks, found) and _count_layers(operations, found):
            return user, found
    return None
