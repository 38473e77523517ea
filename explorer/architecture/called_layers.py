"""Recurrent networks whose layers are calls of functions, as an exporter writes modules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from netloupe.explorer.model import Function, Graph, Node, Value
from netloupe.explorer.operators import ARRANGING_TRAITS
from netloupe.explorer.patterns import Detail
from netloupe.explorer.progress import step

from .layer_words import write_given
from .sequences import read_layer, write_recurrent
from .sketch import Sketch

_MOST_LEVELS = 8
_MOST_NODES = 500
#: of what may stand behind the last linear layer
_FINISHING = ("adds", "copies", "distributes", "reshapes")
#: of what else may stand around layers
_AROUND = (*ARRANGING_TRAITS, "fills", "looks_up", "reads_shape", "reverses", "stores_constant")

#: by value inside of a function what a call gives for it
Given = Mapping[Value, Value]


class _Step(NamedTuple):
    """An operator somewhere inside of calls, and what stands for the inputs of its function."""

    node: Node
    given: Given

    def operand(self, place: int) -> Value | None:
        value = self.node.input(place)
        return None if value is None else self.given.get(value, value)

    def read_dims(self, place: int) -> tuple[int, ...]:
        """Return the dimensions of a stored matrix; nothing for all else."""
        value = self.operand(place)
        tensor = value.initializer if value is not None else None
        is_matrix = tensor is not None and len(tensor.dims) == 2 and tensor.dtype.is_float
        return tuple(tensor.dims) if tensor is not None and is_matrix else ()


def find_called_layers(graph: Graph, given: Given) -> Sketch | None:
    """Tell calls of which each is an embedding, recurrent layers, or one linear layer at the end.

    Parameters
    ----------
    graph
        A graph, or the body of a function.
    given
        What its call gives for its inputs.
    """
    if not any(node.function is not None for node in graph.nodes[:_MOST_NODES]):
        return None
    steps = _list_steps(graph, given)
    operators = [one.node.operator for one in steps]
    layers = [place for place, one in enumerate(operators) if one.has("recurrent")]
    linears = [place for place, one in enumerate(operators) if one.weight_layout == "linear"]
    others = [one for one in operators if not one.has(*_FINISHING, *_AROUND)]
    if not layers or len(linears) != 1 or len(others) != len(layers) + 1:
        return None
    if any(one.node.domain != one.node.graph.dialect.domain for one in steps):
        return None
    head = steps[linears[0]]
    behind = operators[linears[0] + 1 :]
    outputs = _count_outputs(head)
    read = [read_layer(steps[place].node) for place in layers]
    if linears[0] < layers[-1] or not outputs:
        return None
    if not all(one.has("stores_constant", *_FINISHING) for one in behind):
        return None
    if not all(layer.hidden for layer in read):
        return None
    facts: dict[str, Detail] = {"layers": len(layers)}
    said, blocks = write_recurrent(read)
    tables = {
        dims[0] for one in steps if (dims := one.read_dims(0)) and _is_lookup(one)
    }  # a table of tokens
    if len(tables) == 1:
        facts["vocabulary"] = tables.pop()
        said.append(f"vocabulary {facts['vocabulary']:,}")
    facts["outputs"] = outputs
    said.append(write_given(outputs, "outputs"))
    return Sketch("recurrent network", "Recurrent network", tuple(said), tuple(blocks), facts)


def bind_inputs(call: Node, given: Given) -> dict[Value, Value]:
    """Return what a call gives for the inputs of its function, resolved through those around."""
    function = call.function
    if function is None:
        return {}
    pairs = zip(function.inputs, call.inputs, strict=False)
    return {formal: given.get(one, one) for formal, one in pairs if one is not None}


def _list_steps(graph: Graph, given: Given) -> list[_Step]:
    """Return the operators in all calls, in order; nothing where there are too many."""
    found: list[_Step] = []
    pending: list[tuple[Graph, Given, int, int]] = [(graph, given, 0, 0)]
    while pending:
        current, bound, start, level = pending.pop()
        for place in range(start, len(current.nodes)):
            node = current.nodes[place]
            if len(found) == _MOST_NODES or level == _MOST_LEVELS:
                return []
            if node.function is not None:
                pending.append((current, bound, place + 1, level))
                pending.append((node.function, bind_inputs(node, bound), 0, level + 1))
                break
            found.append(_Step(node, bound))
    step()
    return found


def _count_outputs(head: _Step) -> int:
    dims = head.read_dims(1)
    attribute = head.node.attributes.get("transB")
    is_turned = attribute is not None and attribute.value == 1
    return dims[0 if is_turned else 1] if dims else 0


def _is_lookup(one: _Step) -> bool:
    """Return whether what a model takes picks rows."""
    index = one.operand(1)
    return (
        one.node.operator.weight_kind == "embedding"
        and index is not None
        and index.producer is None
        and index.initializer is None
        and not isinstance(index.graph, Function)
    )
