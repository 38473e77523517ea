"""Paths: names of elements that a person can read and type.

``model`` is the model, ``main`` the main graph, ``main/Conv_1`` a node, ``main/#17:Relu`` a node
without a name, ``main/If_3.then_branch`` a subgraph, ``main/%x`` a value,
``main/Constant_2.value`` the tensor of an attribute, ``functions/domain::Name`` a function.
Inside an open call the body's nodes are ``main/Call_1()/Relu_2``; they stand for the nodes of
the function.
"""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias, Union

from netloupe.explorer.errors import NotFoundError, advise_in_shell

from .graph import Function, Graph
from .node import Node
from .node_names import UnnamedNodes, find_node_names
from .sparse_tensor import SparseTensor
from .tensor import Tensor
from .value import Value

if TYPE_CHECKING:
    from .attribute import Attribute
    from .model import Model

#: what a path can lead to
Element: TypeAlias = Union["Model", Graph, Node, Value, Tensor, SparseTensor]

CALL = "()"
#: the path of the model itself, which what is odd in the whole file is said of
MODEL = "model"


class PathIndex:
    """Elements by path and by name, built once per graph when first asked for."""

    __slots__ = ("_begin", "_find", "names")

    def __init__(self, graph: Graph) -> None:
        self._begin = f"{graph.path}/"
        # by the ends of paths: a million whole paths would take 100 MB
        ends = find_node_names(graph)
        self._find: Callable[[str], Node | None]
        if isinstance(ends, UnnamedNodes):
            self._find = ends.find
        else:
            self._find = dict(zip(ends, graph.nodes, strict=True)).get
        self.names: dict[str, list[Node]] = {}
        for node in graph.nodes:
            if node.name:
                self.names.setdefault(node.name, []).append(node)

    def find(self, path: str) -> Node | None:
        """Return the node at a path."""
        return self._find(path[len(self._begin) :]) if path.startswith(self._begin) else None


def index_nodes(graph: Graph) -> PathIndex:
    """Return the nodes of a graph by path and by name."""
    index = graph._path_index
    if index is None:
        index = graph._path_index = PathIndex(graph)
    return index


def resolve_path(model: Model, path: str) -> Element:
    """Return the element of a path or of an unambiguous name.

    Parameters
    ----------
    model
        Where to look.
    path
        A path as above, or the bare name of a node, value or initializer. ``main/%w`` is a
        value; the bare name of an initializer, ``w`` or ``%w``, gives its tensor.

    Raises
    ------
    NotFoundError
        With the nearest paths, or with the candidates where the name is ambiguous.
    """
    check_key(model, path)
    found = find_element(model, path)
    if found is not None:
        return found
    if path == MODEL:
        return model
    candidates = find_by_name(model, path)
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise say_ambiguous(model, path, candidates)
    tensor = find_attribute_tensor(model, path)
    if tensor is not None:
        return tensor
    raise say_missing(model, path, "node, value or graph", suggest_paths(model, path))


def check_key(model: Model, path: object) -> None:
    """Raise NotFoundError for what is no text: numbers, as in ``model[0]``, and elements."""
    if isinstance(path, str):
        return
    raise NotFoundError(
        f"{model.source}: a model is asked for paths and names, such as 'main/Conv_1', and not "
        f"for {type(path).__name__} {reprlib.repr(path)}. Its nodes in file order are "
        "model.graph.nodes; what is a part of the model already needs no looking up."
    )


def say_ambiguous(model: Model, name: str, candidates: Sequence[Element]) -> NotFoundError:
    """Return the error for a name that several elements have."""
    listed = ", ".join(candidate.path for candidate in candidates[:5])
    more = f" and {len(candidates) - 5} more" if len(candidates) > 5 else ""
    return NotFoundError(
        f"{model.source}: the name {name!r} is used {len(candidates)} times: {listed}{more}. "
        "Give one of these paths."
    )


def say_missing(model: Model, path: str, kind: str, near: Sequence[str]) -> NotFoundError:
    """Return the error for a path or name of nothing, with what looks like it."""
    hint = f" Did you mean {', '.join(map(repr, near))}?" if near else ""
    advice = "" if near else " Search for a part of it, or look at 'main', the main graph."
    error = NotFoundError(f"{model.source}: there is no {kind} named {path!r}.{hint}{advice}")
    advise_in_shell(error, "`netloupe inspect MODEL main` lists what the main graph holds.")
    return error


def find_element(model: Model, path: str) -> Graph | Node | Value | None:
    """Return the element of an exact path, or None."""
    graph = model.graphs_by_path.get(path)
    if graph is not None:
        return graph
    first = path.find(CALL)
    if first < 0:
        return _find_in_graph(model, path, 0, len(path))
    # of functions that call functions the graph stands before the first call, and hardly ever
    # inside of what is called so
    return (
        _find_in_graph(model, path, 0, first + 1)
        or _find_in_call(model, path, first)
        or _find_in_graph(model, path, first + 1, len(path))
    )


