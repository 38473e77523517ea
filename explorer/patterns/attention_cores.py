"""The core of an attention that is written out: two products with a softmax between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node, Value

from .attention_forms import has_latents
from .operations import OUTSIDE, Operations, list_data
from .readings import read_int, read_ints
from .weight_sizes import read_dims

_PRODUCTS = frozenset({"Einsum", "MatMul"})
#: what may stand between the two products of an attention
_SCORES = frozenset(
    {"Add", "And", "Clip", "Div", "IsNaN", "Max", "Mul", "Slice", "Softmax", "Sub", "Tanh", "Where"}
    | {"Pad", "ScatterND"}
)
_MOST_STEPS = 14
#: more heads are not mixed
_MOST_HEADS = 64


def find_scores(
    operations: Operations, softmax: int, is_taken: Callable[[int], bool] = lambda _: False
) -> tuple[set[int], int, list[int]] | None:
    """Return what is between two products, the second one, and the way from the first.

    Scores to which those of the layer before are added (R. He and others, RealFormer, 2021, figure
    1) are not followed back into that one: ``is_taken`` says what is in another attention.
    """

    def follow(number: int) -> list[int]:
        givers = operations.givers(number)
        return [giver for giver in givers if not is_taken(giver)] or givers

    back = _search(operations, softmax, follow, has_latents)
    onward = _search(
        operations, softmax, lambda n: [user for user in operations.users[n] if user != OUTSIDE]
    )
    if back is None or onward is None or not _shares_keys(operations, softmax, onward):
        return None
    core = {softmax, *back, *onward}
    # what tests the scores, as for rows that are masked in whole
    for number in list(core):
        core.update(
            user
            for user in operations.users[number]
            if user >= 0
            and operations.kinds[user] in (*_SCORES, "ReduceMax")
            and core.issuperset(operations.users[user])
        )
    return core, onward[-1], back


def _shares_keys(operations: Operations, softmax: int, onward: Sequence[int]) -> bool:
    """Return whether shares are of keys, which the second product sums up, as far as is known.

    Shares of queries for each key make another attention.
    """
    node = operations.nodes[softmax]
    axis = read_int(node, "axis")
    if axis in (None, -1):
        return not _sums_queries(operations, softmax, onward)
    dims = find_value_facts(operations.context.graph.model).find_dims(node.output(0))
    product = operations.nodes[onward[-1]]
    if not dims or product.operator.form == "Einsum":
        return True
    # what turns them in between may put keys where they are summed up
    known = {softmax, *onward}
    for number in onward:
        for value in operations.nodes[number].inputs:
            if value is None or operations.giver(operations.source(value)) not in known:
                continue
            if any(one.operator.has("permutes", "reshapes") for one in operations.path(value)):
                return True
    return (axis or 0) % len(dims) == len(dims) - 1


def _sums_queries(operations: Operations, softmax: int, onward: Sequence[int]) -> bool:
    """Return whether shares of the last axis are turned, and then sum up what others are of.

    So nodes are put into clusters (R. Ying and others, Hierarchical Graph Representation Learning
    with Differentiable Pooling, 2018, equation 3).
    """
    product = operations.nodes[onward[-1]]
    first = product.input(0)
    if product.operator.form != "MatMul" or first is None:
        return False
    if operations.giver(operations.source(first)) not in {softmax, *onward[:-1]}:
        return False
    path = operations.path(first)
    perms = [read_ints(node, "perm") for node in path if node.operator.has("permutes")]
    if len(perms) != 1 or any(node.operator.has("reshapes") for node in path):
        return False
    rank = len(perms[0])
    return perms[0] == (*range(rank - 2), rank - 1, rank - 2)


def _search(
    operations: Operations,
    start: int,
    follow: Callable[[int], list[int]],
    is_product: Callable[[Operations, int], bool] = lambda operations, number: False,
) -> list[int] | None:
    """Return the shortest way from a Softmax to a product of two computed tensors.

    Or to what ``is_product`` says is one.
    """
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
                if is_product(operations, number):
                    return [*way[1:], number]
                is_step = kind in _SCORES or mixes_heads(operations, number)
                if is_step or _joins_sinks(operations, number):
                    longer.append([*way, number])
        ways = longer[:16]
    return None


def mixes_heads(operations: Operations, number: int) -> bool:
    """Return whether an operation is a layer of as many features as it takes, few, as heads."""
    node = operations.nodes[number]
    is_layer = operations.kinds[number] in ("Conv", "Gemm") and len(node.inputs) > 1
    if not is_layer or len(operations.operands[number]) != 1:
        return False
    dims = [dim for weight in operations.fixed(number)[:1] for dim in read_dims(weight)]
    return len(dims) >= 2 and {*dims[2:]} <= {1} and 1 < dims[0] == dims[1] <= _MOST_HEADS


def _joins_sinks(operations: Operations, number: int) -> bool:
    """Return whether a stored score for each head is put behind those of the tokens.

    It takes a share of the attention that goes to none (G. Xiao and others, Efficient Streaming
    Language Models with Attention Sinks, 2023; OpenAI, gpt-oss, 2025).
    """
    if operations.kinds[number] != "Concat":
        return False
    operands = operations.nodes[number].inputs
    return len(operands) == 2 and operations.is_fixed(operands[1])


def find_second_product(operations: Operations, anchor: int) -> int:
    """Return the product of weights and values behind a Softmax; itself where there is none."""
    onward = _search(
        operations, anchor, lambda n: [user for user in operations.users[n] if user != OUTSIDE]
    )
    return onward[-1] if onward else anchor


def find_value_operand(operations: Operations, product: Node, core: set[int]) -> Value | None:
    """Return the operand of the second product that is not the weighting."""
    taken = list_data(product)[:2]
    for value in taken:
        if value is not None and operations.giver(operations.source(value)) not in core:
            return value
    return taken[1] if len(taken) > 1 else None
