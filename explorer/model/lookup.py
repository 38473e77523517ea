"""Looking up elements of one kind: nodes, values or tensors, by path or name.

A node and a value may share a name; who says which of them is meant gets it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from netloupe.explorer.errors import NotFoundError
from netloupe.explorer.notation import join_parts

from .graph import Graph
from .node import Node
from .paths import (
    MODEL,
    Element,
    check_key,
    find_attribute_tensor,
    find_element,
    list_paths,
    nodes_named,
    say_ambiguous,
    say_missing,
    suggest_paths,
    values_named,
)
from .sparse_tensor import SparseTensor
from .stored_tensors import find_own_tensor
from .tensor import Tensor
from .value import Value

if TYPE_CHECKING:
    from .model import Model

#: so many names are offered where one is typed: what a list can show without a wait
MOST_OFFERED = 20_000


def resolve_node(model: Model, name: str) -> Node:
    """Return the node of a path or of an unambiguous name of a node.

    Raises
    ------
    NotFoundError
        Where there is none, or several; see :meth:`Model.node`.
    """
    check_key(model, name)
    found = find_element(model, name)
    if isinstance(found, Node):
        return found
    candidates = nodes_named(model, name)
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise say_ambiguous(model, name, candidates)
    raise _say_other(model, name, "node", found) or say_missing(
        model, name, "node", suggest_paths(model, name, kinds=(Node,))
    )


def resolve_value(model: Model, name: str) -> Value:
    """Return the value of a path or of an unambiguous name of a value.

    Raises
    ------
    NotFoundError
        Where there is none, or several; see :meth:`Model.value`.
    """
    check_key(model, name)
    found = find_element(model, name)
    if isinstance(found, Value):
        return found
    candidates = values_named(model, name)
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise say_ambiguous(model, name, candidates)
    raise _say_other(model, name, "value", found) or say_missing(
        model, name, "value", suggest_paths(model, name, kinds=(Value,))
    )


def resolve_tensor(model: Model, name: str) -> Tensor:
    """Return the tensor of a path, or that behind the only value of a name.

    Raises
    ------
    NotFoundError
        Where there is none, or several; see :meth:`Model.tensor`.
    """
    check_key(model, name)
    found: Element | None = find_element(model, name)
    tensor: Tensor | SparseTensor | None = None
    if isinstance(found, Value):
        tensor = find_own_tensor(found)
    else:
        values = values_named(model, name)
        stored = [value for value in values if find_own_tensor(value) is not None]
        if len(stored) > 1:
            raise say_ambiguous(model, name, stored)
        if stored:
            tensor = find_own_tensor(stored[0])
        elif len(values) == 1 and found is None:
            found = values[0]
    tensor = tensor or find_attribute_tensor(model, name)
    if isinstance(tensor, Tensor):
        return tensor
    if tensor is not None:
        raise NotFoundError(
            f"{model.source}: {name!r} is a sparse tensor. model[{name!r}] gives it, and its "
            "numpy() the dense array."
        )
    raise _say_other(model, name, "tensor", found) or say_missing(
        model, name, "tensor", suggest_paths(model, name, kinds=(Tensor,))
    )


def is_element(model: Model, thing: object) -> bool:
    """Return whether a path or name leads to an element, or a thing is one of the model's."""
    if isinstance(thing, str):
        return (
            thing == MODEL
            or find_element(model, thing) is not None
            or bool(nodes_named(model, thing))
            or bool(values_named(model, thing))
            or find_attribute_tensor(model, thing) is not None
        )
    if thing is model:
        return True
    if not isinstance(thing, Graph | Node | Value | Tensor | SparseTensor):
        return False
    found = find_element(model, thing.path)
    if isinstance(found, Value) and isinstance(thing, Tensor | SparseTensor):
        return found.initializer is thing
    return found is thing or find_attribute_tensor(model, thing.path) is thing


def offer_keys(model: Model) -> list[str]:
    """Return what may be typed to get an element: paths, and names of weights and nodes."""
    graphs = model.graphs
    offered = chain(
        (tensor.name for graph in graphs for tensor in graph.initializers),
        list_paths(model),
        (node.name for graph in graphs for node in graph.nodes),
    )
    return list(dict.fromkeys(filter(None, islice(offered, MOST_OFFERED))))


def _say_other(model: Model, name: str, kind: str, found: Element | None) -> NotFoundError | None:
    """Return the error for a name that only elements of another kind have; None for none."""
    others: Sequence[Element] = [found] if found is not None else []
    others = others or nodes_named(model, name) or values_named(model, name)
    others = others or ([model] if name == MODEL else [])
    if not others:
        return None
    other = others[0]
    if isinstance(other, Node):
        what, hint = "a node", _list_operands(other, kind)
    elif isinstance(other, Value):
        what, hint = "a value", _write_use(other, kind)
    else:
        what = "the model" if other is model else "a graph"
        hint = f"model[{name!r}] gives it."
    if len(others) > 1:
        what += "'s name, used several times"
    return NotFoundError(f"{model.source}: {name!r} is {what}, not a {kind}. {hint}")


def _list_operands(node: Node, kind: str) -> str:
    values = [value for value in (*node.inputs, *node.outputs) if value is not None]
    if kind == "tensor":
        values = [value for value in values if find_own_tensor(value) is not None]
    paths = list(dict.fromkeys(repr(value.path) for value in values))
    if not paths:
        return f"It has no {kind}."
    return f"Its {kind}s are {join_parts(paths[:5], len(paths))}."


def _write_use(value: Value, kind: str) -> str:
    if kind == "tensor":
        return "Its elements are not stored in the file; model.value() gives what is said of it."
    if value.producer is not None:
        return f"The node that gives it is {value.producer.path!r}."
    return "No node gives it; model.value() tells which nodes use it."
