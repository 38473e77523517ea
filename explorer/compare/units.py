"""What a graph is made of when two are compared: its units, and what flows between them.

A **unit** is a node, or nodes that other exporters write as one operator: a convolution with the
batch normalization behind it, a product with the bias added to it, a norm or an activation that
is written out; where the other model has such activations inside of its operators, also any node
with the activation behind it. Nodes that only pass on what they get in another form (casts,
quantization and its inverse, identities) belong to no unit: units are connected through them. Nor
do constants, nor what is computed of constants alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import (
    Function,
    Graph,
    Node,
    Tensor,
    TensorType,
    Value,
    is_constant_node,
)
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.patterns import find_motifs
from netloupe.explorer.progress import is_ending, step

from .activations import BLOCKED_DOMAIN, TakenIn, find_added_bias, takes_summand

_STEP = 10_000

#: operators that give what they get in another form
PASSING = frozenset(
    {
        "Cast",
        "CastLike",
        "Copy",
        "Dequantize",
        "DequantizeLinear",
        "Dropout",
        "Identity",
        "Int8Dequantize",
        "Int8Quantize",
        "Quantize",
        "QuantizeLinear",
        "ReorderInput",
        "ReorderOutput",
        "StopGradient",
    }
)
#: operators that put channels in blocks and back; with the channels last they transpose as well
_REORDERING = frozenset({"ReorderInput", "ReorderOutput"})
#: what quantizes as the model runs; its scale and zero point follow from what it takes as well
_QUANTIZING = "DynamicQuantizeLinear"
_CONVOLUTIONS = frozenset({"Conv", "ConvInteger", "FusedConv", "Int8Conv", "QLinearConv"})
_PRODUCTS = frozenset(
    {
        "DynamicQuantizeMatMul",
        "FC",
        "FusedGemm",
        "FusedMatMul",
        "Gemm",
        "Int8FC",
        "MatMul",
        "MatMulInteger",
        "MatMulInteger16",
        "MatMulIntegerToFloat",
        "MatMulNBits",
        "QGemm",
        "QLinearMatMul",
        "TransposeMatMul",
    }
)
#: products that are no layers where they take no weights
_MATMULS = frozenset({"FusedMatMul", "MatMul", "MatMulInteger", "QLinearMatMul", "TransposeMatMul"})
#: what has a matrix of weights, and may have what stands behind it inside
WEIGHTED = _CONVOLUTIONS | _PRODUCTS
#: what units with such are called
LAYERS = frozenset({"convolution", "product with weights"})
#: what a product or sum with a constant behind it may be part of, if it belongs to a convolution
_SCALED = frozenset({"Add", "BatchNormalization", "Conv", "Mul"})
#: x, scale, shift, mean and variance
_NORM_OPERANDS = 5
_NORMALIZATIONS = frozenset({"BatchNormalization", "SpatialBN"})
#: other names of operators, and those of blocks that are written out: what they do is the same
_SAME = {
    "BiasGelu": "GELU",
    "ConvTranspose": "transposed convolution",
    "DynamicQuantizeLSTM": "LSTM",
    "FastGelu": "GELU",
    "Gelu": "GELU",
    "HardSwish": "HardSwish",
    "LayerNormalization": "LayerNorm",
    "QuickGelu": "QuickGELU",
    "RMSNormalization": "RMSNorm",
    "SimplifiedLayerNormalization": "RMSNorm",
    "SkipLayerNormalization": "LayerNorm",
    "SkipSimplifiedLayerNormalization": "RMSNorm",
    "Sum": "Add",
    "Swish": "SiLU",
    "Upsample": "Resize",
}
#: operators on integers that are called after those on floats: ``QLinearAdd``
_ON_INTEGERS = "QLinear"
_WRITTEN_OUT = frozenset({"GELU", "HardSwish", "LayerNorm", "QuickGELU", "RMSNorm", "SiLU"})
_NORMS = frozenset({"LayerNorm", "RMSNorm"})
#: operators whose operands may stand in any order
COMMUTATIVE = frozenset({"Add", "And", "Equal", "Max", "Mean", "Min", "Mul", "Or", "Sum", "Xor"})
#: what gives other numbers each time is not computed of constants alone
_RANDOM = frozenset({"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"})
_NONE = TakenIn()
#: so many nodes that pass a value on are followed from an operator to the next
_MOST_PASSED = 8
#: of so many nodes a graph is searched for blocks that are written out
_MOST_SEARCHED = 200_000
#: a value has no more axes
_MOST_AXES = 16


class Operand(NamedTuple):
    """What a unit takes.

    Parameters
    ----------
    source
        The unit that gives it; -1 for none.
    output
        Which of the results of that unit it is; without a unit the place of the value among
        those that come from outside (:attr:`Units.outside`).
    place
        Its place among the computed operands of the unit; 0 where their order does not matter.
    """

    source: int
    output: int
    place: int


@dataclass
class Units:
    """The units of a graph, by number.

    Parameters
    ----------
    graph
        The graph.
    members
        The indices of the nodes of each, the one that it is named after first.
    kinds
        What each does: an operator, with its domain where that is another than the format's.
    operands
        What each takes of other units and from outside, in order.
    weights
        The constants that each takes, in order.
    filled
        The dimensions of the constants that nodes fill with one number as the model runs.
    users
        The units that take from each, with the places of the operands.
    results
        The places among the graph's outputs of what each gives.
    outside
        The values that come from outside: inputs of the graph, and values of graphs around.
    unit_of
        By index of a node, its unit; -1 for none.
    activations
        The indices of the nodes that are part of a unit as its activation.
    written_out
        The units that are operators written out as several nodes.
    has_blocks
        Whether this graph or the one that it is compared with has weights in blocks of channels.
    """

    graph: Graph
    members: list[tuple[int, ...]] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    operands: list[list[Operand]] = field(default_factory=list)
    weights: list[list[Tensor]] = field(default_factory=list)
    filled: list[list[tuple[int, ...]]] = field(default_factory=list)
    users: list[list[tuple[int, int]]] = field(default_factory=list)
    results: list[list[int]] = field(default_factory=list)
    outside: list[Value] = field(default_factory=list)
    unit_of: list[int] = field(default_factory=list)
    activations: set[int] = field(default_factory=set)
    written_out: set[int] = field(default_factory=set)
    has_blocks: bool = False

    def __len__(self) -> int:
        return len(self.members)

    def head(self, unit: int) -> Node:
        """Return the node that a unit is named after."""
        return self.graph.nodes[self.members[unit][0]]

    def nodes(self, unit: int) -> Iterator[Node]:
        """Yield the nodes of a unit."""
        return map(self.graph.nodes.__getitem__, self.members[unit])


def read_units(
    graph: Graph, inside: TakenIn = _NONE, apart: Collection[int] = frozenset()
) -> Units:
    """Return the units of a graph.

    Parameters
    ----------
    graph
        The graph.
    inside
        The activations that are part of the unit that they stand behind: since nodes of this
        graph, or of the one that it is compared with, may have them inside.
    apart
        The indices of nodes: what is written out and would be named after one of them is no unit.
    """
    return _Reader(graph, inside, apart).read()


class _Reader:
    def __init__(self, graph: Graph, inside: TakenIn, apart: Collection[int]) -> None:
        self.graph = graph
        self.units = Units(graph, has_blocks=inside.has_blocks)
        self._inside, self._apart = inside, apart
        #: by value, what it is without the nodes that only pass it on; None for a constant
        self._origins: dict[Value, Value | None] = {}
        self._outside: dict[Value, int] = {}
        #: what the functions are called here that are called
        self._functions: dict[Function, str] = {}
        self._fixed: set[int] = set()
        #: by index of the node that a unit of several is named after, what it does
        self._named: dict[int, str] = {}

    def read(self) -> Units:
        units, nodes = self.units, self.graph.nodes
        units.unit_of = [-1] * len(nodes)
        self._find_fixed()
        owner = self._find_owners()
        grouped: dict[int, list[int]] = {}
        for index, node in enumerate(nodes):
            if not index % _STEP:
                step()
            if index not in self._fixed and not self._passes(node):
                grouped.setdefault(owner.get(index, index), []).append(index)
        for head, indices in grouped.items():
            members = (head, *[index for index in indices if index != head])
            for index in members:
                units.unit_of[index] = len(units.members)
            units.members.append(members)
        units.written_out = {units.unit_of[index] for index in self._named}
        self._connect()
        return units

    def _passes(self, node: Node) -> bool:
        if not node.inputs or node.subgraphs:
            return False
        if node.op_type in _REORDERING and _has_channels_last(node):
            return False
        return node.op_type in PASSING or node.op_type == _QUANTIZING or self._joins_scales(node)

    def _joins_scales(self, node: Node) -> bool:
        """Return whether a node multiplies the scale of what is quantized here with a constant."""
        if node.op_type != "Mul" or len(node.inputs) != 2:
            return False
        first, second = node.inputs
        return _is_scale(first) and second is not None and self._is_constant(second)

    def _find_fixed(self) -> None:
        """Find constants, and what is computed of constants alone."""
        for index, node in enumerate(self.graph.nodes):
            if (
                is_constant_node(node)
                or (node.op_type == "Constant" and not node.inputs)
                or (
                    node.inputs
                    and not node.captures
                    and node.op_type not in _RANDOM
                    and all(value is None or self._is_constant(value) for value in node.inputs)
                )
            ):
                self._fixed.add(index)
        if len(self._fixed) == len(self.graph.nodes):  # as in a net whose input is not told apart
            self._fixed.clear()

    def _is_constant(self, value: Value) -> bool:
        if value.initializer is not None or value.is_parameter:
            return True
        producer = value.producer
        return (
            producer is not None and producer.graph is self.graph and producer.index in self._fixed
        )

    def _origin(self, value: Value | None) -> Value | None:
        """Return what a value is before nodes that only pass it on; None for a constant."""
        passed: list[Value] = []
        while value is not None and value not in self._origins:
            if self._is_constant(value):
                self._origins[value] = None
                break
            producer = value.producer
            if producer is None or producer.graph is not self.graph or not self._passes(producer):
                self._origins[value] = value
                break
            passed.append(value)
            self._origins[value] = value  # where nodes wait for each other, this is the end
            value = producer.inputs[0]
        found = None if value is None else self._origins[value]
        for one in passed:
            self._origins[one] = found
        return found

    def _find_owners(self) -> dict[int, int]:
        """Return by index of a node, which node the unit is named after that it belongs to."""
        nodes = self.graph.nodes
        owner: dict[int, int] = {}
        for motif in find_motifs(nodes) if len(nodes) <= _MOST_SEARCHED else ():
            if motif.name in _WRITTEN_OUT:
                places = [place for place in sorted(motif.places) if place not in self._fixed]
                is_apart = bool(places) and places[-1] in self._apart
                if len(places) > 1 and not is_apart and not owner.keys() & places:
                    self._named[places[-1]] = motif.name
                    owner.update(dict.fromkeys(places, places[-1]))
        for node in nodes:
            chain = self._find_mish(node) if node.op_type == "Softplus" else ()
            if chain and chain[-1] not in self._apart and not owner.keys() & chain:
                self._named[chain[-1]] = "Mish"
                owner.update(dict.fromkeys(chain, chain[-1]))
        for node in nodes:
            shape = self._find_turned_shape(node) if node.op_type == "Gather" else None
            if shape is not None and node.index not in self._apart:
                self._named[node.index] = "Shape"
                owner.update(dict.fromkeys((node.index, shape.index), node.index))
        for index, node in enumerate(nodes):
            is_own = node.domain == self.graph.dialect.domain or node.op_type == "QLinearAdd"
            if is_own and index not in owner:
                before = self._find_before(node)
                if before is not None and before.index in owner and not self._follows(node, before):
                    before = None
                before = before or self._find_scaled(node, owner)
                if before is not None:
                    owner[index] = owner.get(before.index, before.index)
        for index, node in enumerate(nodes):
            if node.op_type == "Gemm" and index not in owner:
                owner.update(dict.fromkeys(self._find_flattening(node, owner), index))
        if self._inside.has_sums:
            owner.update(self._find_sums(owner))
        if self._inside.fused or self._inside.clamped:
            blocks = self._list_written_out(owner)
            for index, node in enumerate(nodes):
                name = self._named.get(index, "") if index in blocks else node.op_type
                before = None
                if index in blocks or index not in owner:
                    before = self._find_activated(node, name, blocks.get(index, (index,)))
                if before is not None and before.index not in self._fixed:
                    for place in blocks.get(index, (index,)):
                        owner[place] = owner.get(before.index, before.index)
                        self.units.activations.add(place)
                    self._named.pop(index, None)
        return owner

    def _find_mish(self, node: Node) -> tuple[int, ...]:
        """Return the nodes of x · tanh(softplus(x)) (D. Misra, Mish, 2019, equation 1); or none."""
        chain = [node]
        for wanted in ("Tanh", "Mul"):
            value = chain[-1].outputs[0] if chain[-1].outputs else None
            if value is None or len(value.users) != 1 or value.is_output:
                return ()
            if value.users[0].op_type != wanted or value.users[0].graph is not self.graph:
                return ()
            chain.append(value.users[0])
        given = chain[1].outputs[0]
        others = [value for value in chain[-1].inputs if value is not given]
        is_mish = len(others) == 1 and others[0] is node.inputs[0]
        return tuple(each.index for each in chain) if is_mish else ()

    def _find_turned_shape(self, node: Node) -> Node | None:
        """Return the Shape whose sizes a node puts in another order, as of what is transposed."""
        shape = self._find_only_giver(node.inputs[0]) if len(node.inputs) == 2 else None
        if shape is None or shape.op_type != "Shape" or node.inputs[1] is None:
            return None
        if _read_number(shape, "start") or "end" in shape.attributes:
            return None
        tensor = find_stored_tensor(node.inputs[1])
        if tensor is None or len(tensor.dims) != 1 or not 0 < tensor.size <= _MOST_AXES:
            return None
        try:
            order = [int(place) for place in tensor.numpy()]
        except NetloupeError as error:
            if is_ending(error):
                raise
            return None
        places, kind = [*range(tensor.size)], shape.inputs[0].type if shape.inputs[0] else None
        if isinstance(kind, TensorType) and kind.shape is not None:
            places = [*range(len(kind.shape))]
        return shape if order != places == sorted(order) else None

    def _find_sums(self, owner: dict[int, int]) -> Iterator[tuple[int, int]]:
        """Yield the sums that norms take, each with the node that the norm is named after."""
        norms = {place: name for place, name in self._named.items() if name in _NORMS}
        members: dict[int, list[int]] = {}
        for place, head in owner.items():
            if head in norms:
                members.setdefault(head, []).append(place)
        for index, node in enumerate(self.graph.nodes):
            if _SAME.get(node.op_type) in _NORMS:
                members[index] = [index]
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
                and value.producer.index not in inside | self._fixed
            }
            if len(givers) != 1:
                continue
            (giver,) = givers
            node = self.graph.nodes[giver]
            is_sum = node.op_type == "Add" and not any(
                value is None or self._is_constant(value) for value in node.inputs
            )
            if is_sum and giver not in owner and giver not in taken:
                taken.add(giver)
                yield giver, head

    def _find_flattening(self, node: Node, owner: dict[int, int]) -> tuple[int, ...]:
        """Return the Reshapes around a Gemm that make a matrix of its operand and undo it behind.

        Optimizers write a MatMul and its bias so, since a Gemm takes matrices alone.
        """
        taken = node.inputs[0] if node.inputs else None
        before = taken.producer if taken is not None else None
        result = node.outputs[0] if node.outputs else None
        if before is None or result is None or len(result.users) != 1 or result.is_output:
            return ()
        behind = result.users[0]
        for each in (before, behind):
            if each.op_type != "Reshape" or len(each.inputs) != 2 or each.graph is not self.graph:
                return ()
            if each.index in owner or each.index in self._fixed:
                return ()
        flat = before.inputs[1]
        tensor = find_stored_tensor(flat) if flat is not None else None
        is_flat = tensor is not None and tensor.dims == (2,)
        is_weighted = is_flat and self._takes_weight(node) and behind.inputs[0] is result
        if not is_weighted:
            return ()
        is_shared = taken is None or len(taken.users) > 1  # as of query, key and value
        return (behind.index,) if is_shared else (before.index, behind.index)

    def _find_scaled(self, node: Node, owner: dict[int, int]) -> Node | None:
        """Return what gives a node its operand that is part of a convolution and may hold it.

        A product with a constant and a sum with one behind a convolution can be put into its
        weights, as the Scale behind Caffe's batch normalizations. So can the normalization behind
        what multiplies a convolution of integers by their scale.
        """
        is_norm = node.op_type in _NORMALIZATIONS and len(node.inputs) == _NORM_OPERANDS
        if not is_norm and (node.op_type not in ("Add", "Mul") or len(node.inputs) != 2):
            return None
        taken = [value for value in node.inputs if value is not None]
        data = [value for value in taken if not self._is_constant(value)]
        if len(taken) != len(node.inputs) or len(data) != 1:
            return None
        before = self._find_only_giver(data[0])
        if before is None or before.op_type not in _SCALED or before.index in self._named:
            return None
        head = self.graph.nodes[owner.get(before.index, before.index)]
        is_held = head.op_type in ("Conv", "ConvInteger") and head.index not in self._named
        return before if is_held and self._takes_weight(head) else None

    def _follows(self, node: Node, before: Node) -> bool:
        """Return whether a bias is added to a product of integers behind its scale."""
        return node.op_type == "Add" and before.op_type == "Mul" and before.index not in self._named

    def _list_written_out(self, owner: dict[int, int]) -> dict[int, tuple[int, ...]]:
        """Return the nodes of activations that are written out, by the one they are named after."""
        heads = {head for head, name in self._named.items() if name in self._inside.fused}
        found: dict[int, list[int]] = {head: [] for head in heads}
        for place, head in owner.items():
            if head in heads:
                found[head].append(place)
        return {head: tuple(sorted(places)) for head, places in found.items()}

    def _find_activated(self, node: Node, name: str, places: tuple[int, ...]) -> Node | None:
        """Return what gives an activation its operand, where both may be one operator."""
        is_clamp = name in self._inside.clamped
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
            data = [value for value in taken if not self._is_constant(value)]
            if len(data) != 1 or not inside.issuperset(data[0].users) or data[0].is_output:
                return None
            producer = data[0].producer
            if producer is None or producer.graph is not self.graph or self._passes(producer):
                return None
        else:
            is_alone = all(value is None or self._is_constant(value) for value in node.inputs[1:])
            given = node.inputs[0] if node.inputs and is_alone else None
            producer = self._find_only_giver(given)
        if (
            producer is None
            or producer.index in self.units.activations
            or len(producer.outputs) > 1
            or producer.subgraphs
        ):
            return None
        if is_clamp:
            return producer
        head = producer
        if producer.op_type not in WEIGHTED:
            before = self._find_before(producer)
            if before is None:
                return None
            head = before
        return producer if self._takes_weight(head) else None

    def _find_before(self, node: Node) -> Node | None:
        """Return the convolution that a node normalizes, or the product that it adds a bias to.

        Or the product of integers that it multiplies by the scale of these.
        """
        if node.op_type in _NORMALIZATIONS and len(node.inputs) > 1:
            value, wanted = node.inputs[0], _CONVOLUTIONS
            if not all(v is None or self._is_constant(v) for v in node.inputs[1:]):
                return None
        elif (node.op_type == "Add" and len(node.inputs) == 2) or node.op_type == "QLinearAdd":
            taken = [v for v in node.inputs if v is not None and not self._is_constant(v)]
            value = taken[0] if len(taken) == 1 else None
            wanted = frozenset({"MatMul", "MatMulInteger", "Mul", "QLinearMatMul"})
        elif node.op_type == "Mul" and len(node.inputs) == 2 and not self._joins_scales(node):
            value = node.inputs[0]
            scale = node.inputs[1].producer if node.inputs[1] is not None else None
            is_joint = scale is not None and scale.graph is self.graph and self._joins_scales(scale)
            if not is_joint and not _is_scale(node.inputs[1]):
                return None
            wanted = frozenset({"ConvInteger", "MatMulInteger"})
        else:
            return None
        producer = self._find_only_giver(value)
        if producer is None or producer.op_type not in wanted or len(producer.inputs) < 2:
            return None
        if node.op_type == "Add" and producer.op_type == "Mul":  # of the scales of a product
            before = self._find_before(producer)
            return producer if before is not None else None
        return producer if self._takes_weight(producer) else None

    def _find_only_giver(self, value: Value | None) -> Node | None:
        """Return what gives a value that nobody else takes, before nodes that pass it on."""
        for _ in range(_MOST_PASSED):
            if value is None or len(value.users) != 1 or value.is_output:
                return None
            producer = value.producer
            if producer is None or producer.graph is not self.graph:
                return None
            if not self._passes(producer):
                return producer
            value = producer.inputs[0]
        return None

    def _takes_weight(self, node: Node) -> bool:
        return any(value is not None and self._origin(value) is None for value in node.inputs[1:])

    def _connect(self) -> None:
        units, graph = self.units, self.graph
        units.users = [[] for _ in units.members]
        units.results = [[] for _ in units.members]
        for unit, members in enumerate(units.members):
            if not unit % _STEP:
                step()
            kind, operands, weights, filled = self._read_unit(unit, members)
            units.filled.append(filled)
            units.kinds.append(kind)
            units.operands.append(operands)
            units.weights.append(weights)
            for operand in operands:
                if operand.source >= 0:
                    units.users[operand.source].append((unit, operand.place))
        for place, value in enumerate(graph.outputs):
            origin = self._origin(value)
            if origin is not None and origin.producer is not None:
                unit = self._unit_of(origin)
                if unit >= 0:
                    units.results[unit].append(place)

    def _unit_of(self, value: Value) -> int:
        producer = value.producer
        if producer is None or producer.graph is not self.graph:
            return -1
        return self.units.unit_of[self.graph.index_of(producer)]

    def _read_unit(
        self, unit: int, members: tuple[int, ...]
    ) -> tuple[str, list[Operand], list[Tensor], list[tuple[int, ...]]]:
        units, nodes = self.units, self.graph.nodes
        head = nodes[members[0]]
        weights: list[Tensor] = []
        filled: list[tuple[int, ...]] = []
        taken: list[Value] = []
        for index in sorted(members):
            node = nodes[index]
            # what is added besides is told by the sum that the other model has
            bias = find_added_bias(node)
            inputs = node.inputs[:3] if takes_summand(node) else node.inputs
            inputs = tuple(value for value in inputs if value is not bias) if bias else inputs
            if node.op_type in ("Gather", "Reshape") and len(members) > 1:
                inputs = inputs[:1]  # sizes and orders are no part of what it does
            for value in (*inputs, *node.captures):
                if value is None:
                    continue
                origin = self._origin(value)
                if origin is None:
                    tensors = self._find_tensors(value)
                    weights += tensors
                    filled += [] if tensors else _read_filled(value)
                elif self._unit_of(origin) != unit:
                    taken.append(origin)
        has_weights = bool(filled) or any(tensor.size > 1 for tensor in weights)
        kind = self._name_kind(head, has_weights)
        if kind in LAYERS or kind in _WRITTEN_OUT:
            # what is quantized as the model runs is taken with its zero point and its scale, and
            # what is written out may take its operand several times
            taken = [*dict.fromkeys(taken)]
        is_ordered = kind not in COMMUTATIVE and kind not in _NORMS
        operands = []
        for place, value in enumerate(taken):
            source = self._unit_of(value)
            if source >= 0:
                output = value.output_index if len(units.members[source]) == 1 else 0
            else:
                output = self._outside.setdefault(value, len(self._outside))
                if output == len(units.outside):
                    units.outside.append(value)
            operands.append(Operand(source, output, place if is_ordered else 0))
        return kind, operands, weights, filled

    def _name_kind(self, head: Node, has_weights: bool) -> str:
        known = self._named.get(head.index)
        if known is not None:
            return known
        op_type = head.op_type
        if head.function is not None:  # it may have another name
            return self._describe_function(head.function)
        if op_type in _CONVOLUTIONS:
            return "convolution"
        if op_type in _PRODUCTS:
            return "product with weights" if has_weights or op_type not in _MATMULS else "MatMul"
        if op_type in _REORDERING:
            return "Transpose"
        if op_type == "QuickGelu" and _read_number(head, "alpha") == 1:
            return "SiLU"
        op_type = op_type.removeprefix(_ON_INTEGERS)
        if op_type in _SAME:
            return _SAME[op_type]
        is_own = head.domain in (self.graph.dialect.domain, BLOCKED_DOMAIN)
        if op_type != head.op_type:
            return op_type
        return op_type if is_own else f"{head.domain}::{op_type}"

    def _describe_function(self, function: Function) -> str:
        known = self._functions.get(function)
        if known is None:
            counts = Counter(node.op_type for node in function.nodes if node.function is None)
            listed = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
            known = self._functions[function] = f"call of {len(function.nodes)} nodes: {listed}"
        return known

    def _find_tensors(self, value: Value) -> list[Tensor]:
        """Return the stored tensor behind a constant operand, if there is one at hand."""
        for _ in range(_MOST_PASSED):
            tensor = value.initializer
            if isinstance(tensor, Tensor):
                return [tensor]
            producer = value.producer
            if producer is None:
                return []
            if producer.op_type == "Constant":
                constant = producer.details.constant
                return [constant] if isinstance(constant, Tensor) else []
            if not self._passes(producer) or producer.inputs[0] is None:
                return []
            value = producer.inputs[0]
        return []


def _is_scale(value: Value | None) -> bool:
    """Return whether a value is the scale with which something is quantized as the model runs."""
    producer = value.producer if value is not None else None
    return (
        value is not None
        and producer is not None
        and producer.op_type == _QUANTIZING
        and value.output_index > 0
    )


def _read_filled(value: Value) -> list[tuple[int, ...]]:
    """Return the dimensions of a constant that a node fills with one number; none for others."""
    producer = value.producer
    if producer is None or producer.graph.dialect.constant_source(producer) != "filled":
        return []
    dims = producer.inputs[0] if producer.inputs else None
    tensor = find_stored_tensor(dims) if dims is not None else None
    if tensor is None or not tensor.dtype.is_integer or not 0 < tensor.size <= _MOST_AXES:
        return []
    try:
        return [tuple(int(size) for size in tensor.numpy().reshape(-1))]
    except NetloupeError as error:
        if is_ending(error):
            raise
        return []


def _has_channels_last(node: Node) -> bool:
    return bool(_read_number(node, "channels_last"))


def _read_number(node: Node, name: str) -> float | None:
    attribute = node.attributes.get(name)
    value = attribute.value if attribute is not None else None
    return value if isinstance(value, int | float) else None
