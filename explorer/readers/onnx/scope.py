"""The names that are seen in an ONNX graph: its own values, and those of the graphs around it.

A name means the value that the graph itself defines, else that of the innermost graph around it
which defines it (IR specification, Names within a Graph). Where a file defines a name again,
against the specification, a use means the last definition before it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from netloupe.explorer.model import Graph, ModelWarning, Node, Value
from netloupe.explorer.model.value import add_user
from netloupe.explorer.readers.protobuf.texts import read_text

from .value_infos import take_value

#: so many inputs of a node that nothing defines are named; the others are counted
MOST_UNDEFINED = 100


class _Versions(NamedTuple):
    """The values of a name that is defined again, in file order, without the first."""

    values: list[Value]
    #: the indices of the nodes that give them
    producers: list[int]


class Scope:
    """A graph that is being read, and where its names are looked up.

    Parameters
    ----------
    graph
        The graph. ``values`` and ``warnings`` are its own: asking it for them takes longer.
    outer
        The graphs whose values it sees, innermost first.
    captured
        Gets the values of outer graphs that the subgraphs of a node use.

    Attributes
    ----------
    last
        The last value of each name that is defined again.
    """

    __slots__ = ("_versions", "captured", "graph", "last", "outer", "values", "warnings")

    def __init__(
        self, graph: Graph, outer: tuple[Graph, ...], captured: dict[Node, dict[Value, None]]
    ) -> None:
        self.graph = graph
        self.outer = outer
        self.captured = captured
        self.values = graph.values
        self.warnings = graph.warnings
        self.last: dict[str, Value] = {}
        self._versions: dict[str, _Versions] = {}

    def define(self, node: Node, index: int, name: str) -> Value | None:
        """Return the value that an output defines, a further one where it was defined before."""
        if not name:
            return None
        value = take_value(self.graph, name, self.values)
        if _is_defined(value):
            versions = self._versions.get(name)
            if versions is None:
                versions = self._versions[name] = _Versions([], [])
            number = len(versions.values) + 2
            while (key := f"{name}#{number}") in self.values:
                number += 1
            value = self.values[key] = self.last[name] = Value(name, self.graph, key)
            versions.values.append(value)
            versions.producers.append(node.index)
        value.producer = node
        value.output_index = index
        return value

    def use(self, node: Node, names: Sequence[str | bytes]) -> tuple[Value | None, ...]:
        """Return the values that a node takes under some names, and note on them that it does."""
        graph, values, versions_by_name = self.graph, self.values, self._versions
        taken: list[Value | None] = []
        undefined = 0
        for name in map(read_text, names):
            if not name:
                taken.append(None)
                continue
            value = values.get(name)
            if value is None or not _is_defined(value):
                value = self._capture(name) or value
                if value is None:
                    value = values[name] = Value(name, graph)
                if value.graph is graph:
                    undefined += 1
                    if undefined <= MOST_UNDEFINED:
                        message = f"uses %{name}, which nothing defines"
                        self.warnings.append(ModelWarning(node.path, message))
            if name in versions_by_name:  # in the order of the nodes that give them
                versions = versions_by_name[name]
                before = bisect_left(versions.producers, node.index)
                value = versions.values[before - 1] if before else value
            producer = value.producer
            if producer is not None and producer.graph is graph and producer.index >= node.index:
                self.warnings.append(
                    ModelWarning(node.path, f"uses %{name} before {producer.path} gives it")
                )
            add_user(value, node)
            taken.append(value)
        if undefined > MOST_UNDEFINED:
            message = f"has {undefined - MOST_UNDEFINED:,} more inputs that nothing defines"
            self.warnings.append(ModelWarning(node.path, message))
        return tuple(taken)

    def find_output(self, name: str) -> Value:
        """Return the value that is an output of the graph under a name."""
        value = self.last.get(name) or self.values.get(name)
        if value is None or not _is_defined(value):
            value = self._capture(name) or value
        if value is None:
            value = take_value(self.graph, name, self.values)
        if not _is_defined(value):
            self.warnings.append(ModelWarning(value.path, "is an output that nothing defines"))
        if value.graph is self.graph:
            value.is_output = True
        return value

    def _capture(self, name: str) -> Value | None:
        """Find a name in the graphs around, and note it on the nodes in between."""
        for depth, around in enumerate(self.outer):
            value = around.values.get(name)
            if value is not None and _is_defined(value):
                for inner in (self.graph, *self.outer[:depth]):
                    caller = inner.parent_node
                    if caller is not None:
                        self.captured.setdefault(caller, {})[value] = None
                return value
        return None


def _is_defined(value: Value) -> bool:
    return value.producer is not None or value.initializer is not None or value.is_input
