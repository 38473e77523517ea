"""Matrix products, recurrent networks and attention: shapes of results, and MACs.

Sources: ONNX operator specification (MatMul-13, Gemm-13, Einsum-12, LSTM-22, GRU-22, RNN-22,
Attention-23, LinearAttention-27), ContribOperators of ONNX Runtime, and Caffe2's operators (FC,
MatMul, BatchMatMul).
A MAC is one multiplication and addition; a bias is none, and causal attention counts whole.
"""

from __future__ import annotations

from itertools import combinations

from netloupe.explorer.model import data_type

from .facts import Dim, Dims, Fact, Use, find_size
from .polynomial import Amount, multiply_all

#: Einsum of more operands is not looked at
_MOST_FACTORS = 8

#: how many gates each recurrent layer has; only what counts their products asks
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def broadcast(*shapes: Dims | None) -> Dims | None:
    """Return the dimensions that several shapes are stretched to; None where ranks are not known.

    A dimension is not known where it would depend on which of two symbols is 1.
    """
    known = [dims for dims in shapes if dims is not None]
    if len(known) < len(shapes) or not known:
        return None
    rank = max(map(len, known))
    found: list[Dim] = []
    for axis in range(-rank, 0):
        sizes = {dims[axis] for dims in known if len(dims) >= -axis} - {1}
        numbers = [size for size in sizes if isinstance(size, int)]
        if not sizes:
            found.append(1)
        elif len(numbers) == 1 and 0 not in numbers:
            found.append(numbers[0])  # the others can only be 1 or the same
        else:
            found.append(sizes.pop() if len(sizes) == 1 else None)
    return tuple(found)


def swap_last(dims: Dims | None) -> Dims | None:
    """Return dimensions with the last two swapped."""
    return None if dims is None or len(dims) < 2 else (*dims[:-2], dims[-1], dims[-2])


def multiply_shapes(left: Dims | None, right: Dims | None) -> Dims | None:
    """Return the dimensions of a product as numpy.matmul has it."""
    if not left or not right:
        return None
    batch = broadcast(left[:-2], right[:-2])
    if batch is None:
        return None
    rows = left[-2:-1] if len(left) > 1 else ()
    columns = right[-1:] if len(right) > 1 else ()
    return (*batch, *rows, *columns)


def count_product(result: Dims | None, left: Dims | None, right: Dims | None) -> Amount | None:
    """Return MACs of a product: its elements times the length of the sums."""
    size = find_size(result)
    lengths = [
        *(left[-1:] if left else ()),
        *((right[-2:-1] if len(right) > 1 else right) if right else ()),
    ]
    known = [length for length in lengths if length is not None]
    if size is None or not known:
        return None
    numbers = [length for length in known if isinstance(length, int)]
    return size * (numbers or known)[0]


def read_factors(use: Use, left: int, right: int) -> tuple[Dims | None, Dims | None]:
    """Return both factors' dimensions, transposed as the attributes say."""
    factors = []
    for index, side in ((left, "A"), (right, "B")):
        dims = use.dims(index)
        if use.integer(f"transBatch{side}", 0) != 0:
            dims = None
        flag = use.integer(f"trans{side}", use.integer(f"trans_{side.lower()}", 0))
        factors.append(None if flag is None else swap_last(dims) if flag else dims)
    return factors[0], factors[1]


def project(use: Use, columns: Dim, length: Dim) -> tuple[Fact, Amount | None]:
    """Return the result of a product whose weights are described by attributes, and its MACs."""
    data = use.operand(0)
    if not data.dims or columns is None:
        return Fact(None, data.dtype), None
    result = Fact((*data.dims[:-1], columns), data.dtype)
    size = result.size
    return result, None if size is None or length is None else size * length


