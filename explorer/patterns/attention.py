"""Attention: fused operators, and what exporters write out."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence

from netloupe.explorer.model import Node, TensorType, Value

from .found import Blocks, Found
from .operations import Operations, list_data, read_int
from .recognition import Detail
from .weights import read_dims
from .wires import OUTSIDE

_FUSED = frozenset(
    {"Attention", "DecoderMaskedMultiHeadAttention", "DecoderMaskedSelfAttention"}
    | {"GroupQueryAttention", "MultiHeadAttention", "PackedAttention"}
    | {"PackedMultiHeadAttention", "ScaledDotProductAttention", "SparseAttention"}
)
_PRODUCTS = frozenset({"Einsum", "MatMul"})
#: what may stand between the two products of an attention
_SCORES = frozenset(
    {"Add", "And", "Clip", "Div", "IsNaN", "Max", "Mul", "Slice", "Softmax", "Sub", "Tanh", "Where"}
    | {"Pad"}
)
#: what may stand between a projection and the products: heads, rotary positions, norms, caches
_HEADS = frozenset(
    {
        "Add",
        "Concat",
        "Div",
        "Gather",
        "GatherND",
        "Mul",
        "Neg",
        "Pad",
        "Pow",
        "ReduceL2",
        "ReduceMean",
        "Reciprocal",
        "RotaryEmbedding",
        "Slice",
        "Split",
        "Sqrt",
        "Sub",
        "Clip",
        "Tile",
    }
)
_COMPARISONS = frozenset({"Greater", "GreaterOrEqual", "Less", "LessOrEqual"})
_MOST_OF_ATTENTION = 120
_MOST_STEPS = 14
_MOST_OF_MASK = 300


def find_attentions(blocks: Blocks) -> Iterator[Found]:
    """Find softmax(q·kᵀ/√d + mask)·v with its projections (A. Vaswani and others, 2017, 3.2).

    Self-attention takes q, k and v from one value, cross-attention k and v from another one than
    q. In grouped-query attention several heads of q share one of k and v (J. Ainslie and others,
    GQA, 2023, figure 2). Fused operators are com.microsoft's ``Attention``,
    ``MultiHeadAttention``, ``GroupQueryAttention`` and others, and ``Attention`` of opset 23.
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        if kind in _FUSED:
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
    back = _search(operations, softmax, operations.givers)
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
    operations: Operations, start: int, follow: Callable[[int], list[int]]
) -> list[int] | None:
    """Return the shortest way from a Softmax to a product of two computed tensors."""
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
                if kind in _SCORES:
                    longer.append([*way, number])
        ways = longer[:16]
    return None


def _complete(blocks: Blocks, core: set[int], end: int, scores: list[int], anchor: int) -> Found:
    """Add the projections before and behind a core, and tell what it is."""
    operations = blocks.operations
    whole = set(core)
    projections = _add_projections(blocks, whole)
    _add_feeders(blocks, core, whole)
    users = operations.users[end]
    last = blocks.holding(users[0] if users else None, "linear")
    if last is not None and last.numbers.issuperset(users):
        whole |= last.numbers
        end = last.end
    facts: list[str] = []
    details: dict[str, Detail] = {}
    node = operations.nodes[anchor]
    if scores:
        product = list_data(operations.nodes[scores[-1]])[:2]
        sources = [_trace(blocks, value, whole) for value in product]
        behind = operations.nodes[_second_product(operations, core, anchor)]
        sources.append(_trace(blocks, _value_operand(operations, behind, core), whole))
        given = last.details.get("in") if last is not None else None
        heads, width, shared = _count_heads(
            operations, product, sources, given if isinstance(given, int) else 0
        )
        is_causal = any(_is_causal(operations, n) for n in core)
        name = _name_by_sources([source for source, _ in sources])
    else:
        heads, width, shared, is_causal = _read_fused(operations, anchor, projections)
        inputs = [value for value in node.inputs[:3] if value is not None]
        sources = [_trace(blocks, value, whole) for value in inputs]
        found = [source for source, _ in sources]
        is_packed = node.op_type in ("QAttention", "PackedAttention", "DecoderMaskedSelfAttention")
        is_packed |= node.op_type == "Attention" and node.domain == "com.microsoft"
        is_packed |= len(inputs) > 1 and node.op_type == "GroupQueryAttention" and len(inputs) < 3
        name = "Self-attention" if is_packed else _name_by_sources(found)
    if heads and shared and shared != heads:
        name = name.replace("Self-attention", "Grouped-query attention")
        if shared == 1:
            name = name.replace("Grouped-query", "Multi-query")
    if heads:
        details["heads"] = heads
        text = f"{heads} heads" if heads > 1 else "1 head"
        if width:
            details["head_width"] = width
            text += f" × {width}"
        if shared and shared != heads:
            details["kv_heads"] = shared
            text += f" over {shared}"
        facts.append(text)
    if _is_rotary(operations, whole, anchor):
        facts.append("rotary")
        details["positions"] = "rotary"
    elif scores and any(_is_relative(operations, n) for n in scores):
        facts.append("relative positions")
        details["positions"] = "relative"
    if is_causal:
        facts.append("causal")
        details["causal"] = True
    details["attention"] = name
    return Found("attention", name, frozenset(whole), end, tuple(facts), details)


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


