"""Faults that are planted in models, and what plants them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

Array = np.ndarray[Any, Any]


class Editor:
    """Finds and changes elements of a model by name.

    Parameters
    ----------
    proto
        The model, which is changed in place.
    """

    def __init__(self, proto: onnx.ModelProto) -> None:
        self.proto = proto
        self.graph = proto.graph

    def node(self, name: str) -> onnx.NodeProto:
        (found,) = (node for node in self.graph.node if node.name == name)
        return found

    def place(self, name: str) -> int:
        """Return the number of a node."""
        return next(place for place, node in enumerate(self.graph.node) if node.name == name)

    def weight(self, name: str) -> onnx.TensorProto:
        (found,) = (tensor for tensor in self.graph.initializer if tensor.name == name)
        return found

    def value(self, name: str) -> onnx.ValueInfoProto:
        """Return an input or output."""
        (found,) = (v for v in (*self.graph.input, *self.graph.output) if v.name == name)
        return found

    def read(self, name: str) -> Array:
        return numpy_helper.to_array(self.weight(name)).copy()

    def write(self, name: str, numbers: Array) -> None:
        """Give an initializer other elements."""
        self.weight(name).CopyFrom(numpy_helper.from_array(numbers, name))

    def add_weight(self, name: str, numbers: Array) -> str:
        self.graph.initializer.append(numpy_helper.from_array(numbers, name))
        return name

    def set_attribute(self, node: str, name: str, value: object) -> None:
        found = self.node(node)
        kept = [attribute for attribute in found.attribute if attribute.name != name]
        del found.attribute[:]
        found.attribute.extend([*kept, helper.make_attribute(name, value)])

    def insert(
        self, after: str, op_type: str, others: Sequence[str] = (), **attributes: object
    ) -> onnx.NodeProto:
        """Put a node behind the first result of another; all that took it take that of the new."""
        place = self.place(after)
        before = self.graph.node[place]
        old, new = before.output[0], f"{before.output[0]}.{op_type}"
        for node in self.graph.node:
            node.input[:] = [new if name == old else name for name in node.input]
        made = helper.make_node(
            op_type, [old, *others], [new], name=f"{before.name}.{op_type}", **attributes
        )
        self.graph.node.insert(place + 1, made)
        return self.graph.node[place + 1]

    def add_nodes(self, *nodes: onnx.NodeProto, before: str) -> None:
        """Put nodes before another."""
        place = self.place(before)
        for number, node in enumerate(nodes):
            self.graph.node.insert(place + number, node)


@dataclass(frozen=True)
class Fault:
    """A fault that is planted in a model.

    Parameters
    ----------
    rule
        The id that it has to be found by.
    what
        What is wrong, in words.
    model
        The model that it is planted in; a name that ``originals`` knows.
    plant
        Changes the model.
    implied
        Further ids that it is found by: what is so whenever the fault is there.
    target
        As ``netloupe check --target`` takes it.
    patch
        Changes the bytes of the model after ``plant``, for what no library writes.
    """

    rule: str
    what: str
    model: str
    plant: Callable[[Any], object] = lambda editor: None
    implied: frozenset[str] = frozenset()
    target: str | None = None
    patch: Callable[[bytes], bytes] = lambda data: data

    def __str__(self) -> str:
        return f"{self.rule}: {self.what}".replace(" ", "-")
