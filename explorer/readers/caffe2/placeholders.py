"""Inputs of a net that its init net fills only so that their blobs are there before the first run.

caffe2/python/predictor/mobile_exporter.py writes such a fill for each external input that is no
parameter, since a predictor wants every blob of the workspace to exist. Where it is given the input
among the parameters, as PyTorch's tutorial on super-resolution does, the init net holds an image.
"""

from __future__ import annotations

from typing import Any

from netloupe.explorer.model import Graph, Tensor, TensorType, Value
from netloupe.explorer.readers.protobuf.texts import read_text

from .fills import is_fill
from .nodes import is_weight
from .parts import Net


def turn_placeholders(graph: Graph, net: Net, fills: Net) -> None:
    """Make inputs of the blobs that an init net fills only so that they are there.

    Inputs stand first among the external inputs, before the parameters; none of their uses is that
    of a weight; and what fills them is such as exporters write for inputs.
    """
    filling = {
        read_text(fill.output[0]): fill for fill in reversed(fills.message.op) if is_fill(fill)
    }
    names = [*dict.fromkeys(map(read_text, net.message.external_input))]
    found: list[Value] = []
    is_example = False
    for name in names:
        value = graph.values.get(name)
        if value is not None and value.is_input:
            continue
        if value is None or name not in filling or not _is_input(value, filling[name]):
            break
        found.append(value)
    if not found and names:
        first = graph.values.get(names[0])
        is_example = first is not None and _is_example(graph, first, filling.get(names[0]))
        found = [first] if first is not None and is_example else []
    if not found:
        return
    for value in found:
        tensor = value.initializer
        value.initializer = None
        value.is_input = True
        value.metadata["placeholder"] = (
            "the init net holds an example of it"
            if is_example
            else "the init net fills it only so that it is there"
        )
        if isinstance(tensor, Tensor) and tensor.dims == (1,):
            value.type = TensorType(tensor.dtype, None)  # written for inputs of every shape
    kept = {value.initializer for value in graph.values.values()}
    graph.initializers[:] = [tensor for tensor in graph.initializers if tensor in kept]
    places = {name: place for place, name in enumerate(names)}
    graph.inputs[:] = sorted([*found, *graph.inputs], key=lambda value: places[value.name])


def _is_input(value: Value, fill: Any) -> bool:
    return value.initializer is not None and _is_placeholder(fill) and _is_data(value)


def _is_data(value: Value) -> bool:
    """Return whether a value is used, and never as a weight."""
    return bool(value.consumers) and not any(
        is_weight(node, place) for node, place in value.consumers
    )


def _is_example(graph: Graph, value: Value, fill: Any) -> bool:
    """Return whether numbers that an init net gives are an input for all that.

    A net must have one: what stands first among the external inputs of a net without, and is only
    data of operators that have weights besides.
    """
    return (
        not any(each.is_input for each in graph.values.values())
        and fill is not None
        and fill.type.startswith("GivenTensor")
        and value.initializer is not None
        and _is_data(value)
        and all(
            any(is_weight(node, other) for other in range(len(node.inputs)) if other != place)
            for node, place in value.consumers
        )
    )


def _is_placeholder(fill: Any) -> bool:
    """Return whether a fill is such that exporters write one for an input.

    A ConstantFill without a value, of shape [1] or of the input's own; for images of bytes one
    byte.
    """
    arguments = {read_text(argument.name): argument for argument in fill.arg}
    if fill.type == "ConstantFill":
        value = arguments.get("value")
        return value is None or not (value.f or value.i or value.s)
    shape = arguments.get("shape")
    is_byte = fill.type == "GivenTensorByteStringToUInt8Fill"
    return is_byte and shape is not None and list(shape.ints) == [1]
