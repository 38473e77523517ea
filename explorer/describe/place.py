"""Where an element is shown: under its own path, or inside one open call of its function."""

from __future__ import annotations

from dataclasses import dataclass

from netloupe.explorer.model import Function, Graph, Model, Node, SparseTensor, Tensor, Value
from netloupe.explorer.model.paths import CALL, find_element


@dataclass(frozen=True, slots=True)
class Place:
    """Turns the paths of a function's elements into those of one occurrence.

    Parameters
    ----------
    origin
        The function's own path; "" where elements are shown under their own paths.
    prefix
        What stands in its place: the path of the call and ``()``.
    caller
        The node that calls; None outside of calls.
    """

    origin: str = ""
    prefix: str = ""
    caller: Node | None = None

    def path_of(self, path: str) -> str:
        """Return the path under which an element is reached from here."""
        origin = self.origin
        if origin and path.startswith(origin) and path[len(origin) : len(origin) + 1] in "/.":
            return self.prefix + path[len(origin) :]
        return path

    def operand_of(self, value: Value) -> Value | None:
        """Return what the call passes for a formal input of its function; else None."""
        graph = value.graph
        if self.caller is None or graph.path != self.origin or not value.is_input:
            return None
        index = graph.inputs.index(value)
        return self.caller.input(index)


def find_place(
    model: Model, element: Graph | Node | Value | Tensor | SparseTensor, path: str
) -> Place:
    """Return the place of an element that was reached by a path."""
    graph = element if isinstance(element, Graph) else getattr(element, "graph", None)
    if graph is None or path == element.path:
        return Place()
    while graph.parent_node is not None:
        graph = graph.parent_node.graph
    suffix = element.path[len(graph.path) :]
    if not isinstance(graph, Function) or not path.endswith(CALL + suffix):
        return Place()
    prefix = path[: len(path) - len(suffix)]
    caller = find_element(model, prefix.removesuffix(CALL))
    return Place(graph.path, prefix, caller if isinstance(caller, Node) else None)
