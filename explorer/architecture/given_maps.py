"""What a graph gives where that are maps: how many channels, and at which resolution."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count
from netloupe.explorer.patterns import Detail

from .counted_words import join_with_and
from .given_names import list_given_names
from .map_heads import MapHead, find_map_heads
from .outline import Outline
from .resolutions import Resolution, Resolutions
from .sizes import read_stated_shape

_MOST_STEPS = 12
#: axes before those of places: batch and channels
_BEFORE = 2
#: so far from each other are no two factors of two
_NEAR = 1.4
#: this axis is of places where channels are first, and where they are last
_HEIGHT = 2
#: a single channel of a picture is called a map
_PICTURE = 2


def tell_maps(outline: Outline) -> tuple[dict[str, Detail], str] | None:
    """Return what the outputs of a graph are, by name and in words; None where not all are maps.

    Channels are told where one convolution gives each output, and nothing behind it changes their
    number: where its shape is stated it says so.
    """
    resolutions = Resolutions(outline)
    found = find_map_heads(outline, resolutions)
    outputs = outline.graph.outputs
    if len(found.heads) != len(outputs) or not all(found.heads):
        return None
    if not all(map(partial(_keeps_axes, outline), found.heads, outputs)):
        return None
    given = [resolutions.of_value(output) for output in outputs]
    factors = [one.factor for one in given if one.factor is not None and not one.restarts]
    is_known = resolutions.is_sure and len(factors) == len(outputs)
    is_known = is_known and all(map(_fits, given, outputs))
    at = _write_factors(factors) if is_known else ""
    widths = [
        _read_channels(outline, heads, output)
        for heads, output in zip(found.heads, outputs, strict=True)
    ]
    if len(outputs) == 1:
        if not widths[0]:
            return None
        kernel = outline.owner(found.heads[0][0].number).kernel
        facts: dict[str, Detail] = {"outputs": widths[0]}
        if widths[0] == 1 and len(kernel) == _PICTURE:
            return facts, f"one map out{at}"
        return facts, f"{write_count(widths[0], 'channel')} out{at}"
    text = f"{len(outputs):,} maps out{at}"
    if not all(widths):
        return {}, text
    if len({*widths}) == 1:
        return {}, f"{text} ({write_count(widths[0], 'channel')} each)"
    names = list_given_names(outline.graph)
    told = [f"{width:,}" for width in widths]
    if names:
        told = [f"{name} {width}" for name, width in zip(names, told, strict=True)]
    return {}, f"{text} ({join_with_and(told)} channels)"


def _keeps_axes(outline: Outline, heads: Sequence[MapHead], output: Value) -> bool:
    """Return whether an output has the axes of the maps that give it, as far as it is stated.

    The places of detectors are put in a row, and pieces of a wave beside each other.
    """
    shape = read_stated_shape(output)
    ranks = {len(outline.owner(head.number).kernel) for head in heads} - {0}
    return shape is None or not ranks or len(shape) - _BEFORE in ranks


def _fits(found: Resolution, output: Value) -> bool:
    """Return whether the stated sizes of some input and an output have a factor between them.

    What is put back from patches is as large as the image, whatever the last layer works on.
    """
    given = read_stated_shape(output)
    taken = [read_stated_shape(value) for value in output.graph.inputs]
    known = [
        (one[_HEIGHT], given[_HEIGHT])
        for one in taken
        if one is not None and given is not None and len(one) == len(given) > _HEIGHT
    ]
    sizes = [(one, two) for one, two in known if isinstance(one, int) and isinstance(two, int)]
    factor = float(found.factor or 1)  # borders that are cut off or added make it a little other
    return not sizes or any(
        factor / _NEAR < one / max(two, 1) < factor * _NEAR for one, two in sizes
    )


def _write_factors(factors: Sequence[Fraction]) -> str:
    """Return `` at 1/8``, `` at 1/8, 1/16 and 1/32``; "" where all places are there."""
    if any(factor.denominator != 1 for factor in factors) or {*factors} == {Fraction(1)}:
        return ""
    *first, last = (f"1/{factor}" if factor > 1 else "1/1" for factor in dict.fromkeys(factors))
    return f" at {', '.join(first)} and {last}" if first else f" at {last}"


def _read_channels(outline: Outline, heads: Sequence[MapHead], output: Value) -> int:
    """Return how many channels an output has; 0 where that is not plain."""
    if len(heads) != 1:
        return 0
    width = heads[0].features
    shape = read_stated_shape(output)
    if shape is not None and len(shape) > _PICTURE and isinstance(shape[1], int):
        return width if width in (shape[1], shape[-1]) else 0
    operations = outline.operations
    current = operations.giver(operations.source(output))
    for _ in range(_MOST_STEPS):
        if current is None or current == heads[0].number:
            break
        operator = operations.nodes[current].operator
        taken = operations.operands[current]
        if len(taken) != 1 or not operator.has("activates", "elementwise", "resamples"):
            return 0
        current = operations.giver(taken[0])
    return width if current == heads[0].number else 0
