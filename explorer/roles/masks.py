"""Masks and biases of the scores of an attention, and what is certain of them."""

from __future__ import annotations

from math import prod

from netloupe.explorer.dataflow import find_giver, is_input_independent, trace_on
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Node, Tensor, TensorType, Value, constant_tensor
from netloupe.explorer.operators import ARRANGING_TRAITS, PASSING_TRAITS

from .origins import find_origin
from .position_indices import COUNTING_TRAITS, comes_from_range_or_cumsum, is_shifted_range
from .preparation_pieces import MASK, PreparationNodes, PreparationUse, Purpose, list_places

#: what is looked up for the scores: by differences of places, and by something else
RELATIVE_BIAS, _BIAS = "relative position bias", "attention bias"
#: a mask is made with one of these
_CHOOSING = frozenset({"chooses", "compares", "logical", "masks"})
#: what may stand between a mask and the Softmax over the scores
_SCORING = ("dequantizes", "elementwise", "quantizes", *ARRANGING_TRAITS)
_MOST_STEPS = 16
_MOST_LOOKED = 40
_MOST_USES = 200


def find_mask(piece: PreparationNodes) -> Purpose | None:
    """Return whether a piece makes a mask, ALiBi, or a bias for the scores of an attention.

    What is looked up in a stored table is learned, and no mask.
    """
    if not piece.uses or not all(masks_scores(use) for use in piece.uses[:_MOST_USES]):
        return None
    looked_up = [node for node in piece.nodes if _looks_up_biases(node)]
    if looked_up:
        is_relative = all(_compares_with_itself(node.input(1)) for node in looked_up)
        return Purpose(RELATIVE_BIAS if is_relative else _BIAS, list_mask_facts(piece))
    has_slopes = any(map(_multiplies_by_slopes, piece.nodes))
    if all(use.user.operator.has("logical") for use in piece.uses[:_MOST_USES]):
        return Purpose(MASK, list_mask_facts(piece))  # which places there are, for several masks
    # 1 - mask, times a large negative number
    is_inverted = {"multiplies_elements", "subtracts"} <= piece.traits
    is_inverted = is_inverted and piece.traits.isdisjoint(COUNTING_TRAITS)
    if not piece.traits & _CHOOSING and not is_inverted:
        return Purpose("ALiBi") if has_slopes else None
    return Purpose(MASK, (*list_mask_facts(piece), *["ALiBi"] * has_slopes))


def _looks_up_biases(node: Node) -> bool:
    """Return whether a node looks up in a stored table, along whichever axis: one for each head."""
    table, index = node.input(0), node.input(1)
    if not node.operator.has("looks_up") or table is None or index is None:
        return False
    if is_input_independent(index) or not is_input_independent(table):
        return False
    origin = find_origin(table)
    if origin is None or origin.tensor is None or not origin.tensor.dtype.is_float:
        return False
    return sum(dim != 1 for dim in origin.dims or ()) > 1


def _compares_with_itself(value: Value | None) -> bool:
    """Return whether a value is made of the differences of one row of places with itself."""
    through = ("adds", "elementwise", *PASSING_TRAITS)
    node = find_giver(value, "subtracts", through=through, most=_MOST_STEPS)
    if node is None or len(node.inputs) != 2:
        return False
    first, second = (_find_row(operand) for operand in node.inputs)
    return first is not None and first is second


def _find_row(value: Value | None) -> Value | None:
    """Return what a value is another layout of."""
    for _ in range(_MOST_STEPS):
        node = value.producer if value is not None else None
        if node is None or not node.operator.has(*PASSING_TRAITS):
            return value
        value = node.input(0)
    return None


def _multiplies_by_slopes(node: Node) -> bool:
    """Return whether a node multiplies positions by several constants, one for each head."""
    if not node.operator.has("multiplies_elements") or len(node.inputs) != 2:
        return False
    for slopes, positions in (node.inputs, node.inputs[::-1]):
        if slopes is None or positions is None or not is_input_independent(slopes):
            continue
        origin = find_origin(slopes)
        dims = origin.dims if origin is not None else None
        if dims is not None and None not in dims and prod(filter(None, dims)) > 1:
            return not is_input_independent(positions) and comes_from_range_or_cumsum(positions)
    return False


def masks_scores(use: PreparationUse) -> bool:
    """Return whether a use adds a value to the scores of an attention, or chooses among them.

    What scores, or a bias of theirs, are divided by is no mask, and what they are multiplied with
    is one only where it says of each whether it counts.
    """
    operator = use.user.operator
    if operator.has("attends", "looks_up"):
        return list_places(use) <= {*operator.operands.list_of("mask", "addend")}
    pending = [(use.value, use.user)]
    seen: set[Node] = set()
    while pending and len(seen) < _MOST_LOOKED:
        value, node = pending.pop()
        if node.operator.form == "Softmax":
            return True
        if node in seen or not node.operator.has(*_SCORING) or _scales(value, node):
            continue
        seen.add(node)
        pending += [(given, user) for given in node.outputs if given for user in given.users]
    return False


