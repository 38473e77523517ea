"""How far back queries, keys and values are forms of one value, and what was done to each since.

A norm, a projection, a pool, windows, picked tokens or added positions give another form of a
value; attention and sums with other values do not. What is compared with another form of itself
attends to itself, though the forms have different numbers of places.
"""

from __future__ import annotations

import heapq
from operator import mul
from typing import NamedTuple

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.model.kept import find_kept

from .found_blocks import FoundBlocks
from .operations import ARRANGING, PICKING, Operations
from .readings import read_ints, read_numbers
from .score_axes import find_compared_axis, find_head_axis, find_summed_axis
from .traced_axes import trace_axis

#: of keys and values that are of fewer places than queries
REDUCTION = "spatial reduction"
#: what makes another form of a value together with constants, or of several of one value
_FORMING = (
    *(*ARRANGING, *PICKING, "activates", "adds", "clips", "convolves", "divides", "joins"),
    *("multiplies", "multiplies_elements", "negates", "normalizes", "pads", "pools", "reduces"),
    *("repeats", "reverses", "subtracts", "takes_power", "takes_root"),
)
#: what computes with weights, of which few make a form of a value, and many something else
_WEIGHTED = ("convolves", "multiplies")
_MOST_WEIGHTED = 4
_MOST_NODES = 48
_MOST_LOOKED_AT = 120
#: so many nodes stand between what was joined and a projection
_MOST_OF_NORM = 6
#: so many nodes back it is looked for where queries left the stream of keys
_MOST_OF_STREAM = 800
_OF_TOKEN_AND_REST = 2
#: what is told of queries of which there is one, the first of what is compared
ASKS_ONCE = "query: first token"
#: axes of batch, what is compared and what is summed up, and with one of heads
_LEAST_COMPARED, _WITH_HEADS = 3, 4
#: of so many values it is kept what they are forms of
_MOST_KNOWN = 256


class Form(NamedTuple):
    """What was done to a value since it was one of some others.

    Parameters
    ----------
    pooled
        By how much each axis of a picture was divided: strides of pools, convolutions and slices;
        ``(0,)`` where that is not known.
    picked
        Which one place was taken alone and projected: ``first`` or ``last``; "" for none.
    cuts
        The parts that were taken, but for those of what one projection gives for all.
    """

    pooled: tuple[int, ...] = ()
    picked: str = ""
    cuts: frozenset[Value] = frozenset()

    def is_apart(self, other: Form) -> bool:
        """Return whether both are parts, and not the same ones."""
        return bool(self.cuts and other.cuts) and self.cuts.isdisjoint(other.cuts)


#: which values a value was made of, back from itself, and what was done to them since
_Forms = list[tuple[frozenset[Value], Form]]


def find_common_form(
    operations: Operations, value: Value | None, other: Value | None
) -> tuple[Form, Form] | None:
    """Return what was done to two values since they were the same; None where they never were."""
    if value is None or other is None:
        return None
    forms = _list_forms(operations, value)
    others = dict(reversed(_list_forms(operations, other)))
    for before, form in forms:
        if before in others:
            return form, others[before]
    return None


class _KnownForms(dict[Value, _Forms]):
    """The forms of the values of a graph that were asked for last: each is compared with others.

    And so it is in each group around an attention.
    """


def _list_forms(operations: Operations, value: Value) -> _Forms:
    """Return which values a value was made of, back from itself, and by what."""
    known = find_kept(operations.context.graph, _KnownForms, _KnownForms)
    forms = known.get(value)
    if forms is None:
        if len(known) >= _MOST_KNOWN:
            known.pop(next(iter(known)), None)
        forms = known[value] = _look_for_forms(operations, value)
    return forms


def _look_for_forms(operations: Operations, value: Value) -> _Forms:
    graph = operations.context.graph
    made_of = {value}
    form = Form()
    found = [(frozenset(made_of), form)]
    seen = {value}
    pending: list[tuple[int, int, Value]] = []
    weighted = 0

    def expect(one: Value) -> None:
        if one.producer is not None and one.graph is graph:
            heapq.heappush(pending, (-graph.index_of(one.producer), len(seen), one))

    expect(value)
    for _ in range(_MOST_NODES):
        if not pending:
            break
        *_, one = heapq.heappop(pending)
        node = one.producer
        taken = _list_taken(operations, node) if node is not None else []
        if node is None or not taken:
            continue
        weighted += node.operator.has(*_WEIGHTED)
        if weighted > _MOST_WEIGHTED:
            break
        form = _add_step(form, node, one)
        if weighted and made_of == {one} and node.operator.has(*PICKING):
            form = form._replace(picked=_read_place(node) or form.picked)
        made_of.discard(one)
        for before in taken:
            made_of.add(before)
            if before not in seen:
                seen.add(before)
                expect(before)
        found.append((frozenset(made_of), form))
    return found


