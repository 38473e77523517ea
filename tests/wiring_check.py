"""Edge accounting: does every operand of every shown node have its way through the picture?

Follows the links of a view from each consumer back to what gives the value, through the
borders of open items, and compares what is found with what the model says.
"""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.grouping import Group
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
                    for port in gives:
                        for value in child.members(port):
                            self.sources[item.key, value] = index
            for link in self.links[item.key]:
                self.into.setdefault((item.key, link.target, link.target_value), []).append(link)

    def run(self) -> Iterator[str]:
        for item in self.view.open_items():
            yield from self._check_repetition(item)
            for child in item.children:
                if child.kind == "node" and isinstance(child.element, Node):
                    if not child.is_open:
                        yield from self._check_node(child, child.element)
                elif child.kind == "output":
                    for port in child.inputs:
                        for value in child.members(port):
                            if value.producer or value.is_input or value.initializer:
                                yield from self._check(child, value)  # else nothing gives it

    def _check_repetition(self, item: Item) -> Iterator[str]:
        """Check that everything which enters the shown repetition is bound or has a stub."""
        shown, body = item.repetition, item.body
        if shown is None or body is None:
            return
        borders = self.view.borders(body.graph)
        borders = {Node: borders.node_inputs, Group: borders.group_inputs}
        taken = borders[type(shown)](shown)
        stubs = {value for _, value in item.stubs}
        for value in taken:
            origin, _ = resolve_operand(body, value)
            if self._is_row(origin):
                continue
            if value.producer is shown:
                continue  # it waits for itself
            if value not in body.bindings and value not in stubs | item.carried.entering.keys():
                yield f"{item.key}: %{value.name} enters {shown.path} unaccounted for"
        for inner, outer in body.bindings.items():
            if outer is None or not any(outer in item.members(port) for port in item.inputs):
                if outer is not None and self._is_row(resolve_operand(body, outer)[0]):
                    continue
                yield f"{item.key}: %{inner.name} is bound to what does not enter the repeat"

    def _is_row(self, value: Value) -> bool:
        """Return whether a value is drawn as a row: a constant, or what hidden shapes give."""
        return is_constant(value) or self._shape_group(value) is not None

    def _shape_group(self, value: Value) -> Group | None:
        producer = value.producer
        if producer is None:
            return None
        return self.view.borders(value.graph).hidden_group(producer)

    def _check_node(self, item: Item, node: Node) -> Iterator[str]:
        operands = [value for value in node.inputs if value is not None]
        for value in dict.fromkeys([*operands, *node.captures]):
            origin, _ = resolve_operand(item.instance, value)
            is_shape = self._shape_group(origin) is not None
            if is_constant(origin) or is_shape:
                rows = [row for row in item.constants if node.inputs[row.index] is value]
                if value in operands and not any(row.is_shape == is_shape for row in rows):
                    yield f"{item.key}: the constant %{value.name} has no row"
                continue
            yield from self._check(item, value)

    def _check(self, item: Item, value: Value) -> Iterator[str]:
        ends = list(self._trace(item, value))  # none where the way is a circle
        for end, found, via in ends:
            if end is None:
                yield f"{item.key}: the way of %{value.name} ends: {via}"
            elif not via and not _gives(end, found):
                yield f"{item.key}: %{value.name} comes from {end.key}, which does not give it"
        if any(via or self._is_shape_constant(end) for end, _, via in ends):
            return  # through a repeat, whose borders are checked on their own
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
        if shown not in producers and not opened and self._around(item) == self._around(value):
            yield f"{item.key}: %{value.name} comes from {producers} instead of {shown}"

    def _is_shape_constant(self, end: Item | None) -> bool:
        return end is not None and end.kind == "constant"

    def _around(self, element: Item | Value) -> set[Group | Node]:
        """Return the repetitions that hold an element, those of unrolled repeats left out.

        What comes from another repetition than the one shown is drawn as if it came from
        where the repeat has its counterpart from.
        """
        found: set[Group | Node] = set()
        if isinstance(element, Item):
            item: Item | None = element
            while item is not None:
                if item.repetition is not None:
                    found.add(item.repetition)
                item = item.parent
            return found
        if element.producer is None:
            return found
        inner: Group | Node = element.producer
        group = self.view.borders(element.graph).tree.group_of(element.producer)
        while group is not None:
            shown = self.view.items.get(group.path)
            if group.kind == "repeat" and (shown is None or not shown.is_unrolled):
                found.add(inner)
            inner, group = group, group.parent
        return found

    def _trace(self, item: Item, value: Value) -> Iterator[tuple[Item | None, Value, str]]:
        """Yield the closed items from which a value reaches an item, under the name there.

        The third part says what is wrong where there is no item, and otherwise whether the
        way ends at a repetition that is not shown.
        """
        seen: set[tuple[str, int, Value]] = set()
        pending = [(item.parent, self.places[item.key], value)]
        while pending:
            assert len(seen) < _MOST_STEPS
            level, index, wanted = pending.pop()
            assert level is not None
            assert level.body is not None
            place = (level.key, index, wanted)
            if place in seen:
                continue
            seen.add(place)
            holder = level if index == BORDER else level.children[index]
            ports = holder.outputs if index == BORDER else holder.inputs
            port = next((p for p in ports if wanted in holder.members(p)), wanted)
            links = self.into.get((level.key, index, port), [])
            ways = [way for link in links for way in self._follow(level, link, wanted)]
            if not ways and index == BORDER and level.element is wanted.producer:
                yield level, wanted, ""  # the body is malformed and gives no such result
            elif not ways and index == BORDER and self._is_elsewhere(level, wanted):
                yield level, wanted, "another repetition"
            elif not ways:
                yield None, wanted, f"no link to child {index} of {level.key} for %{wanted.name}"
            for source, found in ways:
                if source == BORDER and found in level.carried.entering:
                    yield level, found, "another repetition"
                    continue
                if source == BORDER:
                    if level.parent is None:
                        yield None, found, "at the border of the view"
                    else:
                        pending.append((level.parent, self.places[level.key], found))
                    continue
                child = level.children[source]
                if child.kind == "stub":
                    at = self.sources.get((level.key, found))
                    if at is None and self._is_elsewhere(level, found):
                        yield level, found, "another repetition"
                        continue
                    assert at is not None, f"{child.key} stands for nothing"
                    if level.children[at].inputs:
                        pending.append((level, at, found))
                    else:  # an input: nothing leads to it
                        yield level.children[at], found, ""
                elif child.is_open:
                    pending.append((child, BORDER, found))
                else:
                    yield child, found, ""

    def _follow(self, level: Item, link: Link, wanted: Value) -> Iterator[tuple[int, Value]]:
        """Yield where a link brings a value from, and under which name, if it brings it."""
        body = level.body
        assert body is not None
        inner = [wanted]
        if link.target == BORDER and body is not level.instance:
            inner = [value for value, outers in body.results.items() if wanted in outers]
        for value in inner:
            if link.source == BORDER:
                crosses = body is not level.instance
                outer = (body.bindings.get(value) if crosses else None) or value
                port = level.carried.entering.get(outer)
                if outer in level.members(link.source_value) or port is link.source_value:
                    yield BORDER, outer
            elif value in level.children[link.source].members(link.source_value):
                yield link.source, value

    def _is_elsewhere(self, level: Item, value: Value) -> bool:
        """Return whether another repetition of an open repeat than the shown one gives a value."""
        repeat, shown = level.repeat, level.repetition
        if shown is None or repeat is None or value.producer is None:
            return False
        tree = self.view.borders(repeat.graph).tree
        position = tree.positions[value.producer.index]
        if isinstance(shown, Node):
            is_here = shown is value.producer
        else:
            is_here = shown.low <= position < shown.high
        return repeat.low <= position < repeat.high and not is_here


def _gives(item: Item, value: Value) -> bool:
    return any(value in item.members(port) for port in item.outputs)


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
