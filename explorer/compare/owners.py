"""Which nodes belong together: what other exporters or optimizers write as one operator."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import count

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Graph, Node, TensorType, Value, find_nodes_where
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import Operator
from netloupe.explorer.patterns import find_written_out
from netloupe.explorer.progress import is_ending

from .activations import GROUP_NORM, TakenIn, read_activation, takes_summand
from .partitions import list_partitions, read_stated, read_stored_integers
from .passed_values import PassedValues, is_scale, read_numeric_attribute
from .roles import list_operands

#: x, scale, shift, mean and variance
_NORM_OPERANDS = 5
#: by operator what blocks of nodes are called that do the same; only here such names are compared
SAME = {
    "BiasGelu": "GELU",
    "FastGelu": "GELU",
    "Gelu": "GELU",
    "HardSwish": "HardSwish",
    "LayerNormalization": "LayerNorm",
    "QuickGelu": "QuickGELU",
    "RMSNormalization": "RMSNorm",
    "SkipLayerNormalization": "LayerNorm",
    "SkipSimplifiedLayerNormalization": "RMSNorm",
    "Swish": "SiLU",
}
#: blocks that several nodes may write out, as patterns and the table above call them
WRITTEN_OUT = frozenset(
    {"GELU", GROUP_NORM, "HardSwish", "LayerNorm", "Mish", "QuickGELU", "RMSNorm", "SiLU"}
)
#: what patterns call them, where that is another name
_BLOCKS = {
    "GELU (tanh)": "GELU",
    "GroupNorm": GROUP_NORM,
    "Swish": "QuickGELU",
    "quick GELU": "QuickGELU",
}
#: blocks that are norms over the last axes, as patterns call them
NORMS = frozenset({"LayerNorm", "RMSNorm"})
#: of so many nodes a graph is searched for blocks that are written out
_MOST_SEARCHED = 200_000
#: a value has no more axes
MOST_AXES = 16


class Owners:
    """The nodes of a graph that are part of others.

    Parameters
    ----------
    values
        How values pass through the graph.
    inside, apart
        As for :func:`~.units.read_units`.

    Attributes
    ----------
    named
        By index of the node that a unit of several is named after, what it does.
    activations
        The indices of the nodes that are part of a unit as its activation.
    parts
        Values that are parts of another one, with their numbers, where the nodes that divide it
        are a unit.
    owner
        By index of a node the index of the node that its unit is named after, where that is
        another one or has others.
    """

    def __init__(self, values: PassedValues, inside: TakenIn, apart: Collection[int]) -> None:
        self.graph: Graph = values.graph
        self._values, self._inside, self._apart = values, inside, apart
        self.named: dict[int, str] = {}
        self.activations: set[int] = set()
        self.parts: dict[Value | None, int] = {}
        self.owner = self._find_owners()

    def _find_owners(self) -> dict[int, int]:
        """Return by index of a node, which node the unit is named after that it belongs to."""
        nodes = self.graph.nodes
        owner: dict[int, int] = {}
        for name, members in self._list_blocks():
            places = [place for place in sorted(members) if place not in self._values.fixed]
            is_apart = bool(places) and places[-1] in self._apart
            if len(places) > 1 and not is_apart and not owner.keys() & places:
                self.named[places[-1]] = name
                owner.update(dict.fromkeys(places, places[-1]))
        for index in self._find_forms("Gather"):
            shape = self._find_turned_shape(nodes[index])
            if shape is not None and index not in self._apart:
                self.named[index] = "Shape"
                owner.update(dict.fromkeys((index, self.graph.index_of(shape)), index))
        for index, node in enumerate(nodes):
            if index not in owner:
                before = self._find_before(node)
                if (
                    before is not None
                    and self.graph.index_of(before) in owner
                    and not self._follows(node, before)
                ):
                    before = None
                before = before or self._find_scaled(node, owner)
                if before is not None:
                    place = self.graph.index_of(before)
                    owner[index] = owner.get(place, place)
        for index in self._find_forms("Gemm"):
            if index not in owner:
                owner.update(dict.fromkeys(self._find_flattening(nodes[index], owner), index))
        for partition in list_partitions(self.graph) if self._inside.partitions else ():
            kind, places = partition.kind, [*map(self.graph.index_of, partition.nodes)]
            is_free = not owner.keys() & places and self._values.fixed.isdisjoint(places)
            is_wanted = kind in self._inside.partitions and places[0] not in self._apart
            if is_free and is_wanted:
                self.named[places[0]] = kind
                owner.update(dict.fromkeys(places, places[0]))
                self.parts.update(zip(partition.parts, count()))
        if self._inside.has_sums:
            owner.update(self._find_sums(owner))
        if self._inside.fused or self._inside.has_codes:
            blocks = self._list_written_out(owner)
            for index, node in enumerate(nodes):
                name = self.named.get(index, "") if index in blocks else node.op_type
                before = None
                if index in blocks or index not in owner:
                    before = self._find_activated(node, name, blocks.get(index, (index,)))
                head = None if before is None else self.graph.index_of(before)
                if head is not None and head not in self._values.fixed:
                    for place in blocks.get(index, (index,)):
                        owner[place] = owner.get(head, head)
                        self.activations.add(place)
                    self.named.pop(index, None)
        return owner

    def _find_forms(self, form: str) -> list[int]:
        """Return the indices of the nodes that have an operator, or a form of it."""
        found: list[int] = find_nodes_where(self.graph, lambda o: o.form == form).tolist()
        return found

    def _list_blocks(self) -> Iterator[tuple[str, Collection[int]]]:
        """Yield what is written out: what it does, and the indices of its nodes."""
        if len(self.graph.nodes) > _MOST_SEARCHED:
            return
        for block, nodes in find_written_out(self.graph):
            name = _BLOCKS.get(block, block)
            is_wanted = name != GROUP_NORM or self._inside.has_group_norms
            if name in WRITTEN_OUT and is_wanted:
                yield name, [*map(self.graph.index_of, nodes)]

    def _find_turned_shape(self, node: Node) -> Node | None:
        """Return the Shape whose sizes a node puts in another order, as of what is transposed."""
        shape = self._values.find_only_giver(node.input(0)) if len(node.inputs) == 2 else None
        data, indices = shape.input(0) if shape is not None else None, node.input(1)
        if shape is None or shape.operator.form != "Shape" or data is None or indices is None:
            return None
        if read_numeric_attribute(shape, "start") or "end" in shape.attributes:
            return None
        tensor = find_stored_tensor(indices)
        if tensor is None or len(tensor.dims) != 1 or not 0 < tensor.size <= MOST_AXES:
            return None
        if not tensor.dtype.is_integer:
            return None
        try:
            order = [int(place) for place in tensor.numpy()]
        except NetloupeError as error:
            if is_ending(error):
                raise
            return None
        places, kind = [*range(tensor.size)], data.type
        if isinstance(kind, TensorType) and kind.shape is not None:
            places = [*range(len(kind.shape))]
        return shape if order != places == sorted(order) else None

    def _find_sums(self, owner: dict[int, int]) -> Iterator[tuple[int, int]]:
        """Yield the sums that norms take, each with the node that the norm is named after."""
        norms = {place: name for place, name in self.named.items() if name in NORMS}
        members: dict[int, list[int]] = {}
        for place, head in owner.items():
            if head in norms:
                members.setdefault(head, []).append(place)
        norms_alone = find_nodes_where(self.graph, lambda o: SAME.get(o.form) in NORMS)
        members |= {index: [index] for index in norms_alone.tolist()}
        taken: set[int] = set()
        for head, places in members.items():
            inside = {*places}
            givers = {
                value.producer.index
                for place in places
                for value in self.graph.nodes[place].inputs
                if value is not None
                and value.producer is not None
                and value.producer.graph is self.graph
                and value.producer.index not in inside | self._values.fixed
            }
            if len(givers) != 1:
                continue
            (giver,) = givers
            node = self.graph.nodes[giver]
            is_sum = node.operator.has("adds") and not any(
                value is None or self._values.is_constant(value) for value in node.inputs
            )
            if is_sum and giver not in owner and giver not in taken:
                taken.add(giver)
                yield giver, head

    def _find_flattening(self, node: Node, owner: dict[int, int]) -> tuple[int, ...]:
        """Return the Reshapes around a Gemm that make a matrix of its operand and undo it behind.

        Optimizers write a MatMul and its bias so, since a Gemm takes matrices alone.
        """
        taken = node.input(0)
        before = taken.producer if taken is not None else None
        result = node.output(0)
        if before is None or result is None or len(result.users) != 1 or result.is_output:
            return ()
        behind = result.users[0]
        for each in (before, behind):
            is_reshape = each.operator.form == "Reshape" and len(each.inputs) == 2
            if not is_reshape or each.graph is not self.graph:
                return ()
            if each.index in owner or each.index in self._values.fixed:
                return ()
        flat = before.input(1)
        tensor = find_stored_tensor(flat) if flat is not None else None
        is_flat = tensor is not None and tensor.dims == (2,)
        is_weighted = is_flat and self._values.takes_weight(node) and behind.input(0) is result
        if not is_weighted:
            return ()
        own = []
        if taken is not None and len(taken.users) == 1:  # not as of query, key and value
            own.append(before)
        if not _has_other_width(behind, node):
            own.append(behind)
        return tuple(map(self.graph.index_of, own))

    def _find_scaled(self, node: Node, owner: dict[int, int]) -> Node | None:
        """Return what gives a node its operand that is part of a convolution and may hold it.

        A product with a constant and a sum with one behind a convolution can be put into its
        weights, as the Scale behind Caffe's batch normalizations. So can the normalization behind
        what multiplies a convolution of integers by their scale.
        """
        operands = list_operands(node)
        if node.operator.form == "BatchNormalization":
            wanted = _NORM_OPERANDS
        else:
            wanted = 2 if node.operator.has("adds", "multiplies_elements") else 0
        if not wanted or len(operands) != wanted:
            return None
        taken = [value for value in operands if value is not None]
        data = [value for value in taken if not self._values.is_constant(value)]
        if len(taken) != len(operands) or len(data) != 1:
            return None
        before = self._values.find_only_giver(data[0])
        if before is None or before.operator.has("scales_product"):
            return None
        place = self.graph.index_of(before)
        if place in self.named:
            return None
        held_by = owner.get(place, place)
        head = self.graph.nodes[held_by]
        is_held = head.operator.form == "Conv" and held_by not in self.named
        is_held = is_held and not read_activation(head) and not takes_summand(head)
        return before if is_held and self._values.takes_weight(head) else None

    def _follows(self, node: Node, before: Node) -> bool:
        """Return whether a bias is added to a product of integers behind its scale."""
        return (
            node.operator.has("adds")
            and before.operator.has("multiplies_elements")
            and self.graph.index_of(before) not in self.named
        )

    def _list_written_out(self, owner: dict[int, int]) -> dict[int, tuple[int, ...]]:
        """Return the nodes of activations that are written out, by the one they are named after."""
        heads = {head for head, name in self.named.items() if name in self._inside.fused}
        found: dict[int, list[int]] = {head: [] for head in heads}
        for place, head in owner.items():
            if head in heads:
                found[head].append(place)
        return {head: tuple(sorted(places)) for head, places in found.items()}

    def _find_activated(self, node: Node, name: str, places: tuple[int, ...]) -> Node | None:
        """Return what gives an activation its operand, where both may be one operator."""
        is_clamp = self._inside.has_codes and len(places) == 1 and node.operator.has("clips")
        if name not in self._inside.fused and not is_clamp:
            return None
        inside = {self.graph.nodes[place] for place in places}
        if len(places) > 1:
            taken = {
                value
                for each in inside
                for value in each.inputs
                if value is not None and value.producer not in inside
            }
            data = [value for value in taken if not self._values.is_constant(value)]
            if len(data) != 1 or not inside.issuperset(data[0].users) or data[0].is_output:
                return None
            producer = data[0].producer
            if (
                producer is None
                or producer.graph is not self.graph
                or self._values.passes(producer)
            ):
                return None
        else:
            is_alone = all(
                value is None or self._values.is_constant(value) for value in node.inputs[1:]
            )
            given = node.input(0) if is_alone else None
            producer = self._values.find_only_giver(given)
        if (
            producer is None
            or producer.index in self.activations
            or len(producer.outputs) > 1
            or producer.subgraphs
        ):
            return None
        if is_clamp:
            return producer
        head = producer
        if not producer.operator.has("convolves", "multiplies"):
            before = self._find_before(producer)
            if before is None:
                return None
            head = before
        return producer if self._values.takes_weight(head) else None

    def _find_before(self, node: Node) -> Node | None:
        """Return the convolution that a node normalizes, or the product that it adds a bias to.

        Or the product of integers that it multiplies by the scale of these.
        """
        operator = node.operator
        if operator.form == "BatchNormalization" and len(node.inputs) > 1:
            if not all(v is None or self._values.is_constant(v) for v in node.inputs[1:]):
                return None
            value = node.input(0)
        elif operator.has("adds"):
            taken = [v for v in node.inputs if v is not None and not self._values.is_constant(v)]
            value = taken[0] if len(taken) == 1 else None
        elif (
            operator.has("multiplies_elements")
            and len(node.inputs) == 2
            and not self._values.joins_scales(node)
        ):
            value, factor = node.input(0), node.input(1)
            scale = factor.producer if factor is not None else None
            is_joint = (
                scale is not None and scale.graph is self.graph and self._values.joins_scales(scale)
            )
            if not is_joint and not is_scale(factor):
                return None
        else:
            return None
        producer = self._values.find_only_giver(value)
        if producer is None or len(producer.inputs) < 2:
            return None
        if operator.has("adds") and producer.operator.has("multiplies_elements"):
            # of the scales of a product
            return producer if self._find_before(producer) is not None else None
        if not _may_hold(producer.operator, operator):
            return None
        if read_activation(producer):  # nothing behind it can be put into the weights
            return None
        return producer if self._values.takes_weight(producer) else None


def _may_hold(before: Operator, operator: Operator) -> bool:
    """Return whether weights may have what another operator behind does inside."""
    if operator.has("normalizes"):
        return before.form == "Conv"
    return before.form == "MatMul" if operator.has("adds") else before.has("scales_product")


def _has_other_width(reshape: Node, gemm: Node) -> bool:
    """Return whether the last size that a Reshape behind a Gemm gives is another than its outputs.

    Then it does more than to undo what made a matrix: an optimizer has joined it with the next one.
    """
    shape, weight = reshape.input(1), gemm.input(1)
    sizes = read_stored_integers(shape)
    tensor = find_stored_tensor(weight) if weight is not None else None
    if sizes is None or tensor is None or len(tensor.dims) != 2:
        return False
    width = tensor.dims[0 if read_stated(gemm, "transB", 0) else 1]
    return sizes[-1] > 0 and sizes[-1] != width
