"""Paths: names of elements that a person can read and type.

``main`` is the main graph, ``main/Conv_1`` a node, ``main/#17:Relu`` a node without a name,
``main/If_3.then_branch`` a subgraph, ``main/%x`` a value, ``functions/domain::Name`` a
function. Inside an open call the body's nodes are ``main/Call_1()/Relu_2``; they stand for
the nodes of the function.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from netloupe.explorer.errors import NotFoundError

if TYPE_CHECKING:
    from .graph import Graph, Node
    from .model import Model
    from .tensor import SparseTensor, Tensor
    from .value import Value

CALL = "()"


class PathIndex:
    """Elements by path and by name, built once per graph when first asked for."""

    __slots__ = ("names", "nodes")

    def __init__(self, graph: Graph) -> None:
        self.nodes: dict[str, Node] = {node.path: node for node in graph.nodes}
        self.names: dict[str, list[Node]] = {}
        for node in graph.nodes:
            if node.name:
                self.names.setdefault(node.name, []).append(node)


def resolve_path(model: Model, path: str) -> Graph | Node | Value | Tensor | SparseTensor:
    """Return the element of a path or of an unambiguous name.

    Parameters
    ----------
    model
        Where to look.
    path
        A path as above, or the bare name of a node, value or initializer. ``main/%w`` is a
        value; the bare name of an initializer gives its tensor.

    Raises
    ------
    NotFoundError
        With the nearest paths, or with the candidates where the name is ambiguous.
    """
    found = find_element(model, path)
    if found is not None:
        return found
    candidates = find_by_name(model, path)
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        listed = ", ".join(element.path for element in candidates[:5])
        more = f" and {len(candidates) - 5} more" if len(candidates) > 5 else ""
        raise NotFoundError(
            f"{model.source}: the name {path!r} is used {len(candidates)} times: {listed}{more}. "
            "Give one of these paths."
        )
    near = suggest_paths(model, path)
    hint = f" Did you mean {', '.join(map(repr, near))}?" if near else ""
    raise NotFoundError(
        f"{model.source}: there is no node, value or graph named {path!r}.{hint} "
        "`netloupe inspect MODEL main` lists what the main graph holds."
    )


def find_element(model: Model, path: str) -> Graph | Node | Value | None:
    """Return the element of an exact path, or None."""
    graphs = model.graphs_by_path
    graph = graphs.get(path)
    if graph is not None:
        return graph
    cut = path.rfind("/")
    while cut > 0:
        graph = graphs.get(path[:cut])
        if graph is not None:
            rest = path[cut + 1 :]
            if rest.startswith("%") and rest[1:] in graph.values:
                return graph.values[rest[1:]]
            node = model.path_index(graph).nodes.get(path)
            if node is not None:
                return node
        cut = path.rfind("/", 0, cut)
    return _find_in_call(model, path)


def _find_in_call(model: Model, path: str) -> Graph | Node | Value | None:
    """Follow ``call()/inner`` from the function called to the element of its body."""
    start = path.find(CALL)
    while start > 0:
        rest = path[start + len(CALL) :]
        if not rest or rest[0] in "/.":
            caller = find_element(model, path[:start])
            function = getattr(caller, "function", None)
            if function is not None:
                return find_element(model, function.path + rest)
        start = path.find(CALL, start + 1)
    return None


def find_by_name(model: Model, name: str) -> list[Node | Value | Tensor | SparseTensor]:
    """Return every node of that name; where there is none, every initializer or value."""
    graphs = model.graphs
    nodes = [node for graph in graphs for node in model.path_index(graph).names.get(name, ())]
    if nodes:
        return list(nodes)
    values = [graph.values[name] for graph in graphs if name in graph.values]
    return [value.initializer or value for value in values]


def suggest_paths(model: Model, path: str, count: int = 3, limit: int = 20_000) -> list[str]:
    """Return up to ``count`` paths that look like ``path``, from the first ``limit`` names."""
    wanted = path.rsplit("/", 1)[-1].lstrip("%").lower()
    leaves: dict[str, str] = {}
    for graph in model.graphs:
        for node in graph.nodes:
            leaves.setdefault(node.path.rsplit("/", 1)[-1].lower(), node.path)
        for value in graph.values.values():
            leaves.setdefault(value.name.lower(), value.path)
        if len(leaves) > limit:
            break
    return [leaves[leaf] for leaf in difflib.get_close_matches(wanted, leaves, count, 0.6)]
