"""Hubs: a value with many consumers at one level becomes a labelled stub beside each of them.

Drawn as edges, one shared mask bends the whole picture; two of them made the layout of a
1,000-node model 29 times slower.
"""

from __future__ import annotations

from netloupe.explorer.model import Value

from .item import Item

#: a value with more consumers than this at one level is a hub
MOST_EDGES = 8


def add_stubs(item: Item) -> None:
    """Add stubs for the hubs among the values inside a newly opened item."""
    consumers: dict[Value, list[int]] = {}
    for index, child in enumerate(item.children):
        for value in child.inputs:
            consumers.setdefault(value, []).append(index)
    hubs = {value: found for value, found in consumers.items() if len(found) > MOST_EDGES}
    if not hubs:
        return
    given = {value: child for child in item.children for value in child.outputs}
    for value in hubs:
        source = given.get(value, item)  # what nothing inside gives comes in at the border
        if source.kind not in ("input", "constant"):
            stub = _make_stub(item, value, f"from {source.key}")
            stub.inputs = (value,)
            item.children.append(stub)
    for value, found in hubs.items():
        for index in found:
            stub = _make_stub(item, value, f"to {item.children[index].key}")
            stub.outputs = (value,)
            item.stubs[item.children[index].key, value] = len(item.children)
            item.children.append(stub)


def _make_stub(item: Item, value: Value, place: str) -> Item:
    body = item.body
    assert body is not None  # noqa: S101 - open items have a body
    path = f"{body.prefix}/%{value.key}" if value.graph is body.graph else value.path
    return Item("stub", path, value, body, item, key=f"{path} {place}", label=value.name)
