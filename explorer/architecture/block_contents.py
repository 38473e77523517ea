"""What the residual blocks that a sentence counts are made of, where their name does not say it.

A residual block is two convolutions (K. He and others, Deep Residual Learning, 2016, figure 5), one
with a bottleneck three; of others it is told how many of what they hold, and where the distance
changes at which they read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from netloupe.explorer.patterns import FoundBlock
from netloupe.explorer.patterns.convolution_details import ConvolutionDetails, ResidualDetails
from netloupe.explorer.patterns.convolutions import read_convolution
from netloupe.explorer.roles import find_weight

from .attended import add_attended
from .clause import Clause
from .convolution_words import name_by_kernels
from .counted_words import count_pieces, write_plural
from .dilations import write_dilations
from .nested_sums import is_of_nested_sums
from .outline import Outline
from .piece_words import name_piece
from .pieces import CAUSAL, Piece

#: what is so of a plain block
_PLAIN = "residual block"
_PLAIN_COUNT = 2
#: blocks of so many layers have known names, of which the layer around is implied
_MOST_KNOWN = 3
#: of more different counts it is not told which there are
_MOST_COUNTS = 2
#: convolutions that are counted, of which no more is said
_CONVOLUTIONS = re.compile(r"[\w,]+ (?:\d+(?:×\d+)+ )?(?:depthwise )?convolutions")


def tell_contents(outline: Outline, clauses: Sequence[Clause]) -> list[Clause]:
    """Return clauses that say what the residual blocks in them hold."""
    told = []
    for clause in clauses:
        if clause.parts:
            told.append(replace(clause, parts=tuple(tell_contents(outline, clause.parts))))
        elif clause.is_class:
            told.append(clause)
        else:
            inside = _tell_inside(outline, clause)
            text = add_attended(outline, inside.text, clause.scope)
            told.append(replace(inside, text=text))
    return told


def _tell_inside(outline: Outline, clause: Clause) -> Clause:
    pieces = [piece for piece in clause.scope if piece.kind == "residual"]
    nouns = {name_piece(outline, [piece]) for piece in pieces}
    if len(nouns) != 1:
        dilation = "" if nouns else _write_own_dilations(clause)
        return replace(clause, text=f"{clause.text}{dilation}") if dilation else clause
    noun = nouns.pop()
    either = rf"(?<![\w-])(?:{re.escape(noun)}|{re.escape(write_plural(noun))})(?![\w-])"
    every = [*re.finditer(either, clause.text)]
    if not every:
        return clause
    found = every[1] if is_of_nested_sums(clause.text) else every[0]  # the inner ones
    text = clause.text
    if noun in (_PLAIN, f"{CAUSAL.lower()} {_PLAIN}"):
        held = [_describe(outline, piece) for piece in pieces]
        text = _add_contents(text, found, held, all(map(_is_projected, pieces)))
    dilation = write_dilations(_find_dilations(outline, pieces))
    return replace(clause, text=f"{text} ({dilation})" if dilation else text)


def _add_contents(
    text: str, found: re.Match[str], held: Sequence[tuple[str, int]], is_projected: bool
) -> str:
    """Return a text with what each of the blocks holds of which it speaks.

    Beside a long chain it is said that a layer stands around it, too, where all have one.
    """
    nouns = {noun for noun, _ in held}
    numbers = [number for _, number in held]
    few, many = min(numbers), max(numbers)
    if not few or len({*numbers}) > _MOST_COUNTS:
        return text
    if len({noun for noun, _ in held}) > 1 or len({*numbers}) > 1:  # of several kernels
        nouns = {_leave_out_kernel(noun) for noun in nouns}
    if len(nouns) != 1:
        return text
    noun = nouns.pop()
    head, rest = text[: found.end()], re.sub(r"^ (?:of )?(?=\d)", ", ", text[found.end() :])
    runs = [(number, len([*row])) for number, row in groupby(numbers)]
    inner = count_pieces(few, noun) if few > 1 else f"one {noun}"
    each = " each" if len(numbers) > 1 else ""
    if len(runs) == 1:
        around = " and a projection" if is_projected and few > _MOST_KNOWN else ""
        return f"{head} of {inner}{around}{each}{rest}"
    if head.startswith("stages of ") and len(runs) == len({*numbers}):
        (one, before), (other, behind) = runs
        return (
            f"{before:,} {found[0]} of {one} and {behind:,} of {other} {write_plural(noun)}{rest}"
        )
    return f"{head} of {few} or {many} {write_plural(noun)} each{rest}"


def _leave_out_kernel(noun: str) -> str:
    """Return what convolutions are called whatever their kernels are."""
    return "convolution" if "-" not in noun and "convolution" in noun else noun


def _is_projected(piece: Piece) -> bool:
    """Return whether a layer stands in place of a shortcut, beside those of a block."""
    return piece.part.details.read_as(ResidualDetails).projection


def _list_convolutions(outline: Outline, piece: Piece) -> list[ConvolutionDetails]:
    operations = outline.operations
    return [
        read_convolution(operations, number)
        for part in piece.parts
        for number in sorted(part.numbers)
        if operations.nodes[number].operator.has("convolves")
    ]


def _count_separable(blocks: Sequence[FoundBlock]) -> int:
    return sum(
        1 if block.kind == "separable" else _count_separable(block.parts) for block in blocks
    )


def _describe(outline: Outline, piece: Piece) -> tuple[str, int]:
    """Return what a block is made of, and of how many; "" where that is implied or not known."""
    nodes = outline.operations.nodes
    weights = [find_weight(nodes[number]) for number in piece.part.numbers]
    if any(one is not None and one.kind == "linear" for one in weights):
        return "", 0
    layers = _list_convolutions(outline, piece)
    count = len(layers) - _is_projected(piece)
    separable = _count_separable(piece.part.parts)
    if separable:
        return ("depthwise-separable convolution", separable) if count == 2 * separable else ("", 0)
    if count == _PLAIN_COUNT:
        return "", 0
    return name_by_kernels(layers, is_projected=_is_projected(piece)), count


def _find_dilations(outline: Outline, pieces: Sequence[Piece]) -> list[int]:
    """Return how far apart each block reads; nothing where one reads at several distances."""
    found = []
    for piece in pieces:
        layers = _list_convolutions(outline, piece)
        own = {one.dilation or 1 for one in layers if max(one.kernel, default=1) > 1}
        if not own or len(own - {1}) > 1:
            return []
        found.append(max(own))
    return found


def _write_own_dilations(clause: Clause) -> str:
    """Return how far apart convolutions read that are counted and nothing else is said of."""
    if not _CONVOLUTIONS.fullmatch(clause.text):
        return ""
    details = [piece.part.details.read_as(ConvolutionDetails) for piece in clause.scope]
    told = write_dilations([one.dilation or 1 for one in details if max(one.kernel, default=1) > 1])
    return f" ({told})" if told else ""
