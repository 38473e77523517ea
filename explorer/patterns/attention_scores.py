"""What is done to the queries, keys and scores of an attention: masks, positions, biases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from netloupe.explorer.dataflow import find_giver, trace_back
from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.operators import MASKING_TRAITS

from .operations import ARRANGING, Operations
from .readings import read_int, read_numbers, read_scalar
from .stored_positions import StoredMask, compares_stored_positions

_MOST_OF_MASK = 300
#: what masks are computed by
MASK_TRAITS = (
    *MASKING_TRAITS,
    *("accumulates", "compares", "counts", "fills", "gathers", "joins", "logical", "masks"),
    *("reduces", "repeats", "scatters", "slices"),
)
#: what a mask is made of; it ends where weights or data come in
_MASK_STEPS = (*MASK_TRAITS, *ARRANGING, "elementwise", "pads")
#: what positions that are counted are still told by
_SHIFTING = (*ARRANGING, "adds", "gathers", "repeats", "slices")


def is_rotary(operations: Operations, whole: set[int], anchor: int) -> bool:
    """Return whether queries are rotated by their position.

    Written out: x·cos + rotate(x)·sin, where rotate negates one half or every other feature
    (J. Su and others, RoFormer, 2021, equation 34).
    """
    if read_int(operations.nodes[anchor], "do_rotary"):
        return True
    for number in whole:
        kind = operations.kinds[number]
        if kind == "RotaryEmbedding":
            return True
        if kind != "Concat":
            continue
        if _joins_turned(operations, number):
            return True
        turned = [operations.given_by(v, "Neg") for v in operations.operands[number]]
        if not any(n is not None and n in whole for n in turned):
            continue
        user = operations.only_user(number)
        if user is not None and operations.kinds[user] == "Mul":
            sums = operations.only_user(user)
            if sums is not None and operations.kinds[sums] == "Add":
                return True
    return False


def _joins_turned(operations: Operations, number: int) -> bool:
    """Return whether two halves are put together that are turned: a·cos - b·sin, b·cos + a·sin."""
    halves: list[set[Value]] = []
    for value in operations.operands[number]:
        combined = operations.given_by(value, "Sub" if not halves else "Add")
        products = operations.givers(combined) if combined is not None else []
        if len(products) != 2 or any(operations.kinds[product] != "Mul" for product in products):
            return False
        halves.append({v for product in products for v in operations.operands[product]})
    return len(halves) == 2 and halves[0] == halves[1] and len(halves[0]) == 2


def is_causal(operations: Operations, number: int) -> bool:
    """Return whether a mask compares positions with one another, or is one triangle of a matrix.

    A mask that is stored as it is added counts by its numbers.
    """
    node = operations.nodes[number]
    operator = node.operator
    if not operator.has(*MASKING_TRAITS):
        return False
    if operator.has("chooses") and node.inputs and _is_buffer(operations, node.input(0)):
        return True
    if any(mask.is_causal for mask in _list_stored_masks(operations, node)):
        return True
    for producer in _list_of_mask(node):
        if producer.operator.has("masks"):
            return True
        if producer.operator.has("compares_order") and len(producer.inputs) == 2:
            if all(_is_positions(operand) for operand in producer.inputs):
                return True
            if compares_stored_positions(*producer.inputs):
                return True
    return False


def read_masked_window(operations: Operations, number: int) -> int:
    """Return how many tokens a mask lets one see, itself with them; 0 where it is no window.

    It compares positions with others less a number (I. Beltagy and others, Longformer, 2020,
    section 3.1).
    """
    node = operations.nodes[number]
    if not node.operator.has(*MASKING_TRAITS):
        return 0
    stored = max((mask.window for mask in _list_stored_masks(operations, node)), default=0)
    if stored:
        return stored
    for producer in _list_of_mask(node):
        if not producer.operator.has("compares_order") or len(producer.inputs) != 2:
            continue
        for place, (shifted, other) in enumerate((producer.inputs, producer.inputs[::-1])):
            before = _read_shift(shifted)
            if not before or not _is_positions(other):
                continue
            # a position less the number is below one that is seen, or for those not seen above it
            form = producer.operator.form
            is_strict = form in ("Greater", "Less")
            is_seen = form.startswith("Less") == (place == 0)
            return before if is_strict == is_seen else before + 1
    return 0


def _read_shift(value: Value | None) -> int:
    """Return what is taken from positions; 0 where they are none, or nothing is."""
    for _ in range(12):
        node = value.producer if value is not None else None
        if node is None or not node.inputs:
            return 0
        if node.operator.has("adds", "subtracts") and len(node.inputs) == 2:
            shift = read_scalar(node.input(1))
            if shift is None or not _is_positions(node.input(0)):
                return 0
            return max(int(shift if node.operator.has("subtracts") else -shift), 0)
        if not node.operator.has(*_SHIFTING):
            return 0
        value = node.input(0)
    return 0


def _list_stored_masks(operations: Operations, node: Node) -> Iterator[StoredMask]:
    """Yield what the stored squares hide that are in the masks among what a node takes."""
    for user in (node, *_list_of_mask(node)):
        for value in user.inputs:
            mask = operations.context.read_mask(value)
            if mask is not None:
                yield mask


def _list_of_mask(node: Node) -> Iterator[Node]:
    """Yield the nodes that make the masks among what a node takes."""
    pending = [value for value in node.inputs if value is not None]
    seen: set[Node] = set()
    while pending and len(seen) < _MOST_OF_MASK:
        producer = pending.pop().producer
        if producer is None or producer in seen:
            continue
        seen.add(producer)
        yield producer
        if producer.operator.has(*_MASK_STEPS):
            pending += [operand for operand in producer.inputs if operand is not None]


def _is_buffer(operations: Operations, value: Value | None) -> bool:
    """Return whether a condition is cut out of a stored square of truth values.

    By its form alone, where its numbers are not stored with it.
    """
    for _ in range(8):
        if value is None:
            return False
        tensor = value.initializer
        if tensor is not None:
            dims = tensor.dims
            is_square = len(dims) >= 2 and dims[-1] == dims[-2] and dims[-1] > 1
            is_known = operations.context.read_mask(value) is not None
            return is_square and tensor.dtype.name in ("bool", "uint8") and not is_known
        node = value.producer
        if node is None:
            return False
        if not node.operator.has("slices", *ARRANGING) and node.operator.form != "Not":
            return False
        value = node.input(0)
    return False


def _is_positions(value: Value | None) -> bool:
    """Return whether a value is a Range, perhaps shifted and in another form."""
    for _ in range(24):
        node = value.producer if value is not None else None
        if node is None:
            return False
        if node.operator.has("counts"):
            return True
        if not node.operator.has(*_SHIFTING) or not node.inputs:
            return False
        operands = [operand for operand in node.inputs if operand is not None]
        if node.operator.has("adds") and len(operands) == 2:
            ranges = [_leads_to_range(operand) for operand in operands]
            value = operands[ranges.index(True)] if True in ranges else None
        else:
            value = operands[0]
    return False


def _leads_to_range(value: Value | None) -> bool:
    return find_giver(value, "counts", through=_SHIFTING) is not None


def is_relative(operations: Operations, number: int) -> bool:
    """Return whether scores get a table's entries added (C. Raffel and others, T5, 2020, 2.1)."""
    if operations.kinds[number] != "Add":
        return False
    node = operations.nodes[number]
    for value in node.inputs:
        for source in trace_back(value, *_MASK_STEPS, most=16):
            producer = source.producer
            if producer is not None and producer.inputs and producer.operator.has("gathers"):
                table = producer.input(0)
                is_table = table is not None and table.initializer is not None
                if is_table and len(table.initializer.dims) == 2:  # type: ignore[union-attr]
                    dtype = table.initializer.dtype  # type: ignore[union-attr]
                    if dtype.is_float:
                        return True
    return False


