"""Connections inside one open item: between its children, and to its border."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from netloupe.explorer.model import Node, Value

from .item import BORDER, Item, Link, LinkKind

#: by value, the children that give it and the value under which they do
Producers = dict[Value, list[tuple[int, Value]]]
#: source and target of a link, and the value under which each knows what flows
Ends = tuple[int, int, Value, Value]


def list_links(item: Item, *, is_root: bool) -> list[Link]:
    """Return the connections between the children of an open item, and to its border.

    The values of a family that connect the same two ends are one link.

    Parameters
    ----------
    item
        An open item.
    is_root
        Whether it is the outermost one, which has no border.
    """
    found: dict[Ends, list[Value]] = {}
    kinds: dict[Ends, LinkKind] = {}
    for value, kind, ends in _find_flows(item, is_root):
        values = found.get(ends)
        if values is None:
            found[ends] = [value]
            kinds[ends] = kind
        else:
            values.append(value)
    return [
        Link(
            source,
            target,
            values[0],
            source_value,
            target_value,
            kinds[source, target, source_value, target_value],
            tuple(values) if len(values) > 1 else (),
        )
        for (source, target, source_value, target_value), values in found.items()
    ]


def _find_flows(item: Item, is_root: bool) -> Iterator[tuple[Value, LinkKind, Ends]]:
    """Yield each value that flows inside an item, how it is taken, and between what."""
    if item.is_terminal:
        return  # what it lists hangs together with nothing inside
    assert item.body is not None  # noqa: S101 - open items have a body
    body = item.body
    crosses = not is_root and body is not item.instance
    ports = {value: port for port in item.inputs for value in item.members(port)}
    producers = find_producers(item)
    for index, child in enumerate(item.children):
        kind_of = find_link_kinds(child)
        for port in child.inputs:
            kind = kind_of(port)
            for value in child.members(port):
                stub = item.stubs.get((child.key, value))
                if stub is not None:
                    given = item.children[stub].outputs[0]
                    yield value, kind, (stub, index, given, port)
                    continue
                sources = producers.get(value)
                if sources is not None and child.kind == "output":
                    sources = [source for source in sources if source[0] != index]
                if sources:
                    for source, given in sources:
                        yield value, kind, (source, index, given, port)
                elif not is_root:
                    outer = (body.bindings.get(value) if crosses else None) or value
                    yield value, kind, (BORDER, index, ports.get(outer, outer), port)
    if not is_root:
        for value, ends in _find_flows_out(item, producers, crosses):
            yield value, "data", ends


def find_producers(item: Item) -> Producers:
    """Return which children of an open item give which values."""
    producers: Producers = {}
    for index, child in enumerate(item.children):
        if child.kind != "stub":
            for port in child.outputs:
                for value in child.members(port):
                    producers.setdefault(value, []).append((index, port))
    return producers


def _find_flows_out(
    item: Item, producers: Producers, crosses: bool
) -> Iterator[tuple[Value, Ends]]:
    """Yield what flows from children to the border of an open item."""
    assert item.body is not None  # noqa: S101 - open items have a body
    if not crosses:
        for port in item.outputs:
            for value in item.members(port):
                for source, given in producers.get(value, ()):
                    yield value, (source, BORDER, given, port)
        return
    ports = {value: port for port in item.outputs for value in item.members(port)}
    inputs = {value: port for port in item.inputs for value in item.members(port)}
    for inner, outers in item.body.results.items():
        for outer in outers:
            result = ports.get(outer)
            if result is None:
                continue
            sources = producers.get(inner, ())
            for source, given in sources:
                yield inner, (source, BORDER, given, result)
            if not sources:
                origin = item.body.bindings.get(inner) or inner
                yield inner, (BORDER, BORDER, inputs.get(origin, origin), result)


def find_link_kinds(child: Item) -> Callable[[Value], LinkKind]:
    """Return how a child takes what comes by each of its ports."""
    node = child.element
    if child.kind == "branch":
        bindings = set(child.body.bindings.values()) if child.body is not None else set()
        return lambda value: "data" if value in bindings else "captured"
    if child.kind == "node" and isinstance(node, Node):
        operands, awaited = set(node.inputs), set(node.control_inputs)
        return lambda value: (
            "data" if value in operands else "control" if value in awaited else "captured"
        )
    return lambda value: "data"
