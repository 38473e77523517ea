"""Layers whose weights have zeros by a stored order: no result depends on what comes later."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from netloupe.explorer.arrays import sort_distinct
from netloupe.explorer.dataflow import find_source
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Value
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import LAYOUT_TRAITS

from .found_blocks import FoundBlock, FoundBlocks
from .operations import PICKING
from .shifted_steps import find_shifted_steps
from .weight_sizes import read_dims

_LEAST_ZEROS = 0.05
_MOST_READ = 1 << 20
_MOST_STEPS = 8
_LEAST_SUPPORTS = 2
_MATRIX = 2

Mask = npt.NDArray[np.bool_]


class _Masks:
    """Which weights of a model are masked in order, each read once."""

    def __init__(self) -> None:
        self.known: dict[Value, bool] = {}


def find_masked_mlps(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find MLPs all of whose weights are 0 where a hidden number would see a later input.

    M. Germain and others, MADE: Masked Autoencoder for Distribution Estimation, 2015, equation 12;
    of such masks the inputs that one row sees are among those that another one sees.
    """
    for found in [one for one in blocks.list_outermost() if isinstance(one, FoundBlock)]:
        if found.kind != "mlp":
            continue
        products = [n for n in found.numbers if blocks.operations.kinds[n] == "Gemm"]
        weights = [v for n in products for v in blocks.operations.fixed(n)[:1]]
        if len(weights) == len(products) > 1 and all(map(_is_masked, weights)):
            yield FoundBlock(
                "mlp",
                "Autoregressive MLP",
                found.numbers,
                found.end,
                found.facts,
                found.details,
                found.parts,
            )


def _is_masked(value: Value) -> bool:
    kept = find_kept(value.graph.model, _Masks, _Masks)
    if value not in kept.known:
        kept.known[value] = _read_masked(value)
    return kept.known[value]


def _read_masked(value: Value) -> bool:
    source = find_source(value, *LAYOUT_TRAITS)
    if source is None:
        return False
    node = source.producer
    if node is not None and node.operator.has("multiplies_elements"):
        return any(v is not None and _holds_order(v, is_mask=True) for v in node.inputs)
    return _holds_order(source, is_mask=False)


def _holds_order(value: Value, *, is_mask: bool) -> bool:
    """Return whether what rows of a stored matrix see is part of what others see."""
    source = find_source(value, *LAYOUT_TRAITS)
    tensor = find_stored_tensor(source) if source is not None else None
    if tensor is None or tensor.size > _MOST_READ or len(read_dims(value)) != _MATRIX:
        return False
    try:
        rows = tensor.numpy().reshape(tensor.dims)
    except (NetloupeError, TypeError, ValueError):
        return False
    if is_mask and not np.isin(rows, (0, 1)).all():
        return False
    sees = np.asarray(rows != 0)
    if (~sees).mean() < _LEAST_ZEROS or not sees.any():
        return False
    ordered = sees[np.argsort(sees.sum(axis=1), kind="stable")]
    is_nested = not (ordered[:-1] & ~ordered[1:]).any()
    return is_nested and len(sort_distinct(ordered.sum(axis=1))) >= _LEAST_SUPPORTS


def find_autoregressive_steps(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a value scaled and shifted by what an autoregressive network of it gives.

    G. Papamakarios and others, Masked Autoregressive Flow for Density Estimation, 2017, equation
    4; D. Kingma and others, Improved Variational Inference with Inverse Autoregressive Flow, 2016,
    equation 10. Where it is a Transformer, what it gives is moved by one token, and the network is
    no part of the block (S. Zhai and others, Normalizing Flows are Capable Generative Models, 2024,
    equation 5).
    """
    yield from find_shifted_steps(blocks)
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        if kind not in ("Add", "Mul", "Div", "Sub") or blocks.owner[end] is not None:
            continue
        if len(operations.operands[end]) != 2:
            continue
        for inner in operations.operands[end]:
            found = _read_step(blocks, end, inner)
            if found is not None:
                network, numbers = found
                facts = network.facts[:1]
                name = "Autoregressive flow step"
                yield FoundBlock("coupling", name, frozenset(numbers), end, facts)
                break


def _read_step(blocks: FoundBlocks, end: int, inner: Value) -> tuple[FoundBlock, set[int]] | None:
    """Return the network of (x - m) · exp(-a) or x · exp(a) + m, and all operations of the step."""
    operations = blocks.operations
    first = operations.given_by(inner, "Add", "Mul", "Div", "Sub")
    if first is None or len(operations.operands[first]) != 2 or blocks.owner[first] is not None:
        return None
    is_product = {
        operations.kinds[end] in ("Mul", "Div"),
        operations.kinds[first] in ("Mul", "Div"),
    }
    if len(is_product) != 2:
        return None
    others = [v for v in operations.operands[end] if v is not inner] + operations.operands[first]
    numbers = {end, first}
    networks: list[FoundBlock] = []
    free: list[Value] = []
    has_exponential = False
    for value in others:
        walked, network, is_exponential = _walk_parameter(blocks, value)
        if network is None:
            free.append(value)
            continue
        networks.append(network)
        numbers |= walked
        has_exponential |= is_exponential
    if len(free) != 1 or len({id(one) for one in networks}) != 1 or not has_exponential:
        return None
    network = networks[0]
    taken = {
        v
        for n in network.numbers
        for v in operations.operands[n]
        if operations.giver(v) not in network.numbers
    }
    if free[0] not in taken:
        return None
    return network, numbers | network.numbers


def _walk_parameter(blocks: FoundBlocks, value: Value) -> tuple[set[int], FoundBlock | None, bool]:
    """Return what leads from an autoregressive MLP to a value, that MLP, and whether by exp."""
    operations = blocks.operations
    numbers: set[int] = set()
    is_exponential = False
    for _ in range(_MOST_STEPS):
        giver = operations.giver(value)
        if giver is None:
            break
        owner = blocks.owner[giver]
        if owner is not None and owner.name == "Autoregressive MLP":
            return numbers, owner, is_exponential
        node = operations.nodes[giver]
        is_exponential |= operations.kinds[giver] in ("Exp", "Sigmoid")
        is_passing = node.operator.has(*PICKING, "splits", "activates", "clips")
        if not is_passing and operations.kinds[giver] not in ("Exp", "Neg", "Mul"):
            break
        if len(operations.operands[giver]) != 1:
            break
        numbers.add(giver)
        value = operations.operands[giver][0]
    return numbers, None, is_exponential