def _list_taken(operations: Operations, node: Node) -> list[Value]:
    """Return what a node makes another form of; nothing where it makes something else."""
    if not node.operator.has(*_FORMING) or node.operator.has("distributes", "attends"):
        return []
    computed = [
        value for value in node.inputs if value is not None and not operations.is_fixed(value)
    ]
    if node.operator.has(*_WEIGHTED) and len(computed) != 1:
        return []
    return computed


def _add_step(form: Form, node: Node, given: Value) -> Form:
    operator = node.operator
    if operator.has(*_WEIGHTED):
        form = form._replace(cuts=frozenset())
    if operator.has(*PICKING):
        form = form._replace(cuts=form.cuts | {given})
    strides: tuple[int, ...] = ()
    if operator.form == "ReduceMax":  # over places that a Reshape put into an axis of their own
        return form._replace(pooled=(0,))
    if operator.has("convolves", "pools") and not operator.has("pools_all", "transposed"):
        strides = tuple(read_ints(node, "strides"))
    elif operator.has("slices"):
        steps = constant_tensor(value) if (value := node.input(4)) is not None else None
        strides = tuple(step for step in map(int, read_numbers(steps)) if step > 1)
    if not strides or max(strides) < 2:
        return form
    if operator.has("slices") and form.pooled:  # each axis by a node of its own
        return form._replace(pooled=(*form.pooled, *strides))
    pooled = form.pooled or (1,) * len(strides)
    is_known = len(pooled) == len(strides)
    return form._replace(pooled=tuple(map(mul, pooled, strides)) if is_known else (0,))


def _read_place(node: Node) -> str:
    """Return which single place a node takes: the first or the last one; "" for others."""
    starts = constant_tensor(value) if (value := node.input(1)) is not None else None
    places = read_numbers(starts) if starts is not None else ()
    if len(places) != 1 or places[0] not in (0, -1):
        return ""
    if node.operator.has("slices"):
        ends = constant_tensor(value) if (value := node.input(2)) is not None else None
        if places[0] != 0 or (*read_numbers(ends),) != (1,):
            return ""
    elif not node.operator.has("gathers"):
        return ""
    return "first" if places[0] == 0 else "last"


def write_forms(forms: tuple[Form, Form], counts: tuple[int, int]) -> tuple[str, int]:
    """Return what is told of queries, or of keys and values, that are fewer than the others.

    Parameters
    ----------
    forms
        What was done to queries and to keys since they were the same.
    counts
        How many queries and keys there are; 0 for unknown.

    Returns
    -------
    tuple
        ``query pooled /2`` or ``spatial reduction /4``, "" where nothing is told; and by how much
        keys and values are reduced along each axis, 0 where they are not or axes differ.
    """
    query, key = forms
    asked, compared = counts
    # of what is pooled an axis of size 1 may have been taken off
    is_token = bool(query.picked) and not key.picked and not (query.pooled and not asked)
    if asked <= 1 != compared and is_token:
        return f"query: {query.picked} token", 0
    ratio = compared / asked if asked and compared else 0.0
    is_pooled = bool(query.pooled) and not key.pooled and not 0 < ratio <= 1
    if is_pooled and 0 not in query.pooled:
        return f"query pooled{_write_strides(query.pooled)}", 0
    if key.pooled and not query.pooled and not ratio >= 1:
        scale = _write_strides(key.pooled)
        return f"{REDUCTION}{scale}", key.pooled[0] if len({*key.pooled}) == 1 else 0
    if is_pooled and ratio > 1 and ratio.is_integer():
        return f"query pooled, 1 of {ratio:.0f} places", 0
    return ("query pooled" if is_pooled else ""), 0


def _write_strides(strides: tuple[int, ...]) -> str:
    if 0 in strides:
        return ""
    return " /" + (str(strides[0]) if len({*strides}) == 1 else "×".join(map(str, strides)))


def count_compared(operations: Operations, product: int) -> tuple[int, int]:
    """Return how many queries and keys a product compares; 0 for unknown."""
    facts = find_value_facts(operations.context.graph.model)
    dims = facts.find_dims(operations.nodes[product].output(0)) or (0, 0)
    asked, compared = (dim if isinstance(dim, int) else 0 for dim in (0, *dims)[-2:])
    return asked, compared


def is_made_of(operations: Operations, value: Value, other: Value) -> bool:
    """Return whether a value is computed of another one, be it in a way that gives no form of it.

    Sums of several values are not looked behind: a stream that attended to the other before is made
    of it, too.
    """
    graph = operations.context.graph
    pending, seen = [value], {value}
    for _ in range(_MOST_LOOKED_AT):
        if not pending:
            break
        one = pending.pop()
        node = one.producer
        if one is other:
            return True
        if node is None or one.graph is not graph:
            continue
        computed = [
            taken for taken in node.inputs if taken is not None and not operations.is_fixed(taken)
        ]
        if node.operator.has("adds") and len(computed) > 1:
            continue
        pending += [taken for taken in computed if taken not in seen]
        seen.update(computed)
    return False


