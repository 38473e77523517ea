"""How the blocks that a sentence counts are called, and what is said of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from netloupe.explorer.notation import write_count
from netloupe.explorer.patterns.branched_convolutions import BRANCHED
from netloupe.explorer.patterns.convolution_details import ConvolutionDetails
from netloupe.explorer.patterns.deformable_attention import DEFORMABLE
from netloupe.explorer.patterns.residual_kinds import WITH
from netloupe.explorer.patterns.stored_kernels import BEGUN_AT_ZERO
from netloupe.explorer.patterns.transformer_details import (
    CLASS_ATTENTION,
)

from .cells import UnrolledDetails
from .counted_words import SMALL_NUMBERS, count_pieces, join_with_and, strip_brackets, write_plural
from .layer_words import PROPER_NAMES, write_latents
from .outline import Outline
from .piece_runs import PieceRun, join_alike
from .piece_sizes import (
    follows_on,
    read_recurrent_part,
    shorten_way,
    write_head_sizes,
    write_if_alike,
    write_kernel_of,
    write_piece_sizes,
)
from .pieces import (
    CAUSAL,
    CLASS,
    CROSS_ATTENTION,
    HOURGLASS,
    ROUTING,
    Piece,
)
from .sketch import write_row
from .stored_attention import follows_stored_attention

#: so many stages may be of one block each
_MOST_SINGLE = 4
#: what is counted already
_COUNTED = re.compile(rf"(?:[\d,]+|{'|'.join(SMALL_NUMBERS)}) ")
#: blocks that go through stages, each of one width
_STAGED = frozenset({"group", "inverted", "residual", "separable"})
#: what blocks are called that have no name of their own, or one of operators
_NOUNS = {
    "Det": "determinant",
    "embedding": "embedding",
    "inverted": "inverted residual",
    "linear": "linear layer",
    "separable": "depthwise-separable convolution",
    "soft trees": "layer of soft decision trees",
}
#: kinds of attention after which a network is named
_TELLING_ATTENTION = frozenset(
    {"Auto-correlation", "Differential attention", "ProbSparse attention"}
)


def write_run(outline: Outline, run: PieceRun) -> str:
    """Return what a run is: ``6 blocks of Fourier mixing and MLP 48 → 96``."""
    if len(run.members[0]) == 1:
        return write_pieces(outline, run.pieces, run.times)
    told = write_members(outline, run.members)
    norms = _write_norms(outline, run.pieces)
    if run.count == 1:
        return join_with_and(told)
    blocks = write_count(run.count, "block")
    if len(told) > 2:  # else what follows in the sentence is read as one of them
        return f"{blocks} (each {strip_brackets(join_with_and(told))}{norms})"
    return f"{blocks} of {join_with_and(told)}{norms}"


def write_members(
    outline: Outline, members: Sequence[Sequence[Piece]], *, is_sized: bool = True
) -> list[str]:
    """Return what each of alike blocks holds, perhaps with sizes; the last block may lack some.

    What several places hold is counted.
    """
    places = [(noun, sizes if is_sized else "") for noun, sizes in _write_places(outline, members)]
    told = []
    for (noun, sizes), count in Counter(places).items():
        if _COUNTED.match(noun):  # several places hold as many
            told += [add_sizes(noun, sizes)] * count
        else:
            told.append(add_sizes(noun if count == 1 else count_pieces(count, noun), sizes))
    return told


def _write_places(
    outline: Outline, members: Sequence[Sequence[Piece]]
) -> Iterator[tuple[str, str]]:
    """Yield what stands at each place of blocks, and its sizes; alike pieces in a row together."""
    start = 0
    for alike in join_alike(members[0]):
        end = start + len(alike)
        rows = [member[start:end] for member in members if len(member) >= end]
        start = end
        if len(alike) == 1:
            firsts = [row[0] for row in rows]
            yield name_piece(outline, firsts), write_piece_sizes(outline, firsts, is_row=False)
            continue
        texts = {write_pieces(outline, row) for row in rows}
        noun = name_piece(outline, alike)
        if len(rows) < len(members):  # the last block lacks some
            yield write_plural(noun), ""
            continue
        yield texts.pop() if len(texts) == 1 else count_pieces(len(alike), noun), ""


def write_pieces(outline: Outline, pieces: Sequence[Piece], times: int = 1) -> str:
    """Return what alike pieces that follow one another are: how many, with which sizes.

    Each of them stands for so many.
    """
    noun = name_piece(outline, pieces)
    if pieces[0].name == ROUTING:  # an update is between two iterations
        return f"routing by agreement in {len(pieces) * times + 1:,} iterations"
    sizes = write_piece_sizes(outline, pieces, is_row=True)
    if len(pieces) * times == 1:
        return add_sizes(noun, sizes)
    stages = _list_stages(pieces) if follows_on(outline, pieces) else []
    if len(stages) > 1:
        return add_sizes(f"stages of {write_row(stages)} {write_plural(noun)}", sizes)
    return add_sizes(count_pieces(len(pieces) * times, noun), sizes)


def add_sizes(noun: str, sizes: str) -> str:
    """Return what something is with its sizes: before what it has in it."""
    head, joint, inner = noun.partition(WITH)
    return f"{head}{sizes}{joint}{inner}"


def name_alike(outline: Outline, pieces: Sequence[Piece]) -> str:
    """Return what each of some pieces of one kind is called; of unlike convolutions no kernel."""
    nouns = {name_piece(outline, [piece]) for piece in pieces}
    return nouns.pop() if len(nouns) == 1 else "convolution"


def write_shortly(outline: Outline, pieces: Sequence[Piece], count: int) -> str:
    """Return how many alike pieces there are, with the one size that tells them: heads, widths."""
    noun = name_alike(outline, pieces)
    told = count_pieces(count, noun) if count > 1 else noun
    if pieces[0].layer is not None:
        layers = [piece.layer for piece in pieces if piece.layer is not None]
        heads = {write_head_sizes(one) for layer in layers for one in layer.attentions}
        kinds = {layer.attentions[0].name for layer in layers if layer.attentions}
        kind = kinds.pop() if len(kinds) == 1 else ""
        asking = [[fact for one in layer.attentions for fact in one.facts] for layer in layers]
        with_it = f" with {_lower(kind)}" if kind in _TELLING_ATTENTION else ""
        return told + with_it + write_if_alike(heads) + write_latents(asking)
    if pieces[0].kind == "linear":
        return told
    return add_sizes(told, write_piece_sizes(outline, pieces, is_row=count == len(pieces)))


def write_in_blocks(outline: Outline, rows: Sequence[Sequence[Piece]], each: int) -> str:
    """Return what stands in each of several blocks, of one kind: what is so of all of them.

    Parameters
    ----------
    outline
        The outline.
    rows
        Of each block the pieces of the kind.
    each
        How many there are in each block.
    """
    pieces = [piece for row in rows for piece in row]
    texts = {write_shortly(outline, row, each) for row in rows}
    if len(texts) == 1 and not (pieces[0].layer is not None and each > 1 and len(rows) > 1):
        return texts.pop()
    noun = name_alike(outline, pieces)
    if pieces[0].layer is not None:
        if any(len(piece.layer.attentions) > 1 for piece in pieces if piece.layer is not None):
            return count_pieces(each, noun)  # of row and column, say, before one MLP
        told = f"{each:,} attentions with MLP" if each > 1 else "attention with MLP"
        return told + _write_widths_of(rows)
    if each > 1:
        return count_pieces(each, noun)
    way = [width for width, _ in groupby(piece.part.out_features for piece in pieces)]
    if pieces[0].kind in _STAGED and all(way) and way in (sorted(way), sorted(way)[::-1]):
        return add_sizes(noun, f"{write_kernel_of(pieces)} {shorten_way(way)} channels")
    return noun + write_kernel_of(pieces)


def _write_widths_of(rows: Sequence[Sequence[Piece]]) -> str:
    """Return how wide the layers of a transformer in each of several blocks are."""
    ways = {tuple(piece.part.widths[-1:] for piece in row) for row in rows}
    widths = [*dict.fromkeys(ways.pop())] if len(ways) == 1 else []
    return (
        f" of width {join_with_and([f'{w[0]:,}' for w in widths])}"
        if all(widths) and widths
        else ""
    )


#: a network that goes down and up has each width so often
_TWICE = 2


def _list_stages(pieces: Sequence[Piece]) -> list[int]:
    """Return how many blocks there are until width or resolution change; nothing if unknown."""
    if pieces[0].kind not in _STAGED:
        return []
    counts: list[int] = []
    widths: list[int] = []
    for piece in pieces:
        width = piece.part.out_features
        if widths and width == widths[-1] and not piece.part.is_strided:
            counts[-1] += 1
        else:
            counts.append(1)
            widths.append(width)
    if all(widths) and _TWICE * len({*widths}) < len(widths):
        return []  # blocks of one list after the other, as of flows
    is_known = all(piece.part.out_features or len(counts) > 1 for piece in pieces)
    # of blocks that nearly all change width there are no stages
    are_stages = len(counts) <= _MOST_SINGLE or 2 * counts.count(1) <= len(counts)
    return counts if is_known and are_stages and len(counts) < len(pieces) else []


def name_piece(outline: Outline, pieces: Sequence[Piece]) -> str:
    """Return what each of alike pieces is called."""
    part = pieces[0].part
    if pieces[0].kind == CLASS:
        return pieces[0].name
    if pieces[0].layer is not None:
        is_own = pieces[0].name in (CLASS_ATTENTION, CROSS_ATTENTION)
        if pieces[0].name == CROSS_ATTENTION and follows_stored_attention(outline, pieces[0]):
            is_own = False
        kind = "deformable " if pieces[0].name == DEFORMABLE else ""
        own = pieces[0].name.lower().replace(" ", "-")
        return f"{own} block" if is_own else f"{kind}transformer block"
    if part.kind == "conv":
        details = [piece.part.details.read_as(ConvolutionDetails) for piece in pieces]
        return _name_convolution(details)
    if part.kind == "mlp" or pieces[0].name == HOURGLASS:
        return _lower(pieces[0].name) if part.kind == "mlp" else HOURGLASS.lower()
    if part.kind == "attention":
        return _lower(pieces[0].name)
    if part.kind == "unrolled":
        unrolled = part.details.read_as(UnrolledDetails)
        both = "bidirectional " if unrolled.bidirectional else ""
        return f"{both}{part.name} {'cell' if unrolled.steps is None else 'layer'}"
    if part.has("recurrent"):
        layer = read_recurrent_part(outline, part)
        both = "bidirectional " if layer.direction == "bidirectional" else ""
        return f"{both}{layer.kind} layer"
    if part.has("samples"):
        return "grid sampling"
    forms = {piece.part.details.read_as(ConvolutionDetails).form for piece in pieces}
    if part.kind == "separable" and forms == {BRANCHED}:
        return f"{BRANCHED} {_NOUNS[part.kind]}"
    told = _NOUNS.get(part.kind) or _lower(part.name or part.kind)
    return f"{CAUSAL.lower()} {told}" if pieces[0].name.startswith(CAUSAL) else told


def name_kind(outline: Outline, pieces: Sequence[Piece]) -> str:
    """Return the noun under which pieces are counted, whatever kernel and direction they have."""
    part = pieces[0].part
    if pieces[0].kind == CLASS:
        return pieces[0].name
    if pieces[0].layer is None and part.kind == "conv":
        return "transposed convolution" if part.is_transposed else "convolution"
    if pieces[0].layer is None and part.has("recurrent"):
        return f"{read_recurrent_part(outline, part).kind} layer"
    return name_piece(outline, pieces[:1])


def name_together(outline: Outline, pieces: Sequence[Piece]) -> str:
    """Return what pieces of one kind are called together."""
    nouns = {name_piece(outline, [piece]) for piece in pieces}
    return nouns.pop() if len(nouns) == 1 else name_kind(outline, pieces)


def _lower(name: str) -> str:
    """Return a name as it is inside of a sentence; that of a network keeps its capitals."""
    is_name = name.startswith(PROPER_NAMES) or any(
        letter.isupper() for letter in name.split(" ")[0][1:]
    )
    return name if is_name else name[:1].lower() + name[1:]


def _name_convolution(details: Sequence[ConvolutionDetails]) -> str:
    forms = {one.form for one in details}
    words = [form for form in forms - {BEGUN_AT_ZERO} if form] if len(forms) == 1 else []
    if all(one.dilation for one in details):
        words.append("dilated")
    if all(one.transposed for one in details):
        words.append("transposed")
    kernels = {one.kernel for one in details}
    kernel = kernels.pop() if len(kernels) == 1 else ()
    if kernel == (1,):
        words.append("pointwise")
    elif len(kernel) > 1:
        words.append("×".join(map(str, kernel)))
    if all(one.is_depthwise for one in details):
        words.append("depthwise")
    return " ".join((*words, "convolution"))


def _write_norms(outline: Outline, pieces: Sequence[Piece]) -> str:
    """Return which norm blocks have between them, where all have the same."""
    low, high = pieces[0].parts[0].place, pieces[-1].part.place
    names = {part.name for part in outline.parts[low:high] if part.kind == "norm"}
    return f", {names.pop()}" if len(names) == 1 else ""
