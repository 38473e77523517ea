"""Connections inside one open item: between its children, and to its border."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Node, Value

from .item import BORDER, Item, Link, LinkKind


def list_links(item: Item, *, is_root: bool) -> list[Link]:
    """Return the connections between the children of an open item, and to its border.

    Parameters
    ----------
    item
        An open item.
    is_root
        Whether it is the outermost one, which has no border.
    """
    assert item.body is not None  # noqa: S101 - open items have a body
    body = item.body
    crosses = not is_root and body is not item.instance
    producers: dict[Value, list[int]] = {}
    for index, child in enumerate(item.children):
        if child.kind != "stub":
            for value in child.outputs:
                producers.setdefault(value, []).append(index)
    links: list[Link] = []
    for index, child in enumerate(item.children):
        for value in child.inputs:
            kind = _link_kind(child, value)
            stub = item.stubs.get((child.key, value))
            if stub is not None:
                links.append(Link(stub, index, value, value, value, kind))
                continue
            sources = producers.get(value)
            if sources is not None and child.kind == "output":
                sources = [source for source in sources if source != index]
            if sources:
                links += [Link(s, index, value, value, value, kind) for s in sources]
            elif not is_root:
                outer = body.bindings.get(value) if crosses else None
                links.append(Link(BORDER, index, value, outer or value, value, kind))
    if not is_root:
        links += _links_out(item, producers, crosses)
    return links


def _links_out(item: Item, producers: dict[Value, list[int]], crosses: bool) -> Iterator[Link]:
    """Yield the connections from children to the border of an open item."""
    assert item.body is not None  # noqa: S101 - open items have a body
    if not crosses:
        for value in item.outputs:
            for source in producers.get(value, ()):
                yield Link(source, BORDER, value, value, value)
        return
    wanted = set(item.outputs)
    for inner, outers in item.body.results.items():
        for outer in outers:
            if outer not in wanted:
                continue
            sources = producers.get(inner, ())
            for source in sources:
                yield Link(source, BORDER, inner, inner, outer)
            if not sources:
                origin = item.body.bindings.get(inner) or inner
                yield Link(BORDER, BORDER, inner, origin, outer)


def _link_kind(child: Item, value: Value) -> LinkKind:
    node = child.element
    if child.kind == "branch":
        bindings = child.body.bindings.values() if child.body is not None else ()
        return "data" if value in bindings else "captured"
    if child.kind == "node" and isinstance(node, Node):
        if value in node.inputs:
            return "data"
        return "control" if value in node.control_inputs else "captured"
    return "data"
