"""In what the operators differ that pairs of several nodes are named after.

One exporter writes a convolution and the activation behind it where another writes a convolution
that has the activation inside. How each goes over its operand must be the same nevertheless, and so
must be factors of products, and the numbers that norms add.

Sources: onnx/docs/Operators.md; ContribOperators.md of ONNX Runtime.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Node, Tensor
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import Operator, find_default, find_schema
from netloupe.explorer.progress import is_ending

from .activations import read_activation
from .changes import Change, compare_attributes
from .pair import Pair
from .partitions import find_partition, is_same_partition, tell_partition
from .read_attention import compare_attention
from .read_gelus import compare_gelus
from .read_norms import compare_norms
from .roles import list_operands

#: what says in attributes of its own what it computes, whatever stands around it. That is known of
#: these, and no trait: what others state is compared elsewhere, or may be put into other nodes
_ALIKE = frozenset(
    {"AveragePool", "Celu", "Elu", "GRU", "GroupNormalization", "GroupQueryAttention"}
    | {"HardSigmoid", "InstanceNormalization", "LRN", "LSTM", "LeakyRelu", "LogSoftmax", "LpPool"}
    | {"MatMulNBits", "MaxPool", "RNN", "Selu", "Softmax", "ThresholdedRelu", "TopK"}
)
#: what holds for operators that do the same, and the attributes of theirs that are compared
_FAMILIES: tuple[tuple[Callable[[Operator], bool], tuple[str, ...]], ...] = (
    (
        lambda operator: operator.has("convolves"),
        (
            *("auto_pad", "pads", "dilations", "strides", "group", "kernel_shape"),
            *("output_padding", "output_shape"),
        ),
    ),
    (
        lambda operator: operator.has("multiplies") and operator.weight_layout == "linear",
        ("alpha", "beta", "transA", "transB", "transBatchA", "transBatchB"),
    ),
    # momentum is of training alone
    (
        lambda operator: operator.form == "BatchNormalization",
        ("epsilon", "training_mode", "is_test", "spatial"),
    ),
)
#: what holds for a product whose operator has no such attribute
_OF_PRODUCTS = {"alpha": 1.0, "beta": 1.0}
#: what a product may have inside as factor
_FACTORS = ("divides", "multiplies_elements")
#: of larger weights so many rows and columns are looked at to tell whether one is turned
_MOST_ROWS = 2**11
_BIAS = 2


def compare_fused(pair: Pair) -> Iterator[Change]:
    """Yield in what the operators differ that a pair of several nodes is named after.

    What cannot be compared is left out, as attributes of operators that are not known here.

    Parameters
    ----------
    pair
        Nodes of two models; of what either side has several of none is compared.
    """
    if not all(node.graph.dialect.has_opsets for node in (*pair.left, *pair.right)):
        return
    for holds, names in _FAMILIES:
        left, right = (
            _find_only(node for node in nodes if holds(node.operator))
            for nodes in (pair.left, pair.right)
        )
        if left is not None and right is not None:
            yield from _compare_heads(pair, left, right, names)
            yield from _compare_activations(pair, left, right)
    yield from compare_norms(pair)
    one, other = find_partition(pair.left), find_partition(pair.right)
    if one is not None and other is not None and not is_same_partition(one, other):
        yield Change("parts", tell_partition(one), tell_partition(other))
    yield from compare_gelus(pair)
    yield from compare_attention(pair)
    yield from _compare_alike(pair)


def _find_only(nodes: Iterable[Node]) -> Node | None:
    """Return the only one of some nodes that calls no function; None for none, and for several."""
    found = [node for node in nodes if node.function is None]
    return found[0] if len(found) == 1 else None


def _compare_alike(pair: Pair) -> Iterator[Change]:
    """Yield attributes of what stands once on either side and computes the same."""
    for form in sorted({node.operator.form for node in pair.left} & _ALIKE):
        left, right = (
            _find_only(node for node in nodes if node.operator.form == form)
            for nodes in (pair.left, pair.right)
        )
        if left is None or right is None or left.op_type != right.op_type:
            continue
        for change in compare_attributes(left, right, set()) if left.domain == right.domain else ():
            if not change.aspect:
                yield change._replace(what=f"{change.what} of {left.op_type}")


def _compare_heads(pair: Pair, left: Node, right: Node, names: tuple[str, ...]) -> Iterator[Change]:
    is_product = left.operator.has("multiplies")
    for name in names:
        if is_product and not _is_comparable(name, pair, left, right):
            continue
        one, other = (_read(node, name) for node in (left, right))
        if one is None or other is None or _are_equal(one, other):
            continue
        yield Change(f"attribute {name}", one, other)


def _read(node: Node, name: str) -> object:
    """Return what holds for an attribute, stated or not; None for what is not known."""
    stated = node.attributes.get(name)
    if stated is not None:
        return None if stated.reference else stated.value
    if node.operator.has("multiplies"):
        return _OF_PRODUCTS.get(name, 0)
    if node.operator.has("convolves"):
        return _find_default_window(node, name)
    schema = find_schema(node.domain, node.op_type, node.opset_version)
    return None if schema is None else find_default(schema, name)


def _find_default_window(node: Node, name: str) -> object:
    """Return what the specification has for a convolution that does not state an attribute."""
    if name in ("auto_pad", "group"):
        return "NOTSET" if name == "auto_pad" else 1
    sizes = _find_kernel(node)
    if sizes is None or name == "output_shape":
        return None
    if name == "kernel_shape":
        return sizes
    count, fill = (2, 0) if name == "pads" else (1, int(name != "output_padding"))
    return (fill,) * (count * len(sizes))


def _find_kernel(node: Node) -> tuple[int, ...] | None:
    stated = node.attributes.get("kernel_shape")
    if stated is not None and isinstance(stated.value, tuple):
        return stated.value
    weight = _find_tensor(node, 1) if node.operator.weight_layout else None
    return None if weight is None or len(weight.dims) <= _BIAS else (*weight.dims[2:],)


def _are_equal(one: object, other: object) -> bool:
    """Return whether values are equal; floats as files hold them."""
    if isinstance(one, float) or isinstance(other, float):
        numbers = [each for each in (one, other) if isinstance(each, int | float)]
        with np.errstate(over="ignore"):
            return len(numbers) == 2 and bool(np.float32(numbers[0]) == np.float32(numbers[1]))
    return one == other


# products


def _is_comparable(name: str, pair: Pair, left: Node, right: Node) -> bool:
    """Return whether nothing else of a pair may stand for an attribute of a product."""
    sides = pair.left, pair.right
    if name == "alpha":
        return not _has(sides, *_FACTORS)
    if name == "beta":  # of a bias
        is_biased = all(
            len(list_operands(node)) > _BIAS
            or (node.operator.form == "MatMul" and _has((side,), "adds"))
            for node, side in zip((left, right), sides, strict=True)
        )
        is_integer = left.operator.is_quantized or right.operator.is_quantized
        return is_biased and not is_integer and not _has(sides, *_FACTORS)
    if _has(sides, "permutes"):
        return False
    return name != "transB" or not _is_turned(left, right)


def _has(sides: tuple[tuple[Node, ...], ...], *traits: str) -> bool:
    return any(node.operator.has(*traits) for nodes in sides for node in nodes)


def _is_turned(left: Node, right: Node) -> bool:
    """Return whether the weight of one product is that of the other, turned."""
    one, other = _find_tensor(left, 1), _find_tensor(right, 1)
    if one is None or other is None or len(one.dims) != 2 or len(other.dims) != 2:
        return one is not None and other is not None and one.dims != other.dims
    if one.dims != other.dims:
        return True
    if one.dims[0] != one.dims[1]:
        return False
    first, second = _read_numbers(one), _read_numbers(other)
    if first is None or second is None:
        return True  # nobody knows
    # one of them may be quantized
    return abs(float(np.vdot(first, second.T))) > abs(float(np.vdot(first, second)))


def _read_numbers(tensor: Tensor) -> npt.NDArray[np.float64] | None:
    if not (tensor.dtype.is_float or tensor.dtype.is_integer):
        return None
    try:
        elements = np.asarray(tensor.numpy()).reshape(tensor.dims)
        places = np.linspace(0, len(elements) - 1, min(len(elements), _MOST_ROWS)).astype(np.int64)
        numbers = elements[np.ix_(places, places)].astype(np.float64)  # they are square
    except NetloupeError as error:
        if is_ending(error):
            raise
        return None
    centred: npt.NDArray[np.float64] = numbers - numbers.mean()  # codes have a zero point
    return centred if math.isfinite(float(centred.sum())) else None


def _find_tensor(node: Node, place: int) -> Tensor | None:
    operands = list_operands(node)
    value = operands[place] if place < len(operands) else None
    return None if value is None else find_stored_tensor(value)


# activations


def _compare_activations(pair: Pair, left: Node, right: Node) -> Iterator[Change]:
    """Yield an activation that one operator has inside and the other side has not at all.

    Of the numbers that belong to it those are compared that both have inside; a node with other
    numbers is paired with none that has an activation inside.
    """
    inside = read_activation(left), read_activation(right)
    behind = [
        {node.op_type for node in nodes if node is not head}
        for nodes, head in ((pair.left, left), (pair.right, right))
    ]
    told = [*inside]
    for side in (0, 1):
        if not inside[side] and inside[1 - side] in behind[side]:
            told[side] = inside[1 - side]
    if not any(inside):
        return
    if told[0] != told[1]:
        yield Change("activation", told[0] or None, told[1] or None)
    elif all(inside):
        for name in sorted({*left.attributes, *right.attributes}):
            if name.startswith("activation_"):
                one, other = (node.attributes.get(name) for node in (left, right))
                values = [None if each is None else each.value for each in (one, other)]
                if values[0] != values[1]:
                    yield Change(f"attribute {name}", values[0], values[1])
