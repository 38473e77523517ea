"""Scopes of products into which a norm has been folded: by the name of the module with the weight.

torch's optimizers multiply a BatchNorm into the convolution before it, and the node that is left
has the metadata of the norm: ``bn1`` for what an author calls ``conv_stem``. Of its weight the
name is still that of the convolution's: ``conv_stem.weight``.
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import TypeVar

from netloupe.explorer.model import Graph, Node, is_constant

_Scope = tuple[str, ...]
_Named = TypeVar("_Named")


def name_by_weights(
    graph: Graph,
    of_node: MutableSequence[_Scope | None],
    operator_scopes: set[_Scope],
    type_names: dict[_Scope, str],
) -> None:
    """Call scopes of a folded norm after the sibling module whose weight a product in them has.

    Parameters
    ----------
    graph
        The graph.
    of_node
        The scope of every node by index; changed in place, as all that follows.
    operator_scopes
        Scopes that stand for one operation.
    type_names
        Classes of modules. What is called anew has none: it is more than the module.

    Notes
    -----
    A scope is called so where a single product in it says so, and no other scope has the name.
    """
    found: dict[_Scope, set[str]] = {}
    for index, scope in enumerate(of_node):
        if not scope or not graph.nodes[index].operator.has("convolves", "multiplies"):
            continue
        module = scope[:-1] if scope in operator_scopes else scope
        named = _read_module(graph.nodes[index])
        if module and named:
            found.setdefault(module, set()).add(_find_sibling(module, named))
    known = {scope[:end] for scope in {*of_node} if scope for end in range(1, len(scope) + 1)}
    renamed: dict[_Scope, _Scope] = {}
    for module, names in found.items():
        name = names.pop() if len(names) == 1 else ""
        new = (*module[:-1], name)
        if name and new not in known and new not in renamed.values():
            renamed[module] = new
    if not renamed:
        return
    moved = {scope: _move(scope, renamed) for scope in {*of_node} if scope}
    for index, scope in enumerate(of_node):
        if scope:
            of_node[index] = moved[scope]
    for scope in [*operator_scopes]:
        operator_scopes.discard(scope)
        operator_scopes.add(_move(scope, renamed))
    for module in renamed:
        type_names.pop(module, None)


def _read_module(node: Node) -> str:
    """Return the dotted name of the module whose weight a product takes; "" where none is known."""
    weight = node.input(1)
    if weight is None or weight.producer is not None or not is_constant(weight):
        return ""
    module, point, role = weight.name.rpartition(".")
    return module if point and role == "weight" else ""


def _find_sibling(module: _Scope, named: str) -> str:
    """Return what a module is called beside another one; "" for itself, or one elsewhere."""
    around = ".".join(module[:-1])
    own, point, name = named.rpartition(".")
    if own != around or (around and not point):
        return ""
    last = module[-1].rpartition(".")
    return "" if name == last[2] else name


def _move(scope: _Scope, renamed: dict[_Scope, _Scope]) -> _Scope:
    for end in range(len(scope), 0, -1):
        new = renamed.get(scope[:end])
        if new is not None:
            return (*new, *scope[end:])
    return scope
