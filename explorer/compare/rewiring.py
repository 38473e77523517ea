"""Whether paired nodes still take what they took, and graphs still give it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from netloupe.explorer.dataflow import trace_back
from netloupe.explorer.model import Node, Value, is_constant
from netloupe.explorer.operators import CONVERTING_TRAITS

from .changes import Change
from .roles import is_on_integers, list_operands

if TYPE_CHECKING:
    from .matching import Matching
    from .pair import Pair

#: through so many nodes that only pass a value on it is followed to where it comes from
_MOST_PASSED = 8


def may_be_rewired(pair: Pair) -> bool:
    """Return whether paired nodes may take different things.

    Where both graphs are the same but for names and numbers, that are weights that several take.
    """
    return pair.key != "wiring" or any(
        value is not None and value.initializer is not None and len(value.users) > 1
        for value in (*pair.left[0].inputs, *pair.right[0].inputs)
    )


def compare_operands(pair: Pair, matching: Matching) -> Iterator[Change]:
    """Yield the operands of two paired nodes that are values with other partners.

    What is not told here follows from what is told elsewhere: operands of which one side has no
    partner, since a node was added or removed; casts, quantization and the like between; and other
    numbers in weights. Where a constant and a computed value change places is told by
    :mod:`.stated`.
    """
    yield from _compare_places(pair.left[0], pair.right[0], matching)


def _compare_places(left: Node, right: Node, matching: Matching) -> Iterator[Change]:
    values, back = matching.values, matching.values_back
    sides = [
        [_find_origin(value, known) for value in list_operands(node)]
        for node, known in ((left, values), (right, back))
    ]
    is_any_order = is_commutative(left)
    if is_any_order and len(sides[0]) != len(sides[1]):
        return  # the numbers of operands are told
    others = [
        (index, one, other)
        for index, (one, other) in enumerate(zip(*sides, strict=False))
        if one is not None
        and other is not None
        and values.get(one, other) is not other
        and back.get(other, one) is not one
    ]
    if is_any_order:
        wanted = {values.get(one) for _, one, _ in others}
        others = [entry for entry in others if entry[2] not in wanted]
    for index, one, other in others:
        if is_constant(one) == is_constant(other) and one in values and other in back:
            yield Change(f"input {index}", *tell_both(one, other, back))


def compare_taken(pair: Pair, matching: Matching) -> Iterator[Change]:
    """Yield the values that several nodes together take in one model, and others in the other.

    What has no partner is left out, as it is where nodes were added or removed. Of operators that
    both sides are named after the order is compared as well.
    """
    found = [*_compare_sets(pair, matching)]
    yield from found
    heads = [
        [node for node in side if node.operator.has("convolves", "multiplies")]
        for side in (pair.left, pair.right)
    ]
    if not found and len(heads[0]) == len(heads[1]) == 1:
        yield from _compare_places(heads[0][0], heads[1][0], matching)


def _compare_sets(pair: Pair, matching: Matching) -> Iterator[Change]:
    values, back = matching.values, matching.values_back
    lefts, rights = (
        [*_list_taken(side, known)] for side, known in ((pair.left, values), (pair.right, back))
    )
    gone = [one for one in lefts if one in values and values[one] not in rights]
    new = [other for other in rights if other in back and back[other] not in lefts]
    are_known = values.keys() >= {*lefts} and back.keys() >= {*rights}
    if (gone and new) or ((gone or new) and are_known):
        before, after = (", ".join(map(tell_value, each)) or None for each in (gone, new))
        yield Change("input", before, after)


def _list_taken(nodes: tuple[Node, ...], known: Mapping[Value, Value]) -> dict[Value, None]:
    """Return what nodes take of others, apart from constants and what only gives its sizes."""
    inside = {*nodes}
    taken: dict[Value, None] = {}
    for node in nodes:
        if node.operator.has("reads_shape"):
            continue
        for value in node.inputs:
            if value is not None and value.producer not in inside:
                origin = _find_origin(value, known)
                if origin is not None and origin.producer not in inside and not is_constant(origin):
                    taken[origin] = None
    return taken


def compare_results(matching: Matching) -> Iterator[Change]:
    """Yield the outputs of paired graphs that other nodes give than those that gave them.

    Those of bodies and functions, which go by their place, are compared with what is stated of
    them.
    """
    values, back = matching.values, matching.values_back
    for left, right in matching.graphs:
        if left.kind != "main":
            continue
        named = {value.name: value for value in right.outputs}
        is_by_name = all(value.name in named for value in left.outputs)
        if not is_by_name and len(left.outputs) != len(right.outputs):
            continue
        for place, before in enumerate(left.outputs):
            after = named[before.name] if is_by_name else right.outputs[place]
            one, other = _find_origin(before, values), _find_origin(after, back)
            if one is None or other is None or one not in values or other not in back:
                continue
            if values[one] is not other:
                yield Change(f"what gives output {before.name}", tell_value(one), tell_value(other))


def is_commutative(node: Node) -> bool:
    """Return whether the operands of a node may stand in any order.

    Codes have scales and zero points beside them; and where attributes say how operands are spread
    (``broadcast``, ``axis``: Caffe2, and ONNX before operator set 7), it is the second that is.
    """
    is_any_order = node.operator.has("commutative") and not is_on_integers(node)
    return is_any_order and not {"axis", "broadcast"} & {*node.attributes}


def _find_origin(value: Value | None, known: Mapping[Value, Value]) -> Value | None:
    """Return what a value is before nodes that only pass it on.

    One that is paired with what does more, as QuantizeLinear with the ReLU in its range, is none.
    """
    origin = None
    for origin in trace_back(value, *CONVERTING_TRAITS, most=_MOST_PASSED + 1):
        partner = known[origin].producer if origin in known else None
        if partner is not None and not partner.operator.has(*CONVERTING_TRAITS):
            break
    return origin


def tell_both(one: Value, other: Value, back: Mapping[Value, Value]) -> tuple[str, str]:
    """Return what two values are called: with what tells them apart where both have one path."""
    told = tell_value(one), tell_value(other)
    if told[0] != told[1]:
        return told
    kinds = _name_kind(one), _name_kind(other)
    if kinds[0] == kinds[1]:
        before = back.get(other)
        return told if before is None else (told[0], f"{told[1]} (which was {tell_value(before)})")
    return f"{told[0]} ({kinds[0]})", f"{told[1]} ({kinds[1]})"


def _name_kind(value: Value) -> str:
    """Return where a value comes from: which input it is, an initializer, or a node's."""
    inputs = value.graph.inputs
    if value.initializer is not None:
        return "initializer"
    if value in inputs:
        return f"input {inputs.index(value)} of the graph"
    return "no input" if value.producer is None else value.producer.op_type


def tell_value(value: Value) -> str:
    """Return what a value is called where it comes from: the path of its node, or its own."""
    producer = value.producer
    if producer is None:
        return value.path
    return producer.path if len(producer.outputs) == 1 else f"{producer.path}:{value.output_index}"