def _find_in_graph(model: Model, path: str, begin: int, end: int) -> Node | Value | None:
    """Return the element at a path whose graph's path ends in a part of it; the longest first."""
    graphs = model.graphs_by_path
    cut = path.rfind("/", begin, end)
    while cut > 0:
        graph = graphs.get(path[:cut])
        if graph is not None:
            rest = path[cut + 1 :]
            if rest.startswith("%") and rest[1:] in graph.values:
                return graph.values[rest[1:]]
            node = index_nodes(graph).find(path)
            if node is not None:
                return node
        cut = path.rfind("/", begin, cut)
    return None


def _find_in_call(model: Model, path: str, start: int) -> Graph | Node | Value | None:
    """Follow ``call()/inner`` from the function called to the element of its body."""
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
    nodes = nodes_named(model, name)
    if nodes:
        return [*nodes]
    return [value.initializer or value for value in values_named(model, name)]


def nodes_named(model: Model, name: str) -> list[Node]:
    """Return the nodes of all graphs that have a name."""
    return [node for graph in model.graphs for node in index_nodes(graph).names.get(name, ())]


def values_named(model: Model, name: str) -> list[Value]:
    """Return the values of all graphs that have a name, which ``%`` may mark as a value's."""
    graphs = model.graphs
    found = [graph.values[name] for graph in graphs if name in graph.values]
    if not found and name.startswith("%"):
        name = name[1:]
        found = [graph.values[name] for graph in graphs if name in graph.values]
    return found


def find_attribute_tensor(model: Model, path: str) -> Tensor | SparseTensor | None:
    """Return the tensor of a node's attribute, or of a function's default, at its path."""
    found = _find_attribute(model, path)
    return None if found is None else found[0]


def find_holder(model: Model, path: str) -> Graph | Node | Value | None:
    """Return the value that has a tensor as its elements, or what has it among its attributes."""
    found = _find_attribute(model, path)
    return find_element(model, path) if found is None else found[1]


def _find_attribute(
    model: Model, path: str
) -> tuple[Tensor | SparseTensor, Graph | Node | Value] | None:
    cut = path.rfind(".")
    while cut > 0:
        owner = find_element(model, path[:cut])
        if owner is not None:
            for tensor in _tensors_of(owner):
                if tensor.path[len(owner.path) :] == path[cut:]:
                    return tensor, owner
        cut = path.rfind(".", 0, cut)
    return None


def _tensors_of(owner: Graph | Node | Value) -> Iterator[Tensor | SparseTensor]:
    """Yield the tensors among the attributes of an element."""
    attributes: dict[str, Attribute] = {}
    if isinstance(owner, Node):
        attributes = owner.attributes
        if owner.details.constant is not None:
            yield owner.details.constant
    elif isinstance(owner, Graph):
        attributes = owner.attribute_defaults if isinstance(owner, Function) else {}
        attributes = attributes | (owner.net.arguments if owner.net is not None else {})
    for attribute in attributes.values():
        entries = attribute.value if isinstance(attribute.value, tuple) else (attribute.value,)
        yield from (entry for entry in entries if isinstance(entry, Tensor | SparseTensor))


def list_paths(model: Model) -> Iterator[str]:
    """Yield the paths of all graphs, nodes and values, each once."""
    graphs = model.graphs
    yield from (graph.path for graph in graphs)
    for graph in graphs:
        yield from (node.path for node in graph.nodes)
        yield from (value.path for value in graph.values.values())


def _iterate_elements(model: Model, kinds: tuple[type, ...]) -> Iterator[Node | Value]:
    for graph in model.graphs:
        if Node in kinds:
            yield from graph.nodes
        for value in graph.values.values():
            if Value in kinds or (Tensor in kinds and value.initializer is not None):
                yield value


def suggest_paths(
    model: Model,
    path: str,
    count: int = 3,
    limit: int = 100_000,
    *,
    kinds: tuple[type, ...] = (Node, Value),
) -> list[str]:
    """Return up to ``count`` paths that look like ``path``, from the first ``limit`` elements.

    Parameters
    ----------
    kinds
        Of which kinds of elements: nodes, values, tensors that are initializers.
    """
    wanted = path.rsplit("/", 1)[-1].lstrip("%").lower()
    leaves: dict[str, str] = {}
    for element in islice(_iterate_elements(model, kinds), limit):
        name = element.name if isinstance(element, Value) else element.path.rsplit("/", 1)[-1]
        leaves.setdefault(name.lower(), element.path)
    return [leaves[leaf] for leaf in difflib.get_close_matches(wanted, leaves, count, 0.6)]
