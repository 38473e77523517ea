"""Bundles: what many values between the same two boxes are drawn as, one port and one edge.

Between two closed groups there may be hundreds of tensors: those between two rows of a grid, or
between two pieces of a large flat graph. Drawn one by one they are a black band that tells less
than a single edge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from itertools import chain

from netloupe.explorer.model import Value

from .item import Item
from .links import list_link_kinds
from .many_values import group_alike, list_distinct

#: so many values between the same two boxes are drawn one by one
MOST_SINGLE = 8

#: stands for repetitions that are not shown, where values come from
OTHER_REPETITIONS = "other repetitions"


def bundle_ports(item: Item, children: Sequence[Item], from_others: Collection[Value] = ()) -> None:
    """Give the children of an item one port for very many values from the same sibling.

    The sibling in turn has one port for all values that reach each of their users so. Hubs,
    values that more siblings take than get edges, keep their own ports: they become stubs.
    Linear in the ports of the children.

    Parameters
    ----------
    item
        A newly opened item, its body made.
    children
        Its children without stubs; their ports are changed.
    from_others
        Values that come from repetitions that are not shown.
    """
    takes_many = any(len(child.inputs) > MOST_SINGLE for child in children)
    gives_many = any(len(child.outputs) > MOST_SINGLE for child in children)
    if not takes_many and not gives_many:
        return
    entering, leaving = border_ports(item)
    if takes_many:
        _bundle_inputs(children, set(from_others), entering)
    if gives_many:
        _bundle_outputs(children, leaving)


def _bundle_inputs(
    children: Sequence[Item], others: set[Value], entering: Mapping[Value, Value]
) -> None:
    """Give the children one port for very many values from the same sibling or border port."""
    producers: dict[Value, int] = {}
    for index, child in enumerate(children):
        producers.update(dict.fromkeys(child.values_at(child.outputs), index))
    hubs = _find_hubs(children)
    for child in children:
        # ports none of which comes from a sibling or the border come from an end of its own each
        if len(child.inputs) > MOST_SINGLE and not all(
            known.isdisjoint(child.inputs) for known in (producers.keys(), others, entering.keys())
        ):
            origins = _find_origins(child.inputs, producers, others, entering)
            kinds = list_link_kinds(child, child.inputs)
            ends: list[Hashable] = [*zip(origins, kinds, strict=True)]
            if hubs:
                ends = [
                    None if port in hubs else end
                    for port, end in zip(child.inputs, ends, strict=True)
                ]
            child.inputs = _bundle(child, child.inputs, child.outputs, ends)


def _bundle_outputs(children: Sequence[Item], leaving: Mapping[Value, Value]) -> None:
    """Give the children one port for what reaches each of its users by a port for many."""
    bundled, single = _find_taken(children)
    if not bundled and not leaving:
        return
    for child in children:
        if len(child.outputs) > MOST_SINGLE:
            ends: Sequence[Hashable]
            if not leaving and not single and bundled.issuperset(child.outputs):
                ends = ["siblings"] * len(child.outputs)
            else:
                ends = [
                    leaving.get(port, "siblings")
                    if port not in single and (port in bundled or port in leaving)
                    else None
                    for port in child.outputs
                ]
            child.outputs = _bundle(child, child.outputs, child.inputs, ends)


def _find_hubs(children: Sequence[Item]) -> set[Value]:
    """Return the values that more of the children take than get edges."""
    takers = [child for child in children if child.inputs]
    if len(takers) <= MOST_SINGLE:
        return set()
    counts = Counter(chain.from_iterable(child.values_at(child.inputs) for child in takers))
    return {value for value, count in counts.items() if count > MOST_SINGLE}


def _find_taken(children: Sequence[Item]) -> tuple[set[Value], set[Value]]:
    """Return the values that children take: by ports for very many, and by others."""
    bundled: set[Value] = set()
    single: set[Value] = set()
    for child in children:
        for members in map(child.members, child.inputs) if child.merged else (child.inputs,):
            is_bundle = child.merged and len(members) > MOST_SINGLE
            (bundled if is_bundle else single).update(members)
    return bundled, single


def _find_origins(
    ports: Sequence[Value],
    producers: Mapping[Value, int],
    others: Collection[Value],
    entering: Mapping[Value, Value],
) -> Sequence[Hashable]:
    """Return where each port's value comes from: a sibling, others, the border, or itself."""
    found = list(map(producers.get, ports))
    if None not in found:
        return found
    return [
        (OTHER_REPETITIONS if port in others else entering.get(port, port))
        if producer is None
        else producer
        for port, producer in zip(ports, found, strict=True)
    ]


def border_ports(item: Item) -> tuple[dict[Value, Value], dict[Value, Value]]:
    """Return by what flows inside an item the port at its border for it: in, and out."""
    body = item.body
    inputs = {value: port for port in item.inputs for value in item.members(port)}
    outputs = {value: port for port in item.outputs for value in item.members(port)}
    if body is None or body is item.instance:
        return inputs, outputs
    entering = {
        inner: inputs[outer]
        for inner, outer in body.bindings.items()
        if outer is not None and outer in inputs
    }
    leaving = {
        inner: outputs[outers[0]]
        for inner, outers in body.results.items()
        if outers and outers[0] in outputs
    }
    return {**inputs, **entering}, leaving


def _bundle(
    child: Item, ports: Sequence[Value], others: Sequence[Value], ends: Sequence[Hashable]
) -> tuple[Value, ...]:
    """Merge the ports of a child that have the same end, if these are many; return the rest."""
    taken = set(others)
    merged = dict(child.merged)
    firsts: dict[Hashable, Value] = {}
    groups = group_alike(ports, ends)
    for end, alike in groups.items():
        bundle = [port for port in alike if port not in taken] if taken else alike
        if end is not None and len(bundle) > MOST_SINGLE:
            firsts[end] = bundle[0]
            for port in bundle if child.merged else ():
                merged.pop(port, None)
            merged[bundle[0]] = list_distinct(child.values_at(bundle))
    child.merged = merged
    if len(groups) == 1 and firsts and not taken:  # all are one
        return tuple(ports[:1])
    return tuple(
        port
        for port, end in zip(ports, ends, strict=True)
        if end not in firsts or port in taken or port is firsts[end]
    )
