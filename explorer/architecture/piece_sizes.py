"""What is said of the sizes of blocks that a sentence counts: widths, heads, kernels, tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.notation import write_span
from netloupe.explorer.patterns.attended_axes import ALONG
from netloupe.explorer.patterns.convolution_details import ConvolutionDetails
from netloupe.explorer.patterns.transformer_details import (
    AttentionDetails,
    ExpertsDetails,
    MlpDetails,
)

from .cells import UnrolledDetails
from .counted_words import join_with_and
from .dilations import write_dilations
from .layer_facts import describe_layers
from .layer_words import in_brackets, write_layers
from .outline import Outline, OutlinePart
from .pieces import (
    CLASS,
    HOURGLASS,
    Piece,
    is_told,
)
from .sequences import RecurrentLayer, read_layer
from .sketch import write_way

#: of longer ways the widths in the middle are left out
_MOST_WIDTHS = 6
_MOST_GLUE = 12
#: of more kinds it is not told what each is
_MOST_FACTS = 2
#: but for what each has a number of
_MOST_COUNTS = 4
#: attentions that go along more axes are not told
_MOST_AXES = 2


def read_recurrent_part(outline: Outline, part: OutlinePart) -> RecurrentLayer:
    """Return what is known of a recurrent layer."""
    return read_layer(outline.operations.nodes[part.end])


def write_piece_sizes(outline: Outline, pieces: Sequence[Piece], *, is_row: bool) -> str:
    """Return what is known of the sizes of alike pieces, with a space before it.

    Items of a row follow one another; others stand at one place of blocks.
    """
    part = pieces[0].part
    if pieces[0].name == HOURGLASS:
        return ""
    if pieces[0].kind == CLASS:
        return in_brackets(_count_layers(pieces))
    if pieces[0].layer is not None:
        layers = [piece.layer for piece in pieces if piece.layer is not None]
        return in_brackets(write_layers(describe_layers(outline, layers)))
    if part.kind == "embedding":
        return write_if_alike({_write_table(piece.part) for piece in pieces})
    if part.kind == "Det":
        return write_if_alike({_write_square(outline, piece.part) for piece in pieces})
    if part.kind == "attention":
        heads = write_if_alike({write_head_sizes(piece.part) for piece in pieces})
        return heads + write_axes_of(pieces)
    if part.kind in ("mlp", "experts"):
        return _write_feeding(pieces)
    if part.kind == "unrolled" or part.has("recurrent"):
        return write_if_alike({_write_hidden(outline, piece.part) for piece in pieces})
    sizes = _write_features(outline, pieces, is_row=is_row) + write_kernel_of(pieces)
    counts = Counter(", ".join(piece.part.facts) for piece in pieces)
    facts = [*counts]
    if part.kind == "conv" or sizes or not all(facts):
        return sizes
    if len(facts) > _MOST_FACTS:
        return in_brackets(_join_counts(facts) or _write_shared(pieces))
    if len(facts) > 1 and any(", " in fact for fact in facts):
        return in_brackets("; ".join(_count_facts(*one) for one in counts.items()))
    each = " each" if part.kind == "basis" and len(pieces) > 1 == len(facts) else ""
    return in_brackets(f"{join_with_and(facts)}{each}")


def _count_layers(pieces: Sequence[Piece]) -> str:
    """Return how many convolutions each of some blocks holds, and nothing else."""
    if any(part.kind != "conv" for piece in pieces for part in piece.parts):
        return ""
    counts = [len(piece.parts) for piece in pieces]
    each = " each" if len(counts) > 1 else ""
    return f"{write_span(counts)} convolutions{each}"


def _count_facts(facts: str, count: int) -> str:
    """Return ``9 demodulated, 3×3``: what is so of some pieces, and of how many of them."""
    return f"{count:,} {'of ' if facts[0].isdigit() else ''}{facts}"


def _write_shared(pieces: Sequence[Piece]) -> str:
    """Return the facts that all pieces have."""
    first, *others = (piece.part.facts for piece in pieces)
    return ", ".join(fact for fact in first if all(fact in facts for facts in others))


def _join_counts(facts: Sequence[str]) -> str:
    """Return ``3, 6 and 4 variables`` for counts of one noun; "" for others, and for more."""
    found = [re.fullmatch(r"([\d,]+) ([a-z]+)", fact) for fact in facts[: _MOST_COUNTS + 1]]
    numbers = [one[1] for one in found if one is not None]
    nouns = {one[2] for one in found if one is not None}
    if len(numbers) < len(found) or len(found) > _MOST_COUNTS or len(nouns) > 1:
        return ""
    return f"{join_with_and(numbers)} {nouns.pop()}"


def write_sizes_of(outline: Outline, pieces: Sequence[Piece]) -> str:
    """Return what is known of the sizes of pieces of one kind in order, with a space before it."""
    return write_piece_sizes(outline, pieces, is_row=True)


def write_kernel_of(pieces: Sequence[Piece]) -> str:
    """Return the kernel of convolutions along one axis, and from where to where dilations go."""
    details = [piece.part.details.read_as(ConvolutionDetails) for piece in pieces]
    kernels = {one.kernel for one in details}
    told = []
    kernel = kernels.pop()
    if not kernels and len(kernel) == 1 and kernel != (1,):
        told.append(f"kernel {kernel[0]}")
    told.append(write_dilations([one.dilation or 1 for one in details]))
    return in_brackets(", ".join(filter(None, told)))


def write_if_alike(texts: set[str]) -> str:
    """Return what is so of all; "" where they differ."""
    return texts.pop().rstrip() if len(texts) == 1 else ""


def _write_table(part: OutlinePart) -> str:
    return f" of {part.rows:,} × {part.row_width:,}" if part.rows and part.row_width else ""


def _write_square(outline: Outline, part: OutlinePart) -> str:
    """Return the size of the matrix of a determinant, as of orbitals and electrons.

    D. Pfau and others, Ab Initio Solution of the Many-Electron Schrodinger Equation with Deep
    Neural Networks, 2020, equation 5.
    """
    matrix = outline.operations.nodes[part.end].input(0)
    facts = find_value_facts(outline.graph.model)
    shape = (facts.find_dims(matrix) if matrix is not None else None) or ()
    size = shape[-1] if shape else None
    return f" of {size:,} × {size:,}" if isinstance(size, int) else ""


def write_head_sizes(part: OutlinePart) -> str:
    """Return how many heads of which width an attention has, with a space before it."""
    details = part.details.read_as(AttentionDetails)
    if not details.heads:
        return ""
    plural = "s" if details.heads > 1 else ""
    width = f" × {details.head_width}" if details.head_width else ""
    return f" of {details.heads} head{plural}{width}"


def write_axes_of(pieces: Sequence[Piece]) -> str:
    """Return ``along height or width`` of attentions that each go along one axis of a map."""
    told = [next((f for f in one.part.facts if f.startswith(ALONG)), "") for one in pieces]
    axes = [*dict.fromkeys(fact.removeprefix(ALONG) for fact in told)]
    return f" {ALONG}{' or '.join(axes)}" if all(told) and len(axes) <= _MOST_AXES else ""


def _write_hidden(outline: Outline, part: OutlinePart) -> str:
    unrolled = part.details.read_as(UnrolledDetails)
    if unrolled.hidden:
        steps = f" written out in {unrolled.steps:,} steps" if unrolled.steps else ""
        return f" of width {unrolled.hidden:,}{steps}"
    hidden = read_recurrent_part(outline, part).hidden if part.has("recurrent") else 0
    return f" of width {hidden:,}" if hidden else ""


def _write_feeding(pieces: Sequence[Piece]) -> str:
    experts = {piece.part.details.read_as(ExpertsDetails) for piece in pieces}
    one = experts.pop()
    if pieces[0].kind == "experts":
        chosen = f", {one.top} per token" if one.top else ""
        return f" of {one.experts:,}{chosen}" if not experts and one.experts else ""
    widths = list(dict.fromkeys(piece.part.widths for piece in pieces))
    activations = {piece.part.details.read_as(MlpDetails).activation for piece in pieces}
    told = []
    if len(widths) <= 2 and all(widths):
        write = _write_widths if len(widths) == 1 else _write_whole_widths
        told.append(" and ".join(map(write, widths)))
    if len(activations) == 1 and (name := activations.pop()):
        told.append(name)
    return in_brackets(", ".join(told))


def _write_widths(way: Sequence[int]) -> str:
    """Return the widths of an MLP: of one that gives what it takes the inner one counts."""
    if len(way) == 3 and way[0] == way[2]:
        return write_way(way[:-1])
    return _write_whole_widths(way)


def _write_whole_widths(way: Sequence[int]) -> str:
    """Return all widths of an MLP, as beside another one that gives no more than it takes."""
    if len(way) > 4 and len({*way[1:]}) == 1:
        return f"{way[0]:,} → {way[1]:,} in {len(way) - 1} layers"
    count = f" in {len(way) - 1} layers" if len(way) > _MOST_WIDTHS else ""
    return f"{shorten_way(way)}{count}"


def _write_features(outline: Outline, pieces: Sequence[Piece], *, is_row: bool) -> str:
    """Return widths: of a chain each, of others those that all have."""
    sizes = [(piece.parts[0].in_features, piece.part.out_features) for piece in pieces]
    if not all(taken and given for taken, given in sizes):
        return ""
    is_linear = pieces[0].kind in ("basis", "linear")
    given = [size for _, size in sizes]
    noun = "" if is_linear else f" channel{'s' if max(given) > 1 else ''}"
    if len({*sizes}) == 1 and len(pieces) > 1:
        taken = sizes[0][0]
        return f" {taken:,} → {given[0]:,}{noun}" if taken != given[0] else f" of {taken:,}{noun}"
    if not is_row:
        return f" of {write_span(given)}{noun}"
    if all(one[1] == two[0] for one, two in pairwise(sizes)) and follows_on(outline, pieces):
        way = [sizes[0][0], *given]
        kept = way  # of layers each width is told, of convolutions where it changes
        if not is_linear:
            kept = [way[0], *(two for one, two in pairwise(way) if one != two)]
        if len({*kept}) == 1:
            return f" of {kept[0]:,}{noun}"
        return f" {shorten_way(kept)}" + ("" if is_linear else " channels"[: 8 + (kept[-1] > 1)])
    return ""


def shorten_way(widths: Sequence[int]) -> str:
    """Return widths with arrows; of many the first two and the last."""
    if len(widths) <= _MOST_WIDTHS:
        return write_way(widths)
    return f"{write_way(widths[:2])} → … → {widths[-1]:,}"


def follows_on(outline: Outline, pieces: Sequence[Piece]) -> bool:
    """Return whether each piece takes what the one before it gives, and nothing told between."""
    return all(_follows(outline, two.parts[0], one.part) for one, two in pairwise(pieces))


def _follows(outline: Outline, part: OutlinePart, before: OutlinePart) -> bool:
    pending, seen = [part], {part}
    while pending and len(seen) <= _MOST_GLUE:
        for giver in outline.givers(pending.pop()):
            if giver is before:
                return True
            if giver not in seen and not is_told(giver):
                seen.add(giver)
                pending.append(giver)
    return False
