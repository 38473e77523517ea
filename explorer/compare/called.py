"""Functions of two models that calls may be exchanged between: those that say the same."""

from __future__ import annotations

from netloupe.explorer.model import Function, Model, Node

from .changes import says_same
from .same_wiring import has_same_wiring


def have_same_bodies(left: Function, right: Function) -> bool:
    """Return whether two functions certainly do the same, whatever they are called.

    Graphs inside of their nodes are not looked into: with them nobody knows.
    """
    if left is right:
        return True
    return (
        left.opset_imports == right.opset_imports
        and left.attribute_names == right.attribute_names
        and not (left.attribute_defaults or right.attribute_defaults)
        and _list_results(left) == _list_results(right)
        and has_same_wiring(left, right)
        and all(map(_say_same, left.nodes, right.nodes))
    )


Named = dict[tuple[str, str, str], Function]


def name_functions(model: Model) -> Named:
    """Return the functions of a model by what calls name."""
    return {name_function(function): function for function in model.functions}


def name_function(function: Function) -> tuple[str, str, str]:
    """Return what calls of a function name: domain, name and overload."""
    return function.domain, function.name, function.overload


def may_be_renamed(left: Function, right: Function, named: tuple[Named, Named]) -> bool:
    """Return whether one of two functions of other names may be the other one.

    So it is not where either is there in the other model as it was: then another one is called.

    Parameters
    ----------
    left, right
        The functions.
    named
        Those of both models, by their names.
    """
    for one, others in ((left, named[1]), (right, named[0])):
        other = others.get(name_function(one))
        if other is not None and have_same_bodies(one, other):
            return False
    return True


def _list_results(function: Function) -> list[tuple[int, int]]:
    """Return which result of which node, or which input, each output is."""
    inputs = {value: place for place, value in enumerate(function.inputs)}
    found = []
    for value in function.outputs:
        node = value.producer
        if node is None:
            found.append((-1, inputs.get(value, -1)))
        else:
            found.append((function.index_of(node), value.output_index))
    return found


def _say_same(left: Node, right: Node) -> bool:
    is_call = left.function is not None or right.function is not None
    return not is_call and says_same(left, right)
