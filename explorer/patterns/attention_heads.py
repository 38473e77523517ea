"""How many heads an attention has, how wide they are, and how many keys and values they share."""

from __future__ import annotations

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node, TensorType, Value

from .details import FeatureDetails
from .found_blocks import FoundBlock
from .operations import PICKING, Operations, list_data
from .readings import read_int, read_ints
from .score_axes import find_compared_axis, find_head_axis, find_summed_axis, follow_axis
from .weight_sizes import read_dims

#: what may stand between a projection and the products: heads, rotary positions, norms, caches
BEFORE_PRODUCTS = frozenset(
    {
        "Add",
        "AveragePool",
        "Concat",
        "Div",
        "Gather",
        "GatherND",
        "MaxPool",
        "Mul",
        "Neg",
        "Pad",
        "Pow",
        "ReduceL2",
        "ReduceMax",
        "ReduceMean",
        "Reciprocal",
        "RotaryEmbedding",
        "ScatterND",
        "Slice",
        "Split",
        "Sqrt",
        "Sub",
        "Clip",
        "Tile",
    }
)


def count_heads(
    operations: Operations,
    number: int,
    sources: list[tuple[Value | None, FoundBlock | None]],
    given: int,
) -> tuple[int, int, int]:
    """Return how many heads there are, how wide, and how many of k and v; 0 for unknown.

    ``number`` is the product of queries and keys: what it sums over is the width of a head.
    ``given`` is how many features the heads have together, as what takes them says.
    """
    query, key = sources[0][1], sources[1][1]
    is_packed = query is key
    q_out, k_out = (
        _read_out(found) if found is not None and not is_packed else 0 for found in (query, key)
    )
    features = q_out or given
    if k_out and len(sources) > 2 and sources[2][1] is key:
        # keys and values of one projection: as many as queries, or one does not know how many
        k_out = features if k_out in (features, 2 * features) else 0
    node = operations.nodes[number]
    product = list_data(node)[:2]
    stated = [_read_type(node, place) for place in range(len(product))]
    if stated[0] is not None:
        heads, width = stated[0]
        if features and heads * width != features:  # the axis may count windows, or a batch
            heads, width = _read_dims(operations, node, features) or (0, 0)
            return heads, width, k_out // width if width and k_out % width == 0 else 0
        return (
            heads,
            width,
            stated[1][0]
            if stated[1] is not None and not k_out
            else (k_out // width if k_out % width == 0 else 0),
        )
    if not features:
        return 0, 0, 0
    read = [
        _read_heads(operations, value, find_summed_axis(node, place), wanted)
        for place, (value, wanted) in enumerate(zip(product, (features, 0), strict=False))
    ]
    heads, width = read[0] or read[1] or _read_dims(operations, node, features) or (0, 0)
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


def _read_out(found: FoundBlock) -> int:
    """Return how many features a projection gives; 0 for unknown."""
    return found.details.read_as(FeatureDetails).out_features or 0


def _read_type(product: Node, place: int) -> tuple[int, int] | None:
    """Return heads and their width by the stated type of what a product takes, of four axes."""
    shape = _read_shape(product.input(place))
    axes = find_head_axis(product, place), find_summed_axis(product, place)
    if len(shape) != 4 or None in axes:
        return None
    heads, width = (shape[axis] for axis in axes if axis is not None)
    return (heads, width) if heads > 0 and width > 0 else None


def _read_dims(operations: Operations, product: Node, features: int) -> tuple[int, int] | None:
    """Return heads and their width by the sizes of what a product takes, whatever axes it has.

    Besides the batch there may be an axis of patches, of which each attends within itself (S. Mehta
    and M. Rastegari, MobileViT, 2022, section 3.1), and heads may be one axis with a batch whose
    size is open: they are as many as the features of all are of one. A single head is told where
    there was an axis for it.
    """
    facts = find_value_facts(operations.context.graph.model)
    for place in range(2):
        value = product.input(place)
        dims = facts.find_dims(value) or ()
        summed, compared = find_summed_axis(product, place), find_compared_axis(product, place)
        if summed is None or compared is None or -min(summed, compared) > len(dims):
            continue
        width = dims[summed]
        others = [
            dim for axis, dim in enumerate(dims, -len(dims)) if axis not in (summed, compared)
        ]
        if not isinstance(width, int) or width < 1 or not others or value is None:
            continue
        heads, rest = divmod(features, width)
        if rest:
            continue
        if heads > 1 and (heads in others or not isinstance(others[0], int)):
            return heads, width
        if heads == 1 and any(
            node.op_type == "Reshape"
            and len(before := facts.find_dims(node.output(0)) or ()) > len(dims)
            and 1 in before[1:]
            and width in before[1:]
            for node in operations.path(value)
        ):
            return heads, width
    return None


def _read_heads(
    operations: Operations, value: Value | None, axis: int | None, features: int
) -> tuple[int, int] | None:
    """Return heads and their width, where a Reshape before a product splits features so.

    The width is what the product sums over, ``axis`` of the value; where that cannot be followed,
    the last axis. Either may be -1, as the file has it, or 0 where it is computed from shapes. Of
    several the first one behind the projection counts: later ones may put heads into groups that
    share a key. But one that has heads beside a width which together are the features (0 for
    unknown) says it all, wherever its heads stand: batch and heads may be one axis, or heads come
    before places.
    """
    found: tuple[int, int] | None = None
    is_whole = True
    for _ in range(24):
        if value is None:
            break
        for node in operations.path(value):
            if node.op_type != "Reshape" or len(node.inputs) < 2:
                axis = follow_axis(operations, node, axis)
                continue
            dims = operations.context.read_list(node.input(1))
            known = [dim if isinstance(dim, int) else 0 for dim in dims]
            if axis is not None and -axis <= len(known):
                known.append(known.pop(axis))
            axis = follow_axis(operations, node, axis)
            if is_whole and features and len(known) > 2 and known[-1] > 0:
                heads, rest = divmod(features, known[-1])
                if not rest and heads > 1 and heads in known[1:-1]:
                    return heads, known[-1]
            if len(known) == 5 and 3 in known[1:4]:  # packed q, k and v
                del known[next(place for place in (2, 3, 1) if known[place] == 3)]
            if len(known) == 4 and any(known[2:]):
                found = known[2], known[3]
        source = operations.source(value)
        giver = operations.giver(source)
        if giver is None or operations.kinds[giver] not in BEFORE_PRODUCTS:
            break
        # behind a part of q, k and v together the last axis may hold all three
        is_whole = is_whole and not operations.nodes[giver].operator.has(*PICKING)
        axis = follow_axis(operations, operations.nodes[giver], axis)
        raw = [v for v in list_data(operations.nodes[giver]) if not operations.is_fixed(v)]
        value = (raw[-1] if operations.kinds[giver] == "Concat" else raw[0]) if raw else None
    return found


#: by operator the attribute that tells whether later tokens are hidden; without it they are
_HIDING = {
    "DecoderMaskedSelfAttention": "",
    "DynamicSparseAttention": "is_causal",
    "GroupQueryAttention": "causal",
    "PagedAttention": "is_causal",
    "SparseAttention": "",
    "SparsePagedAttention": "is_causal",
}


def list_attended(node: Node) -> list[Value]:
    """Return what a fused attention takes queries, keys and values from, by role.

    One that projects itself takes the same for several of them.
    """
    roles = node.operator.operands
    places = [roles.find(role) for role in ("query", "key", "value")]
    if places[0] is None:
        places = [roles.find("data")]
    found = [node.input(place) for place in places if place is not None]
    if (len(found) > 1 and found[-1] is None) or len(found) == 2:
        found = [found[0], found[1], found[1]]
    return [value for value in found if value is not None]


def _read_kept_width(operations: Operations, number: int) -> int:
    """Return how wide the heads are of which something is kept; 0 where it is not stated."""
    node = operations.nodes[number]
    is_linear = node.operator.has("attends_linearly")
    place = node.operator.operands.find("past" if is_linear else "past_key")
    value = node.input(place) if place is not None else None
    shape = _read_shape(value)
    return shape[2 if is_linear else 3] if len(shape) == 4 else 0


def _read_shape(value: Value | None) -> tuple[int, ...]:
    """Return the sizes of a value, 0 for those that are not known; nothing without a shape."""
    stated = value.type if value is not None else None
    shape = stated.shape if isinstance(stated, TensorType) else None
    if shape is None:
        return ()
    return tuple(size if isinstance(size := dim.value, int) else 0 for dim in shape)


def read_fused(
    operations: Operations, number: int, projections: list[FoundBlock]
) -> tuple[int, int, int, bool]:
    """Return what a fused operator says: heads, their width, those shared, and if it is causal."""
    node = operations.nodes[number]
    heads = read_int(node, "num_heads") or read_int(node, "q_num_heads") or 0
    shared = read_int(node, "kv_num_heads") or 0
    is_masked = bool(read_int(node, "unidirectional") or read_int(node, "is_causal"))
    is_masked |= read_int(node, "right_window_size") == 0
    if node.op_type in _HIDING:
        is_masked |= read_int(node, _HIDING[node.op_type]) != 0
    taken = list_attended(node)
    if heads:
        hidden = _read_features(node, projections, heads, shared)
        width = hidden // heads if hidden % heads == 0 else 0
        return heads, _read_kept_width(operations, number) or width, shared, is_masked
    query = _read_shape(taken[0] if taken else None)
    if node.operator.has("attends_linearly"):  # (…, tokens, heads, width)
        heads, width = query[-2:] if len(query) in (3, 4) else (0, 0)
    elif len(query) == 4:  # (batch, heads, tokens, width)
        heads, width = query[1], query[3]
        key = _read_shape(taken[1] if len(taken) > 1 else None)
        shared = key[1] if len(key) == 4 else 0
    else:
        width = 0
    return heads, width if heads else 0, shared, is_masked


def _read_features(node: Node, projections: list[FoundBlock], heads: int, shared: int) -> int:
    """Return how many features the queries of all heads have together; 0 for unknown."""
    roles = node.operator.operands
    joint, apart = roles.find("weight"), roles.find("weight1")
    if roles.find("query") is not None:
        apart = joint
    if joint is not None or apart is not None:
        sizes = read_ints(node, "qkv_hidden_sizes")
        dims = read_dims(node.input(apart if apart is not None else joint or 0))
        width = dims[-1] if len(dims) == 2 else 0
        if sizes or apart is not None:
            return sizes[0] if sizes else width
        return width // 3 if width % 3 == 0 else 0
    outs = [_read_out(projection) for projection in projections]
    key = roles.find("key")
    if key is not None and node.input(key) is None:
        # one projection for queries, keys and values
        hidden, rest = divmod(max(outs, default=0) * heads, heads + 2 * (shared or heads))
        return hidden if not rest else 0
    if len(projections) != 3 or len({*outs}) != 1:
        return max(outs, default=0) if shared and len(projections) == 3 else 0
    return outs[0] if outs[0] % heads == 0 else 0


def read_stated_window(node: Node) -> int:
    """Return how many tokens a fused operator attends to, with the one that attends; 0 for all.

    com.microsoft's GroupQueryAttention counts that one, ONNX's Attention only what is left of it,
    and LongformerAttention what is on either side.
    """
    beside = read_int(node, "window") if node.operator.has("attends") else None
    if beside:  # on each side
        return 2 * beside + 1
    if read_int(node, "local_window_size") is not None:
        return max(read_int(node, "local_window_size") or 0, 0)
    left = read_int(node, "left_window_size")
    return left + 1 if left is not None and left >= 0 else 0
