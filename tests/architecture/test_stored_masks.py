"""A family follows from what a stored mask hides, with a mask that is given for tokens or not."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto

from netloupe.explorer.architecture import Architecture
from tests.architecture.networks import Network

_LOW = np.float32(np.finfo(np.float32).min)
_TRIANGLE = np.tril(np.ones((5, 5), np.bool_))


def tell(seen: np.ndarray, blocks: int = 4, narrow: int = 0, with_padding: bool = True) -> str:
    return describe(seen, blocks, narrow, with_padding).summary


def describe(
    seen: np.ndarray, blocks: int = 4, narrow: int = 0, with_padding: bool = True
) -> Architecture:
    """Return what is said of blocks over tokens whose mask is a stored square and padding.

    The last so many see two tokens before them at most.
    """
    net = Network()
    x = net.embed()
    mask = net.take("mask", (1, 1, 1, "sequence"), TensorProto.BOOL) if with_padding else ""
    for number in range(blocks):
        square = seen & ~np.tril(_TRIANGLE, -3) if number >= blocks - narrow else seen
        kept = net.store(square[None, None])
        if with_padding:
            kept = net.add("And", kept, mask)
        hidden = net.add("Where", kept, net.store(np.float32(0)), net.store(_LOW))
        x = net.block(x, hidden)
    return net.finish(net.linear(net.norm(x, 8), 8, 100)).architecture


@pytest.mark.parametrize("with_padding", [True, False])
def test_a_stored_triangle_makes_a_decoder(with_padding: bool) -> None:
    told = tell(_TRIANGLE, with_padding=with_padding)
    assert told.startswith(
        "Decoder-only transformer: 4 blocks (pre-norm LayerNorm; self-attention 2 heads × 4, "
        "causal; MLP 8 → 32, GELU), vocabulary 100."
    )


def test_a_stored_square_that_hides_nothing_makes_an_encoder() -> None:
    told = tell(np.ones((5, 5), np.bool_))
    assert told.startswith(
        "Encoder-only transformer: 4 blocks (pre-norm LayerNorm; self-attention 2 heads × 4; MLP"
    )


def test_a_square_that_hides_what_is_neither_before_nor_behind_leaves_it_unsaid() -> None:
    told = describe(~np.eye(5, dtype=np.bool_))
    assert told.family == ""
    assert "causal" not in told.summary


def test_bands_are_windows_of_the_layers_that_have_them() -> None:
    assert "self-attention 2 heads × 4, causal, window 3; MLP" in tell(_TRIANGLE, narrow=4)
    assert "causal, window 3 in 3 of 4; MLP" in tell(_TRIANGLE, narrow=3)


def test_a_stored_square_of_other_numbers_than_masks_have_leaves_it_unsaid() -> None:
    net = Network()
    x = net.embed()
    numbers = np.random.default_rng(0).normal(size=(1, 1, 5, 5)).astype(np.float32)
    square = net.store(numbers)
    for _ in range(4):
        x = net.block(x, square)
    told = net.finish(net.linear(net.norm(x, 8), 8, 100)).architecture
    assert told.summary.startswith("Transformer: vocabulary 100, 4 transformer blocks (pre-norm")
    assert told.family == ""
