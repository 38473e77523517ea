"""What time series are taken apart into: a moving average, and what is left."""

from __future__ import annotations

from collections.abc import Iterator

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_ints
from .walks import keep_own, walk_back

_MOST_AROUND = 8
#: what repeats the ends of a series in front of it and behind it
_AROUND = ("broadcasts", "gathers", "joins", "pads", "picks", "repeats", "reshapes")


def find_decompositions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a moving average of a series, which is its trend, and the series less this average.

    H. Wu and others, Autoformer, 2021, equation 1; A. Zeng and others, Are Transformers Effective
    for Time Series Forecasting?, 2023, section 4.2 (DLinear).
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Sub" or len(taken) != 2 or blocks.owner[end] is not None:
            continue
        series, trend = taken
        pool = operations.given_by(trend, "AveragePool")
        if pool is None or blocks.owner[pool] is not None:
            continue
        window = _read_window(operations, pool)
        numbers = walk_back(operations, operations.operands[pool][0], {series}, _MOST_AROUND)
        if not window or numbers is None:
            continue
        if all(operations.nodes[number].operator.has(*_AROUND) for number in numbers):
            own = keep_own(operations, numbers, pool) | {end}
            facts = (f"moving average {window}",)
            yield FoundBlock("decomposition", "Series decomposition", frozenset(own), end, facts)


def _read_window(operations: Operations, pool: int) -> int:
    """Return over how many steps of one axis a pool slides by one; 0 for others."""
    node = operations.nodes[pool]
    sizes = [size for size in read_ints(node, "kernel_shape") if size > 1]
    strides = read_ints(node, "strides")
    return sizes[0] if len(sizes) == 1 and {*strides} <= {1} else 0
