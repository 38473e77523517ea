"""Convolutions whose kernels are band-pass filters, computed of their cut-off frequencies alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.patterns import read_numbers
from netloupe.explorer.patterns.convolution_details import ConvolutionDetails

from .outline import Outline, OutlinePart

SINC = "sinc"
#: so many operations between weights and a kernel are looked at
_MOST_OF_KERNEL = 60
_MOST_PLACES = 1 << 12
_AXES_OF_KERNEL = 3
#: what stands between sines and what divides them
_OF_SINES = ("adds", "copies", "multiplies_elements", "negates", "subtracts")


def mark_sinc_filters(outline: Outline) -> None:
    """Give convolutions the form ``sinc`` whose kernels are differences of sin(2 pi f t) / t.

    M. Ravanelli and Y. Bengio, Speaker Recognition from Raw Waveform with SincNet, 2018, equation
    4: of each filter two frequencies are learned.
    """
    for part in outline.of_kind("conv"):
        weight = outline.operations.nodes[min(part.numbers)].input(1)
        if weight is None or weight.initializer is not None or not is_input_independent(weight):
            continue
        if any(map(_divides_sine, _list_before(weight))):
            part.details = _read_details(outline, part, weight)


def _read_details(outline: Outline, part: OutlinePart, weight: Value) -> ConvolutionDetails:
    details = replace(part.details.read_as(ConvolutionDetails), form=SINC)
    dims = find_value_facts(outline.graph.model).find_dims(weight) or ()
    sizes = [size for size in dims if isinstance(size, int)]
    if len(sizes) != _AXES_OF_KERNEL or details.groups is not None:
        return details
    return replace(details, in_features=sizes[1], out_features=sizes[0])


def _list_before(value: Value) -> Iterator[Node]:
    """Yield the nodes that compute a value, the nearest first."""
    pending, seen = [value], {value}
    for _ in range(_MOST_OF_KERNEL):
        node = pending.pop(0).producer if pending else None
        while node is None and pending:
            node = pending.pop(0).producer
        if node is None:
            return
        yield node
        for one in node.inputs:
            if one is not None and one not in seen:
                seen.add(one)
                pending.append(one)


def _divides_sine(node: Node) -> bool:
    """Return whether a node divides sines by the times that these are of."""
    taken, divisor = node.input(0), node.input(1)
    if not node.operator.has("divides") or taken is None or divisor is None:
        return False
    return any(_is_of_times(sine, divisor) for sine in _list_sines(taken))


def _list_sines(value: Value) -> Iterator[Node]:
    """Yield the sines that a value is a sum or difference of."""
    pending = [value]
    for _ in range(_MOST_OF_KERNEL):
        node = pending.pop().producer if pending else None
        if node is None:
            if not pending:
                return
        elif node.operator.has("takes_sine"):
            yield node
        elif node.operator.has(*_OF_SINES, *LAYOUT_TRAITS):
            pending += [one for one in node.inputs if one is not None]


def _is_of_times(sine: Node, divisor: Value) -> bool:
    """Return whether a divisor is the angle of a sine, or in proportion to stored times in it."""
    angle = sine.input(0)
    if angle is None or angle is divisor:
        return angle is divisor
    product = angle.producer
    if product is None or not product.operator.has("multiplies", "multiplies_elements"):
        return False
    times = _read_line(divisor)
    for factor in product.inputs:
        line = _read_line(factor)
        if times.size > 1 and line.shape == times.shape and _is_in_proportion(line, times):
            return True
    return False


def _is_in_proportion(one: np.ndarray, other: np.ndarray) -> bool:
    place = int(np.argmax(np.abs(other)))
    return bool(other[place]) and np.allclose(one, other * (one[place] / other[place]), rtol=1e-4)


def _read_line(value: Value | None) -> np.ndarray:
    """Return stored numbers, whatever axes they have; nothing for what is computed."""
    tensor = constant_tensor(value) if value is not None else None
    return np.array(read_numbers(tensor, _MOST_PLACES), float)