def recur(use: Use) -> list[Fact | None]:
    """Return the results of LSTM, GRU or RNN: all hidden states, the last, the last cell."""
    data, weights, more = use.operand(0), use.operand(1), use.operand(2)
    hidden = use.integer("hidden_size")
    size: Dim = hidden if hidden is not None else more.dims[-1] if more.dims else None
    directions: Dim = weights.dims[0] if weights.dims else None
    if data.dims is None or len(data.dims) != 3:
        return [None] * use.results
    is_batch_first = use.integer("layout", 0) == 1
    length, batch = data.dims[:2] if not is_batch_first else (data.dims[1], data.dims[0])
    if is_batch_first:
        states: Dims = (batch, length, directions, size)
        last: Dims = (batch, directions, size)
    else:
        states, last = (length, directions, batch, size), (directions, batch, size)
    return [Fact(states, data.dtype), Fact(last, data.dtype), Fact(last, data.dtype)]


def count_recurrent(use: Use) -> Amount | None:
    """Return MACs: directions x time x batch x gates x hidden x (input + hidden)."""
    data, weights, more = use.dims(0), use.dims(1), use.dims(2)
    if data is None or len(data) != 3 or not weights or not more:
        return None
    hidden = use.integer("hidden_size")
    size = hidden if hidden is not None else more[-1]
    width, directions, (length, batch, _) = data[2], weights[0], data
    parts = (directions, length, batch, size)
    known = tuple(part for part in parts if part is not None)
    if len(known) < len(parts) or width is None or size is None:
        return None
    return multiply_all(known) * GATES[use.operator.form] * (width + size)


def attend(use: Use) -> tuple[list[Fact | None], Amount | None]:
    """Return results and MACs of Attention-23: queries, keys, values with or without a head axis.

    MACs are those of both products, batch x heads x Lq x Lk x (d + dv), with past keys in Lk.
    """
    query, key, value = use.operand(0), use.operand(1), use.operand(2)
    unknown: list[Fact | None] = [Fact(None, query.dtype)]
    if query.dims is None or key.dims is None or value.dims is None:
        return unknown, None
    heads, kv_heads = use.integer("q_num_heads"), use.integer("kv_num_heads")
    parts = [
        _split_heads(dims, count)
        for dims, count in ((query.dims, heads), (key.dims, kv_heads), (value.dims, kv_heads))
    ]
    if any(part is None for part in parts):
        return unknown, None
    (batch, many, queries, width), (_, few, keys, _), (_, _, _, deep) = (p or () for p in parts)
    past = use.dims(4)
    total = keys if past is None or len(past) != 4 else _add(keys, past[2])
    if use.has(4) and past is None:
        total = None
    if len(query.dims) == 4:
        result: Dims = (batch, many, queries, deep)
    else:
        result = (batch, queries, None if many is None or deep is None else many * deep)
    results: list[Fact | None] = [Fact(result, query.dtype)]
    results += [Fact((batch, few, total, size), query.dtype) for size in (width, deep)]
    return results, _count_attention(batch, many, queries, total, width, deep)


def _split_heads(dims: Dims, heads: int | None) -> Dims | None:
    """Return batch, heads, length and width of a head."""
    if len(dims) == 4:
        return dims
    if len(dims) != 3 or not heads:
        return None
    width = dims[2]
    each = width // heads if isinstance(width, int) and width % heads == 0 else None
    return dims[0], heads, dims[1], each


def _add(one: Dim, two: Dim) -> Dim:
    return None if one is None or two is None else one + two


def _count_attention(
    batch: Dim, heads: Dim, queries: Dim, keys: Dim, width: Dim, deep: Dim
) -> Amount | None:
    parts = (batch, heads, queries, keys)
    known = tuple(part for part in parts if part is not None)
    if len(known) < len(parts) or width is None or deep is None:
        return None
    return multiply_all(known) * (width + deep)


#: of LinearAttention, how often each head of the state is multiplied for a token: keys with values,
#: and where what the state held is corrected, keys with the state before
_STATE_PRODUCTS = {"linear": 1, "gated": 1, "delta": 2, "gated_delta": 2}


