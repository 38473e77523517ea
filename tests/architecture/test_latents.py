"""What is said shortly of layers says how many learned latents ask in them."""

from __future__ import annotations

import pytest

from netloupe.explorer.architecture.layer_words import write_latents


@pytest.mark.parametrize(
    ("layers", "told"),
    [
        ([["1 head × 64", "128 × 256 latents"]], " by 128 learned latents × 256"),
        ([["1 head × 64", "128 latents"], ["128 latents"]], " by 128 learned latents"),
        ([["1 head × 64", "128 × 256 latents"], ["1 head × 64"]], ""),
        ([["16 latents"], ["8 latents"]], ""),
        ([["900 learned queries"]], ""),  # as many or more than what they attend to
        ([["1 head × 64"]], ""),
    ],
)
def test_latents_of_all_layers(layers: list[list[str]], told: str) -> None:
    assert write_latents(layers) == told
