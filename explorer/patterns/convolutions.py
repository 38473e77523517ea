"""Convolutions with what normalizes and activates them."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node

from .activations import ACTIVATIONS
from .convolution_details import ConvolutionDetails
from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .initial_zeros import ends_residual_branch
from .linear import write_widths
from .operations import Operations
from .readings import read_int, read_ints, read_scalar, read_str
from .stored_kernels import BEGUN_AT_ZERO, ZERO
from .weight_sizes import read_dims, read_features, read_kernel

#: operators that convolve
CONVOLUTIONS = frozenset({"Conv", "ConvTranspose", "DeformConv"})
_SHORT = {"BatchNorm": "BN", "InstanceNorm": "IN", "LayerNorm": "LN", "GroupNorm": "GN"}


def find_convolutions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a convolution, a normalization of its result, and an activation of that.

    As papers draw it in one box: ``Conv · BN · ReLU`` (S. Ioffe and C. Szegedy, Batch
    Normalization, 2015, section 3.2, for the order).
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        if kind not in CONVOLUTIONS or blocks.owner[number] is not None:
            continue
        parts: list[FoundBlock] = []
        numbers, end = {number}, number
        words = ["Deconv" if "Transpose" in kind else "Conv"]
        details = read_convolution(operations, number)
        fused = read_fused_activation(operations.nodes[number])
        if fused:
            words.append(fused)
        padding = _find_padding(operations, number)
        if padding is not None:
            numbers.add(padding)
        for wanted in ("norm", "activation"):
            if wanted == "norm":
                end = _add_bias(operations, end, numbers)
            users = operations.users[end]
            following = blocks.holding(users[0] if users else None, wanted)
            if (
                following is not None
                and following.numbers.issuperset(users)
                and following.name != "Softmax"
            ):
                parts.append(following)
                numbers |= following.numbers
                end = following.end
                words.append(_SHORT.get(following.name, following.name))
        name = " · ".join(filter(None, words))
        facts = describe_convolution(details)
        yield FoundBlock("conv", name, frozenset(numbers), end, facts, details, tuple(parts))


def _find_padding(operations: Operations, number: int) -> int | None:
    """Return what puts zeros around the operand of a convolution, and of nothing else."""
    taken = operations.operands[number]
    padding = operations.given_by(taken[0], "Pad") if taken else None
    if padding is None or operations.only_user(padding) != number:
        return None
    node = operations.nodes[padding]
    filled = node.input(2)
    is_zero = filled is None or read_scalar(filled) == 0.0
    return padding if is_zero and read_str(node, "mode") in ("", "constant") else None


def read_fused_activation(node: Node) -> str:
    """Return the activation that a convolution applies itself, as the field writes it; else ""."""
    stated = node.operator.activation
    name = read_str(node, stated[:-1]) if stated.endswith(":") else stated
    return ACTIVATIONS.get(name, name)


def _add_bias(operations: Operations, end: int, numbers: set[int]) -> int:
    user = operations.only_user(end)
    if user is None or operations.kinds[user] != "Add" or len(operations.operands[user]) != 1:
        return end
    dims = read_dims(operations.fixed(user)[0]) if operations.fixed(user) else ()
    if len(dims) < 2 or sum(dim > 1 for dim in dims) > 1:
        return end
    numbers.add(user)
    return user


def read_convolution(operations: Operations, number: int) -> ConvolutionDetails:
    """Return channels, kernel, stride, groups and dilation of a convolution, as far as known."""
    node = operations.nodes[number]
    groups = read_int(node, "group") or 1
    kernel = read_ints(node, "kernel_shape") or read_ints(node, "kernels") or read_kernel(node)
    if not kernel and read_int(node, "kernel"):
        kernel = (read_int(node, "kernel") or 1,) * 2
    taken, given = read_features(node)
    if not taken and operations.is_fixed(node.input(1)):
        taken, given = _find_channels(node)
    strides = read_ints(node, "strides") or ((read_int(node, "stride") or 1),)
    stride = strides[0] if len({*strides}) == 1 else strides
    dilation = max(read_ints(node, "dilations") or ((read_int(node, "dilation") or 1),))
    details = ConvolutionDetails(
        kernel=kernel if len(kernel) < 4 else (),
        stride=stride if max(strides) > 1 else None,
        groups=groups if groups > 1 else None,
        dilation=dilation if dilation > 1 else None,
        transposed="Transpose" in operations.kinds[number],
        form=_read_form(operations, node),
    )
    return details.with_features((taken, given) if taken and given else None)


def _find_channels(node: Node) -> tuple[int, int]:
    """Return the channels of what a convolution takes and gives, whose weight is computed."""
    facts = find_value_facts(node.graph.model)
    sizes = [facts.find_dims(value) for value in (node.input(0), node.output(0))]
    channels = [dims[1] if dims is not None and len(dims) > 1 else None for dims in sizes]
    taken, given = channels
    return (taken, given) if isinstance(taken, int) and isinstance(given, int) else (0, 0)


def _read_form(operations: Operations, node: Node) -> str:
    form = operations.context.read_form(node.input(1))
    return BEGUN_AT_ZERO if form == ZERO and ends_residual_branch(node) else form


def describe_convolution(details: ConvolutionDetails) -> tuple[str, ...]:
    """Return ``3×3``, ``64 → 128``, ``/2`` and what else is not as usual."""
    facts = []
    kernel, stride, groups = details.kernel, details.stride, details.groups
    if kernel:
        facts.append("×".join(map(str, kernel)) if len(kernel) > 1 else f"kernel {kernel[0]}")
    if details.in_out is not None:
        facts.append(write_widths(*details.in_out))
    if stride:
        sign = "×" if details.transposed else "/"
        steps = stride if isinstance(stride, tuple) else (stride,)
        facts.append(sign + "×".join(map(str, steps)))
    if groups is not None:
        is_depthwise = details.in_out == (groups, groups)
        facts.append("depthwise" if is_depthwise else f"{groups} groups")
    if details.dilation:
        facts.append(f"dilation {details.dilation}")
    if details.form and details.form != BEGUN_AT_ZERO:
        facts.append(details.form)
    return tuple(facts)


def is_depthwise(operations: Operations, number: int) -> bool:
    """Return whether a convolution takes each channel alone."""
    return read_convolution(operations, number).is_depthwise


def is_pointwise(found: FoundBlock) -> bool:
    """Return whether a convolution is a linear layer at each place."""
    return found.details.read_as(ConvolutionDetails).is_pointwise


def widens(details: FeatureDetails) -> bool:
    """Return whether more features come out than go in, as far as is known."""
    return details.in_out is not None and details.in_out[1] > details.in_out[0]


def narrows(details: FeatureDetails) -> bool:
    """Return whether fewer features come out than go in, as far as is known."""
    return details.in_out is not None and details.in_out[1] < details.in_out[0]
