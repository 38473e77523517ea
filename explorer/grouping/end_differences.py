"""What the first or the last block of a stack lacks that all others have, in words.

``the last without GELU``, ``the first begins the sum``, ``the last gives 1 of 2 results``; where
others of the kind are left, ``the last without one Linear``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import combinations

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node, constant_tensor
from netloupe.explorer.operators import HANDING_TRAITS, LAYOUT_TRAITS
from netloupe.explorer.patterns import GraphContext, find_ingredients, read_numbers

from .member_differences import are_of_example
from .node_kinds import NodeKind, tell_kind
from .outside_norms import takes_norm

#: how it is said that a block does not give all that others do
RESULTS = "results"
#: blocks of more nodes are not compared
_MOST_COMPARED = 400
#: so many parts are told of which a block lacks one
_MOST_TOLD = 2
#: so many stored numbers are read
_MOST_NUMBERS = 4_096
#: blocks that give more results are not looked at
_MOST_RESULTS = 5
#: what stands between the names of parts
_SEVERAL = " · "
#: what arithmetic gives, by the trait of its operator
_ARITHMETIC = {"adds": "sum", "subtracts": "difference", "multiplies_elements": "product"}


def tell_lacking(
    odd: Sequence[Node], whole: Sequence[Node], *, is_last: bool, context: GraphContext
) -> str:
    """Return in words what a block lacks of what another one has; "" where it lacks nothing.

    Nothing is told, either, where it has anything that the other one has not.

    Parameters
    ----------
    odd
        The nodes of the first or the last block of a stack.
    whole
        Those of a block between the others.
    is_last
        Whether it is the last.
    context
        What is known of their graph.
    """
    if not 0 < len(odd) < len(whole) <= _MOST_COMPARED:
        return ""
    which = "the last" if is_last else "the first"
    if is_last and _adds_part(_list_missing(odd, whole), whole):
        return "each result is added to the next part"
    results = _count_results(odd, whole) if is_last else None
    if results is not None:
        given, all_given = results
        return f"{which} gives {given} of {all_given} {RESULTS}"
    missing = _list_missing(odd, whole)
    if are_of_example(missing, odd):
        return ""
    if missing and not is_last and all(node.operator.has("adds", "subtracts") for node in missing):
        return f"{which} begins the sum" + ("s" if len(missing) > 1 else "")
    parts = _count_parts(missing, context)
    if not parts:
        words = [_ARITHMETIC[trait] for trait in _ARITHMETIC if _has_any(missing, trait)]
        told = words if len(words) == len(missing) else []
        if told == ["sum"] and _adds_shortcut(missing[0], whole):
            return f"{which} without shortcut"
        return f"{which} without {' and '.join(told)}" if 0 < len(told) <= _MOST_TOLD else ""
    if len(parts) > _MOST_TOLD:
        return ""
    if not is_last and all(name.endswith("Norm") for name in parts) and takes_norm(odd):
        return ""
    left = _count_parts(odd, context)
    telling = [node for node in missing if not node.operator.has(*_ARITHMETIC)]
    if {node.op_type for node in telling} <= {node.op_type for node in odd}:
        left += parts  # as something that has another name
    gone = [name for name in parts if name not in left]
    if gone:
        return f"{which} without {' and '.join(gone)}"
    if any(count > 1 for count in parts.values()):
        return ""
    return f"{which} without {' and '.join(f'one {name}' for name in parts)}"


def tell_start(first: Sequence[Node], second: Sequence[Node]) -> str:
    """Return ``the first from zeros`` where a first block takes these for its stream.

    So the state of a recurrent cell begins, and the targets of a decoder that has learned queries
    (N. Carion and others, End-to-End Object Detection with Transformers, 2020, section A.3).
    Nothing is told where it takes anything of the stream from what comes in.
    """
    if [node.op_type for node in first] != [node.op_type for node in second]:
        return ""
    own = {*first}
    starts = [
        ours
        for node, match in zip(first, second, strict=True)
        for ours, theirs in zip(node.inputs, match.inputs, strict=False)
        if ours is not None and theirs is not None and theirs.producer in own
    ]
    if not starts or not all(map(is_input_independent, starts)):
        return ""
    numbers = [read_numbers(constant_tensor(value), _MOST_NUMBERS) for value in starts]
    are_zeros = all(own and not any(own) for own in numbers)
    return "the first from zeros" if are_zeros else ""


def _count_parts(nodes: Sequence[Node], context: GraphContext) -> Counter[str]:
    """Return how many there are of which parts among nodes."""
    counts: Counter[str] = Counter()
    for one in find_ingredients(nodes, context):
        for name in one.name.split(_SEVERAL):
            counts[name] += one.times
    return counts


def _has_any(nodes: Sequence[Node], trait: str) -> bool:
    return any(node.operator.has(trait) for node in nodes)


def _list_missing(odd: Sequence[Node], whole: Sequence[Node]) -> list[Node]:
    """Return the nodes of one block that a smaller one lacks; none where that has others, too."""
    ours, theirs = ([tell_kind(node) for node in nodes] for nodes in (odd, whole))
    found = SequenceMatcher(None, theirs, ours, autojunk=False).get_matching_blocks()
    paired = {there + place for there, _, size in found for place in range(size)}
    if len(paired) < len(odd):
        return []
    missing = [node for place, node in enumerate(whole) if place not in paired]
    return [node for node in missing if not node.operator.has(*LAYOUT_TRAITS)]


def _adds_shortcut(total: Node, whole: Sequence[Node]) -> bool:
    """Return whether a sum in a block adds a value to what is computed of it."""
    own = {*whole}
    sides = [value for value in total.inputs if value is not None]
    for side in sides:
        pending = [one.producer for one in sides if one is not side]
        seen: set[Node] = set()
        while pending:
            node = pending.pop()
            if node is None or node not in own or node in seen:
                continue
            seen.add(node)
            if side in node.inputs:
                return True
            pending += [value.producer for value in node.inputs if value is not None]
    return False


def _adds_part(missing: Sequence[Node], whole: Sequence[Node]) -> bool:
    """Return whether all that a last block lacks is the sum of what it gives with a part.

    Each next one takes that sum, as in the hierarchy of S. Gao and others, Res2Net, 2019, equation
    1.
    """
    if len(missing) != 1 or not missing[0].operator.has("adds"):
        return False
    own = {*whole}
    sides = [value for value in missing[0].inputs if value is not None]
    around = [value for value in sides if value.producer not in own]
    maker = around[0].producer if len(sides) > len(around) == 1 else None
    return maker is not None and maker.operator.has("slices", "splits")


def _count_results(odd: Sequence[Node], whole: Sequence[Node]) -> tuple[int, int] | None:
    """Return how many results one block gives, and another one, where it lacks what leads to some.

    None where it lacks anything else than all nodes that lead to some results alone.

    A layer that gives something to these, too, may be narrower: of the last block of two streams
    the stream that ends is scaled and shifted less often (P. Esser and others, Scaling Rectified
    Flow Transformers, 2024, figure 2).
    """
    ours, theirs = (Counter(map(tell_kind, nodes)) for nodes in (odd, whole))
    lacking = theirs - ours
    for kind in (ours - theirs).elements():
        wider = next((other for other in lacking if _is_narrower(kind, other)), None)
        if wider is None:
            return None
        lacking[wider] -= 1
    lacking = +lacking
    reached: dict[Node, frozenset[Node]] = {}
    results: list[Node] = []
    for node in reversed(whole):
        users = {
            user
            for value in node.outputs
            if value is not None
            for user in value.users
            if not user.operator.has("reads_shape")  # which takes the size alone
        }
        if any(user not in reached for user in users):
            results.append(node)
            users &= reached.keys()
            reached[node] = frozenset((node,)).union(*(reached[user] for user in users))
        else:
            reached[node] = frozenset().union(*(reached[user] for user in users))
    if len(results) > _MOST_RESULTS:
        return None
    for count in range(1, len(results)):
        for chosen in combinations(results, count):
            only = frozenset(chosen)
            branch = [node for node in whole if reached[node] and reached[node] <= only]
            if Counter(map(tell_kind, branch)) == lacking:
                is_work = not all(node.operator.has(*HANDING_TRAITS) for node in branch)
                return (len(results) - count, len(results)) if is_work else None
    return None


def _is_narrower(kind: NodeKind, other: NodeKind) -> bool:
    """Return whether a layer has weights of fewer features than another one, and is like it."""
    (name, shapes, stride), (other_name, other_shapes, other_stride) = kind, other
    if (name, stride, len(shapes)) != (other_name, other_stride, len(other_shapes)) or not shapes:
        return False
    pairs = [*zip(shapes, other_shapes, strict=True)]
    if any(ours is None or theirs is None or len(ours) != len(theirs) for ours, theirs in pairs):
        return False
    sizes = [
        (one, two)
        for ours, theirs in pairs
        for one, two in zip(ours or (), theirs or (), strict=True)
    ]
    return all(one is not None and two is not None and one <= two for one, two in sizes)