def attend_linearly(use: Use) -> tuple[list[Fact | None], Amount | None]:
    """Return results and MACs of LinearAttention-27: queries, keys and values as [B, T, H x d].

    A token multiplies each head's state [d, dv] with each of its queries, and once or twice to
    bring it up to date; that it decays, which is elementwise, is no MAC.
    """
    query, key, value = use.operand(0), use.operand(1), use.operand(2)
    unknown: list[Fact | None] = [Fact(None, query.dtype)]
    heads, kv_heads = use.integer("q_num_heads"), use.integer("kv_num_heads")
    times = _STATE_PRODUCTS.get(use.text("update_rule", "gated_delta"))
    shapes = (query.dims, key.dims, value.dims)
    if any(dims is None or len(dims) != 3 for dims in shapes) or use.integer("state_window", 0):
        return unknown, None
    parts = [
        _split_heads(dims or (), count)
        for dims, count in zip(shapes, (heads, kv_heads, kv_heads), strict=True)
    ]
    if any(part is None for part in parts):
        return unknown, None
    (batch, many, length, width), (_, few, _, _), (_, _, _, deep) = (part or () for part in parts)
    result = (batch, length, None if many is None or deep is None else many * deep)
    results: list[Fact | None] = [
        Fact(result, query.dtype),
        Fact((batch, few, width, deep), use.operand(3).dtype),  # a type of its own
    ]
    sizes = (batch, length, width, deep)
    known = tuple(size for size in sizes if size is not None)
    if len(known) < len(sizes) or many is None or few is None or times is None:
        return results, None
    return results, multiply_all(known) * (many + times * few)


