"""Anchors: what a line of notes says of an element, so that it is found in another version.

Beside the path an anchor holds clues (:mod:`.clues`) with the number of nodes that shared each
when it was noted: only what was unique can tell for certain where an element is now. Values are
told by the node that gives or takes them, groups by some of their nodes, what is inside a call by
the call and the element of the function.
"""

from __future__ import annotations

from typing import Any

from netloupe.explorer.errors import NotesError, NotFoundError
from netloupe.explorer.grouping import ModelGroup, group_model
from netloupe.explorer.model import Graph, Model, Node, SparseTensor, Tensor, Value
from netloupe.explorer.model.paths import CALL, MODEL, find_element, find_holder

from .clues import ClueIndex, count_alike
from .event import Anchor

#: so many nodes of a group are told
_MOST_MEMBERS = 12
_LONGEST_PATH = 4_000
#: of what is inside more calls in calls only the path is told
_MOST_CALLS = 5


class AnchorMaker:
    """Makes the anchors of elements of a model.

    Parameters
    ----------
    index
        The clues of the model's nodes.
    """

    def __init__(self, index: ClueIndex) -> None:
        self._index = index
        self._model = index.model

    def make(self, path: str) -> Anchor:
        """Return the anchor of the element at a path, as :func:`find_path` gives it."""
        told = self._tell(path)
        witnesses = [list(each) for each in self._index.witnesses]
        return {**told, "structure": self._index.structure, "witnesses": witnesses}

    def _tell(self, path: str) -> dict[str, Any]:
        prefix, call, rest = path.rpartition(f"{CALL}/")
        caller = find_element(self._model, prefix) if call else None
        if isinstance(caller, Node) and caller.function is not None:
            if path.count(CALL) > _MOST_CALLS:
                return {"kind": "other", "path": path}
            return {
                "kind": "inside",
                "path": path,
                "call": self._tell(prefix),
                "inner": self._tell(f"{caller.function.path}/{rest}"),
            }
        if path == MODEL:
            return {"kind": "model", "path": path}
        if path.endswith("/"):
            return self._tell_group(group_model(self._model, path))
        element = find_element(self._model, path)
        if isinstance(element, Node):
            return self._tell_node(element) | {"path": path}
        if isinstance(element, Value):
            return self._tell_value(element)
        if isinstance(element, Graph):
            return self._tell_graph(element)
        holder = find_holder(self._model, path)
        if isinstance(holder, Node):
            suffix = path[len(holder.path) :]
            return {"kind": "tensor", "path": path, "suffix": suffix, "of": self._tell_node(holder)}
        return {"kind": "other", "path": path}

    def _tell_node(self, node: Node) -> dict[str, Any]:
        clues = self._index.tell_all(node)
        told = {"kind": "node", "path": node.path, "op": node.op_type, "domain": node.domain}
        alike = count_alike(self._index, node, clues)
        return {**told, "clues": clues, "alike": {k: n for k, n in alike.items() if n != 1}}

    def _tell_value(self, value: Value) -> dict[str, Any]:
        told: dict[str, Any] = {"kind": "value", "path": value.path}
        graph = value.graph
        if value.producer is not None:
            node, role, place = value.producer, "output", value.producer.outputs.index(value)
        elif value in graph.inputs and value.initializer is None:
            return {**told, "role": "graph input", "place": graph.inputs.index(value)}
        elif value.users:
            node, role = value.users[0], "input"
            if value not in node.inputs:  # a graph inside takes it
                return told
            place = node.inputs.index(value)
        else:
            return told
        return {**told, "role": role, "place": place, "of": self._tell_node(node)}

    def _tell_graph(self, graph: Graph) -> dict[str, Any]:
        told: dict[str, Any] = {"kind": "graph", "path": graph.path}
        if graph.parent_node is not None:
            told |= {"suffix": f".{graph.parent_attribute}"}
            told |= {"of": self._tell_node(graph.parent_node)}
        return told

    def _tell_group(self, group: ModelGroup) -> dict[str, Any]:
        nodes = group.nodes
        weighted = [node for node in nodes if self._index.tell(node, "weights")]
        members = _spread(weighted, _MOST_MEMBERS // 2)
        rest = [node for node in nodes if node not in {*members}]
        members += _spread(rest, _MOST_MEMBERS - len(members))
        return {
            "kind": "group",
            "path": group.path,
            "title": group.recognised or group.label,
            "nodes": len(nodes),
            "members": [self._tell_node(node) for node in members],
        }


def _spread(nodes: list[Node], most: int) -> list[Node]:
    """Return some of the nodes, evenly spread, the first and the last among them."""
    if len(nodes) <= most:
        return list(nodes)
    return [nodes[round(place * (len(nodes) - 1) / (most - 1))] for place in range(most)]


def find_path(model: Model, place: object) -> str:
    """Return the path of an element, a group, or what a path or name leads to.

    Parameters
    ----------
    model
        The model.
    place
        A path or name, as ``model[…]`` and ``model.group`` take them, or one of its elements.

    Raises
    ------
    NotFoundError
        Where nothing is there, or several things have that name.
    NotesError
        For what is neither.
    """
    if isinstance(place, ModelGroup):
        _check_model(model, place.graph.model, place.path)
        return place.path
    if isinstance(place, Node | Value | Graph | Tensor | SparseTensor | Model):
        if place not in model:
            raise NotFoundError(
                f"{model.source}: {place.path!r} is of another model. Give one of this model's."
            )
        return place.path
    if not isinstance(place, str):
        raise NotesError(
            f"{model.source}: a note is on the path of an element, such as 'main/Conv_1', and not "
            f"on {type(place).__name__}."
        )
    if len(place) > _LONGEST_PATH:
        raise NotesError(f"{model.source}: a path has {_LONGEST_PATH:,} characters at most.")
    if find_element(model, place) is not None:
        return place
    if place.endswith("/"):
        return _find_group_path(model, place)
    try:
        return model[place].path
    except NotFoundError as missing:
        try:
            return _find_group_path(model, place)
        except NotFoundError:
            raise missing from None


def _find_group_path(model: Model, path: str) -> str:
    """Return the path of a group; inside a call that of the occurrence."""
    found = group_model(model, path).path
    return path if CALL in path and path.endswith("/") else found


def _check_model(model: Model, other: Model, path: str) -> None:
    if other is not model:
        raise NotFoundError(f"{model.source}: {path!r} is of another model. Give one of this one.")
