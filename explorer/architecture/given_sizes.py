"""What a graph gives by the sizes that the file states, where no layer alone tells what it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from netloupe.explorer.model import Graph, Value

from .counted_words import join_with_and
from .given_names import list_given_names
from .sizes import read_stated_shape

#: sizes of more outputs, and of more axes each, are a list
_MOST_OUTPUTS, _MOST_AXES = 3, 3
#: what is said of maps that come out
_CHANNELS = re.compile(r"(?P<count>[\d,]+) channels out")
_SEVERAL = 2


def write_sizes_given(graph: Graph) -> str:
    """Return what a graph gives by names and sizes: ``gives loc (8,732 × 4) and conf``.

    The batch is left out, and sizes where one is not stated. "" where outputs have no names that
    say something.
    """
    names = list_given_names(graph)
    if not names:
        return ""
    sizes = [read_sizes(output) for output in graph.outputs]
    told = [*names]
    if len(names) <= _MOST_OUTPUTS and all(sizes):
        told = [f"{name} ({_write(one)})" for name, one in zip(names, sizes, strict=True)]
    return f"gives {join_with_and(told)}"


def correct_given(graph: Graph, clauses: Sequence[str]) -> tuple[str, ...]:
    """Return the clauses of a sentence with the sizes of several outputs of which not all are so.

    ``3 channels out`` is said of one output, or of several that have as many.
    """
    *before, last = [clause for clause in clauses if clause] or [""]
    found = _CHANNELS.fullmatch(last)
    outputs = graph.outputs
    if found is None or len(outputs) < _SEVERAL:
        return tuple(clauses)
    count = int(found["count"].replace(",", ""))
    if all(states_width(output, count) for output in outputs):
        return tuple(clauses)
    given = write_sizes_given(graph)
    return (*before, given) if given else tuple(before)


def read_sizes(output: Value) -> tuple[int, ...]:
    """Return the sizes of an output without those of 1 and the batch; nothing where unknown."""
    shape = read_stated_shape(output)
    if shape is None or len(shape) <= 1:
        return ()
    sizes = tuple(dim for dim in shape[1:] if isinstance(dim, int) and dim > 1)
    is_known = all(isinstance(dim, int) for dim in shape[1:])
    return sizes if is_known and 0 < len(sizes) <= _MOST_AXES else ()


def states_width(output: Value, width: int) -> bool:
    """Return whether an output may have so many features: one of its sizes, or one not stated."""
    shape = read_stated_shape(output)
    if shape is None or not all(isinstance(dim, int) for dim in shape[1:]):
        return True
    return width in shape[1:] or (width == 1 and len(shape) <= 1)


def has_features(output: Value, width: int) -> bool:
    """Return whether the last axis of an output has so many features, as far as it is stated.

    What stands before another axis may be steps of time, of which a layer makes others.
    """
    shape = read_stated_shape(output)
    return shape is None or len(shape) <= 2 or shape[-1] == width


def has_places(output: Value, width: int) -> bool:
    """Return whether an output has so many features last, at each of several places."""
    shape = read_stated_shape(output)
    if shape is None or len(shape) < len(("batch", "places", "features")) or shape[-1] != width:
        return False
    return any(dim != 1 for dim in shape[1:-1])


def _write(sizes: Sequence[int]) -> str:
    return " × ".join(f"{size:,}" for size in sizes)
