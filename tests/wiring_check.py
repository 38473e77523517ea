"""Edge accounting: does every operand of every shown node have its way through the picture?

Follows the links of a view from each consumer back to what gives the value, through the
borders of open items, and compares what is found with what the model says.
"""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Node, Value, is_constant
from netloupe.explorer.view import BORDER, Item, Link, View, body_graphs, resolve_operand

_MOST_STEPS = 10_000


def find_lost_edges(view: View) -> list[str]:
    """Return a line for every operand or output that cannot be traced to where it comes from."""
    return list(_Accounting(view).run())


class _Accounting:
    def __init__(self, view: View) -> None:
        self.view = view
        self.links: dict[str, list[Link]] = {
            item.key: view.links(item) for item in view.open_items()
        }
        self.into: dict[tuple[str, int, Value], list[Link]] = {}
        self.places: dict[str, int] = {}
        self.sources: dict[tuple[str, Value], int] = {}
        for item in view.open_items():
            for index, child in enumerate(item.children):
                assert self.places.setdefault(child.key, index) == index, child.key
                gives = child.inputs if child.kind == "stub" else child.outputs
                if child.kind in ("stub", "input", "constant"):
                    self.sources.update(((item.key, value), index) for value in gives)
            for link in self.links[item.key]:
                self.into.setdefault((item.key, link.target, link.target_value), []).append(link)

    def run(self) -> Iterator[str]:
        for item in self.view.open_items():
            for child in item.children:
                if child.kind == "node" and isinstance(child.element, Node):
                    if not child.is_open:
                        yield from self._check_node(child, child.element)
                elif child.kind == "output" and isinstance(child.element, Value):
                    yield from self._check(child, child.element)

    def _check_node(self, item: Item, node: Node) -> Iterator[str]:
        operands = [value for value in node.inputs if value is not None]
        for value in dict.fromkeys([*operands, *node.captures]):
            origin, _ = resolve_operand(item.instance, value)
            if is_constant(origin):
                if value in operands and not any(
                    node.inputs[row.index] is value for row in item.constants
                ):
                    yield f"{item.key}: the constant %{value.name} has no row"
                continue
            yield from self._check(item, value)

    def _check(self, item: Item, value: Value) -> Iterator[str]:
        ends = list(self._trace(item, value))  # none where the way is a circle
        for end, found, via in ends:
            if end is None:
                yield f"{item.key}: the way of %{value.name} ends: {via}"
            elif not _gives(end, found):
                yield f"{item.key}: %{value.name} comes from {end.key}, which does not give it"
        wanted, instance = resolve_operand(item.instance, value)
        producers = {
            (end.element.path, end.instance.prefix)
            for end, _, _ in ends
            if end is not None and isinstance(end.element, Node)
        }
        producer = wanted.producer
        if producer is None or not producers or wanted.graph is not instance.graph:
            return
        shown = (producer.path, instance.prefix)
        opened = bool(body_graphs(producer))  # then the way goes on inside
        if shown not in producers and not opened:
            yield f"{item.key}: %{value.name} comes from {producers} instead of {shown}"

    def _trace(self, item: Item, value: Value) -> Iterator[tuple[Item | None, Value, str]]:
        """Yield the closed items from which a value reaches an item, under the name there."""
        seen: set[tuple[str, int, Value]] = set()
        pending = [(item.parent, self.places[item.key], value)]
        while pending:
            assert len(seen) < _MOST_STEPS
            level, index, wanted = pending.pop()
            assert level is not None
            place = (level.key, index, wanted)
            if place in seen:
                continue
            seen.add(place)
            links = self.into.get(place, [])
            if not links and index == BORDER and level.element is wanted.producer:
                yield level, wanted, ""  # the body is malformed and gives no such result
            elif not links:
                yield None, wanted, f"no link to child {index} of {level.key} for %{wanted.name}"
            for link in links:
                if link.source == BORDER:
                    if level.parent is None:
                        yield None, link.source_value, "at the border of the view"
                    else:
                        pending.append((level.parent, self.places[level.key], link.source_value))
                    continue
                source = level.children[link.source]
                if source.kind == "stub":
                    pending += self._behind_stub(level, source, link.source_value)
                elif source.is_open:
                    pending.append((source, BORDER, link.source_value))
                else:
                    yield source, link.source_value, ""

    def _behind_stub(
        self, level: Item, stub: Item, value: Value
    ) -> Iterator[tuple[Item, int, Value]]:
        """Yield where the value of a hub is looked for: the stub beside its producer."""
        index = self.sources.get((level.key, value))
        assert index is not None, f"{stub.key} stands for nothing"
        if not level.children[index].inputs:  # an input: nothing leads to it
            link = Link(index, index, value, value, value)
            self.into.setdefault((level.key, index, value), [link])
        yield level, index, value


def _gives(item: Item, value: Value) -> bool:
    return value in item.outputs


def check_items(view: View) -> None:
    """Assert that the table of items is what the tree of open items holds."""
    found: dict[str, Item] = {view.root.key: view.root}
    pending = [view.root]
    while pending:
        item = pending.pop()
        for child in item.children:
            assert child.parent is item, child.key
            assert child.key not in found, f"two items have the key {child.key}"
            found[child.key] = child
            assert not (child.children and not child.is_open), child.key
            if child.is_open:
                assert child.openable, child.key
                pending.append(child)
    assert view.items == found
