"""Which nodes are recognised as the same: a key that is equal for those wired alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node, Tensor, Value
from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.model.node_keys import key_attributes
from netloupe.explorer.operators import MASKING_TRAITS
from netloupe.explorer.patterns import find_graph_context, read_dims, read_numbers

#: a tensor of so few elements may hold numbers that tell one block from another
_FEW = 16
#: so many users of a value are asked whether they are among the nodes
_MOST_USERS = 1_000
#: what is said of a node is kept of so many
_MOST_KEPT = 20_000

Key = tuple[object, ...]


class _KnownParts:
    """What keys say of the nodes and the constants of a graph: several writers ask for the same.

    Attributes
    ----------
    nodes
        By node, its operator and attributes.
    constants
        By how many elements are few: what is said of a constant.
    """

    def __init__(self) -> None:
        self.nodes: dict[Node, Key] = {}
        self.constants: dict[int, dict[Value, Key]] = {}

    def of_node(self, node: Node) -> Key:
        """Return operator and attributes of a node."""
        key = self.nodes.get(node)
        if key is None:
            key = node.domain, node.op_type, node.overload, key_attributes(node)
            if len(self.nodes) < _MOST_KEPT:
                self.nodes[node] = key
        return key


class KeyWriter:
    """Writes keys of the nodes of one graph.

    Parameters
    ----------
    few
        Of constants of so many elements the numbers are compared, of larger ones the dimensions.
    """

    def __init__(self, few: int = _FEW) -> None:
        self._few = few
        self._constants: dict[Value, Key] = {}

    def write(self, nodes: Sequence[Node], *, with_masks: bool = True) -> Key:
        """Return what is equal for nodes that are recognised as the same.

        That is operators and attributes, the wiring, which operands from elsewhere are the
        same, the dimensions of constants and the numbers in small ones; with masks also which
        value an operand is that may be one.
        """
        if not nodes:
            return ()
        known = find_kept(nodes[0].graph, _KnownParts, _KnownParts)
        self._constants = known.constants.setdefault(self._few, {})
        places = {node: place for place, node in enumerate(nodes)}
        taking = _list_taking_masks(nodes, places) if with_masks else frozenset[Node]()
        own = frozenset(nodes)
        others: dict[Value, int] = {}
        key: list[object] = []
        for node in nodes:
            key.append(known.of_node(node))
            for value in node.inputs:
                if value is not None and value.producer in own:
                    key.append((places[value.producer], value.output_index))
                else:
                    key.append(self._write_operand(value, others, node in taking))
            for output in node.outputs:
                used = output is not None and (
                    output.is_output or not own.issuperset(output.users[:_MOST_USERS])
                )
                key.append(used)
        return tuple(key)

    def _write_operand(
        self, value: Value | None, others: dict[Value, int], may_be_mask: bool
    ) -> object:
        """Return what is equal for operands from elsewhere that are the same."""
        if value is None:
            return None
        known = self._constants.get(value)
        if known is not None:
            return known
        tensor = constant_tensor(value)
        if isinstance(tensor, Tensor):
            numbers = read_numbers(tensor, self._few) if tensor.size <= self._few else ()
            known = self._constants[value] = tensor.dtype.name, tensor.dims, numbers
            return known
        if is_input_independent(value):
            return read_dims(value)
        if may_be_mask:
            return value
        # of sizes alone nothing is computed, so it is no stream
        is_fixed = find_graph_context(value.graph).is_unchanging(value)
        return is_fixed, others.setdefault(value, len(others))


def _list_taking_masks(nodes: Sequence[Node], places: dict[Node, int]) -> frozenset[Node]:
    """Return the nodes one of whose operands may be a mask.

    What only adds to the values of a layer, as a residual connection does, is none of them: the
    operand is another one in each layer. Those are fused attention, and what scores of attention go
    through between the products that they begin and end with.
    """
    operators = [node.operator for node in nodes]
    ends = [node for node, one in zip(nodes, operators, strict=True) if one.form == "Softmax"]
    back = _follow(ends, lambda node: (v.producer for v in node.inputs if v is not None), places)
    onward = _follow(
        ends,
        lambda node: (user for v in node.outputs if v for user in v.users[:_MOST_USERS]),
        places,
    )
    found = {node for node in back | onward if node.operator.has(*MASKING_TRAITS)}
    found.update(n for n, one in zip(nodes, operators, strict=True) if one.has("attends"))
    return frozenset(found)


def _follow(
    starts: Sequence[Node],
    next_to: Callable[[Node], Iterable[Node | None]],
    places: dict[Node, int],
) -> set[Node]:
    """Return which of some nodes are reached from others without going through a product."""
    seen = {*starts}
    pending = [*starts]
    while pending:
        for node in next_to(pending.pop()):
            if node is None or node in seen or node not in places:
                continue
            if not node.operator.has("multiplies"):
                seen.add(node)
                pending.append(node)
    return seen
