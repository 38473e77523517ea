"""Features that are turned by angles of their places: rotary positions outside of attention."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .picked_parts import read_parts
from .readings import read_scalar

#: what is called so
ROTARY = "Rotary positions"
#: what picks a half of features, or every other one
_PICKING = ("gathers", "slices", "splits")
#: two parts are turned against each other, by a sum of two products
_PAIR = 2


def find_rotations(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find x · cos + turn(x) · sin, where turn(x) joins -x₂ and x₁, which are parts of x.

    So queries and keys are rotated by their positions (J. Su and others, RoFormer, 2021, equation
    34), and values or what comes before the projections in some models. Cosine and sine are stored
    for each place, or follow from shapes; the part that is negated is the later one.
    """
    operations = blocks.operations
    for total, kind in enumerate(operations.kinds):
        products = operations.givers(total)
        if kind != "Add" or blocks.owner[total] is not None or len(products) != _PAIR:
            continue
        if any(operations.kinds[product] != "Mul" for product in products):
            continue
        for plain, turned in (products, products[::-1]):
            found = _read_rotation(operations, plain, turned)
            if found is None:
                continue
            numbers = found | {total, plain, turned}
            is_free = all(blocks.owner[number] is None for number in numbers)
            if is_free and operations.is_closed(numbers, total):
                yield FoundBlock("positions", ROTARY, frozenset(numbers), total)
                break


def _read_rotation(operations: Operations, plain: int, turned: int) -> set[int] | None:
    """Return what turns parts of what is multiplied as it is, too; None for anything else."""
    kept, changed = operations.operands[plain], operations.operands[turned]
    if len(kept) != 1 or len(changed) != 1 or not operations.fixed(turned):
        return None
    join = operations.given_by(changed[0], "Concat")
    if join is None or len(operations.operands[join]) != _PAIR or not operations.fixed(plain):
        return None
    first, second = operations.operands[join]
    numbers = {join}
    negated = operations.given_by(first, "Neg")
    if negated is None or operations.given_by(second, "Neg") is not None:
        return None
    numbers.add(negated)
    parts = [operations.operands[negated][0], second]
    for part in parts:
        picked = operations.giver(part)
        if picked is None or not operations.nodes[picked].operator.has(*_PICKING):
            return None
        if not _takes(operations, picked, kept[0]):
            return None
        numbers.add(picked)
    negative, positive = (_find_start(operations, part) for part in parts)
    is_turned = negative is not None and positive is not None and positive < negative
    return numbers if is_turned and _varies(operations, plain) else None


def _find_start(operations: Operations, part: Value) -> int | None:
    """Return where a part begins along the axis that it is picked of; None where not known."""
    node = part.producer
    if node is None:
        return None
    if node.operator.has("splits"):
        return next(place for place, value in enumerate(node.outputs) if value is part)
    if node.operator.has("gathers"):
        index = read_scalar(node.input(1))
        return int(index) if index is not None else None
    parts = [one for one in read_parts(node) if one.start or one.step != 1 or not one.is_to_end]
    starts = [one.start for one in parts]
    return starts[0] if len(starts) == 1 and isinstance(starts[0], int) else None


def _varies(operations: Operations, product: int) -> bool:
    """Return whether a factor that is stored has a row for each of several places."""
    facts = find_value_facts(operations.context.graph.model)
    sizes = [facts.find_dims(value) or () for value in operations.fixed(product)]
    return any(dim != 1 for dims in sizes for dim in dims[:-1])


def _takes(operations: Operations, picked: int, value: Value) -> bool:
    return [operations.source(one) for one in operations.operands[picked]] == [
        operations.source(value)
    ]
