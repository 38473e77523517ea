"""Numbers that a sentence may say of a model: its configuration and what follows from it."""

from __future__ import annotations

import re
from dataclasses import fields

from .known_architectures import MODEST, Architecture

#: widths, kernels, windows and such by the name of the network, from ``tools/zoo`` and from the
#: papers beside ``tests/known_architectures.py``
ALSO: dict[str, tuple[float, ...]] = {
    "clip": (64, 16, 256, 48, 12, 192),
    # the kernel of the depthwise convolution in each block
    "conformer": (31,),
    # places that the file states of what it gives
    "demucs": (9556,),
    # places that the file states of what it gives
    "fastspeech2": (
        40,
        12,
    ),
    # places that the file states of what it gives
    "dit": (16,),
    "densenet": (8,),
    # of states, actions and returns, and of the actions that are given
    "decision_transformer": (4,),
    # a ResNet-50 of narrow stages; ten classes and that of no object
    "detr": (7, 3, 8, 16, 64, 128, 11, 2),
    "efficientnet": (8, 80),
    "espcn": (1, 3, 9, 32, 64),
    "gru": (16,),
    "gru_cells": (12,),
    # operators
    # the projections before and behind the long convolution
    "hyena": (2,),
    # the blocks of a module of three branches, and of two
    "hrnet": (12, 8, 16),
    "kmeans": (7, 2, 1, 3),
    "light_bvlc_alexnet": (96, 256, 384),
    "light_densenet121": (32,),
    "light_vgg19": (3,),
    "light_zfnet512": (96, 256, 512, 1024, 3),
    "lstm": (12, 16, 24),
    "lstm_cells": (12,),
    "mamba": (4,),
    "mobilenetv2": (8, 80),
    # of 15 blocks so many have squeeze and excitation
    "mobilenetv3": (8, 15),
    # those of both T-nets; shared layers over points
    "pointnet": (6, 7),
    # of the motion encoder, the cell and the head
    "raft": (8,),
    # keys and values are reduced in three stages of two blocks: by 8, 4 and 2, and not by 1
    "pvt": (6,),
    "segformer": (6,),
    "segmentation_unet": (5, 4, 3),
    # windows, and that two of three blocks have these
    "sam_encoder": (14, 2),
    # windows, and how many blocks shift them: every other one, where there are several windows
    "swin": (7, 5),
    # two heads of each block but the last, whose only head ends its MLP
    "nbeats": (58,),
    # linear layers of one step of the decoder
    "tacotron2": (6,),
    # of each of four and two variables, and of their weights, beside MLPs
    "tft": (9, 5),
    # two and three residual blocks a level, down and up, and two between
    "unet": (4, 8, 2, 12, 22, 16, 32, 48, 64),
    # two residual blocks and attention before three a level
    "vae_decoder": (5, 1, 3, 4),
    "whisper": (2, 80),
    # the wide and the deep one
    "widedeep": (2,),
    # convolutions in CSP blocks and between levels, beside residual blocks and heads
    "yolox": (56,),
    # four sides in 16 bins each, and ten classes, at three scales
    "yolov8": (3, 64, 16, 10),
}
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
#: said of what is not a size of the network
_ASIDE = ("parameters", "tied")


def list_numbers(known: Architecture, network: str = "") -> set[float] | None:
    """Return the numbers of an architecture, of a network with a name; None where it is not known.

    These are its sizes, the lengths of its runs of blocks, their number and sum, and what its words
    and the name of its family hold.
    """
    if known == MODEST:
        return None
    numbers: set[float] = {float(number) for number in (*known.numbers, *ALSO.get(network, ()))}
    for field in fields(known):
        value = getattr(known, field.name)
        if field.name in _ASIDE or isinstance(value, bool):
            continue
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, int):
                numbers.add(float(part))
            elif isinstance(part, str):
                numbers |= {float(found) for found in _NUMBER.findall(part.replace(",", ""))}
    for blocks in known.blocks or ():
        for counts in (blocks.counts, *blocks.otherwise):
            numbers |= {*map(float, counts), float(sum(counts)), float(len(counts))}
    if known.counts:
        numbers.add(float(sum(known.counts)))
    return numbers
