"""How often words meet, more or less alike: sums of Gaussian kernels over documents and queries."""

from __future__ import annotations

from collections.abc import Iterator

from .found_blocks import FoundBlock, FoundBlocks

_MOST_STEPS = 8
_LIMITING = ("Add", "Clip", "Max")
#: what stands between a basis and what it is summed up to, in this order
_SUMS = ("ReduceSum", "Log", "ReduceSum")


def find_kernel_poolings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a Gaussian basis of similarities, summed up, the logarithms of that, and their sum.

    C. Xiong and others, End-to-End Neural Ad-hoc Ranking with Kernel Pooling, 2017, equations 2 to
    4: how often a word of the query meets words that are so much alike.
    """
    operations = blocks.operations
    for basis in [one for one in blocks.list_outermost() if isinstance(one, FoundBlock)]:
        if basis.kind != "basis" or basis.name != "Gaussian basis":
            continue
        numbers = {*basis.numbers}
        wanted = [*_SUMS]
        end = basis.end
        for _ in range(_MOST_STEPS):
            number = operations.only_user(end)
            if not wanted or number is None or blocks.owner[number] is not None:
                break
            kind = operations.kinds[number]
            if kind == wanted[0]:
                wanted.pop(0)
            elif kind != "Mul" and not (kind in _LIMITING and wanted[0] == "Log"):
                break
            numbers.add(number)
            end = number
        if not wanted and operations.is_closed(numbers, end):
            facts = tuple(fact.replace("centres", "kernels") for fact in basis.facts)
            yield FoundBlock("unit", "Kernel pooling", frozenset(numbers), end, facts)
