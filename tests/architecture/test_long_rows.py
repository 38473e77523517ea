"""Modules of many convolutions in a row are told by what their parts are called."""

from __future__ import annotations

import numpy as np

from .test_modules import Named


def make(counts: tuple[int, int], names: tuple[str, str]) -> str:
    """Return what is said of two networks of two named parts each, one behind the other."""
    net = Named()
    x = net.take("image", (1, 8, 32, 32))
    for more, network in enumerate(("front", "behind")):
        around = len(net.nodes)
        for part, (count, name) in enumerate(zip(counts, names, strict=True)):
            start = len(net.nodes)
            for place in range(count + more * part):
                strides = [2, 2] if not part and place == count - 1 else [1, 1]
                x = net.add("Relu", net.conv(x, 8, 8, strides=strides))
            net.within(start, name)
            if not part:
                size = net.store(np.array([1, 1, 2, 2], np.float32))
                x = net.add("Resize", x, "", size)
        net.within(around, network)
    return net.finish(x).architecture.sentence


def test_parts_with_names_are_told_in_place_of_a_large_number() -> None:
    told = make((6, 8), ("encoder", "decoder"))
    assert "encoders (each six 3×3 convolutions" in told
    assert "decoder (eight 3×3 convolutions" in told
    assert "decoder (nine 3×3 convolutions" in told
    assert "29 3×3 convolutions" not in told


def test_few_layers_are_told_together_and_so_are_parts_without_names() -> None:
    assert "encoder" not in make((6, 5), ("encoder", "decoder"))
    assert "29 3×3 convolutions" in make((6, 8), ("part_a", "part_b"))
