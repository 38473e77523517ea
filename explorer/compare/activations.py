"""Activations that other nodes have inside of them: as an attribute, or as the end of their codes.

ONNX Runtime's ``FusedConv``, ``FusedGemm`` and its convolution of blocks of channels apply an
``activation`` to what they give (ContribOperators.md: com.microsoft.FusedConv). And what is
quantized with the lowest code as zero point is never below 0: a ReLU is part of its range, so that
quantizers leave it out (onnxruntime/python/tools/quantization/operators/activation.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Graph, Node, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.progress import is_ending

from .partitions import find_rewritten_partitions

#: ONNX Runtime's operators on blocks of channels are called as those that they stand for
BLOCKED_DOMAIN = "com.microsoft.nchwc"
#: activations that do nothing above a lowest number, and below a highest one
_CLAMPS = frozenset({"Clip", "Relu"})
_QUANTIZE = "QuantizeLinear"
#: norms of a sum
SUMMING_NORMS = frozenset({"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"})
#: of operators on integers, where scale and zero point of what they give are among the operands
_RESULTS = {
    "QGemm": 7,
    "QLinearAdd": 6,
    "QLinearConv": 6,
    "QLinearMatMul": 6,
    "QLinearMul": 6,
}
#: of operators that add a bias to what they take, where it is among the operands
_BIASES = {
    "BiasGelu": 1,
    "FastGelu": 1,
    "SkipLayerNormalization": 4,
    "SkipSimplifiedLayerNormalization": 3,
}
#: default of LeakyRelu, and of HardSigmoid (onnx/docs/Operators.md)
_DEFAULTS = {"LeakyRelu": {"alpha": 0.01}, "HardSigmoid": {"alpha": 0.2, "beta": 0.5}}
#: numbers that were written as float32 are equal up to so much
_NEARLY = 1e-5
#: the end of a range may be above the bound by so much, which is less than a step
_STEP_SHARE = 0.02


class TakenIn(NamedTuple):
    """What nodes of either of two graphs may have inside of them.

    Parameters
    ----------
    fused
        Those that are attributes of convolutions and products.
    clamped
        Those that may be the end of a range of codes, behind any node.
    has_sums
        Whether norms may have the sum before them inside, as SkipLayerNormalization.
    has_blocks
        Whether convolutions may have weights in blocks of channels, of which the last is filled up.
    partitions
        The kinds of :class:`~.partitions.Partition` that one graph has as a Split, the other not.
    """

    fused: frozenset[str] = frozenset()
    clamped: frozenset[str] = frozenset()
    has_sums: bool = False
    has_blocks: bool = False
    partitions: frozenset[str] = frozenset()


def list_inside(left: Graph, right: Graph) -> TakenIn:
    """Return what the nodes of two graphs have inside of them."""
    fused: set[str] = set()
    is_clamped = has_sums = has_blocks = False
    for graph in (left, right):
        for node in graph.nodes:
            if node.domain.startswith("com.microsoft"):
                name = read_activation(node)
                if name:
                    fused.add(name)
                has_sums = has_sums or node.op_type in SUMMING_NORMS
                has_blocks = has_blocks or node.domain == BLOCKED_DOMAIN
            is_clamped = is_clamped or node.op_type == _QUANTIZE or node.op_type in _RESULTS
    clamped = _CLAMPS if is_clamped else frozenset[str]()
    partitions = find_rewritten_partitions(left, right)
    return TakenIn(frozenset(fused), clamped, has_sums, has_blocks, partitions)


def read_activation(node: Node) -> str:
    """Return the activation that a convolution or product applies to what it gives; "" for none."""
    if "Conv" not in node.op_type and "Gemm" not in node.op_type and "MatMul" not in node.op_type:
        return ""
    attribute = node.attributes.get("activation")
    return attribute.value if attribute is not None and isinstance(attribute.value, str) else ""


def find_added(nodes: tuple[Node, ...], holders: tuple[Node, ...]) -> Iterator[Node]:
    """Yield the sum behind some nodes, and the activation behind that, that others have inside.

    Parameters
    ----------
    nodes
        A convolution of one model, and what belongs to it.
    holders
        What stands for them in the other one; a convolution there may have a fourth operand, which
        is added to what it gives.
    """
    holder = next((node for node in holders if takes_summand(node)), None)
    value = _find_only_result(nodes)
    if holder is None or value is None:
        return
    (user,) = value.users
    if user.op_type != "Add" or user.domain or len(user.outputs) != 1:
        return
    yield user
    given = user.output(0)
    behind = given.users if given is not None and not given.is_output else ()
    if len(behind) == 1 and behind[0].op_type == read_activation(holder):
        yield behind[0]


def find_added_bias(node: Node) -> Value | None:
    """Return what an operator adds to its operand first: the bias of the product before it.

    Source: ContribOperators.md of ONNX Runtime: BiasGelu, FastGelu, SkipLayerNormalization,
    SkipSimplifiedLayerNormalization.
    """
    place = _BIASES.get(node.op_type) if node.domain.startswith("com.microsoft") else None
    return node.input(place) if place is not None else None


def find_biases(nodes: tuple[Node, ...], holders: tuple[Node, ...]) -> Iterator[Node]:
    """Yield the sums with a stored bias before some nodes, where what stands for them adds it."""
    if not any(find_added_bias(node) is not None for node in holders):
        return
    inside = {*nodes}
    givers = dict.fromkeys(value.producer for n in nodes for value in n.inputs if value is not None)
    for node in givers:
        if node is None or node in inside or node.op_type != "Add" or len(node.outputs) != 1:
            continue
        stored = [v for v in node.inputs if v is not None and find_stored_tensor(v) is not None]
        given = node.output(0)
        if len(stored) != 1 or given is None or given.is_output:
            continue
        if inside.issuperset(given.users):
            yield node


def takes_summand(node: Node) -> bool:
    """Return whether a convolution adds its fourth operand to what it gives."""
    is_own = node.domain.startswith("com.microsoft") and "Conv" in node.op_type
    return is_own and node.op_type in ("Conv", "FusedConv") and len(node.inputs) > 3


def _find_only_result(nodes: tuple[Node, ...]) -> Value | None:
    """Return the value that one node alone takes of what some nodes give together."""
    inside = {*nodes}
    found = [
        value
        for node in nodes
        for value in node.outputs
        if value is not None
        and (value.is_output or any(user not in inside for user in value.users))
    ]
    is_single = len(found) == 1 and not found[0].is_output and len(found[0].users) == 1
    return found[0] if is_single else None


def find_fused_operator(activation: Node, nodes: tuple[Node, ...]) -> Node | None:
    """Return which of some nodes has an activation inside of it, or the node that clamps behind.

    Parameters
    ----------
    activation
        A node of one model.
    nodes
        What stands for it and the nodes before it in the other one.

    Returns
    -------
    Node or None
        One of ``nodes``, or a QuantizeLinear that takes what they give; None where nothing says
        that the activation is still there.
    """
    # what the others clamp is changed again before the activation's place
    last = sorted(nodes, key=lambda node: node.index)[-1:]
    for node in nodes:
        if read_activation(node) == activation.op_type:
            if _have_same_numbers(activation, node):
                return node
        elif node in last and _clamps(activation, node):
            return node
    quantizing = _list_quantizing(tuple(last))
    return next((node for node in quantizing if _is_in_range(activation, node, 1)), None)


def _clamps(activation: Node, holder: Node) -> bool:
    """Return whether what an operator gives are codes that stand for what an activation gives."""
    place = _RESULTS.get(holder.op_type)
    return place is not None and _is_in_range(activation, holder, place)


def _have_same_numbers(activation: Node, holder: Node) -> bool:
    """Return whether an operator applies an activation with the numbers that this one has."""
    stated = holder.attributes.get("activation_params")
    given = stated.value if stated is not None and isinstance(stated.value, tuple) else ()
    wanted: list[float] = []
    for name, default in _DEFAULTS.get(activation.op_type, {}).items():
        attribute = activation.attributes.get(name)
        own = holder.attributes.get(f"activation_{name}")  # as FusedGemm has it
        wanted.append(attribute.value if attribute is not None else default)  # type: ignore[arg-type]
        given = (*given, own.value) if own is not None else given
    if activation.op_type == "Clip":
        bounds = _read_bounds(activation)
        if bounds is None or len(given) != 2:
            return False
        wanted = [*bounds]
        given = tuple(np.clip(given, np.finfo(np.float32).min, np.finfo(np.float32).max))
    numbers = [float(number) for number in given if isinstance(number, int | float)]
    if not numbers:
        return not wanted or activation.op_type not in ("LeakyRelu", "HardSigmoid", "Clip")
    return len(numbers) >= len(wanted) and np.allclose(numbers[: len(wanted)], wanted, _NEARLY)


def _read_bounds(activation: Node) -> tuple[float, float] | None:
    """Return between which numbers an activation leaves what it takes; None where it is computed.

    A bound that is not given is the end of float32.
    """
    ends = np.finfo(np.float32)
    if activation.op_type == "Relu":
        return 0.0, float(ends.max)
    found = [float(ends.min), float(ends.max)]
    for place, name in enumerate(("min", "max")):
        attribute = activation.attributes.get(name)
        if attribute is not None and isinstance(attribute.value, int | float):
            found[place] = float(attribute.value)
        value = activation.input(place + 1)
        if value is not None:
            number = _read_number(value)
            if number is None:
                return None
            found[place] = number
    return max(found[0], float(ends.min)), min(found[1], float(ends.max))


def _read_number(value: Value | None) -> float | None:
    """Return the one number that a constant holds; None for anything else."""
    tensor = find_stored_tensor(value) if value is not None else None
    if tensor is None or tensor.size != 1 or not (tensor.dtype.is_float or tensor.dtype.is_integer):
        return None
    try:
        return float(tensor.numpy().reshape(-1)[0])
    except NetloupeError as error:
        if is_ending(error):
            raise
        return None


def _is_in_range(activation: Node, holder: Node, place: int) -> bool:
    """Return whether codes stand for no number that an activation would change.

    Parameters
    ----------
    activation
        A node that may be part of the range.
    holder
        The node that gives the codes.
    place
        Where its scale is among its operands; the zero point is the next one.
    """
    if activation.op_type not in _CLAMPS or place >= len(holder.inputs):
        return False
    bounds, scale = _read_bounds(activation), _read_number(holder.input(place))
    if bounds is None or scale is None or bounds[0] != 0:
        return False
    lowest, highest, zero_point = 0.0, 255.0, 0.0  # without a zero point codes are uint8
    value = holder.input(place + 1)
    if value is not None:
        tensor, number = find_stored_tensor(value), _read_number(value)
        bits = tensor.dtype.bits if tensor is not None and tensor.dtype.is_integer else None
        if tensor is None or number is None or bits is None:
            return False
        is_unsigned = tensor.dtype.name.startswith("u")
        lowest = 0.0 if is_unsigned else -(2.0 ** (bits - 1))
        highest, zero_point = lowest + 2.0**bits - 1, number
    most = scale * (highest - zero_point)
    return zero_point == lowest and most <= bounds[1] * (1 + _STEP_SHARE)


def _list_quantizing(nodes: tuple[Node, ...]) -> Iterator[Node]:
    """Yield the nodes that alone take what some nodes give, and quantize it."""
    for node in nodes:
        for value in node.outputs:
            users = value.users if value is not None else ()
            if len(users) == 1 and users[0].op_type == _QUANTIZE:
                yield users[0]
