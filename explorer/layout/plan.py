"""From an open item of a view to the layer that has to be placed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from netloupe.explorer.model import Value
from netloupe.explorer.view import BORDER, Instance, Item, Link, View

from .dot import Child, Layer, Wire
from .scene import Borders, Direction, LayerEdge, SceneLayer

#: faces are made for so many boxes between two looks whether anyone still wants them
_CHECK_EVERY = 256


class Measure(Protocol):
    """What the layout asks of whoever knows faces: sizes, nothing else."""

    def size(self, item: Item) -> tuple[float, float]:
        """Return width and height of a closed item's box, or the least size of an open one."""
        ...

    def label(self, value: Value) -> tuple[str, float]:
        """Return the text beside an edge and its width; an empty text for none."""
        ...


@dataclass(slots=True)
class Plan:
    """An open item's inside as a layer, and what its ports and wires stand for."""

    item: Item
    layer: Layer
    links: list[Link]
    inputs: list[Value]
    outputs: list[Value]
    #: inputs that nothing inside uses: an edge ends there
    idle: frozenset[Value]

    def port_paths(self) -> list[str]:
        """Return the paths of the values that pass the border, inputs first."""
        outside = self.item.instance
        return [_path_of(value, outside) for value in (*self.inputs, *self.outputs)]

    def borders(self) -> Borders:
        """Return which port stands for which value."""
        return Borders(_number(self.inputs), _number(self.outputs), self.idle)


def _number(values: list[Value]) -> dict[Value, int]:
    numbers: dict[Value, int] = {}
    for index, value in enumerate(values):
        numbers.setdefault(value, index)
    return numbers


def plan_item(
    view: View,
    item: Item,
    measure: Measure,
    direction: Direction,
    inner: dict[int, SceneLayer],
    borders: dict[int, Borders],
    check: Callable[[], None],
) -> Plan:
    """Describe an open item's inside as a layer.

    Parameters
    ----------
    view, item
        What is open.
    measure
        Gives the sizes of closed boxes.
    direction
        Where values flow to.
    inner
        The layers of the open children, by the children's numbers.
    borders
        Their ports, likewise.
    check
        Called now and then; what it raises ends the plan.
    """
    layer = Layer(direction)
    for number, child in enumerate(item.children):
        if number % _CHECK_EVERY == 0:
            check()
        placed = inner.get(number)
        if placed is None:
            layer.children.append(Child(*measure.size(child)))
        else:
            inside = placed.inside
            layer.children.append(Child(inside.width, inside.height, inside.inputs, inside.outputs))
    links = view.links(item)
    # what nothing inside uses ends at a port too, such as the condition of an If
    used = dict.fromkeys(link.source_value for link in links if link.source == BORDER)
    given = dict.fromkeys(link.target_value for link in links if link.target == BORDER)
    inputs, outputs = list(used), list(given)
    if item is not view.root:
        inputs += [value for value in item.inputs if value not in used]
        outputs += [value for value in item.outputs if value not in given]
    layer.input_count, layer.output_count = len(inputs), len(outputs)
    input_index, output_index = _number(inputs), _number(outputs)
    for link in links:
        source, target = link.source, link.target
        source_port = target_port = None
        is_main = True
        if source == BORDER:
            source = -1 - input_index[link.source_value]
        else:
            if source in borders:
                source_port = borders[source].outputs.get(link.source_value)
            is_main = item.children[source].kind != "stub"
        if target == BORDER:
            target = -1 - output_index[link.target_value]
        elif target in borders:
            target_port = borders[target].inputs.get(link.target_value)
        layer.wires.append(Wire(source, target, source_port, target_port, is_main))
    return Plan(item, layer, links, inputs, outputs, frozenset(inputs[len(used) :]))


def list_edges(plan: Plan, borders: dict[int, Borders]) -> list[LayerEdge]:
    """Return what flows along the wires of a plan."""
    body = plan.item.body
    assert body is not None  # noqa: S101 - open items have a body
    edges = []
    for link in plan.links:
        value, target = link.value, link.target
        # an edge that goes on inside an open box has no arrow at its wall
        ends = target not in borders or link.target_value in borders[target].idle
        edges.append(
            LayerEdge(
                value,
                _path_of(value, body),
                link.source,
                target,
                link.kind,
                target != BORDER and ends,
                tuple(dict.fromkeys(_path_of(member, body) for member in link.bundle)),
            )
        )
    return edges


def _path_of(value: Value, occurrence: Instance) -> str:
    """Return the path of a value that flows in one occurrence of a graph."""
    if value.graph is occurrence.graph:
        return f"{occurrence.prefix}/%{value.key}"
    return value.path
