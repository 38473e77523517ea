"""Connections inside one open item: between its children, and to its border."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from netloupe.explorer.model import Node, Value

from .item import BORDER, Item, Link, LinkKind

#: by value, the children that give it and the value under which they do
Producers = dict[Value, list[tuple[int, Value]]]


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
    found: dict[tuple[int, int, Value, Value], list[Link]] = {}
    for link in _find_links(item, is_root):
        ends = (link.source, link.target, link.source_value, link.target_value)
        found.setdefault(ends, []).append(link)
    return [
        links[0] if len(links) == 1 else replace(links[0], bundle=tuple(e.value for e in links))
        for links in found.values()
    ]


def _find_links(item: Item, is_root: bool) -> Iterator[Link]:
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
                    yield Link(stub, index, value, given, port, kind)
                    continue
                sources = producers.get(value)
                if sources is not None and child.kind == "output":
                    sources = [source for source in sources if source[0] != index]
                if sources:
                    for source, given in sources:
                        yield Link(source, index, value, given, port, kind)
                elif not is_root:
                    outer = (body.bindings.get(value) if crosses else None) or value
                    yield Link(BORDER, index, value, ports.get(outer, outer), port, kind)
    if not is_root:
        yield from _find_links_out(item, producers, crosses)


def find_producers(item: Item) -> Producers:
    """Return which children of an open item give which values."""
    producers: Producers = {}
    for index, child in enumerate(item.children):
        if child.kind != "stub":
            for port in child.outputs:
                for value in child.members(port):
                    producers.setdefault(value, []).append((index, port))
    return producers


def _find_links_out(item: Item, producers: Producers, crosses: bool) -> Iterator[Link]:
    """Yield the connections from children to the border of an open item."""
    assert item.body is not None  # noqa: S101 - open items have a body
    if not crosses:
        for port in item.outputs:
            for value in item.members(port):
                for source, given in producers.get(value, ()):
                    yield Link(source, BORDER, value, given, port)
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
                yield Link(source, BORDER, inner, given, result)
            if not sources:
                origin = item.body.bindings.get(inner) or inner
                yield Link(BORDER, BORDER, inner, inputs.get(origin, origin), result)


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