def _add_projections(blocks: Blocks, core: set[int]) -> list[Found]:
    """Add what alone leads to the core, back to the projections and these."""
    operations = blocks.operations
    projections: list[Found] = []
    pending = [-giver for number in core for giver in operations.givers(number)]
    heapq.heapify(pending)
    first = len(core)
    # users come later in the order, so that those that belong are in already
    while pending and len(core) - first < _MOST_OF_ATTENTION:
        number = -heapq.heappop(pending)
        # what is kept of keys and values for the next step goes outside, too
        if number in core or not core.issuperset({*operations.users[number]} - {OUTSIDE}):
            continue
        linear = blocks.ending(number, "linear")
        if linear is not None:
            core |= linear.numbers
            projections.append(linear)
            continue
        norm = blocks.holding(number, "norm")
        if norm is not None:
            # a norm of queries or keys; not one before the projections, nor of both
            if norm.end == number and operations.is_closed(set(norm.numbers), number):
                core |= norm.numbers
                for inner in norm.numbers:
                    for giver in operations.givers(inner):
                        heapq.heappush(pending, -giver)
            continue
        if blocks.owner[number] is not None or operations.kinds[number] not in _HEADS:
            continue
        core.add(number)
        for giver in operations.givers(number):
            heapq.heappush(pending, -giver)
    return projections


def _add_feeders(blocks: Blocks, core: set[int], whole: set[int]) -> None:
    """Add masks and the like that only the scores use; no weights are among them."""
    operations = blocks.operations
    pending = [-giver for number in core for giver in operations.givers(number)]
    heapq.heapify(pending)
    added = 0
    while pending and added < _MOST_OF_ATTENTION:
        number = -heapq.heappop(pending)
        if number in whole or not whole.issuperset(operations.users[number]):
            continue
        if operations.kinds[number] not in _FEEDERS or blocks.owner[number] is not None:
            continue
        whole.add(number)
        added += 1
        for giver in operations.givers(number):
            heapq.heappush(pending, -giver)


#: what masks are computed by
_FEEDERS = frozenset(
    {"Add", "And", "Concat", "ConstantOfShape", "Equal", "Gather", "GatherElements", "Mul", "Not"}
    | {"Or", "Range", "Slice", "Sub", "Tile", "Trilu", "Where", "CumSum", "ReduceSum", "ScatterND"}
    | _COMPARISONS
)


def _trace(
    blocks: Blocks, value: Value | None, whole: set[int]
) -> tuple[Value | None, Found | None]:
    """Return the value that an operand is a projection of, and the projection."""
    operations = blocks.operations
    projection: Found | None = None
    for _ in range(40):
        if value is None:
            return None, projection
        value = operations.source(value)
        giver = operations.giver(value)
        if giver is None or giver not in whole:
            return value, projection
        linear = blocks.ending(giver, "linear")
        if linear is not None:
            projection = linear
            value = operations.operands[min(linear.numbers)][0]
            # positions may be added before
            return operations.source(value), projection
        taken = operations.operands[giver]
        if not taken:
            return value, projection
        kind = operations.kinds[giver]
        if kind == "Concat":  # what was cached comes first, what is new behind it
            value = taken[-1]
            continue
        inside = [v for v in taken if operations.giver(v) in whole]
        value = (inside or taken)[0]
    return None, projection


def _name_by_sources(sources: list[Value | None]) -> str:
    query, key, content = (*sources, None, None, None)[:3]
    if query is None or key is None:
        return "Attention"
    if query is key:
        return "Self-attention"
    if key is content or _is_sum_with(key, content):
        return "Cross-attention"
    return "Attention"


def _is_sum_with(value: Value, other: Value | None) -> bool:
    """Return whether a value is another one with positions added."""
    node = value.producer
    return other is not None and node is not None and node.op_type == "Add" and other in node.inputs


