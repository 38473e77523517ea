"""MLPs of maps whose hidden features see their neighbours before one half gates the other."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .convolutions import read_convolution
from .found_blocks import FoundBlock, FoundBlocks
from .linear import write_widths
from .transformer_details import MlpDetails

_BOTH = 2
_PARTING = ("picks", "slices", "splits")


def find_depthwise_gates(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find W·(φ(a) · b), a and b being the halves of what a depthwise convolution gives of U·x.

    S. Zamir and others, Restormer, 2022, equation 2: the gated feed-forward network of depthwise
    convolutions (GDFN).
    """
    operations = blocks.operations
    for product, kind in enumerate(operations.kinds):
        taken = operations.operands[product]
        if kind != "Mul" or len(taken) != _BOTH or blocks.owner[product] is not None:
            continue
        for gate, gated in (taken, taken[::-1]):
            found = _read(blocks, product, gate, gated)
            if found is not None:
                yield found
                break


def _read(blocks: FoundBlocks, product: int, gate: Value, gated: Value) -> FoundBlock | None:
    operations = blocks.operations
    activation = blocks.ending(operations.giver(gate), "activation")
    if activation is None:
        return None
    halves = [_find_whole(blocks, value) for value in (_find_start(blocks, activation), gated)]
    one, two = halves
    if one is None or two is None or one[0] is not two[0] or one[2] == two[2]:
        return None
    deep = _find_layer(blocks, operations.giver(one[0]), is_deep=True)
    first = _find_layer(blocks, _giver_before(blocks, deep), is_deep=False)
    user = operations.only_user(product)
    last = blocks.holding(user, "conv", "linear")
    if deep is None or first is None or last is None or min(last.numbers) != user:
        return None
    if _find_layer(blocks, last.end, is_deep=False) is not last:
        return None
    parts = (first, deep, activation, last)
    numbers = {product, one[1], two[1]}.union(*(part.numbers for part in parts))
    widths = [one.details.in_out for one in (first, last)]
    if not operations.is_closed(numbers, last.end) or widths[0] is None or widths[1] is None:
        return None
    told = (widths[0][0], *widths[1])
    details = MlpDetails(activation=activation.name, widths=told, gated=True)
    facts = (write_widths(*told), activation.name)
    name = "Gated depthwise MLP"
    return FoundBlock("unit", name, frozenset(numbers), last.end, facts, details, parts)


def _find_start(blocks: FoundBlocks, activation: FoundBlock) -> Value | None:
    """Return the one value that an activation takes."""
    operations = blocks.operations
    taken = {
        value
        for number in activation.numbers
        for value in operations.operands[number]
        if operations.giver(value) not in activation.numbers
    }
    return taken.pop() if len(taken) == 1 else None


def _find_whole(blocks: FoundBlocks, value: Value | None) -> tuple[Value, int, Value] | None:
    """Return of which value another one is a part, the operation that takes it, and the part."""
    operations = blocks.operations
    number = operations.giver(value) if value is not None else None
    if number is None or value is None or not operations.nodes[number].operator.has(*_PARTING):
        return None
    taken = operations.operands[number]
    return (taken[0], number, value) if taken else None


def _find_layer(blocks: FoundBlocks, number: int | None, *, is_deep: bool) -> FoundBlock | None:
    """Return the convolution that an operation ends: of single channels, or of single places."""
    operations = blocks.operations
    found = blocks.ending(number, "conv", "linear")
    if found is None or any(part.kind != "conv" for part in found.parts):
        return None
    inner = [n for n in found.numbers if operations.kinds[n] == "Conv"]
    if len(inner) != 1:
        return found if found.kind == "linear" and not is_deep and not inner else None
    details = read_convolution(operations, inner[0])
    is_point = max(details.kernel, default=1) == 1 and details.groups is None
    is_fit = details.is_depthwise and not is_point if is_deep else is_point
    return found if is_fit and not details.stride else None


def _giver_before(blocks: FoundBlocks, layer: FoundBlock | None) -> int | None:
    """Return the operation that gives what a layer takes, where nothing else takes it."""
    operations = blocks.operations
    if layer is None:
        return None
    taken = operations.operands[min(layer.numbers)]
    number = operations.giver(taken[0]) if taken else None
    is_own = number is not None and layer.numbers.issuperset(operations.users[number])
    return number if is_own else None
