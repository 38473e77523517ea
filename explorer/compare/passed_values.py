"""How values pass through a graph: from nodes that compute to those that take it.

Nodes that only give what they take in another form are looked through, and so are constants and
what is computed of constants alone.
"""

from __future__ import annotations

from netloupe.explorer.dataflow import find_of_constants, trace_back_where
from netloupe.explorer.model import Graph, Node, Value
from netloupe.explorer.operators import CONVERTING_TRAITS

#: so many nodes that pass a value on are followed from an operator to the next
MOST_PASSED = 8


class PassedValues:
    """The values of a graph, and what they are without the nodes that only pass them on.

    Attributes
    ----------
    fixed
        The indices of the nodes that give constants, or compute of constants alone.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        #: by value, what it is without the nodes that only pass it on; None for a constant
        self._origins: dict[Value, Value | None] = {}
        self.fixed = {index for index, is_one in enumerate(find_of_constants(graph)) if is_one}
        if len(self.fixed) == len(graph.nodes):  # as in a net whose input is not told apart
            self.fixed.clear()

    def is_constant(self, value: Value) -> bool:
        """Return whether a value is stored, or computed of constants alone."""
        if value.initializer is not None or value.is_parameter:
            return True
        producer = value.producer
        return (
            producer is not None and producer.graph is self.graph and producer.index in self.fixed
        )

    def passes(self, node: Node) -> bool:
        """Return whether a node only gives what it takes in another form."""
        if not node.inputs or node.subgraphs:
            return False
        if node.operator.has(*CONVERTING_TRAITS):
            return not turns_channels(node)
        return self.joins_scales(node)

    def joins_scales(self, node: Node) -> bool:
        """Return whether a node multiplies the scale of what is quantized here with a constant."""
        if len(node.inputs) != 2 or not node.operator.has("multiplies_elements"):
            return False
        first, second = node.inputs
        return is_scale(first) and second is not None and self.is_constant(second)

    def origin(self, value: Value | None) -> Value | None:
        """Return what a value is before nodes that only pass it on; None for a constant."""
        passed: list[Value] = []
        while value is not None and value not in self._origins:
            if self.is_constant(value):
                self._origins[value] = None
                break
            producer = value.producer
            if producer is None or producer.graph is not self.graph or not self.passes(producer):
                self._origins[value] = value
                break
            passed.append(value)
            self._origins[value] = value  # where nodes wait for each other, this is the end
            value = producer.input(0)
        found = None if value is None else self._origins[value]
        for one in passed:
            self._origins[one] = found
        return found

    def find_only_giver(self, value: Value | None) -> Node | None:
        """Return what gives a value that nobody else takes, before nodes that pass it on."""
        producer = None
        for one in trace_back_where(value, self.passes, most=MOST_PASSED):
            producer = one.producer
            if len(one.users) != 1 or one.is_output:
                return None
            if producer is None or producer.graph is not self.graph:
                return None
        return None if producer is None or self.passes(producer) else producer

    def takes_weight(self, node: Node) -> bool:
        """Return whether an operand of a node behind the first one is a constant."""
        return any(value is not None and self.origin(value) is None for value in node.inputs[1:])


def is_scale(value: Value | None) -> bool:
    """Return whether a value is the scale with which something is quantized as the model runs."""
    producer = value.producer if value is not None else None
    return (
        value is not None
        and producer is not None
        and producer.operator.results.at(value.output_index) == "data.scale"
    )


def turns_channels(node: Node) -> bool:
    """Return whether a node that puts channels in blocks, or back, transposes as well."""
    return node.operator.has("copies") and bool(read_numeric_attribute(node, "channels_last"))


def read_numeric_attribute(node: Node, name: str) -> float | None:
    """Return an attribute that is a number; None for none."""
    attribute = node.attributes.get(name)
    value = attribute.value if attribute is not None else None
    return value if isinstance(value, int | float) else None
