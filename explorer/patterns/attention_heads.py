"""How many heads an attention has, how wide they are, and how many keys and values they share."""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import TensorType, Value

from .details import FeatureDetails
from .found_blocks import FoundBlock
from .operations import Operations, list_data
from .readings import read_int
from .weight_sizes import read_dims

#: what may stand between a projection and the products: heads, rotary positions, norms, caches
BEFORE_PRODUCTS = frozenset(
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
    product: Sequence[Value | None],
    sources: list[tuple[Value | None, FoundBlock | None]],
    given: int,
) -> tuple[int, int, int]:
    """Return how many heads there are, how wide, and how many of k and v; 0 for unknown.

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
    read = [
        _read_heads(operations, value, wanted)
        for value, wanted in zip(product, (features, 0), strict=False)
    ]
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


def _read_out(found: FoundBlock) -> int:
    """Return how many features a projection gives; 0 for unknown."""
    return found.details.read_as(FeatureDetails).out_features or 0


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


def _read_heads(
    operations: Operations, value: Value | None, features: int
) -> tuple[int, int] | None:
    """Return heads and their width, where a Reshape before a product splits features so.

    Either may be -1, as the file has it, or 0 where it is computed from shapes. Of several the
    first one behind the projection counts: later ones may put heads into groups that share a key.
    But one that has heads beside a width which together are the features (0 for unknown) says it
    all, wherever its heads stand: batch and heads may be one axis, or heads come before places.
    """
    found: tuple[int, int] | None = None
    is_whole = True
    for _ in range(24):
        if value is None:
            break
        for node in operations.path(value):
            if node.op_type != "Reshape" or len(node.inputs) < 2:
                continue
            dims = operations.context.read_list(node.input(1))
            known = [dim if isinstance(dim, int) else 0 for dim in dims]
            if is_whole and features and len(known) > 2 and known[-1] > 0:
                heads, rest = divmod(features, known[-1])
                if not rest and heads > 1 and heads in known[1:-1]:
                    return heads, known[-1]
            if len(known) == 5 and 3 in known[2:4]:  # packed q, k and v
                del known[2 if known[2] == 3 else 3]
            if len(known) == 4 and any(known[2:]):
                found = known[2], known[3]
        source = operations.source(value)
        giver = operations.giver(source)
        if giver is None or operations.kinds[giver] not in BEFORE_PRODUCTS:
            break
        # behind a part of q, k and v together the last axis may hold all three
        is_whole = is_whole and operations.kinds[giver] not in ("Gather", "Slice", "Split")
        raw = [v for v in list_data(operations.nodes[giver]) if not operations.is_fixed(v)]
        value = (raw[-1] if operations.kinds[giver] == "Concat" else raw[0]) if raw else None
    return found


#: where operators take what is kept of earlier steps, and which axis of that is a head's width
_KEPT = {
    "Attention": (4, 3),
    "GroupQueryAttention": (3, 3),
    "LinearAttention": (3, 2),
    "MultiHeadAttention": (6, 3),
}


def _read_kept_width(operations: Operations, number: int) -> int:
    """Return how wide the heads are of which something is kept; 0 where it is not stated."""
    node = operations.nodes[number]
    place, axis = _KEPT.get(node.op_type, (0, 0))
    value = node.inputs[place] if 0 < place < len(node.inputs) else None
    stated = value.type if value is not None else None
    shape = stated.shape if isinstance(stated, TensorType) else None
    if shape is None or len(shape) != 4:
        return 0
    width = shape[axis].value
    return width if isinstance(width, int) else 0


def read_fused(
    operations: Operations, number: int, projections: list[FoundBlock]
) -> tuple[int, int, int, bool]:
    """Return what a fused operator says: heads, their width, those shared, and if it is causal."""
    node = operations.nodes[number]
    heads = read_int(node, "num_heads") or read_int(node, "q_num_heads") or 0
    shared = read_int(node, "kv_num_heads") or 0
    is_masked = bool(read_int(node, "unidirectional") or read_int(node, "is_causal"))
    is_masked |= read_int(node, "right_window_size") == 0
    is_masked |= node.op_type in ("GroupQueryAttention", "DecoderMaskedSelfAttention")
    width, query = 0, node.input(0)
    if heads:
        outs = [_read_out(projection) for projection in projections]
        hidden = next((out for out in outs if out and out % heads == 0), 0)
        if node.domain == "com.microsoft" and node.op_type in ("Attention", "QAttention"):
            dims = read_dims(node.input(1))
            hidden = dims[-1] // 3 if len(dims) == 2 and dims[-1] % 3 == 0 else 0
        elif node.op_type == "GroupQueryAttention" and node.input(1) is None:
            # one projection for queries, keys and values
            hidden = max(outs, default=0)
            hidden, rest = divmod(hidden * heads, heads + 2 * shared)
            hidden = hidden if not rest else 0
        elif len(projections) != 3 or len({*outs}) != 1:
            hidden = max(outs, default=0) if shared else 0
            hidden = hidden if len(projections) == 3 else 0
        width = hidden // heads if hidden % heads == 0 else 0
        width = _read_kept_width(operations, number) or width
    elif isinstance(type_ := query.type if query is not None else None, TensorType):
        shape = type_.shape
        if shape is not None and len(shape) == 4:  # (batch, heads, sequence, width)
            found = [dim.value for dim in shape]
            heads = found[1] if isinstance(found[1], int) else 0
            width = found[3] if isinstance(found[3], int) else 0
    return heads, width if heads else 0, shared, is_masked
