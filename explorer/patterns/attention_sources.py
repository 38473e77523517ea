"""What queries, keys and values come from, and what attention is called by that."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Node, Value

from .attention_streams import Form, find_common_form, is_made_of, share_stream, takes_other_token
from .found_blocks import FoundBlock, FoundBlocks
from .operations import PICKING, Operations
from .readings import read_int

#: so many nodes stand between what was joined and a projection
_MOST_OF_NORM = 12
#: what makes more of a value than a norm, or than what is added
_MIXING = ("attends", "joins", "multiplies", *PICKING)


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


def is_class_attention(
    operations: Operations, query: Value | None, key: Value | None, form: Form | None
) -> bool:
    """Return whether one token that is among the keys asks alone.

    H. Touvron and others, Going deeper with Image Transformers, 2021, section 3 and equations 4 to
    6: the class attends to itself and to the patches. It is taken off their sequence, which
    ``form`` tells of the query, or stands beside the patches until it is joined to them. A token
    that was pooled of the others pools them once more instead (A. Radford and others, CLIP, 2021,
    section 2.4).

    Parameters
    ----------
    operations
        The operations.
    query
        What the one query is projected of.
    key
        What keys are projected of.
    form
        What was done to the query since it was of the value that the keys are of; None where it
        never was.
    """
    if query is None or key is None:
        return False
    joined = _find_join(operations, key)
    tokens = [one for one in joined.inputs if one is not None] if joined is not None else []
    first = _list_unmixed(operations, tokens[0]) if tokens else set[Value]()
    if form is not None and form.picked == "first":
        return not _is_pooled(first)
    # behind what was kept of earlier steps stands the token of this one
    asking = _list_unmixed(operations, query)
    return len(tokens) > 1 and not _is_pooled(asking) and not asking.isdisjoint(first)


def _find_join(operations: Operations, value: Value) -> Node | None:
    """Return what joins a value, perhaps before a norm or before positions are added."""
    for one in _walk_unmixed(operations, value):
        if one.producer is not None and one.producer.operator.has("joins"):
            return one.producer
    return None


def _list_unmixed(operations: Operations, value: Value) -> set[Value]:
    return {*_walk_unmixed(operations, value)}


def _is_pooled(values: set[Value]) -> bool:
    makers = [one.producer for one in values if one.producer is not None]
    return any(maker.operator.has("reduces", "pools") for maker in makers)


def _walk_unmixed(operations: Operations, value: Value) -> Iterator[Value]:
    """Yield a value, and those before it that are it but for a norm, or for what is added."""
    current: Value | None = value
    for _ in range(_MOST_OF_NORM):
        if current is None:
            return
        yield current
        node = current.producer
        is_stored = operations.is_fixed(current)
        if node is None or (not is_stored and node.operator.has(*_MIXING)):
            return
        computed = {one for one in node.inputs if one is not None and not operations.is_fixed(one)}
        if is_stored or node.operator.has("divides", "subtracts"):
            # as a projection of a stored token, or a norm that is written out
            computed = {one for one in node.inputs[:1] if one is not None}
        current = computed.pop() if len(computed) == 1 else None


def _is_sum_with(value: Value, other: Value | None) -> bool:
    """Return whether a value is another one with positions added."""
    node = value.producer
    return other is not None and node is not None and node.op_type == "Add" and other in node.inputs
