"""Stages whose blocks are a residual block of convolutions and transformer blocks behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from netloupe.explorer.notation import write_count

from .layers import Layer, Stack
from .outline import Outline, OutlinePart
from .sketch import BlockSketch

_CONVOLUTIONAL = frozenset({"inverted", "residual"})


class MixedBlock(NamedTuple):
    """A block of convolutions, and the layers between it and the next one."""

    convolutions: OutlinePart
    layers: list[Layer]


def find_mixed_stages(
    outline: Outline, stack: Stack, stages: Sequence[Sequence[Layer]]
) -> list[list[MixedBlock]]:
    """Return the blocks of each stage; nothing where they are not all alike.

    Z. Tu and others, MaxViT: Multi-Axis Vision Transformer, 2022, figure 2: an inverted residual,
    attention in windows and attention on a grid.
    """
    starts = {id(layer.parts[0]): layer for layer in stack.layers}
    own = {id(part) for part in stack.parts}
    before = [part for part in outline.main if part.place < stack.first.place]
    rest = [part for part in outline.main if stack.first.place <= part.place <= stack.last.place]
    blocks: list[MixedBlock] = []
    for part in [*before[-1:], *rest]:
        if id(part) in starts:
            if not blocks:
                return []
            blocks[-1].layers.append(starts[id(part)])
        elif id(part) not in own:
            if part.kind not in _CONVOLUTIONAL:
                return []
            blocks.append(MixedBlock(part, []))
    if len({(block.convolutions.name, len(block.layers)) for block in blocks}) != 1:
        return []
    stage_of = {id(layer): number for number, stage in enumerate(stages) for layer in stage}
    found: list[list[MixedBlock]] = [[] for _ in stages]
    for block in blocks:
        numbers = {stage_of.get(id(layer), -1) for layer in block.layers}
        if len(numbers) != 1 or -1 in numbers:
            return []
        found[numbers.pop()].append(block)
    return found


def write_mixed(stages: Sequence[Sequence[MixedBlock]]) -> str:
    """Return what the blocks of mixed stages are made of; "" where there are none."""
    if not stages:
        return ""
    convolutions, layers = stages[0][0]
    return f"{convolutions.name.lower()} and {write_count(len(layers), 'transformer block')} each"


def sketch_mixed(
    outline: Outline, stages: Sequence[Sequence[MixedBlock]]
) -> tuple[BlockSketch, ...]:
    """Return what is told of mixed stages as of blocks."""
    return tuple(
        BlockSketch(
            "convolution and transformer block",
            len(stage),
            outline.nodes(
                part
                for convolutions, layers in stage
                for part in (convolutions, *(part for layer in layers for part in layer.parts))
            ),
        )
        for stage in stages
    )
