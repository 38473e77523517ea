"""Factors of stored weights that are no weights: masks that switch some off, and noise."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Graph, Node, Tensor, Value

from .masks import is_switch
from .stored_uses import ConstantUse, list_nodes, trace

#: a deviation may be computed in so many steps: Softplus or Exp of what is learned
_MOST_STEPS = 4
_MOST_USERS = 16


def find_weight_factors(graph: Graph) -> Iterator[ConstantUse]:
    """Yield what multiplies a stored weight element by element, and is no weight.

    * Where one of two tensors of equal shape holds zeros and ones alone, it is a mask, as of the
      layers of an autoregressive network (M. Germain and others, MADE, 2015).
    * Where a third of that shape is added to the product, they are mean, deviation and noise
      (M. Fortunato and others, Noisy Networks for Exploration, 2018, equation 9): what is
      multiplied as it is stored, and not by others, is the noise, the last of two such.
    """
    for node in list_nodes(graph, lambda operator: operator.has("multiplies_elements")):
        if len(node.inputs) != 2:
            continue
        stored = [_find_stored(node, place) for place in (0, 1)]
        one, two = stored
        if one is None or two is None or one.dims != two.dims or one.size < 2:
            continue
        direct = [trace(node, place) for place in (0, 1)]
        switch = next((use for use in direct if use and is_switch(use.tensor)), None)
        if switch is not None:
            yield switch.use_as("other")
        elif _is_deviation(node, one.dims):
            noise = [use for use in direct if use and _is_taken_once(node.input(use.place))]
            if noise:
                yield noise[-1].use_as("other")


def _is_taken_once(value: Value | None) -> bool:
    return value is not None and len(value.users) == 1


def _find_stored(node: Node, place: int) -> Tensor | None:
    """Return the tensor that a node takes, perhaps after functions of one value."""
    value = node.input(place)
    for _ in range(_MOST_STEPS):
        if value is None:
            return None
        if value.initializer is not None:
            return value.initializer if isinstance(value.initializer, Tensor) else None
        producer = value.producer
        if producer is None or len(producer.inputs) != 1:
            return None
        value = producer.input(0)
    return None


def _is_deviation(node: Node, dims: tuple[int, ...]) -> bool:
    """Return whether all that takes a product adds it to a stored tensor of its shape."""
    value: Value | None = node.output(0)
    users = value.users[:_MOST_USERS] if value is not None else ()
    if value is None or not users or value.is_output:
        return False
    for user in users:
        others = [place for place, taken in enumerate(user.inputs) if taken is not value]
        mean = _find_stored(user, others[0]) if len(others) == 1 else None
        if not user.operator.has("adds") or mean is None or mean.dims != dims:
            return False
    return True
