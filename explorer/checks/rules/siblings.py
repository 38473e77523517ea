"""What is unlike its siblings: a block among repeated blocks, a weight among those of its place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from netloupe.explorer.checks.folding import mask_digits
from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.grouping import Group, find_tree, list_nodes_inside
from netloupe.explorer.model import Node, Tensor
from netloupe.explorer.model.node_keys import key_attributes
from netloupe.explorer.notation import join_parts, write_count, write_dims, write_number
from netloupe.explorer.operators import ARRANGING_TRAITS

#: so many siblings make a rule, from which one is the exception
_LEAST_SIBLINGS = 4
_LEAST_WEIGHTS = 6
#: graphs of more nodes are not grouped: that takes longer than all other rules
_MOST_NODES = 500_000
#: how far the spread of a weight stands out: so many times that of its siblings in the middle, and
#: so many of their own deviations (of the logarithms, median absolute, Iglewicz and Hoaglin 1993
#: take 3.5)
_LEAST_RATIO, _LEAST_DEVIATIONS = 8.0, 8.0
#: 1.4826 makes the median absolute deviation a standard deviation of normal numbers; where siblings
#: are all but equal, a tenth of an octave still counts as usual
_TO_STD, _LEAST_SPREAD = 1.4826, 0.1
_MOST_SHOWN = 4
#: what differs at the ends of stacks: products, which projections and heads have, and what
#: exporters trace of shapes and layouts
_OF_BORDERS = (
    *("convolves", "multiplies", "dequantizes", "quantizes"),
    *(*ARRANGING_TRAITS, "counts", "fills", "looks_up", "reads_shape", "stores_constant"),
)

_NUMBER = re.compile(r"\d+")
_Signature = Counter[str]


def _find_unlike_groups(subject: Subject) -> Iterator[Occurrence]:
    large = 0
    for graph in subject.graphs:
        if len(graph.nodes) < 2 * _LEAST_SIBLINGS:
            continue
        if len(graph.nodes) > _MOST_NODES:
            large = max(large, len(graph.nodes))
            continue
        pending = [find_tree(subject.model, graph).root]
        while pending:
            group = pending.pop()
            pending += group.inner_groups()
            if group.kind not in ("repeat", "part"):  # these stand for their groups
                yield from _judge_children(group)
    if large:
        raise NetloupeError(
            f"a graph of {large:,} nodes is not grouped for it: there may be {_MOST_NODES:,}."
        )


def _judge_children(parent: Group) -> Iterator[Occurrence]:
    families: dict[str, list[Group]] = {}
    waiting = [*reversed(parent.inner_groups())]
    while waiting:
        child = waiting.pop()
        if child.kind in ("repeat", "part"):
            waiting += reversed(child.inner_groups())
        elif child.kind in ("scope", "block") and child.node_count > 1:
            families.setdefault(mask_digits(child.label), []).append(child)
    for family in families.values():
        if len(family) >= _LEAST_SIBLINGS:
            yield from _judge_family(family)


def _judge_family(family: Sequence[Group]) -> Iterator[Occurrence]:
    """Yield the one that differs, where all others are alike."""
    signed = [(group, _sign(group)) for group in family]
    keys = [frozenset(signature.items()) for _, signature in signed]
    (common, count), *others = Counter(keys).most_common(3)
    if count != len(family) - 1 or len(others) != 1:
        return
    odd = next(place for place, key in enumerate(keys) if key != common)
    group, signature = signed[odd]
    usual = next(
        signature for (_, signature), key in zip(signed, keys, strict=True) if key == common
    )
    more, less = signature - usual, usual - signature
    has, lacks = _count_kinds(more), _count_kinds(less)
    changed = sorted(name for name in has.keys() & lacks.keys() if has[name] == lacks[name])
    has, lacks = (
        Counter({n: c for n, c in kinds.items() if n not in changed}) for kinds in (has, lacks)
    )
    parts = [f"{verb} {_write(kinds)}" for verb, kinds in (("has", has), ("lacks", lacks)) if kinds]
    if changed:
        shown = join_parts(changed[:_MOST_SHOWN], len(changed))
        parts.append(f"differs in the attributes of {shown}")
    is_end = odd in (0, len(family) - 1)
    if is_end and _is_border(group, [each for each in family if each is not group], more, less):
        return
    yield Occurrence(
        group.path,
        f"{group.label[:60]} is unlike the {count} others, which are all alike: it "
        + ", and ".join(parts),
        {
            "siblings": count,
            "place": odd,
            "has": _list(has),
            "lacks": _list(lacks),
            "other_attributes": changed[:20],
        },
        severity="note" if is_end else None,
    )


def _is_border(group: Group, others: Sequence[Group], more: _Signature, less: _Signature) -> bool:
    """Return whether the place at an end of a stack explains that a block is unlike the others.

    A first block has another width or stride, and a projection beside it; exporters compute once,
    in the first, what all blocks share, and leave out of the last what nothing takes; what they
    trace of shapes differs. So only operators that compute are left: a norm, an activation or a sum
    too many or too few.
    """
    has, lacks = ({name.split("\0")[0] for name in each if "\0" in name} for each in (more, less))
    has_weights = any("\0" not in name for name in (*more, *less))
    if has_weights or has & lacks:
        return True
    nodes = list_nodes_inside([group, *others[:1]])  # of which all others are alike
    if any(node.op_type in has | lacks and node.operator.has(*_OF_BORDERS) for node in nodes):
        return True
    return _shares_values(group, others)


def _shares_values(group: Group, others: Sequence[Group]) -> bool:
    """Return whether a value that a block computes is taken in two others or more."""
    places = {
        node: place for place, each in enumerate(others) for node in list_nodes_inside([each])
    }
    for node in list_nodes_inside([group]):
        for value in node.outputs:
            if value is not None and len({places[u] for u in value.users if u in places}) > 1:
                return True
    return False


def _count_kinds(signature: _Signature) -> _Signature:
    """Return how many there are of each operator, whatever the attributes, and of each weight."""
    found: _Signature = Counter()
    for name, count in signature.items():
        found[name.split("\0")[0]] += count
    return found


def _write(kinds: _Signature) -> str:
    return join_parts(_list(kinds)[:_MOST_SHOWN], len(kinds))


def _list(kinds: _Signature) -> list[str]:
    told = sorted(kinds.items())[:20]
    return [name if count == 1 else f"{count} × {name}" for name, count in told]


def _sign(group: Group) -> _Signature:
    """Return what a group holds: operators with their attributes, weights with type and shape."""
    found: _Signature = Counter()
    pending: list[Group | Node] = [group]
    while pending:
        child = pending.pop()
        if not isinstance(child, Node):
            pending += child.children
            continue
        key = key_attributes(child).hex()
        found[f"{child.op_type}\0{key}"] += 1
        for value in child.inputs:
            tensor = value.initializer if value is not None else None
            if isinstance(tensor, Tensor) and len(tensor.dims) > 0 and tensor.size > 1:
                found[f"{tensor.dtype}{write_dims(tensor.dims)}"] += 1
    return found


def _find_unlike_weights(subject: Subject) -> Iterator[Occurrence]:
    families: dict[tuple[str, str, tuple[int, ...]], list[Tensor]] = {}
    for tensor, facts in subject.numbers.facts.items():
        if len(tensor.dims) > 1 and tensor.size >= 64 and facts.rms > 0:
            key = (mask_digits(tensor.path), tensor.dtype.name, tensor.dims)
            families.setdefault(key, []).append(tensor)
    for family in families.values():
        if len(family) < _LEAST_WEIGHTS or not _is_numbered_once(family):
            continue
        spreads = np.log2([subject.numbers.facts[tensor].rms for tensor in family])
        middle = float(np.median(spreads))
        usual = max(float(np.median(np.abs(spreads - middle))) * _TO_STD, _LEAST_SPREAD)
        for tensor, spread in zip(family, spreads.tolist(), strict=True):
            off = abs(spread - middle)
            if off >= np.log2(_LEAST_RATIO) and off >= _LEAST_DEVIATIONS * usual:
                rms, others = 2.0**spread, 2.0**middle
                yield Occurrence(
                    tensor.path,
                    f"the root mean square of its numbers is {write_number(rms)}; of the "
                    f"{write_count(len(family) - 1, 'other')} at "
                    f"its place it is {write_number(others)} in the "
                    f"middle, {write_number(max(rms / others, others / rms))} times "
                    + ("less" if rms > others else "more"),
                    {
                        "rms": rms,
                        "median_of_siblings": others,
                        "siblings": len(family) - 1,
                        "deviations": round(off / usual, 1),
                    },
                )


def _is_numbered_once(family: Sequence[Tensor]) -> bool:
    """Return whether names of siblings differ in one number only: that of the layer."""
    parts = [_split(tensor.path) for tensor in family]
    columns = zip(*parts, strict=True)
    return sum(len(set(column)) > 1 for column in columns) == 1


def _split(path: str) -> list[str]:
    return _NUMBER.findall(path)


RULES = (
    Rule(
        "NL-R01",
        "unlike-sibling",
        "warning",
        "One block unlike the others of a stack",
        "Stacks are written as a loop; an exception inside shows a wrong export, a half-done "
        "conversion or an edit. At the ends of a stack, where width, stride and what is shared "
        "differ on purpose, only other computing is told, as a note.",
        "Inspect the block and its neighbour, and compare what is said of them.",
        "netloupe's groups",
        _find_unlike_groups,
    ),
    Rule(
        "NL-R02",
        "unlike-weight",
        "warning",
        "A weight whose numbers are far larger or smaller than those at its place in other layers",
        "A scale was applied twice or never, a layer was not loaded, or training diverged there.",
        "Inspect it, and compare its histogram with that of a neighbour.",
        "Iglewicz and Hoaglin 1993, modified z-score, on logarithms",
        _find_unlike_weights,
        reads_values=True,
    ),
)
