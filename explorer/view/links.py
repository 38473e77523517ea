"""Connections inside one open item: between its children, and to its border."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from netloupe.explorer.model import Node, Value

from .item import BORDER, Item, Link, LinkKind
from .many_values import group_alike
from .places_alone import takes_places_alone

#: by node how it takes some of its values, where that does not follow from its own model
OperandKinds = Mapping[Node, Mapping[Value, LinkKind]]
NO_OPERAND_KINDS: OperandKinds = MappingProxyType({})

#: the children that give a value, and the value under which they do
Sources = tuple[tuple[int, Value], ...]
#: the sources of each value; those that one port gives share theirs
Producers = dict[Value, Sources]
#: source and target of a link, and the value under which each knows what flows
Ends = tuple[int, int, Value, Value]


def list_links(
    item: Item, *, is_root: bool, operand_kinds: OperandKinds = NO_OPERAND_KINDS
) -> list[Link]:
    """Return the connections between the children of an open item, and to its border.

    The values of a family that connect the same two ends are one link.

    Parameters
    ----------
    item
        An open item.
    is_root
        Whether it is the outermost one, which has no border.
    operand_kinds
        How some nodes take some values, whatever else is known of these.
    """
    found: dict[Ends, list[Value]] = {}
    kinds: dict[Ends, LinkKind] = {}
    for flowing, kind, ends in _find_flows(item, is_root, operand_kinds):
        found.setdefault(ends, []).extend(flowing)
        kinds.setdefault(ends, kind)
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


def _find_flows(
    item: Item, is_root: bool, operand_kinds: OperandKinds
) -> Iterator[tuple[Sequence[Value], LinkKind, Ends]]:
    """Yield what flows inside an item, how it is taken, and between what.

    Values of a port that come from the same are yielded together: there may be a million.
    """
    if item.is_terminal:
        return  # what it lists hangs together with nothing inside
    assert item.body is not None  # noqa: S101 - open items have a body
    body = item.body
    crosses = not is_root and body is not item.instance
    ports = item.ports_by_value(item.inputs)
    producers = find_producers(item)
    for index, child in enumerate(item.children):
        sources_of = _look_up_sources(item, child, producers)
        kinds = list_link_kinds(child, child.inputs)
        if operand_kinds:
            kinds = _list_told_kinds(child, kinds, operand_kinds)
        for port, kind in zip(child.inputs, kinds, strict=True):
            members = child.members(port)
            if len(members) == 1 and takes_places_alone(child, port):
                continue
            for found, values in group_alike(members, [*map(sources_of, members)]).items():
                sources = found or ()
                if child.kind == "output":
                    sources = tuple(source for source in sources if source[0] != index)
                for source, given in sources:
                    yield values, kind, (source, index, given, port)
                if not sources and not is_root:
                    for value in values:
                        outer = (body.bindings.get(value) if crosses else None) or value
                        at = ports.get(outer) or item.carried.entering.get(outer, outer)
                        yield (value,), kind, (BORDER, index, at, port)
    if not is_root:
        for value, ends in _find_flows_out(item, producers, crosses):
            yield (value,), "data", ends


def _look_up_sources(
    item: Item, child: Item, producers: Producers
) -> Callable[[Value], Sources | None]:
    """Return what tells where a child's values come from: a stub beside it, or its siblings."""
    if not item.stubs:
        return producers.get

    def look_up(value: Value) -> Sources | None:
        stub = item.stubs.get((child.key, value))
        if stub is None:
            return producers.get(value)
        return ((stub, item.children[stub].outputs[0]),)

    return look_up


def find_producers(item: Item) -> Producers:
    """Return which children of an open item give which values."""
    producers: Producers = {}
    for index, child in enumerate(item.children):
        if child.kind != "stub":
            for port in child.outputs:
                source = ((index, port),)
                members = child.members(port)
                if producers.keys().isdisjoint(members):
                    producers.update(dict.fromkeys(members, source))
                    continue
                for value in members:
                    producers[value] = producers.get(value, ()) + source
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
    for inner, port in item.carried.leaving.items():
        for source, given in producers.get(inner, ()):
            yield inner, (source, BORDER, given, port)
    ports, inputs = item.ports_by_value(item.outputs), item.ports_by_value(item.inputs)
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


def list_link_kinds(child: Item, ports: Sequence[Value]) -> list[LinkKind]:
    """Return how a child takes what comes by each of some of its ports."""
    node = child.element
    if child.kind == "branch":
        bindings = set(child.body.bindings.values()) if child.body is not None else set()
        return ["data" if value in bindings else "captured" for value in ports]
    if child.kind == "node" and isinstance(node, Node):
        model = node.graph.model
        if node.captures or node.control_inputs or model.comparison is not None:
            return _list_operand_kinds(node, ports, *model.list_taken(node))
    return ["data"] * len(ports)


def _list_told_kinds(
    child: Item, kinds: Sequence[LinkKind], operand_kinds: OperandKinds
) -> list[LinkKind]:
    """Return how a child takes what comes by its ports, with what is told of its node.

    A port of many values has a kind that is told of all of them.
    """
    told = operand_kinds.get(child.element) if isinstance(child.element, Node) else None
    if told is None or child.kind != "node":
        return [*kinds]
    found: list[LinkKind] = []
    for port, kind in zip(child.inputs, kinds, strict=True):
        members = {told.get(value) for value in child.members(port)}
        one = members.pop() if len(members) == 1 else None
        found.append(one or kind)
    return found


def _list_operand_kinds(
    node: Node,
    ports: Sequence[Value],
    before: Sequence[Value | None],
    now: Sequence[Value | None],
) -> list[LinkKind]:
    operands, awaited = set(node.inputs), set(node.control_inputs)
    return [
        "former"
        if value in before
        else "newer"
        if value in now
        else "data"
        if value in operands
        else "control"
        if value in awaited
        else "captured"
        for value in ports
    ]