#: more heads are not looked at one by one
_MOST_HEADS = 256


def has_linear_biases(operations: Operations, number: int) -> bool:
    """Return whether scores get a bias added that grows with the position, for each head its own.

    That is a constant slope for each head times positions that are counted; slopes of n heads,
    a power of two, are 2^(-8/n), 2^(-16/n) … (O. Press and others, ALiBi, 2022, section 3), and
    for other numbers those of the next smaller power and every other one of the next larger, as
    the authors' code has it.
    """
    if operations.kinds[number] != "Add":
        return False
    for value in operations.nodes[number].inputs:
        for source in trace_back(value, "multiplies_elements", "repeats", "slices", *ARRANGING):
            node = source.producer
            if (
                node is not None
                and node.operator.has("multiplies_elements")
                and _multiplies_slopes(node)
            ):
                return True
    return False


def _multiplies_slopes(node: Node) -> bool:
    """Return whether a product is that of slopes and positions."""
    if len(node.inputs) != 2:
        return False
    for slopes, positions in (node.inputs, node.inputs[::-1]):
        tensor = constant_tensor(slopes) if slopes is not None else None
        numbers = read_numbers(tensor, _MOST_HEADS) if tensor is not None else ()
        if len(numbers) > 1 and _are_slopes(numbers):
            return _counts(positions)
    return False


def _are_slopes(numbers: Sequence[float]) -> bool:
    power = 1 << (len(numbers).bit_length() - 1)
    expected = [2.0 ** (-8 * (place + 1) / power) for place in range(power)]
    expected += [2.0 ** (-4 * (2 * place + 1) / power) for place in range(len(numbers) - power)]
    return all(abs(a - b) <= 0.01 * b for a, b in zip(numbers, expected, strict=True))


def _counts(value: Value | None) -> bool:
    """Return whether a value is positions: a Range, or how many tokens there are up to each."""
    through = (*_SHIFTING, "multiplies_elements", "subtracts")
    return find_giver(value, "accumulates", "counts", through=through) is not None
