"""For what the features that a graph gives are: the whole input, each token or place, a map."""

from __future__ import annotations

import re
from collections.abc import Sequence

from netloupe.explorer.model import Graph, TensorType, Value

from .given_sizes import has_places
from .layer_words import write_given
from .sizes import read_stated_shape

EACH_TOKEN, EACH_PLACE = " for each token", " at each place"
#: what is said of the outputs of a whole input
_OUTPUTS = re.compile(r"(?P<count>[\d,]+) outputs?")
#: batch, channels, height and width; batch, places and features
_MAP, _SEQUENCE = 4, 3


def write_outputs(graph: Graph, count: int) -> str:
    """Return ``10 outputs``, ``32 outputs at each place``, ``1 output for each token``.

    A map has channels. What is said of a whole input is not so of each of its places: the shape
    that the file states tells them apart, where there is one output.
    """
    outputs = [*graph.outputs]
    only = outputs.pop() if len(outputs) == 1 else None
    shape = read_stated_shape(only)
    if only is None or shape is None:
        return write_given(count, "outputs")
    if len(shape) >= _MAP and shape[1] == count and any(dim != 1 for dim in shape[2:]):
        return "one map out" if count == 1 else f"{count:,} channels out"
    return f"{write_given(count, 'outputs')}{_find_place(graph, only, shape, count)}"


def place_outputs(graph: Graph, clauses: Sequence[str]) -> tuple[str, ...]:
    """Return the clauses of a sentence, with what outputs are for behind their number."""
    return tuple(
        write_outputs(graph, int(found["count"].replace(",", "")))
        if (found := _OUTPUTS.fullmatch(clause))
        else clause
        for clause in clauses
    )


def _find_place(graph: Graph, output: Value, shape: Sequence[int | str | None], count: int) -> str:
    taken = [(value, read_stated_shape(value)) for value in graph.inputs]
    squeezed = [*shape, 1] if count == 1 and len(shape) == len(("batch", "tokens")) else [*shape]
    if len(squeezed) == _SEQUENCE and squeezed[-1] == count:
        is_row = squeezed[1] != 1 and all(_are_tokens(value) for value, _ in taken)
        if is_row and any([*one] == squeezed[:-1] for _, one in taken if one):
            return EACH_TOKEN
        # steps may stand before the batch
        firsts = {one[0] for _, one in taken if one}
        is_turned = squeezed[1] == 1 and isinstance(shape[0], int) and {1} == firsts != {shape[0]}
        if is_turned:
            return EACH_PLACE
    return EACH_PLACE if has_places(output, count) else ""


def _are_tokens(value: Value) -> bool:
    stated = value.type
    return isinstance(stated, TensorType) and stated.dtype.is_integer
