"""What networks of transformer blocks are called whose blocks do not follow one another alike."""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.dataflow import is_input_independent

from .outline import Outline, OutlinePart
from .pieces import CROSS_ATTENTION, Piece
from .sizes import overlaps

ENCODER_DECODER = "Encoder-decoder transformer"
#: what pieces are called of layers that attend to another value besides their own, and that do not
_CROSSING = frozenset({"both", CROSS_ATTENTION})
_OWN = frozenset({"self", "Self-attention"})
_KNOWN = _CROSSING | _OWN
#: a layer of a decoder attends to itself so often, as by streams that predict several tokens (W. Qi
#: and others, ProphetNet, 2020, section 3.2)
_MOST_BESIDE = 2
_ATTENDING = frozenset({"attention", "transformer"})
#: kernels of images and volumes have so many axes at least
_LEAST_IMAGE_AXES = 2


def is_encoder_decoder(outline: Outline, pieces: Sequence[Piece]) -> bool:
    """Return whether all layers of a second stack attend to what a first one gives.

    Be they recognised as layers, or as attention to themselves and to the other one.

    A. Vaswani and others, Attention Is All You Need, 2017, figure 1. Where images are convolved
    before the first, it is told by their convolutions what that is.

    Parameters
    ----------
    outline
        Of the graph.
    pieces
        All its blocks in order.
    """
    attending = [piece for piece in pieces if piece.kind in _ATTENDING]
    names = [piece.name for piece in attending]
    if not set(names) <= _KNOWN or set(names).isdisjoint(_CROSSING) or names[0] not in _OWN:
        return False
    # what a decoder's first layer attends to itself does not follow from the encoder
    count = 1
    while names[count] in _OWN and attending[count].part.follows(attending[count - 1].part):
        count += 1
    encoder, decoder = attending[:count], attending[count:]
    end, start = encoder[-1].part, encoder[0].parts[0]
    crossing = [piece for piece in decoder if piece.name in _CROSSING]
    first = decoder.index(crossing[0])
    if not all(piece.part.follows(end) for piece in decoder[first:]):
        return False
    if any(piece.part.follows(end) for piece in decoder[:first]):
        return False
    if not _attend_to_one(outline, crossing):
        return False
    if not first and not _asks_of_input(outline, crossing[0], end):
        return False
    beside = [piece for piece in decoder if piece.name not in _CROSSING]
    if len(beside) > _MOST_BESIDE * len(crossing):
        return False
    if any(piece.kind != "attention" for piece in beside):  # a layer that attends to itself alone
        return False
    return not any(
        len(part.kernel) >= _LEAST_IMAGE_AXES and start.follows(part)
        for part in outline.of_kind("conv")
    )


def _attend_to_one(outline: Outline, crossing: Sequence[Piece]) -> bool:
    """Return whether all take one value: two streams that attend to each other take several."""
    taken = [
        {value for part in piece.parts for value in outline.operands(part)} for piece in crossing
    ]
    return bool(set.intersection(*taken))


def _asks_of_input(outline: Outline, crossing: Piece, end: OutlinePart) -> bool:
    """Return whether a cross-attention takes something of an input that is not what ended before.

    So a decoder without attention to itself has a sequence of its own; what is stored is none.
    """
    for value in (value for part in crossing.parts for value in outline.operands(part)):
        giver = outline.giver(value)
        is_of_end = giver is not None and (giver is end or giver.follows(end))
        if not is_of_end and not is_input_independent(value):
            return True
    return False


def is_patches(piece: Piece) -> bool:
    """Return whether a convolution takes every place once: linear layers of patches.

    A. Dosovitskiy and others, An Image is Worth 16×16 Words, 2021, section 3.1. Large patches may
    share less than half of their places: Y. Gong and others, AST: Audio Spectrogram Transformer,
    2021, section 2.1.
    """
    part = piece.part
    if piece.kind != "conv" or part.is_transposed:
        return False
    stride = part.stride if isinstance(part.stride, tuple) else (part.stride,) * len(part.kernel)
    return (max(part.kernel, default=0) > 1 and part.kernel == stride) or overlaps(part)
