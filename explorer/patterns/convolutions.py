"""Convolutions with what normalizes and activates them, and blocks of these."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Literal

from netloupe.explorer.model import Node, Value

from .activations import ACTIVATIONS
from .convolution_details import ConvolutionDetails, ResidualDetails
from .details import FeatureDetails, span_features
from .found_blocks import FoundBlock, FoundBlocks
from .linear import write_widths
from .operations import Operations
from .readings import read_int, read_ints, read_scalar, read_str
from .weight_sizes import read_dims, read_features, read_kernel

_CONVOLUTIONS = frozenset({"Conv", "ConvTranspose", "DeformConv"})
_SHORT = {"BatchNorm": "BN", "InstanceNorm": "IN", "LayerNorm": "LN", "GroupNorm": "GN"}
_SHORTCUT = frozenset({"AveragePool", "BatchNormalization", "MaxPool", "Pad", "Resize", "Slice"})
#: what a sum adds to a branch: the branch's own operand, a convolution of it, or another branch
_Shortcut = Literal["identity", "projection", "branch"]
_MOST_SHORTCUT = 4
_MOST_NODES = 96


def find_convolutions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a convolution, a normalization of its result, and an activation of that.

    As papers draw it in one box: ``Conv · BN · ReLU`` (S. Ioffe and C. Szegedy, Batch
    Normalization, 2015, section 3.2, for the order).
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        if kind not in _CONVOLUTIONS or blocks.owner[number] is not None:
            continue
        parts: list[FoundBlock] = []
        numbers, end = {number}, number
        words = ["Deconv" if "Transpose" in kind else "Conv"]
        details = read_convolution(operations, number)
        fused = _read_fused_activation(operations.nodes[number])
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


def _read_fused_activation(node: Node) -> str:
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
    strides = read_ints(node, "strides") or ((read_int(node, "stride") or 1),)
    stride = strides[0] if len({*strides}) == 1 else strides
    dilation = max(read_ints(node, "dilations") or ((read_int(node, "dilation") or 1),))
    details = ConvolutionDetails(
        kernel=kernel if len(kernel) < 4 else (),
        stride=stride if max(strides) > 1 else None,
        groups=groups if groups > 1 else None,
        dilation=dilation if dilation > 1 else None,
        transposed="Transpose" in operations.kinds[number],
    )
    return details.with_features((taken, given) if taken and given else None)


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


def find_residuals(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find sums of a value, or a projection of it, and of what convolutions make of it.

    K. He and others, Deep Residual Learning, 2016, figure 5 (two of 3×3: basic; 1×1, 3×3, 1×1:
    bottleneck) and section 3.3 (projection); M. Sandler and others, MobileNetV2, 2018, figure 4
    (inverted); Z. Liu and others, A ConvNet for the 2020s, 2022, figure 4 (ConvNeXt).
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Add" or len(taken) != 2:
            continue
        sides = _find_sides(blocks, end, taken[0], taken[1])
        sides = sides or _find_sides(blocks, end, taken[1], taken[0])
        if sides is None:
            continue
        numbers, shortcut = sides
        users = operations.users[end]
        last = end
        activation = blocks.holding(users[0] if users else None, "activation")
        if (
            activation is not None
            and activation.numbers.issuperset(users)
            and all(operations.nodes[n].operator.has("elementwise") for n in activation.numbers)
        ):
            numbers |= activation.numbers
            last = activation.end
        found = _name_residual(blocks, numbers, end, last, shortcut)
        if found is not None:
            yield found


def _find_sides(
    blocks: FoundBlocks, end: int, shortcut: Value, main: Value
) -> tuple[set[int], _Shortcut] | None:
    """Return the operations of a block that ends in a sum, and what its shortcut is."""
    operations = blocks.operations
    start = shortcut
    chain: set[int] = set()
    kind: _Shortcut = "identity"
    for _ in range(_MOST_SHORTCUT):
        numbers = _walk_back(blocks, {end, *chain}, main, start)
        if numbers is not None:
            return numbers, kind
        giver = operations.giver(start)
        if giver is None:
            return None
        part = blocks.ending(giver, "conv", "norm")
        inner = part.numbers if part is not None else frozenset({giver})
        if part is None and operations.kinds[giver] not in _SHORTCUT:
            return None
        if not {end, *chain}.issuperset(operations.users[giver]):
            return None
        if part is not None and _is_activated(operations, part):
            kind = "branch"
        elif part is not None and part.kind == "conv" and kind == "identity":
            kind = "projection"
        chain |= inner
        taken = operations.operands[min(inner)]
        if not taken:
            return None
        start = taken[0]
    return None


def _is_activated(operations: Operations, found: FoundBlock) -> bool:
    """Return whether a convolution ends in an activation, which no shortcut does."""
    return (bool(found.parts) and found.parts[-1].kind == "activation") or any(
        _read_fused_activation(operations.nodes[number]) for number in found.numbers
    )


def _walk_back(blocks: FoundBlocks, core: set[int], main: Value, start: Value) -> set[int] | None:
    """Return a core with all that only leads to it from where a value begins."""
    operations = blocks.operations
    barrier = operations.giver(start)
    first = operations.giver(main)
    if first is None or first == barrier:
        return None
    core = set(core)
    pending = [-first]
    convolutions, reached = 0, False
    while pending:
        number = -heapq.heappop(pending)
        if number in core or not core.issuperset(operations.users[number]):
            continue
        core.add(number)
        if len(core) > _MOST_NODES:
            return None
        owner = blocks.owner[number]
        if owner is not None and owner.kind == "attention":
            return None
        convolutions += operations.kinds[number] in _CONVOLUTIONS
        if owner is not None and owner.kind in ("mlp", "linear") and owner.end == number:
            convolutions += 1
        taken = operations.operands[number]
        reached = reached or start in taken or any(_activates(operations, v, start) for v in taken)
        for giver in operations.givers(number):
            if giver != barrier and giver not in core:
                heapq.heappush(pending, -giver)
    return core if reached and convolutions > 1 else None


def _activates(operations: Operations, value: Value, start: Value) -> bool:
    """Return whether a value is the activation of another, which branches outside share.

    J. Kong and others, HiFi-GAN, 2020, figure 1.
    """
    node = value.producer
    return (
        node is not None
        and operations.giver(value) is None
        and node.operator.has("activates")
        and node.input(0) is start
    )


def _name_residual(
    blocks: FoundBlocks, numbers: set[int], end: int, last: int, shortcut: _Shortcut
) -> FoundBlock | None:
    is_projected = shortcut != "identity"
    operations = blocks.operations
    parts: dict[int, FoundBlock] = {}
    for number in sorted(numbers):
        owner = blocks.owner[number]
        if owner is not None:
            if not owner.numbers <= numbers:
                return None
            parts[owner.end] = owner
    convolutions = [
        read_convolution(operations, number)
        for number in sorted(numbers)
        if operations.kinds[number] in _CONVOLUTIONS and not _is_layer(blocks.owner[number])
    ]
    if not convolutions:
        return None
    kernels = [max(one.kernel, default=0) for one in convolutions]
    is_deep = [one.is_depthwise for one in convolutions]
    linears = [part for part in parts.values() if part.kind in ("mlp", "linear")]
    name = "Residual block"
    if any(is_deep):
        name = "Inverted residual"
        pointwise = [one for one, k in zip(convolutions, kernels, strict=True) if k == 1]
        widened = [one for one in pointwise if widens(one)]
        if linears and is_deep[0]:
            name = "ConvNeXt block" if _is_convnext(convolutions, linears) else ""
        elif not widened or not pointwise:
            name = "Residual block"
    elif kernels.count(1) >= 2 and 3 <= len(convolutions) - is_projected <= 3:
        name = "Bottleneck block"
    if not name:
        return None
    if shortcut == "branch":
        name = "Summed branches"
    facts: list[str] = []
    # the projection, wherever it stands, takes and gives as many as the others together
    main = [one for one in convolutions if one.in_out is not None]
    widths = span_features(main[0], main[-1]) if main else None
    stride = next((one.stride for one in convolutions if isinstance(one.stride, int)), None)
    if widths is not None:
        facts.append(write_widths(*widths))
    if stride is not None:
        facts.append(f"/{stride}")
    if shortcut == "projection":
        facts.append("with projection")
    details = ResidualDetails(stride=stride, projection=shortcut == "projection")
    return FoundBlock(
        "branches" if shortcut == "branch" else "residual",
        name,
        frozenset(numbers),
        last,
        tuple(facts),
        details.with_features(widths),
        tuple(parts.values()),
    )


def _is_layer(owner: FoundBlock | None) -> bool:
    """Return whether a convolution was found to be a layer of an MLP, at each place alone."""
    return owner is not None and owner.kind == "mlp"


def _is_convnext(convolutions: list[ConvolutionDetails], linears: list[FoundBlock]) -> bool:
    """Return whether there is one depthwise convolution of a square, and an MLP behind it."""
    kernel = convolutions[0].kernel
    is_square = len(kernel) == 2 and kernel[0] == kernel[1]
    return len(convolutions) == 1 and is_square and len(linears) == 1 and linears[0].kind == "mlp"
