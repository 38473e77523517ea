"""What networks of transformer blocks are called whose blocks do not follow one another alike."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .outline import Outline
from .pieces import Piece

ENCODER_DECODER = "Encoder-decoder transformer"
#: what pieces are called of layers that attend to another value besides their own, and that do not
_BOTH, _SELF = "both", "self"
_ATTENDING = frozenset({"attention", "transformer"})
#: kernels of images and volumes have so many axes at least
_LEAST_IMAGE_AXES = 2


def is_encoder_decoder(outline: Outline, pieces: Sequence[Piece]) -> bool:
    """Return whether all layers of a second stack attend to what a first one gives.

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
    decoder = [piece for piece in attending if piece.name == _BOTH]
    encoder = attending[: len(attending) - len(decoder)]
    if not encoder or not decoder or attending[len(encoder) :] != decoder:
        return False
    if not all(piece.name in (_SELF, "Self-attention") for piece in encoder):
        return False
    end, start = encoder[-1].part, encoder[0].parts[0]
    if not all(one.part.follows(other.part) for other, one in pairwise(encoder)):
        return False
    if not all(piece.part.follows(end) for piece in decoder):
        return False
    return not any(
        len(part.kernel) >= _LEAST_IMAGE_AXES and start.follows(part)
        for part in outline.of_kind("conv")
    )


def is_patches(piece: Piece) -> bool:
    """Return whether a convolution takes every place once: linear layers of patches.

    A. Dosovitskiy and others, An Image is Worth 16×16 Words, 2021, section 3.1.
    """
    part = piece.part
    if piece.kind != "conv" or part.is_transposed:
        return False
    stride = part.stride if isinstance(part.stride, tuple) else (part.stride,) * len(part.kernel)
    return max(part.kernel, default=0) > 1 and part.kernel == stride
