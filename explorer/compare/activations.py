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

from netloupe.explorer.dataflow import find_operand
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Graph, Node, Value, count_each_operator, find_nodes_where
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import Operator, find_schema
from netloupe.explorer.progress import is_ending

from .partitions import find_rewritten_partitions

#: ONNX Runtime's operators on blocks of channels are called as those that they stand for
BLOCKED_DOMAIN = "com.microsoft.nchwc"
#: numbers that were written as float32 are equal up to so much
_NEARLY = 1e-5
#: the end of a range may be above the bound by so much, which is less than a step
_STEP_SHARE = 0.02


#: only where one model has it as an operator is it looked for where it is written out
GROUP_NORM = "GroupNormalization"


class TakenIn(NamedTuple):
    """What nodes of either of two graphs may have inside of them.

    Parameters
    ----------
    fused
        Those that are attributes of convolutions and products.
    has_codes
        Whether what limits numbers to a range may be the end of a range of codes, behind any node.
    has_sums
        Whether norms may have the sum before them inside, as SkipLayerNormalization.
    has_blocks
        Whether convolutions may have weights in blocks of channels, of which the last is filled up.
    partitions
        The kinds of :class:`~.partitions.Partition` that one graph has as a Split, the other not.
    has_group_norms
        Whether there is a GroupNormalization, which the other graph may have written out.
    """

    fused: frozenset[str] = frozenset()
    has_codes: bool = False
    has_sums: bool = False
    has_blocks: bool = False
    partitions: frozenset[str] = frozenset()
    has_group_norms: bool = False


def list_inside(left: Graph, right: Graph) -> TakenIn:
    """Return what the nodes of two graphs have inside of them."""
    fused = {
        read_activation(graph.nodes[index])
        for graph in (left, right)
        for index in find_nodes_where(graph, lambda operator: operator.activation != "").tolist()
    }
    operators = {node.operator for graph in (left, right) for node, _ in count_each_operator(graph)}
    return TakenIn(
        frozenset(fused) - {""},
        any(_find_result_scale(operator) is not None for operator in operators),
        any(o.has("normalizes") and o.operands.find("addend") is not None for o in operators),
        any(operator.domain == BLOCKED_DOMAIN for operator in operators),
        find_rewritten_partitions(left, right),
        any(operator.form == GROUP_NORM for operator in operators),
    )


def read_activation(node: Node) -> str:
    """Return the activation that a node applies to what it gives; "" for none."""
    name = node.operator.activation
    if not name.endswith(":"):
        return name
    attribute = node.attributes.get(name[:-1])
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
    if not user.operator.has("adds") or len(user.outputs) != 1:
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
    operator = node.operator
    if operator.has("normalizes"):
        return find_operand(node, "bias2")  # the first one is added behind
    return find_operand(node, "bias") if operator.has("activates") else None


def find_biases(nodes: tuple[Node, ...], holders: tuple[Node, ...]) -> Iterator[Node]:
    """Yield the sums with a stored bias before some nodes, where what stands for them adds it."""
    if not any(find_added_bias(node) is not None for node in holders):
        return
    inside = {*nodes}
    givers = dict.fromkeys(value.producer for n in nodes for value in n.inputs if value is not None)
    for node in givers:
        if node is None or node in inside or not node.operator.has("adds"):
            continue
        stored = [v for v in node.inputs if v is not None and find_stored_tensor(v) is not None]
        given = node.output(0)
        if len(stored) != 1 or len(node.outputs) != 1 or given is None or given.is_output:
            continue
        if inside.issuperset(given.users):
            yield node


def takes_summand(node: Node) -> bool:
    """Return whether a convolution adds its fourth operand to what it gives."""
    operator = node.operator
    place = operator.operands.find("addend") if operator.has("convolves") else None
    return place is not None and len(node.inputs) > place


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
    return next((node for node in quantizing if _clamps(activation, node)), None)


def _find_result_scale(operator: Operator) -> int | None:
    """Return where an operator takes the scale of the codes that it gives; None for others."""
    return operator.operands.find("result.scale") if operator.is_quantized else None


def _have_same_numbers(activation: Node, holder: Node) -> bool:
    """Return whether an operator applies an activation with the numbers that this one has."""
    stated = holder.attributes.get("activation_params")
    given = stated.value if stated is not None and isinstance(stated.value, tuple) else ()
    wanted: list[float] = []
    schema = find_schema(activation.domain, activation.op_type, activation.opset_version)
    for name, declared in schema.attributes.items() if schema is not None else ():
        attribute = activation.attributes.get(name)
        own = holder.attributes.get(f"activation_{name}")  # as FusedGemm has it
        number = declared.default if attribute is None else attribute.value
        wanted += [number] if isinstance(number, float) else []
        given = (*given, own.value) if own is not None else given
    if activation.operator.form == "Clip":
        bounds = _read_bounds(activation)
        if bounds is None or len(given) != 2:
            return False
        wanted = [*bounds]
        given = tuple(np.clip(given, np.finfo(np.float32).min, np.finfo(np.float32).max))
    numbers = [float(number) for number in given if isinstance(number, int | float)]
    return len(numbers) >= len(wanted) and np.allclose(numbers[: len(wanted)], wanted, _NEARLY)


def _read_bounds(activation: Node) -> tuple[float, float] | None:
    """Return between which numbers an activation leaves what it takes; None where it is computed.

    A bound that is not given is the end of float32.
    """
    ends = np.finfo(np.float32)
    if activation.operator.form == "Relu":
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


def _clamps(activation: Node, holder: Node) -> bool:
    """Return whether codes that a node gives stand for no number that an activation would change.

    Parameters
    ----------
    activation
        A node that may be part of the range.
    holder
        The node that may give codes.
    """
    place = _find_result_scale(holder.operator)
    if place is None or not activation.operator.has("clips") or place >= len(holder.inputs):
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
            if len(users) == 1 and users[0].operator.has("quantizes"):
                yield users[0]
