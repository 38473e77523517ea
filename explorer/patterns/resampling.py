"""Pictures made larger and smaller: pixel shuffles, up- and downsampling."""

from __future__ import annotations

from collections.abc import Iterator

from .found import Blocks, Found
from .shuffles import SHUFFLE, UNSHUFFLE, read_shuffle

#: what they are called, and the sign of their factor, as of the strides of convolutions
_SHUFFLES = {SHUFFLE: ("Pixel shuffle", "×"), UNSHUFFLE: ("Pixel unshuffle", "/")}


def find_pixel_shuffles(blocks: Blocks) -> Iterator[Found]:
    """Find channels that become squares of pixels, and the other way around.

    W. Shi and others, Real-Time Single Image and Video Super-Resolution Using an Efficient
    Sub-Pixel Convolutional Neural Network, 2016, equation 4; by an operator or written out.
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        if kind not in _SHUFFLES or blocks.owner[number] is not None:
            continue
        found = read_shuffle(operations.nodes[number], operations.knowledge)
        if found is not None:
            name, sign = _SHUFFLES[kind]
            facts = (f"{sign}{found[1]}",)
            yield Found(
                "pixel shuffle", name, frozenset({number}), number, facts, {"factor": found[1]}
            )
