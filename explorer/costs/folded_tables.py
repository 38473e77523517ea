"""Tables that an exporter computed from constants and weights, and stored in their place."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Graph, Node, Tensor
from netloupe.explorer.operators import PASSING_TRAITS

from .stored_uses import ConstantUse, list_nodes, trace

_MOST_STEPS = 12
#: so many users of one sum are looked at
_MOST_USERS = 16
#: so many axes are longer than 1
_LEAST_FACTOR = 2
_LEAST_JOINED = 3
#: so many tensors are read, and none of more elements
_MOST_TABLES = 256
_MOST_ELEMENTS = 1 << 18


def find_folded_tables(graph: Graph) -> Iterator[ConstantUse]:
    """Yield tables to which a bias is added, and then an activation applied, with no data at all.

    So begins an MLP over stored coordinates of which an exporter has computed the first product,
    as the one that makes the position biases of Swin V2 (Z. Liu and others, Swin Transformer V2,
    2022, section 3.3). The table is that product; the bias is a weight. Tables of positions and of
    kinds of token that are added meet data before any activation.

    Also zeros along several axes that are multiplied, or put beside data: the state before the
    first step, and imaginary parts. Learned factors that begin with 0 are one for each channel,
    and learned tokens rows.
    """
    yield from _find_zeros(graph)
    for node in list_nodes(graph, lambda operator: operator.has("adds")):
        if len(node.inputs) != 2:
            continue
        one, two = trace(node, 0), trace(node, 1)
        if one is None or two is None:
            continue
        table, bias = sorted((one, two), key=lambda use: -len(use.tensor.dims))
        dims = table.tensor.dims
        if len(bias.tensor.dims) != 1 or len(dims) < 2 or bias.tensor.dims[-1] != dims[-1]:
            continue
        if _is_activated(node):
            yield table.use_as("other")


def _find_zeros(graph: Graph) -> Iterator[ConstantUse]:
    """Yield tensors of nothing but zeros that are factors, or are put beside data."""
    seen = 0
    for node in list_nodes(graph, lambda operator: operator.has("joins", "multiplies_elements")):
        least = _LEAST_JOINED if node.operator.has("joins") else _LEAST_FACTOR
        for place in range(len(node.inputs) if len(node.inputs) <= _MOST_USERS else 0):
            value = node.inputs[place]
            tensor = value.initializer if value is not None else None
            if not isinstance(tensor, Tensor) or not tensor.dtype.is_float:
                continue
            if sum(dim > 1 for dim in tensor.dims) < least or tensor.size > _MOST_ELEMENTS:
                continue
            seen += 1
            if seen > _MOST_TABLES:
                return
            try:
                is_zero = not tensor.numpy().any()
            except NetloupeError:
                continue
            if is_zero:
                yield ConstantUse(node, place, "other")


def _is_activated(node: Node) -> bool:
    """Return whether all that takes a result, perhaps in another layout, is an activation."""
    pending = [node]
    found = False
    for _ in range(_MOST_STEPS):
        if not pending:
            return found
        current = pending.pop()
        for value in current.outputs:
            users = () if value is None else value.users[:_MOST_USERS]
            if value is not None and value.is_output:
                return False
            for user in users:
                if user.operator.has("activates"):
                    found = True
                elif user.operator.has(*PASSING_TRAITS):
                    pending.append(user)
                else:
                    return False
    return False
