"""What shares expect: stored numbers, summed up by the shares that a Softmax gives them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node
from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.notation import write_number

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_axes, read_int, read_numbers

#: so many stored numbers are read
_MOST_NUMBERS = 4096
_LEAST_NUMBERS = 3


def find_expectations(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find sums of stored numbers in rising order by shares of a Softmax along the same axis.

    The return of an action by the shares of its atoms (M. Bellemare and others, A Distributional
    Perspective on Reinforcement Learning, 2017, section 4), a disparity or a place by those of all
    that are possible (A. Kendall and others, End-to-End Learning of Geometry and Context for Deep
    Stereo Regression, 2017, equation 1: soft argmin).
    """
    operations = blocks.operations
    for product, kind in enumerate(operations.kinds):
        total = operations.only_user(product) if kind == "Mul" else None
        if total is None or operations.kinds[total] != "ReduceSum":
            continue
        numbers = _read_rising(operations, product)
        if not numbers or any(blocks.owner[number] is not None for number in (product, total)):
            continue
        (shares,) = operations.operands[product]
        softmax = operations.given_by(shares, "Softmax")
        # shares that the model gives as well stand before the block
        giver = shares.producer if softmax is None else operations.nodes[softmax]
        axes = read_axes(operations.nodes[total])
        if giver is None or giver.operator.form != "Softmax" or axes is None or len(axes) != 1:
            continue
        if _is_along(giver, axes[0]):
            members = {product, total}
            if softmax is not None and operations.only_user(softmax) == product:
                members |= {softmax}
            facts = (f"of {_write_numbers(numbers)}",)
            yield FoundBlock("expectation", "Expected value", frozenset(members), total, facts)


def _read_rising(operations: Operations, product: int) -> Sequence[float]:
    """Return the stored numbers that a product takes beside one value, where each is larger."""
    fixed = operations.fixed(product)
    if len(fixed) != 1 or len(operations.operands[product]) != 1:
        return ()
    tensor = constant_tensor(fixed[0])
    dims = tensor.dims if tensor is not None else ()
    if sum(dim != 1 for dim in dims) != 1:
        return ()
    numbers = read_numbers(tensor, _MOST_NUMBERS)
    is_rising = all(one < two for one, two in pairwise(numbers))
    return numbers if is_rising and len(numbers) >= _LEAST_NUMBERS else ()


def _is_along(softmax: Node, summed: int) -> bool:
    """Return whether a Softmax is along an axis."""
    axis = read_int(softmax, "axis")
    shared = -1 if axis is None else axis
    if shared == summed:
        return True
    dims = find_value_facts(softmax.graph.model).find_dims(softmax.output(0))
    count = 0 if dims is None else len(dims)
    return count > 0 and shared % count == summed % count


def _write_numbers(numbers: Sequence[float]) -> str:
    """Return ``51 numbers −10 … 10``."""
    first, last = (write_number(number).replace("-", "−") for number in (numbers[0], numbers[-1]))
    return f"{len(numbers)} numbers {first} … {last}"