def _scales(value: Value, node: Node) -> bool:
    """Return whether a value is how much of another computed one a node takes, more than yes or no.

    What the other one is added to before counts as such.
    """
    others = [one for one in node.inputs if one is not None and one is not value]
    if not others or all(map(is_input_independent, others)):
        return False
    if node.operator.has("divides"):
        return node.input(1) is value
    return node.operator.has("multiplies_elements") and not _is_either(value)


def _is_either(value: Value) -> bool:
    """Return whether each element of a value tells yes or no, as far as is known."""
    current: Value | None = value
    for _ in range(_MOST_STEPS):
        node = current.producer if current is not None else None
        if node is None:
            return True  # as padding is given
        operator = node.operator
        if operator.has("compares", "logical", "masks") or operator.form == "Softmax":
            return True
        if operator.has("chooses"):
            return all(one is None or is_input_independent(one) for one in node.inputs[1:])
        if operator.has("subtracts") and is_input_independent(node.input(0) or value):
            current = node.input(1)  # 1 - mask
        elif operator.has(*PASSING_TRAITS):
            current = node.input(0)
        else:
            return False
    return False


def list_mask_facts(piece: PreparationNodes) -> tuple[str, ...]:
    """Return what is certain of a mask: ``causal``, ``window 128``, ``padding``."""
    offsets = [
        offset
        for node in piece.nodes
        if node.operator.has("compares_order") and (offset := _read_band(node)) is not None
    ]
    facts = []
    if "masks" in piece.traits or any(abs(offset) <= 1 for offset in offsets):
        facts.append("causal")
    facts += [f"window {abs(offset):,}" for offset in offsets if abs(offset) > 1][:1]
    if any(_tells_padding(piece, value) for value in piece.list_inputs()):
        facts.append("padding")
    return tuple(facts)


def _read_band(node: Node) -> int | None:
    """Return by how much positions may differ where a node compares them; None for all else."""
    if len(node.inputs) != 2:
        return None
    first, second = (_read_offset(value) for value in node.inputs)
    if first is None or second is None or node.input(0) is node.input(1):
        return None
    return first - second


def _read_offset(value: Value | None) -> int | None:
    """Return what is added to positions that Range counts; None where these are none.

    What is known only when the model runs, such as the length of a cache, shifts the whole.
    """
    offset = 0
    for _ in range(_MOST_STEPS):
        node = value.producer if value is not None else None
        if node is None:
            return None
        operator = node.operator
        if operator.has("counts"):
            return offset
        if operator.has("adds", "subtracts") and len(node.inputs) == 2:
            subtracts = operator.has("subtracts")
            ranges = [v for v in node.inputs if is_shifted_range(v)]
            if len(ranges) != 1 or (subtracts and ranges[0] is not node.input(0)):
                return None
            other = node.input(1) if ranges[0] is node.input(0) else node.input(0)
            if other is not None and is_input_independent(other):
                added = _read_scalar(other)
                if added is None:
                    return None
                offset += -added if subtracts else added
            value = ranges[0]
        elif operator.has(*PASSING_TRAITS):
            value = node.input(0)
        else:
            return None
    return None


def _read_scalar(value: Value) -> int | None:
    tensor = constant_tensor(value)
    if not isinstance(tensor, Tensor) or tensor.size != 1 or not tensor.dtype.is_integer:
        return None
    try:
        return int(tensor.numpy().ravel()[0])
    except NetloupeError:
        return None


def _is_compared(node: Node) -> bool:
    """Return whether what a node counts is compared with something."""
    return any(
        user.operator.has("compares", "compares_order")
        for value in node.outputs
        if value is not None
        for user, _ in trace_on(value, *ARRANGING_TRAITS)
    )


def _tells_padding(piece: PreparationNodes, value: Value) -> bool:
    """Return whether the elements of an input of two axes tell which places are left out.

    Positions that are given from outside and compared with counted ones do not, nor what is counted
    of an input: which places belong to each other (J.-B. Alayrac and others, Flamingo, 2022,
    section 2.4). Nor does a square of as many rows as columns: of each two places it tells whether
    one sees the other (P. Velickovic and others, Graph Attention Networks, 2018, section 2.1).
    """
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    if shape is None or len(shape) != 2:
        return False
    rows, columns = (dim.value for dim in shape)
    if rows == columns and isinstance(rows, int) and rows > 1:
        return False
    given = {use.value for use in piece.uses}
    pending = [value]
    seen: set[Value] = set()
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        if current in given:
            return True
        for user in current.users:
            if user not in piece.inside or user.operator.has("reads_shape"):
                continue
            if user.operator.has("compares_order") and any(map(is_shifted_range, user.inputs)):
                continue
            if user.operator.has("accumulates") and _is_compared(user):
                continue
            pending += [result for result in user.outputs if result is not None]
    return False
