"""Which kernels the convolutions in a closed group have, where these are what it is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from netloupe.explorer.grouping import Group
from netloupe.explorer.patterns import WORK, Ingredient, is_chain
from netloupe.explorer.patterns.convolution_details import ConvolutionDetails, SeparableDetails

#: so many runs of equal kernels are told one by one
_MOST_RUNS = 4
_LEAST = 2
#: of larger stacks not every block is looked at
_MOST_BLOCKS = 64


def list_kernel_runs(group: Group) -> tuple[str, bool]:
    """Return the kernels of convolutions that follow one another, and whether one is factored.

    ``1×3×3, 3×1×1``: a kernel that is long along some axes alone is one factor of a larger one (D.
    Tran and others, A Closer Look at Spatiotemporal Convolutions, 2018, section 3.5; S. Xie and
    others, Rethinking Spatiotemporal Feature Learning, 2018, figure 2; C. Szegedy and others,
    Rethinking the Inception Architecture, 2016, section 3.2). Of equal kernels that are as long
    along all axes nothing is told, and of a stack what is so of each block.
    """
    blocks = group.inner_groups() if group.kind == "repeat" else [group]
    if not blocks or len(blocks) > _MOST_BLOCKS:
        return "", False
    first = [*_list_kernels(blocks[0].contents)]
    runs = [(kernel, len([*run])) for kernel, run in groupby(first)]
    kernels = [kernel for kernel, _ in runs]
    is_factored = any(len({*kernel}) > 1 for kernel in kernels)
    if len(kernels) > _MOST_RUNS or len(first) < _LEAST:
        return "", False
    if len({*kernels}) == 1 and not is_factored:
        return "", False
    # what is in the others is found only now: most stacks have no kernels
    if any([*_list_kernels(block.contents)] != first for block in blocks[1:]):
        return "", False
    told = ", ".join(_write_run(*run) for run in runs)
    return f"kernels {told}" if len(kernels[0]) == 1 else told, is_factored


def _write_run(kernel: tuple[int, ...], count: int) -> str:
    """Return ``3×3``, or ``3×3 ×6`` for several in a row."""
    return "×".join(map(str, kernel)) + (f" ×{count}" if count > 1 else "")


def _list_kernels(contents: Sequence[Ingredient]) -> Iterator[tuple[int, ...]]:
    """Yield the kernels of convolutions in a row; none where not all are known, or more is there.

    Layers that are given a row of their own, as in a block with attention, are not all it is about.
    """
    layers = [one for one in contents if one.rank >= WORK]
    if not is_chain(contents) or any(one.times != 1 for one in layers):
        return
    details = [one.details.read_as(ConvolutionDetails) for one in layers]
    are_known = all(one.kernel and not isinstance(one, SeparableDetails) for one in details)
    if are_known and len({len(one.kernel) for one in details}) == 1:
        yield from (one.kernel for one in details)
