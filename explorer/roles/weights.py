"""The weight of a node: what stands at its weight operand and depends on no input of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node, SparseTensor, Tensor, Value, list_quantized_operands
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.operators import Operator, WeightKind

from .origins import Dims, find_computed_dims, find_origin

#: so many nodes that take a factor are looked at
_MOST_USERS = 16
#: integers of more bits are indices and sizes, not quantized numbers
_MOST_BITS = 8
_TRANSPOSING = {
    0: frozenset({"transA", "trans_a"}),
    1: frozenset({"transB", "trans_b"}),
}


@dataclass(frozen=True, slots=True)
class Weight:
    """What stands at the weight operand of a node.

    Parameters
    ----------
    kind
        What the node does with the weight: ``convolution``, ``linear`` (a product with a matrix),
        ``recurrent``, ``embedding`` (a table of which rows are taken), ``normalization``,
        ``attention``, ``experts``, or ``ml`` (trees, linear models, scalers and the like of
        ai.onnx.ml, which hold what was fitted in attributes).
    value
        The operand; None where the weights are in attributes.
    index
        Which input of the node that is; -1 for attributes.
    tensor
        The stored tensor that it comes from, perhaps through Cast, Reshape, Transpose,
        DequantizeLinear and the like; None where nothing is stored: filled, computed from
        several tensors, in another file, in attributes, or different in each call of a function.
    dims
        The sizes of the operand's axes as they reach the node, after any Reshape and Transpose
        between; None where unknown, as is each size that is.
    is_quantized
        Whether the weights are stored as integers with scales, or pass through quantization.
    """

    node: Node
    kind: WeightKind
    value: Value | None = None
    index: int = -1
    tensor: Tensor | SparseTensor | None = None
    dims: Dims | None = None
    is_quantized: bool = False

    @property
    def is_transposed(self) -> bool:
        """Whether the node multiplies by the transposed operand (``transB``, Caffe2's FC)."""
        operator = self.node.operator
        if operator.weight_layout == "linear_transposed":
            return True
        return operator.multiplies_either and _has_flag(self.node, _TRANSPOSING[self._side])

    @property
    def is_left(self) -> bool:
        """Whether the weight is the left factor of a product: W · x, not x · W."""
        return self._side == 0

    @property
    def _side(self) -> int:
        return 0 if self.node.operator.multiplies_either and self.index == 0 else 1

    @property
    def features(self) -> tuple[int | None, int | None] | None:
        """How many features the node takes and gives, ``(768, 3072)``; None where it is unclear.

        Channels of convolutions, sizes of the vectors of linear layers; of an embedding the
        number of rows and the size of each; of recurrent layers the sizes of input and hidden
        state of one direction.
        """
        return _read_features(self)

    @property
    def kernel(self) -> Dims | None:
        """The sizes of a convolution's kernel; None for all other weights."""
        if self.kind != "convolution" or self.dims is None or len(self.dims) < 3:
            return None
        operator = self.node.operator
        if not operator.weight_layout:
            return None
        return self.dims[1:-1] if _is_channels_last(self.node, operator) else self.dims[2:]


def find_weight(node: Node, calls: Sequence[Node] = ()) -> Weight | None:
    """Return the weight of a node; None where it has none.

    That is what stands at the weight operand of a convolution, a product with a matrix, a
    recurrent layer, an embedding, a normalization or another operator of which the catalogue says
    what it does with its weight, and depends on no input of the model. Of a product exactly one
    factor must be such, or else be one that other products multiply data by. The table of a Gather
    has rows of floating-point or quantized numbers.

    Parameters
    ----------
    node
        Any node.
    calls
        For a node in a function: the calls that lead to it, the outermost first. Without them
        the weight is what all calls have in common.
    """
    kind = node.operator.weight_kind
    if not kind or node.function is not None:
        return None
    if calls:
        return _look_for_weight(node, kind, calls)
    known = find_kept(node.graph, _KnownWeights, _KnownWeights)
    if node not in known:
        known[node] = _look_for_weight(node, kind, ())
    return known[node]


class _KnownWeights(dict[Node, Weight | None]):
    """The weights of a graph's nodes that were asked for: most are asked for again and again."""


def _look_for_weight(node: Node, kind: WeightKind, calls: Sequence[Node]) -> Weight | None:
    operator = node.operator
    if not operator.weight_places:
        return Weight(node, kind)
    index = _choose_operand(node, operator, calls)
    value = node.inputs[index] if index is not None else None
    origin = find_origin(value, calls) if value is not None else None
    if index is None or value is None or origin is None:
        return None
    is_quantized = (
        origin.is_quantized
        or operator.has("quantized_weight")
        or _is_stated_quantized(node, index, value)
    )
    if kind == "embedding" and not _is_table(value, origin.tensor, origin.dims):
        return None
    dims = origin.dims
    if dims is None and origin.tensor is None and not calls:
        dims = find_computed_dims(value)
    return Weight(node, kind, value, index, origin.tensor, dims, is_quantized)


def _choose_operand(node: Node, operator: Operator, calls: Sequence[Node]) -> int | None:
    """Return the input of a node that is its weight."""
    fixed = []
    for index in operator.weight_places:
        value = node.input(index)
        if value is not None and (
            is_input_independent(value) or (calls and find_origin(value, calls))
        ):
            fixed.append(index)
    if not fixed or (operator.multiplies_either and len(node.inputs) < 2):
        return None
    if operator.multiplies_either and len(fixed) > 1:
        return None if calls else _find_reused(node, fixed)
    if operator.form == "Einsum" and not _contracts(node):
        return None
    if operator.form == "Gather" and (_read_number(node, "axis", 0) != 0 or _takes_one(node)):
        return None
    return fixed[0]


def _find_reused(node: Node, places: Sequence[int]) -> int | None:
    """Return which factor of a product of stored ones others multiply data by; None for none.

    It is the first step of a loop that begins with stored numbers, as the sum over what comes
    before each variable (M. Germain and others, MADE, 2015, section 4.3).
    """
    for place, other in (places, places[::-1]):
        value = node.input(place)
        for user in value.users[:_MOST_USERS] if value is not None else ():
            data = user.input(other)
            is_like = user.op_type == node.op_type and user.input(place) is value
            if is_like and data is not None and not is_input_independent(data):
                return place
    return None


def _takes_one(node: Node) -> bool:
    """Return whether one row is taken, always the same: that of one layer of several."""
    value = node.input(1)
    index = find_origin(value) if value is not None else None
    return index is not None and index.tensor is not None and index.dims == ()


def _contracts(node: Node) -> bool:
    """Return whether an Einsum of two operands sums over an index that both have."""
    equation = node.attributes.get("equation")
    if equation is None or not isinstance(equation.value, str) or len(node.inputs) != 2:
        return False
    terms, arrow, result = equation.value.replace(" ", "").partition("->")
    first, comma, second = terms.partition(",")
    if not comma:
        return False
    shared = set(first) & set(second) - {"."}
    # without an arrow every index that is there twice is summed over
    return bool(shared - set(result) if arrow else shared)


def _is_table(value: Value, tensor: Tensor | SparseTensor | None, dims: Dims | None) -> bool:
    """Return whether rows are taken, of numbers that may be learned."""
    if dims is not None and len(dims) < 2:
        return False
    dtype = tensor.dtype if tensor is not None else getattr(value.type, "dtype", None)
    if dtype is None:
        return dims is not None
    if dtype.is_integer:
        return dtype.bits is not None and dtype.bits <= _MOST_BITS
    return bool(dtype.is_float or dtype.is_complex)


def _is_stated_quantized(node: Node, index: int, value: Value) -> bool:
    """Return whether the operator or an annotation says that an operand is quantized."""
    return value.annotation is not None or any(
        operand.index == index and not operand.is_output
        for operand in list_quantized_operands(node)
    )


def _has_flag(node: Node, names: frozenset[str]) -> bool:
    return any(
        attribute.value in (1, True) for name, attribute in node.attributes.items() if name in names
    )


def _is_channels_last(node: Node, operator: Operator) -> bool:
    """Return whether the channels that a convolution takes are its weight's last axis."""
    order = node.attributes.get("order")
    if order is not None:
        return order.value in ("NHWC", b"NHWC")
    return operator.has("channels_last")


def _read_number(node: Node, name: str, default: int | None) -> int | None:
    attribute = node.attributes.get(name)
    if attribute is None:
        return default
    return attribute.value if isinstance(attribute.value, int) else None


def _read_features(weight: Weight) -> tuple[int | None, int | None] | None:
    node, dims = weight.node, weight.dims
    operator = node.operator
    if node.attributes.keys() >= {"K", "N"}:  # packed: the dims are not those of the matrix
        return _read_number(node, "K", None), _read_number(node, "N", None)
    if dims is None:
        return None
    if operator.weight_layout == "linear":
        if not dims:
            return None
        if len(dims) == 1:
            return dims[0], 1
        first, second = dims[-2:]
        # x · W takes rows and gives columns; W · x and a transposed factor the other way
        return (second, first) if weight.is_transposed != weight.is_left else (first, second)
    if operator.weight_layout == "linear_transposed" and len(dims) >= 2:
        return _multiply(dims[1:]), dims[0]
    if operator.weight_layout in ("conv", "conv_transposed") and len(dims) >= 3:
        group = _read_number(node, "group", 1)
        inner = dims[-1] if _is_channels_last(node, operator) else dims[1]
        whole = None if group is None or inner is None else group * inner
        return (whole, dims[0]) if operator.weight_layout == "conv" else (dims[0], whole)
    if operator.weight_layout == "recurrent" and len(dims) == 3:
        return dims[2], _read_number(node, "hidden_size", None)
    if operator.weight_layout == "table" and len(dims) >= 2:
        return dims[0], _multiply(dims[1:])
    return None


def _multiply(dims: Dims) -> int | None:
    product = 1
    for dim in dims:
        if dim is None:
            return None
        product *= dim
    return product
