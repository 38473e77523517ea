"""What several convolutions of a block are: of which kernels, and which of them are separable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from netloupe.explorer.notation import write_span
from netloupe.explorer.patterns.convolution_details import ConvolutionDetails

from .counted_words import count_pieces, join_with_and
from .dilations import write_dilations
from .outline import Outline
from .piece_sizes import follows_on
from .pieces import Piece

#: of more kernels none is told, and of more kinds
_MOST_KERNELS = 2
_MOST_KINDS = 3
_DEPTHWISE = "depthwise convolution"
_POINTWISE = "pointwise convolution"
_SEPARABLE = "depthwise-separable convolution"


def name_by_kernels(layers: Sequence[ConvolutionDetails], *, is_projected: bool) -> str:
    """Return what the convolutions of a block are called together: ``3×1 and 1×3 convolution``.

    Parameters
    ----------
    layers
        The convolutions.
    is_projected
        Whether one of them stands in place of a shortcut, which is not told.
    """
    told = [*layers]
    if is_projected:
        shortcuts = [one for one in told if {*one.kernel} == {1}]
        if not shortcuts:
            return "convolution"
        told.remove(shortcuts[-1])
    kernels = [*dict.fromkeys(one.kernel for one in told)]
    ranks = {len(kernel) for kernel in kernels}
    if len(kernels) > _MOST_KERNELS or len(ranks) != 1 or not all(kernels):
        return "convolution"
    if any(one.is_depthwise or one.transposed for one in told):
        return "convolution"
    if ranks == {1}:
        numbers = sorted(kernel[0] for kernel in kernels)
        return f"convolution of kernel {join_with_and([str(number) for number in numbers])}"
    return f"{join_with_and(['×'.join(map(str, kernel)) for kernel in kernels])} convolution"


def write_in_each(outline: Outline, rows: Sequence[Sequence[Piece]]) -> str:
    """Return which convolutions each of several blocks holds, with kernels and dilations.

    ``5 depthwise-separable convolutions of kernel 33 … 75 and pointwise convolution``. Of a
    depthwise convolution and the pointwise one that takes what it gives it is told that they are
    separable (F. Chollet, Xception, 2017, section 2).

    Returns
    -------
    str
        "" where blocks hold others, or there is no more to say than how many they are.
    """
    if any(piece.fold[1] > 1 for row in rows for piece in row):
        return ""
    held = [_list_held(outline, row) for row in rows]
    counts = [Counter(name for name, _ in row) for row in held]
    if any(one != counts[0] for one in counts) or len(counts[0]) > _MOST_KINDS:
        return ""
    told = []
    for name, count in counts[0].most_common():
        alike = [[piece for own, piece in row if own == name] for row in held]
        kernel, reads = _write_kernels(alike)
        told.append(count_pieces(count, kernel + name) if count > 1 else kernel + name)
        told[-1] += reads
    is_more = len(told) > 1 or told[0] != count_pieces(len(rows[0]), "convolution")
    return join_with_and(told) if is_more else ""


def _list_held(outline: Outline, row: Sequence[Piece]) -> list[tuple[str, Piece]]:
    """Return what the convolutions of a block are called, those of one that is separable once."""
    held: list[tuple[str, Piece]] = []
    joined = False
    for piece, behind in pairwise([*row, row[-1]]):
        if joined:
            joined = False
            continue
        details = piece.part.details.read_as(ConvolutionDetails)
        after = behind.part.details.read_as(ConvolutionDetails)
        name = "transposed convolution" if details.transposed else "convolution"
        if details.is_pointwise:
            name = _POINTWISE
        elif details.is_depthwise and not details.transposed:
            name = _DEPTHWISE
            joined = after.is_pointwise and follows_on(outline, [piece, behind])
        held.append((_SEPARABLE if joined else name, piece))
    return held


def _write_kernels(rows: Sequence[Sequence[Piece]]) -> tuple[str, str]:
    """Return the kernel of convolutions in alike blocks, and how far apart they read.

    Along one axis that stands behind what they are called, of maps before it.
    """
    layers = [piece.part.details.read_as(ConvolutionDetails) for row in rows for piece in row]
    kernels = {one.kernel for one in layers}
    dilation = write_dilations([one.dilation or 1 for one in layers])
    if all(len(kernel) == 1 for kernel in kernels):
        sizes = [kernel[0] for kernel in kernels]
        span = write_span(sizes).replace(" to ", " … ")
        told = [f"kernel {span}"] if sizes != [1] else []
        behind = [*told, *filter(None, [dilation])]
        return "", f" of {', '.join(behind)}" if behind else ""
    kernel = kernels.pop() if len(kernels) == 1 else ()
    is_told = kernel and {*kernel} != {1}
    before = f"{'×'.join(map(str, kernel))} " if is_told else ""
    return before, f" of {dilation}" if dilation else ""
