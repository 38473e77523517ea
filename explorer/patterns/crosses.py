"""How features of tables meet: factorization machines, and cross networks."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count

from .found_blocks import FoundBlock, FoundBlocks
from .mixed_crosses import read_mixed_cross
from .operations import Operations
from .readings import read_axes

#: a cross network has at least so many layers: one alone may be a residual gate
_LEAST_LAYERS = 2
_MOST_LAYERS = 64


def find_factorizations(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find half the square of a sum less the sum of squares: products of all pairs of features.

    S. Rendle, Factorization Machines, 2010, lemma 3.1; H. Guo and others, DeepFM, 2017, section
    2.1.
    """
    operations = blocks.operations
    for difference, kind in enumerate(operations.kinds):
        taken = operations.operands[difference]
        if kind != "Sub" or len(taken) != 2 or blocks.owner[difference] is not None:
            continue
        square = operations.giver(taken[0])
        summed = operations.given_by(taken[1], "ReduceSum", "ReduceSumSquare")
        base = _read_square(operations, square)
        total = operations.given_by(base, "ReduceSum") if base is not None else None
        if square is None or summed is None or total is None:
            continue
        numbers = {difference, square, summed, total}
        features = operations.operands[total][0]
        if operations.kinds[summed] == "ReduceSum":
            inner = operations.giver(operations.operands[summed][0])
            if inner is None or _read_square(operations, inner) is not features:
                continue
            numbers.add(inner)
        elif operations.operands[summed][0] is not features:
            continue
        axes = [read_axes(operations.nodes[number]) for number in (total, summed)]
        if axes[0] is None or axes[0] != axes[1] or len(axes[0]) != 1:
            continue
        if any(operations.only_user(number) is None for number in numbers - {difference}):
            continue
        end = difference
        for _ in range(2):  # summed up over features, and halved, in either order
            user = operations.only_user(end)
            if user is None or blocks.owner[user] is not None:
                break
            if operations.kinds[user] != "ReduceSum" and not _halves(operations, user):
                break
            numbers.add(user)
            end = user
        yield FoundBlock("factorization", "Factorization machine", frozenset(numbers), end)


def _read_square(operations: Operations, number: int | None) -> Value | None:
    """Return what an operation squares; None where it is no square."""
    if number is None:
        return None
    taken = operations.operands[number]
    if operations.kinds[number] == "Mul" and len(taken) == 2 and taken[0] is taken[1]:
        return taken[0]
    is_square = operations.kinds[number] == "Pow" and operations.scalar(number) == 2.0
    return taken[0] if is_square else None


def _halves(operations: Operations, number: int) -> bool:
    kind, scalar = operations.kinds[number], operations.scalar(number)
    return (kind == "Mul" and scalar == 0.5) or (kind == "Div" and scalar == 2.0)


def find_crosses(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find layers x₀ · (W·x + b) + x one behind another, which all take the same x₀.

    R. Wang and others, Deep & Cross Network, 2017, equation 3, where W·x is one number; DCN V2,
    2021, equation 1, and equation 4, where W is a mixture of products of low rank.
    """
    operations = blocks.operations
    layers: dict[int, tuple[Value, Value, set[int]]] = {}
    mixed: dict[int, str] = {}
    for end in range(len(operations)):
        layer = _read_cross(blocks, end)
        if layer is None:
            mixture = read_mixed_cross(blocks, end)
            if mixture is not None:
                mixed[end], layer = mixture.experts, mixture[:3]
        if layer is not None:
            layers[end] = layer
    for end, (first, taken, numbers) in layers.items():
        if first is not taken:
            continue  # it is not the first one, which takes x₀ alone
        count, last, all_numbers = 1, end, {*numbers}
        experts = {mixed.get(end, "")}
        for _ in range(_MOST_LAYERS):
            following = next(
                (
                    n
                    for n, (x0, x, _) in layers.items()
                    if x0 is first and _gives(operations, last, x)
                ),
                None,
            )
            if following is None:
                break
            count, last = count + 1, following
            all_numbers |= layers[following][2]
            experts.add(mixed.get(following, ""))
        if count >= _LEAST_LAYERS:
            told = experts.pop() if len(experts) == 1 else ""
            facts = (write_count(count, "layer", "layers"), *([told] if told else []))
            yield FoundBlock("cross", "Cross network", frozenset(all_numbers), last, facts)


def _gives(operations: Operations, number: int, value: Value) -> bool:
    return operations.giver(value) == number


def _read_cross(blocks: FoundBlocks, end: int) -> tuple[Value, Value, set[int]] | None:
    """Return x₀, x, and the operations of a layer x₀ · (W·x + b) + x.

    W may be a product of two of low rank (R. Wang and others, DCN V2, 2021, equation 2).
    """
    operations = blocks.operations
    taken = operations.operands[end]
    if operations.kinds[end] != "Add" or len(taken) != 2 or blocks.owner[end] is not None:
        return None
    for inner, stream in (taken, taken[::-1]):
        numbers = {end}
        number = operations.giver(inner)
        if number is not None and operations.kinds[number] == "Add":  # a bias behind the product
            if len(operations.operands[number]) != 1 or blocks.owner[number] is not None:
                continue
            numbers.add(number)
            number = operations.giver(operations.operands[number][0])
        if number is None or operations.kinds[number] != "Mul":
            continue
        factors = operations.operands[number]
        if len(factors) != 2 or blocks.owner[number] is not None:
            continue
        for projected, first in (factors, factors[::-1]):
            layer = blocks.ending(operations.giver(projected), "linear")
            if layer is None or operations.only_user(layer.end) != number:
                continue
            begin, own = layer, {number, *layer.numbers}
            source = operations.operands[min(layer.numbers)][0]
            low = blocks.ending(operations.giver(source), "linear")
            if low is not None and operations.only_user(low.end) in layer.numbers:
                begin, source = low, operations.operands[min(low.numbers)][0]
                own |= low.numbers
            widths = begin.details.in_out, layer.details.in_out
            if source is not stream or widths[0] is None or widths[1] is None:
                continue
            if widths[1][1] in (1, widths[0][0]):
                return first, stream, numbers | own
    return None
