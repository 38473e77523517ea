"""Values put back to the places that a max pool took them from."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Node, Tensor, Value, is_constant
from netloupe.explorer.model.stored_tensors import find_stored_tensor

from .found_blocks import FoundBlock, FoundBlocks
from .leading import find_leading
from .operations import Operations
from .readings import read_ints, read_scalar

_SCATTERS = ("Scatter", "ScatterElements", "ScatterND")
_UNPOOL, _POOL = "MaxUnpool", "MaxPool"
#: so many nodes make places of a map of what the pool gives
_MOST_BEFORE = 60
#: of so many numbers it is seen whether all are 0
_MOST_ZEROS = 1 << 24
#: examples and channels
_OUTER = 2


def find_unpoolings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find values that are scattered over zeros to the places that a max pool says it took.

    V. Badrinarayanan and others, SegNet, 2017, section 3; M. Zeiler and R. Fergus, Visualizing and
    Understanding Convolutional Networks, 2014, section 2.1. A program counts places over all
    channels, an exporter takes off where each begins: what a pool of 1 × 1 says of its first place.
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        if blocks.owner[number] is not None or not _puts_back(operations, number):
            continue
        node = operations.nodes[number]
        data, places = node.input(0 if kind == _UNPOOL else 2), node.input(1)
        if data is None or places is None or operations.is_fixed(data):
            continue
        pool = _find_pool(places)
        taken = pool.output(1) if pool is not None else None
        if pool is None or taken is None:
            continue
        stops = (taken,)
        leading = find_leading(operations, {number}, [operations.source(places)], stops)
        numbers = {number, *(leading.numbers if leading is not None else ())}
        if any(blocks.owner[one] is not None for one in numbers):
            numbers = {number}
        facts = _write_kernel(pool), _write_size(pool)
        yield FoundBlock(
            "unit", "Max unpooling", frozenset(numbers), number, (*filter(None, facts),)
        )


def _puts_back(operations: Operations, number: int) -> bool:
    """Return whether an operation only puts values to places, and there is 0 elsewhere."""
    node = operations.nodes[number]
    if operations.kinds[number] == _UNPOOL:
        return True
    reduction = node.attributes.get("reduction")
    is_sum = reduction is not None and reduction.value not in ("none", b"none")
    return (
        operations.kinds[number] in _SCATTERS
        and not is_sum
        and len(node.inputs) == 1 + _OUTER
        and _is_zero(node.input(0))
    )


def _is_zero(value: Value | None) -> bool:
    if value is None:
        return False
    giver = value.producer
    if giver is not None and giver.operator.has("fills"):
        fill = giver.attributes.get("value")
        tensor: object = fill.value if fill is not None else None
        if fill is None:
            return giver.operator.form == "ConstantOfShape"
    else:
        tensor = find_stored_tensor(value)
    if read_scalar(value) == 0:
        return True
    if not isinstance(tensor, Tensor) or not 0 < tensor.size <= _MOST_ZEROS:
        return False
    try:
        return not tensor.numpy().any()
    except (NetloupeError, TypeError, ValueError):
        return False


def _find_pool(places: Value) -> Node | None:
    """Return the one pool whose places some are; None where they depend on anything else.

    What a pool of 1 × 1 gives are places of its own. The pool is far from where its places are
    used, so it is looked for among all nodes of a graph.
    """
    pools: dict[Node, None] = {}
    seen: set[Node] = set()
    pending = [places]
    while pending:
        value = pending.pop()
        node = value.producer
        if node is None:
            if not is_constant(value):
                return None
            continue
        if node in seen or node.operator.has("reads_shape"):
            continue
        seen.add(node)
        if node.operator.form == _POOL:
            if node.output(1) is not value:
                return None
            if {*read_ints(node, "kernel_shape")} != {1}:
                pools[node] = None
            continue
        if len(seen) > _MOST_BEFORE:
            return None
        pending += [operand for operand in node.inputs if operand is not None]
    return next(iter(pools)) if len(pools) == 1 else None


def _write_kernel(pool: Node) -> str:
    return "×".join(map(str, read_ints(pool, "kernel_shape")))


def _write_size(pool: Node) -> str:
    """Return ``to 24 × 32``: the size of what the pool took."""
    dims = find_value_facts(pool.graph.model).find_dims(pool.input(0))
    sizes = (dims or ())[_OUTER:]
    return f"to {' × '.join(map(str, sizes))}" if sizes and all(map(_is_size, sizes)) else ""


def _is_size(size: object) -> bool:
    return isinstance(size, int)