def share_stream(operations: Operations, query: Value, key: Value) -> bool:
    """Return whether queries are made, without attention, of what keys were before.

    So are the queries of all windows that are made of the features which a stage begins with
    (A. Hatamizadeh and others, Global Context Vision Transformers, 2023, section 3.2).
    """
    made_of = _list_before(operations, query, _MOST_LOOKED_AT, ("attends", "distributes"))
    if not made_of:
        return False
    return all(
        not made_of.isdisjoint(_list_before(operations, one, _MOST_OF_STREAM, ()))
        for one in _list_joined(operations, key)
    )


def takes_other_token(operations: Operations, value: Value) -> bool:
    """Return whether the first token of a sequence was exchanged for one of another stream.

    C. Chen and others, CrossViT, 2021, figure 4: the rest is cut out of a value of which the token
    is not made.
    """
    joined = _list_joined(operations, value)
    if len(joined) != _OF_TOKEN_AND_REST:
        return False
    token, rest = joined
    cut = rest.producer
    whole = cut.input(0) if cut is not None else None
    if cut is None or not cut.operator.has(*PICKING) or whole is None:
        return False
    before = _list_before(operations, token, _MOST_OF_STREAM, ())
    makers = [one.producer for one in before if one.producer is not None]
    return bool(makers) and not any(whole in maker.inputs for maker in makers)


def _list_joined(operations: Operations, value: Value) -> list[Value]:
    """Return the values that a value was joined of, perhaps before a norm; itself if of none.

    Queries are compared with themselves and with others then, as of a resampler.
    """
    current = value
    for _ in range(_MOST_OF_NORM):
        node = current.producer
        if node is None:
            break
        computed = [one for one in node.inputs if one is not None and not operations.is_fixed(one)]
        if node.operator.has("joins"):
            return computed
        if len({*computed}) != 1:
            break
        current = computed[0]
    return [value]


def _list_before(
    operations: Operations, value: Value, most: int, stopping: tuple[str, ...]
) -> set[Value]:
    """Return the computed values that a value is of, so many nodes back, the nearest first.

    And none from the first operator on that has one of some traits.
    """
    graph = operations.context.graph
    found: set[Value] = set()
    pending: list[tuple[int, int, Value]] = []
    seen = {value}

    def expect(one: Value) -> None:
        if one.producer is not None and one.graph is graph and not operations.is_fixed(one):
            heapq.heappush(pending, (-graph.index_of(one.producer), len(seen), one))

    expect(value)
    for _ in range(most):
        if not pending:
            break
        *_, one = heapq.heappop(pending)
        node = one.producer
        if node is None or (stopping and node.operator.has(*stopping)):
            break
        found.add(one)
        for before in node.inputs:
            if before is not None and before not in seen:
                seen.add(before)
                expect(before)
    return found


def compares_directions(blocks: FoundBlocks, numbers: set[int]) -> bool:
    """Return whether queries and keys are divided by their lengths, as of channels over places.

    A. El-Nouby and others, XCiT, 2021, section 3.2: so products of them are a covariance.
    """
    operations = blocks.operations
    return any(
        (norm := blocks.holding(number, "norm")) is not None and norm.name.startswith("L2")
        for number in numbers
    ) or any(operations.nodes[number].operator.form == "LpNormalization" for number in numbers)


def read_channel_heads(
    operations: Operations, product: int, features: int
) -> tuple[int, int] | None:
    """Return how many heads of which width compare channels over all places, instead of places.

    A. El-Nouby and others, XCiT: Cross-Covariance Image Transformers, 2021, equation 2; M. Ding and
    others, DaViT: Dual Attention Vision Transformers, 2022, equation 4; without heads J. Fu and
    others, Dual Attention Network for Scene Segmentation, 2019, figure 3. What is summed up are
    axes of places of what the nearest layer gives, and what is compared is of its features. None
    where places are compared, and where that is not known; 0 heads where they are not counted.
    Where axes cannot be followed back the sizes tell, of which ``features`` is that of all heads.
    """
    node = operations.nodes[product]
    query = node.input(0)
    facts = find_value_facts(operations.context.graph.model)
    dims = facts.find_dims(query) or ()
    axis, summing = find_compared_axis(node, 0), find_summed_axis(node, 0)
    if len(dims) < _LEAST_COMPARED or axis is None or summing is None:
        return None
    of_heads = find_head_axis(node, 0)
    has_heads = len(dims) == _WITH_HEADS and of_heads is not None
    sizes = [dims[one] for one in (of_heads or 0, axis, summing)] if has_heads else [0, 0, 0]
    heads, width, places = (one if isinstance(one, int) else 0 for one in sizes)
    if not (heads and width):
        heads, width = 0, 0
    compared, summed = (trace_axis(operations, query, one) for one in (axis, summing))
    giver = compared.value.producer if compared is not None else None
    if compared is None or summed is None or giver is None or compared.value is not summed.value:
        is_fit = bool(features) and heads * width == features
        is_either = places > 0 and heads * places == features
        return (heads, width) if is_fit and not is_either else None
    place = 1 if giver.operator.has("convolves") else compared.rank - 1
    return (heads, width) if place in compared.axes and place not in summed.axes else None
