"""What networks are called after the one operation that makes them: messages, codes, frequencies.

Each rule looks at what is computed, and at nothing else that would be named before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from netloupe.explorer.patterns import read_convolution

from .graph_kinds import sums_by_table
from .ideas import picks_rows
from .outline import Outline, OutlinePart
from .pieces import Piece
from .sizes import find_token_tables
from .spectral_layers import FOURIER_LAYER

#: messages go along edges in so many rounds at least
_LEAST_ROUNDS = 2
#: between rows of neighbours and their sum
_MOST_OF_MESSAGE = 40
#: operators that sum up what neighbours give: of a largest one no message is said
_SUMMING = frozenset({"ReduceMean", "ReduceSum"})
_LAYERS = frozenset({"linear", "mlp"})
_QUANTIZERS = frozenset({"quantizer", "residual quantizer"})
#: kinds that work on each place alone
_OF_PLACES = frozenset({"linear", "mlp", "positions"})
_TIME_POOLED = "Convolutions with max-over-time pooling"
_LEAST_FOURIER = 2


def name_by_operation(
    outline: Outline, pieces: Sequence[Piece], words: Collection[str], *, mixes_experts: bool
) -> str:
    """Return what a network is called by its special operation; "" where there is none.

    Parameters
    ----------
    outline
        Of the graph.
    pieces
        All its blocks in order.
    words
        What else mixes in it: ``convolutions``, ``attention`` …
    mixes_experts
        Whether a gate weighs what several experts give.
    """
    if _is_autoencoder_of_codes(outline, pieces):
        is_residual = all(one.kind != "quantizer" for one in pieces)
        return f"Autoencoder with {'residual ' if is_residual else ''}vector quantizer"
    names = Counter(piece.name for piece in pieces)
    if names[FOURIER_LAYER] >= _LEAST_FOURIER and all(map(_is_of_places, pieces)):
        return "Fourier neural operator"  # Z. Li and others, 2021, figure 2
    if names[_TIME_POOLED] and _is_text_classifier(outline, pieces):
        return "Convolutional text classifier"  # Y. Kim, 2014, figure 1
    if words:
        return ""
    if _passes_messages(outline) or sums_by_table(outline):
        return "Message-passing network"
    if any(piece.kind == "generated" for piece in pieces):
        return "Network with hypernetwork"  # D. Ha and others, HyperNetworks, 2017, section 3
    return "Network with mixture of experts" if mixes_experts else ""


def _is_autoencoder_of_codes(outline: Outline, pieces: Sequence[Piece]) -> bool:
    """Return whether a quantizer is between what makes places fewer and what makes them more.

    A. van den Oord and others, Neural Discrete Representation Learning, 2017, figure 1; N.
    Zeghidour and others, SoundStream, 2021, figure 2. What comes out has as many channels as what
    goes in.
    """
    codes = [piece.part for piece in pieces if piece.kind in _QUANTIZERS]
    convolved = [
        number
        for number, node in enumerate(outline.operations.nodes)
        if node.operator.has("convolves")
    ]
    if not codes or not convolved:
        return False
    before = [n for n in convolved if all(code.follows(outline.owner(n)) for code in codes)]
    behind = [n for n in convolved if all(outline.owner(n).follows(code) for code in codes)]
    if not before or not behind:
        return False
    read = {n: read_convolution(outline.operations, n) for n in (*before, *behind)}
    shrinks = any(read[n].stride is not None and not read[n].transposed for n in before)
    grows = any(read[n].transposed for n in behind) or any(
        part.has("resamples", "moves_pixels") and part.follows(codes[-1]) for part in outline.parts
    )
    taken, given = read[before[0]].in_features, read[behind[-1]].out_features
    return shrinks and grows and bool(taken) and taken == given


def _is_of_places(piece: Piece) -> bool:
    """Return whether a block mixes frequencies, or works on each place alone."""
    is_pointwise = piece.kind == "conv" and piece.part.is_pointwise
    return piece.name == FOURIER_LAYER or piece.kind in _OF_PLACES or is_pointwise


def _is_text_classifier(outline: Outline, pieces: Sequence[Piece]) -> bool:
    """Return whether looked-up words are convolved, and a linear layer tells what they are of."""
    kinds = [piece.kind for piece in pieces if piece.kind != "embedding"]
    return kinds == ["unit", "linear"] and bool(find_token_tables(outline))


def _passes_messages(outline: Outline) -> bool:
    """Return whether what neighbours send is summed up at each node, in several rounds.

    J. Gilmer and others, Neural Message Passing for Quantum Chemistry, 2017, equations 1 and 2; of
    as many neighbours for each node their rows are picked, and summed along an axis (J. Ingraham
    and others, Generative Models for Graph-Based Protein Design, 2019, equation 4).
    """
    last: OutlinePart | None = None
    rounds = 0
    for total in outline.parts:
        if total.kind not in _SUMMING:
            continue
        for picked in _find_picked(outline, total):
            if last is None or picked.follows(last):
                rounds += 1
                last = total
                break
    return rounds >= _LEAST_ROUNDS


def _find_picked(outline: Outline, total: OutlinePart) -> Iterator[OutlinePart]:
    """Yield what picks rows of computed features that go through layers into a sum."""
    pending, seen = [(total, False)], {total}
    while pending and len(seen) < _MOST_OF_MESSAGE:
        part, is_layer = pending.pop()
        for giver in outline.givers(part):
            if giver in seen or giver.kind in _SUMMING:
                continue
            seen.add(giver)
            if giver.has("gathers") and picks_rows(outline, giver.end):
                if is_layer:
                    yield giver
                continue
            pending.append((giver, is_layer or giver.kind in _LAYERS))