def _count_heads(
    operations: Operations,
    product: Sequence[Value | None],
    sources: list[tuple[Value | None, Found | None]],
    given: int,
) -> tuple[int, int, int]:
    """Return how many heads there are, how wide, and how many of k and v; 0 for unknown.

    ``given`` is how many features the heads have together, as what takes them says.
    """
    query, key = sources[0][1], sources[1][1]
    is_packed = query is key
    outs = [
        found.details.get("out", 0) if found is not None and not is_packed else 0
        for found in (query, key)
    ]
    q_out, k_out = (out if isinstance(out, int) else 0 for out in outs)
    features = q_out or given
    stated = [_read_type(value) for value in product]
    if stated[0] is not None:
        heads, width = stated[0]
        if features and heads * width != features:
            return 0, 0, 0
        return (
            heads,
            width,
            stated[1][0]
            if stated[1] is not None and not k_out
            else (k_out // width if k_out % width == 0 else 0),
        )
    if not features:
        return 0, 0, 0
    read = [_read_heads(operations, value) for value in product]
    heads, width = read[0] or read[1] or (0, 0)
    is_joint = heads * width == 3 * features or (heads <= 0 < width and features % width > 0)
    if is_packed and is_joint:
        width = width // 3 if width % 3 == 0 else 0  # of q, k and v of one head
    if width and heads <= 0 and features % width == 0:
        heads = features // width
    elif heads > 0 and width <= 0 and features % heads == 0:
        width = features // heads
    if heads <= 0 or width < 0 or (width and features and heads * width != features):
        return 0, 0, 0
    shared = k_out // width if width and k_out % width == 0 else 0
    return heads, width, shared


def _read_type(value: Value | None) -> tuple[int, int] | None:
    """Return heads and their width by the stated type (batch, heads, sequence, width)."""
    stated = value.type if value is not None else None
    shape = stated.shape if isinstance(stated, TensorType) else None
    if shape is None or len(shape) != 4:
        return None
    heads, width = shape[1].value, shape[3].value
    if not isinstance(heads, int) or not isinstance(width, int) or heads < 1 or width < 1:
        return None
    return heads, width


def _read_heads(operations: Operations, value: Value | None) -> tuple[int, int] | None:
    """Return heads and their width, where a Reshape before a product splits features so.

    Either may be -1, as the file has it, or 0 where it is computed from shapes. Of several the
    first one behind the projection counts: later ones may put heads into groups that share a key.
    """
    found: tuple[int, int] | None = None
    for _ in range(24):
        if value is None:
            break
        for node in operations.path(value):
            if node.op_type != "Reshape" or len(node.inputs) < 2:
                continue
            dims = operations.knowledge.read_list(node.inputs[1])
            known = [dim if isinstance(dim, int) else 0 for dim in dims]
            if len(known) == 5 and 3 in known[2:4]:  # packed q, k and v
                del known[2 if known[2] == 3 else 3]
            if len(known) == 4 and any(known[2:]):
                found = known[2], known[3]
        source = operations.source(value)
        giver = operations.giver(source)
        if giver is None or operations.kinds[giver] not in _HEADS:
            break
        raw = [v for v in list_data(operations.nodes[giver]) if not operations.is_fixed(v)]
        value = (raw[-1] if operations.kinds[giver] == "Concat" else raw[0]) if raw else None
    return found


def _read_fused(
    operations: Operations, number: int, projections: list[Found]
) -> tuple[int, int, int, bool]:
    node = operations.nodes[number]
    heads = read_int(node, "num_heads") or read_int(node, "q_num_heads") or 0
    shared = read_int(node, "kv_num_heads") or 0
    is_causal = bool(read_int(node, "unidirectional") or read_int(node, "is_causal"))
    is_causal |= node.op_type in ("GroupQueryAttention", "DecoderMaskedSelfAttention")
    width = 0
    if heads:
        outs = [p.details.get("out") for p in projections]
        hidden = next((out for out in outs if isinstance(out, int) and out % heads == 0), 0)
        if node.domain == "com.microsoft" and node.op_type in ("Attention", "QAttention"):
            dims = read_dims(node.inputs[1] if len(node.inputs) > 1 else None)
            hidden = dims[-1] // 3 if len(dims) == 2 and dims[-1] % 3 == 0 else 0
        elif len(projections) != 3 or len({*map(str, outs)}) != 1:
            hidden = max((o for o in outs if isinstance(o, int)), default=0) if shared else 0
            hidden = hidden if len(projections) == 3 else 0
        width = hidden // heads if hidden % heads == 0 else 0
    elif isinstance(node.inputs[0].type if node.inputs and node.inputs[0] else None, TensorType):
        shape = node.inputs[0].type.shape  # type: ignore[union-attr]
        if shape is not None and len(shape) == 4:  # (batch, heads, sequence, width)
            found = [dim.value for dim in shape]
            heads = found[1] if isinstance(found[1], int) else 0
            width = found[3] if isinstance(found[3], int) else 0
    return heads, width if heads else 0, shared, is_causal


def _is_rotary(operations: Operations, whole: set[int], anchor: int) -> bool:
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
        turned = [operations.given_by(v, "Neg") for v in operations.operands[number]]
        if not any(n is not None and n in whole for n in turned):
            continue
        user = operations.only_user(number)
        if user is not None and operations.kinds[user] == "Mul":
            sums = operations.only_user(user)
            if sums is not None and operations.kinds[sums] == "Add":
                return True
    return False


def _is_causal(operations: Operations, number: int) -> bool:
    """Return whether a mask compares positions with one another, or is one triangle of a matrix."""
    node = operations.nodes[number]
    if node.op_type not in ("Add", "Where", "Sub", "Mul"):
        return False
    if node.op_type == "Where" and node.inputs and _is_buffer(operations, node.inputs[0]):
        return True
    pending = [value for value in node.inputs if value is not None]
    seen: set[Node] = set()
    while pending and len(seen) < _MOST_OF_MASK:
        value = pending.pop()
        producer = value.producer
        if producer is None or producer in seen:
            continue
        seen.add(producer)
        kind = producer.op_type
        if kind == "Trilu":
            return True
        if kind in _COMPARISONS and all(_is_positions(operand) for operand in producer.inputs[:2]):
            return True
        if kind in _MASK_STEPS:
            pending += [operand for operand in producer.inputs if operand is not None]
    return False


#: what a mask is made of; it ends where weights or data come in
_MASK_STEPS = (
    _FEEDERS
    | {"Cast", "Expand", "Identity", "Reshape", "Squeeze", "Unsqueeze", "Transpose", "Flatten"}
    | {"Max", "Min", "Neg", "Pad", "Xor", "GatherND", "CastLike", "Dropout", "Div"}
)


def _is_buffer(operations: Operations, value: Value | None) -> bool:
    """Return whether a condition is cut out of a stored square of truth values."""
    for _ in range(8):
        if value is None:
            return False
        tensor = value.initializer
        if tensor is not None:
            dims = tensor.dims
            is_square = len(dims) >= 2 and dims[-1] == dims[-2] and dims[-1] > 1
            return is_square and tensor.dtype.name in ("bool", "uint8")
        node = value.producer
        if node is None or node.op_type not in ("Slice", "Cast", "Identity", "Unsqueeze", "Not"):
            return False
        value = node.inputs[0] if node.inputs else None
    return False


def _is_positions(value: Value | None) -> bool:
    """Return whether a value is a Range, perhaps shifted and in another form."""
    for _ in range(24):
        node = value.producer if value is not None else None
        if node is None:
            return False
        if node.op_type == "Range":
            return True
        if node.op_type not in _SHIFTING or not node.inputs:
            return False
        operands = [operand for operand in node.inputs if operand is not None]
        if node.op_type == "Add" and len(operands) == 2:
            ranges = [_leads_to_range(operand) for operand in operands]
            value = operands[ranges.index(True)] if True in ranges else None
        else:
            value = operands[0]
    return False


_SHIFTING = frozenset(
    {"Add", "Cast", "Expand", "Gather", "GatherND", "Identity", "Reshape", "Squeeze", "Tile"}
    | {"Transpose", "Unsqueeze", "Slice", "CastLike"}
)


def _leads_to_range(value: Value | None) -> bool:
    for _ in range(12):
        node = value.producer if value is not None else None
        if node is None or not node.inputs:
            return False
        if node.op_type == "Range":
            return True
        if node.op_type not in _SHIFTING:
            return False
        value = node.inputs[0]
    return False


def _is_relative(operations: Operations, number: int) -> bool:
    """Return whether scores get a table's entries added (C. Raffel and others, T5, 2020, 2.1)."""
    if operations.kinds[number] != "Add":
        return False
    node = operations.nodes[number]
    for value in node.inputs:
        current = value
        for _ in range(16):
            producer = current.producer if current is not None else None
            if producer is None or not producer.inputs:
                break
            if producer.op_type == "Gather":
                table = producer.inputs[0]
                is_table = table is not None and table.initializer is not None
                if is_table and len(table.initializer.dims) == 2:  # type: ignore[union-attr]
                    dtype = table.initializer.dtype  # type: ignore[union-attr]
                    if dtype.is_float:
                        return True
            if producer.op_type not in _MASK_STEPS:
                break
            current = producer.inputs[0]
    return False