def attend_fused(use: Use) -> tuple[list[Fact | None], Amount | None]:
    """Return results and MACs of Attention and QAttention of ONNX Runtime, projections included."""
    data, weights = use.operand(0), use.operand(1)
    heads = use.integer("num_heads")
    sizes = use.integers("qkv_hidden_sizes")
    unknown: list[Fact | None] = [Fact(None, data.dtype)]
    if data.dims is None or len(data.dims) != 3 or weights.dims is None or len(weights.dims) != 2:
        return unknown, None
    batch, length, width = data.dims
    whole = weights.dims[1]
    if sizes is not None and len(sizes) == 3:
        inner, deep = sizes[1], sizes[2]
    elif isinstance(whole, int) and whole % 3 == 0:
        inner = deep = whole // 3
    else:
        return unknown, None
    operands = use.operator.operands
    past_place = operands.find("past")
    keys = length
    if past_place is not None and use.has(past_place):
        past = use.dims(past_place)
        keys = _add(length, past[3]) if past is not None and len(past) == 5 else None
    dtype = use.operand(operands.find("data.scale") or 0).dtype
    results: list[Fact | None] = [Fact((batch, length, deep), dtype)]
    if heads and inner % heads == 0:
        results.append(Fact((2, batch, heads, keys, inner // heads), dtype))
    products = _count_attention(batch, 1, length, keys, inner, deep)
    parts = (batch, length, width, whole)
    known = tuple(part for part in parts if part is not None)
    if products is None or len(known) < len(parts):
        return results, None
    return results, multiply_all(known) + products


def attend_to_keys(use: Use) -> tuple[list[Fact | None], Amount | None]:
    """Return results and MACs of MultiHeadAttention of ONNX Runtime, which projects nothing."""
    query, key, value = use.operand(0), use.operand(1), use.operand(2)
    heads = use.integer("num_heads")
    unknown: list[Fact | None] = [Fact(None, query.dtype)]
    if query.dims is None or not heads:
        return unknown, None
    if len(query.dims) == 5 and not use.has(1):  # queries, keys and values in one
        batch, length, many, _, each = query.dims
        width: Dim = None if many is None or each is None else many * each
        keys, deep = length, width
    elif len(query.dims) == 3 and key.dims is not None:
        batch, length, width = query.dims
        keys = key.dims[2] if len(key.dims) == 4 else key.dims[1] if len(key.dims) > 2 else None
        if not use.has(2):  # keys and values in one: batch, length, heads, 2, width
            keys, deep = (key.dims[1] if len(key.dims) == 5 else None), width
        elif value.dims is None or len(value.dims) not in (3, 4):
            keys, deep = None, None
        elif len(value.dims) == 4:
            deep = None if value.dims[3] is None else value.dims[3] * heads
        else:
            deep = value.dims[2]
    else:
        return unknown, None
    past = use.dims(6)
    if use.has(6):
        keys = _add(keys, past[2]) if past is not None and len(past) == 4 else None
    results: list[Fact | None] = [Fact((batch, length, deep), query.dtype)]
    for whole in (width, deep):
        size = whole // heads if isinstance(whole, int) and whole % heads == 0 else None
        results.append(Fact((batch, heads, keys, size), query.dtype))
    return results, _count_attention(batch, 1, length, keys, width, deep)


def attend_in_groups(use: Use) -> tuple[list[Fact | None], Amount | None]:
    """Return results and MACs of GroupQueryAttention of ONNX Runtime."""
    query = use.operand(0)
    heads, kv_heads = use.integer("num_heads"), use.integer("kv_num_heads")
    unknown: list[Fact | None] = [Fact(None, query.dtype)]
    if query.dims is None or len(query.dims) != 3 or not heads or not kv_heads:
        return unknown, None
    batch, length, width = query.dims
    parts = heads if use.has(1) else heads + 2 * kv_heads
    if not isinstance(width, int) or width % parts:
        return unknown, None
    each = width // parts
    past = use.dims(3)
    keys: Dim = length
    if use.has(3):
        keys = _add(length, past[2]) if past is not None and len(past) == 4 else None
    state = Fact((batch, kv_heads, keys, each), query.dtype)
    results: list[Fact | None] = [Fact((batch, length, heads * each), query.dtype), state, state]
    return results, _count_attention(batch, heads, length, keys, each, each)


def contract(use: Use) -> tuple[Fact, Amount | None]:
    """Return result and MACs of Einsum.

    Of two operands MACs are the product of all sizes; more are multiplied in pairs, the cheapest
    pair first.
    """
    dtype = use.operand(0).dtype
    equation = use.text("equation").replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    sizes: dict[str, Dim] = {}
    if len(terms) != len(use.operands) or "." in equation or len(terms) > _MOST_FACTORS:
        return Fact(None, dtype), None
    for index, term in enumerate(terms):
        dims = use.dims(index)
        if dims is None or len(dims) != len(term):
            return Fact(None, dtype), None
        for letter, size in zip(term, dims, strict=True):
            if sizes.get(letter) in (None, 1):
                sizes[letter] = size
    if not arrow:
        right = "".join(letter for letter in sorted(sizes) if left.count(letter) == 1)
    if any(letter not in sizes for letter in right):
        return Fact(None, dtype), None
    result = Fact(tuple(sizes[letter] for letter in right), dtype)
    return result, _count_contraction(terms, right, sizes)


def _count_contraction(terms: list[str], result: str, sizes: dict[str, Dim]) -> Amount | None:
    if len(terms) == 1:
        return 0
    total: Amount = 0
    while len(terms) > 1:
        costs: list[tuple[Amount, int, int]] = []
        for one, two in combinations(range(len(terms)), 2):
            cost = find_size(tuple(sizes[letter] for letter in {*terms[one], *terms[two]}))
            if cost is None:
                return None
            costs.append((cost, one, two))
        numbers = [entry for entry in costs if isinstance(entry[0], int)]
        if len(numbers) < len(costs) and len(terms) > 2:
            return None  # which is cheapest depends on symbols
        cost, one, two = min(numbers) if numbers else costs[0]
        total = total + cost
        others = [term for index, term in enumerate(terms) if index not in (one, two)]
        needed = {*result, *"".join(others)}
        terms = [*others, "".join(sorted({*terms[one], *terms[two]} & needed))]
    return total


def connect(use: Use) -> tuple[Fact, Amount | None]:
    """Return result and MACs of FC and FCTransposed of Caffe2, whose operands are matrices.

    Data and weights are flattened in two from the arguments ``axis`` and ``axis_w`` on.
    """
    data, weights = use.operand(0), use.operand(1)
    axis, axis_w = use.integer("axis", 1), use.integer("axis_w", 1)
    if data.dims is None or weights.dims is None or axis is None or axis_w is None:
        return Fact(None, data.dtype), None
    rows, columns = weights.dims[:axis_w], weights.dims[axis_w:]
    if use.operator.weight_layout == "linear":
        rows, columns = columns, rows
    width, length = find_size(rows), find_size(columns)
    result = Fact((*data.dims[:axis], width), data.dtype)
    size = result.size
    return result, None if size is None or length is None else size * length


INT32 = data_type("int32")
