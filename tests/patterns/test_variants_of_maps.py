"""Blocks of maps as exporters write them otherwise than the examples do."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import recognise
from netloupe.explorer.patterns.pattern_examples import EXAMPLES

from .example_models import list_block, read_example

_PADDED = 'p{n} = Pad <mode = "reflect"> ({value}, sides)  {result} = Conv (p{n}, {weight})'


def tell(text: str) -> str:
    found = recognise(list_block(read_example(text)))
    return found.text if found is not None else ""


def test_scales_whose_borders_are_mirrored() -> None:
    text, told = EXAMPLES["split-scales"]
    for n, (value, result) in enumerate((("a", "one"), ("b1", "two"), ("c1", "three")), 1):
        text = text.replace(
            f"{result} = Conv <pads = [1, 1, 1, 1]> ({value}, w{n})",
            _PADDED.format(n=n, value=value, result=result, weight=f"w{n}"),
        )
    text = text.replace(
        "<int64[4] dims", "<int64[8] sides = {0, 0, 1, 1, 0, 0, 1, 1}, int64[4] dims"
    )
    assert text.count("reflect") == 3
    assert tell(text) == told


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        # one convolution alone both goes around and is the first step's
        (
            "around, through = Split <axis = 1, num_outputs = 2> (wider)",
            "through = Relu (wider)",
            "ELAN block 16 → 32, 2 steps, 1 convolution each",
        ),
        # two convolutions side by side in place of a split
        (
            "around, through = Split <axis = 1, num_outputs = 2> (wider)",
            "around = Relu (wider)  other = Conv (x, w1)  through = Relu (other)",
            "ELAN block 16 → 32, 2 steps, 1 convolution each",
        ),
        # a residual sum in each step is what CSP has
        (
            "step = Relu (one)",
            "more = Conv <pads = [1, 1, 1, 1]> (one, w2)  step = Add (more, through)",
            "ELAN block 16 → 32, 2 steps",
        ),
        # what attends, say, or normalizes alone, is no such step
        ("again = Relu (two)", "again = Softmax (two)", ""),
    ],
)
def test_steps_that_are_written_otherwise(old: str, new: str, told: str) -> None:
    text = EXAMPLES["step-aggregation"][0]
    assert old in text
    text = text.replace(old, new)
    if "around" not in text.replace("(around, through", ""):
        text = text.replace("(around, through, step, again)", "(through, step, again)")
        text = text.replace("inner = {16, 16, 3, 3}", "inner = {32, 32, 3, 3}")
        text = text.replace("last = {32, 64, 1, 1}", "last = {32, 96, 1, 1}")
    elif "other" in text:
        text = text.replace("inner = {16, 16, 3, 3}", "inner = {32, 32, 3, 3}")
        text = text.replace("last = {32, 64, 1, 1}", "last = {32, 128, 1, 1}")
    assert tell(text) == told
