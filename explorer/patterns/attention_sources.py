"""What queries, keys and values come from, and what attention is called by that."""

from __future__ import annotations

from netloupe.explorer.model import Value

from .attention_streams import Form, find_common_form, is_made_of, share_stream, takes_other_token
from .found_blocks import FoundBlock, FoundBlocks
from .operations import PICKING, Operations
from .readings import read_int


def trace_projection(
    blocks: FoundBlocks, value: Value | None, whole: set[int]
) -> tuple[Value | None, FoundBlock | None]:
    """Return the value that an operand is a projection of, and the projection."""
    operations = blocks.operations
    projection: FoundBlock | None = None
    for _ in range(40):
        if value is None:
            return None, projection
        value = operations.source(value)
        giver = operations.giver(value)
        if giver is None or giver not in whole:
            return value, projection
        linear = blocks.ending(giver, "linear")
        if linear is not None:
            projection = projection or linear
            # positions may be added before, or a norm of fewer features be there
            value = operations.source(operations.operands[min(linear.numbers)][0])
            if operations.giver(value) in whole:
                continue
            return value, projection
        taken = operations.operands[giver]
        if not taken:
            return value, projection
        kind = operations.kinds[giver]
        if kind == "Concat":
            # what was cached comes first, what is new behind it; of features those come first that
            # tell no position
            joins_features = read_int(operations.nodes[giver], "axis") in (-1, 3)
            value = taken[0] if joins_features else taken[-1]
            continue
        inside = [v for v in taken if operations.giver(v) in whole]
        value = (inside or taken)[0]
    return None, projection


def find_uncut(operations: Operations, value: Value | None) -> Value | None:
    """Return what a value is cut out of, as queries are of one projection for all three."""
    for _ in range(4):
        node = value.producer if value is not None else None
        taken = node.inputs if node is not None else ()
        if node is None or not node.operator.has(*PICKING) or taken[0] is None:
            break
        if any(one is not None and not operations.is_fixed(one) for one in taken[1:]):
            break
        value = operations.source(taken[0])
    return value


def name_by_sources(
    operations: Operations, sources: list[Value | None], *, is_projected: bool = True
) -> tuple[str, tuple[Form, Form] | None]:
    """Return what attention is called by what queries, keys and values come from, and their forms.

    Queries that are of the value that keys and values are of attend to it itself, also where one
    of them is pooled, picked or normalized and the other is not (B. Graham and others, LeViT, 2021,
    section 4.2; H. Touvron and others, CaiT, 2021, section 3; H. Fan and others, MViT, 2021,
    section 3.1). What they are of may be several values, which are joined; a token of another
    stream that asks is a cross-attention (C. Chen and others, CrossViT, 2021, section 3.3). Without
    projections keys and values are of one value only where they are it.
    """
    query, key, content = (*sources, None, None, None)[:3]
    if query is None or key is None:
        return "Attention", None
    forms = find_common_form(operations, query, key)
    if forms is not None and not forms[0].is_apart(forms[1]):
        is_cut = bool(forms[0].cuts) and not forms[1].cuts
        is_other = is_cut and takes_other_token(operations, key)
        return ("Cross-attention" if is_other else "Self-attention"), forms
    is_one = key is content or _is_sum_with(key, content)
    if not is_one and not (is_projected and find_common_form(operations, key, content)):
        return "Attention", None
    # experts of what is attended to may make the queries
    is_apart = not is_made_of(operations, query, key) and not share_stream(operations, query, key)
    return ("Cross-attention" if is_apart else "Attention"), None


def _is_sum_with(value: Value, other: Value | None) -> bool:
    """Return whether a value is another one with positions added."""
    node = value.producer
    return other is not None and node is not None and node.op_type == "Add" and other in node.inputs
