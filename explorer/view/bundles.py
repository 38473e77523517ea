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
from .links import find_link_kinds

#: so many values between the same two boxes are drawn one by one
MOST_SINGLE = 8

#: stands for repetitions that are not shown, where values come from
STRANGERS = "strangers"


def bundle_ports(item: Item, children: Sequence[Item], strangers: Collection[Value] = ()) -> None:
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
    strangers
        Values that come from repetitions that are not shown.
    """
    if not any(max(len(c.inputs), len(c.outputs)) > MOST_SINGLE for c in children):
        return
    givers: dict[Value, int] = {}
    for index, child in enumerate(children):
        givers.update(dict.fromkeys(child.values_at(child.outputs), index))
    entering, leaving = _border_ports(item)
    strange = set(strangers)
    takers: Counter[Value] | None = None
    bundled: Counter[Value] = Counter()
    for child in children:
        # ports none of which comes from a sibling or the border come from an end of its own each
        if len(child.inputs) > MOST_SINGLE and not all(
            known.isdisjoint(child.inputs) for known in (givers.keys(), strange, entering.keys())
        ):
            if takers is None:
                takers = _count_takers(children)
            origins = _find_origins(child.inputs, givers, strange, entering)
            kinds = map(find_link_kinds(child), child.inputs)
            counts = map(takers.__getitem__, child.inputs)
            ends: list[Hashable] = [
                None if count > MOST_SINGLE else (origin, kind)
                for count, origin, kind in zip(counts, origins, kinds, strict=True)
            ]
            child.inputs = _bundle(child, child.inputs, child.outputs, ends)
        if child.merged:
            for port in child.inputs:
                if len(child.members(port)) > MOST_SINGLE:
                    bundled.update(child.members(port))
    if not bundled:
        return
    if takers is None:
        takers = _count_takers(children)
    for child in children:
        if len(child.outputs) > MOST_SINGLE:
            ends = [
                leaving.get(port, "siblings")
                if 0 < bundled.get(port, 0) == takers.get(port)
                or (port not in takers and port in leaving)
                else None
                for port in child.outputs
            ]
            child.outputs = _bundle(child, child.outputs, child.inputs, ends)


def _count_takers(children: Sequence[Item]) -> Counter[Value]:
    """Return by how many of the children each value is taken."""
    return Counter(chain.from_iterable(child.values_at(child.inputs) for child in children))


def _find_origins(
    ports: Sequence[Value],
    givers: Mapping[Value, int],
    strange: Collection[Value],
    entering: Mapping[Value, Value],
) -> Sequence[Hashable]:
    """Return where each port's value comes from: a sibling, strangers, the border, or itself."""
    found = list(map(givers.get, ports))
    if None not in found:
        return found
    return [
        (STRANGERS if port in strange else entering.get(port, port)) if giver is None else giver
        for port, giver in zip(ports, found, strict=True)
    ]


def _border_ports(item: Item) -> tuple[dict[Value, Value], dict[Value, Value]]:
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
    bundles: dict[Hashable, list[Value]] = {}
    for port, end in zip(ports, ends, strict=True):
        if end is not None and port not in taken:
            bundles.setdefault(end, []).append(port)
    merged = dict(child.merged)
    firsts: dict[Hashable, Value] = {}
    for end, bundle in bundles.items():
        if len(bundle) > MOST_SINGLE:
            firsts[end] = bundle[0]
            members = child.values_at(bundle)
            for port in bundle if child.merged else ():
                merged.pop(port, None)
            merged[bundle[0]] = tuple(dict.fromkeys(members))
    child.merged = merged
    return tuple(
        port
        for port, end in zip(ports, ends, strict=True)
        if end not in firsts or port in taken or port is firsts[end]
    )
