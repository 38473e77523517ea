"""Stored operands that say what a node does, such as axes, shapes and counts: these are no weights.

They are those that may be nothing but integers or truth values by the schema of the operator, and
the factors of Resize. What they say is compared as attributes are, whichever way it is stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache

from netloupe.explorer.model import Graph, Node, Tensor, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import find_operator, find_schema

from .axes import are_same_axes
from .changes import Change
from .operator_versions import align_operands, read_short_operand

#: more numbers are data, such as the places that a table is read at
_MOST_NUMBERS = 64
_COUNTING = frozenset({"int32", "int64", "bool"})
_AXES = ("axis", "axes")

#: a tensor of the left model and one of the right one
_TensorPair = tuple[Tensor, Tensor]


class Parameters:
    """Compares the stored operands of paired nodes that say what these do.

    Attributes
    ----------
    compared
        The tensors of both models that were compared as such.
    differing
        Of these the ones that hold something else.
    """

    def __init__(self) -> None:
        self.compared: set[_TensorPair] = set()
        self.differing: set[_TensorPair] = set()
        self._says_only = cache(_says_only)  # of what very many nodes take

    def compare(self, left: Node, right: Node) -> Iterator[Change]:
        """Yield in what two paired nodes are told something else by their operands."""
        if left.op_type != right.op_type or left.domain != right.domain:
            return
        for one, other in zip(*align_operands(left, right), strict=False):
            if one is None or other is None:
                continue
            name = _find_parameter(left, one)
            if name is None or name != _find_parameter(right, other):
                continue
            tensors = find_stored_tensor(one), find_stored_tensor(other)
            if tensors[0] is None or tensors[1] is None:
                continue
            if one.initializer is None and other.initializer is None:
                continue  # told of the nodes that give them
            if not (self._says_only(one) and self._says_only(other)):
                continue
            numbers = read_short_operand(one), read_short_operand(other)
            if numbers[0] is None or numbers[1] is None:
                continue
            self.compared.add((tensors[0], tensors[1]))
            if numbers[0] == numbers[1]:
                continue
            self.differing.add((tensors[0], tensors[1]))
            is_same = name in _AXES and are_same_axes(left, right, *numbers)
            yield Change(f"operand {name}", *numbers, "defaults" if is_same else "")


def list_stored_parameters(graph: Graph) -> Iterator[Tensor]:
    """Yield the initializers that only tell nodes what to do: told with these, and no weights."""
    for value in graph.values.values():
        tensor = value.initializer
        if isinstance(tensor, Tensor) and value.users and _says_only(value):
            yield tensor


def _says_only(value: Value) -> bool:
    """Return whether all that takes a stored value is told by it what to do."""
    return not value.is_output and all(
        _find_parameter(user, value) is not None and user.inputs.count(value) == 1
        for user in value.users
    )


def _find_parameter(node: Node, value: Value) -> str | None:
    """Return what the specification calls an operand that says what a node does; None for data."""
    if node.function is not None:
        return None
    for place, name in _list_parameters(node.domain, node.op_type, node.opset_version):
        if node.input(place) is value:
            tensor = find_stored_tensor(value)
            if tensor is None or len(tensor.dims) > 1 or tensor.size > _MOST_NUMBERS:
                return None
            return name
    return None  # data, or a graph inside takes it


@lru_cache
def _list_parameters(domain: str, op_type: str, version: int | None) -> tuple[tuple[int, str], ...]:
    """Return the operands of an operator that say what it does: their places and names."""
    schema = find_schema(domain, op_type, version)
    roles = find_operator(domain, op_type, version).operands
    return tuple(
        (place, operand.name)
        for place, operand in enumerate(() if schema is None else schema.inputs)
        if (operand.types and operand.types <= _COUNTING) or roles.at(place) == "scales"
    )
