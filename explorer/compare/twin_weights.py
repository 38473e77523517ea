"""Which float weight of a twin each quantized weight was made of.

Candidates come from strong to weak: the weight that the paired node of the twin takes, one of the
same name but for what quantizers append, and any of as many elements. What is taken has to be alike
in value; a pair that names or places suggest and values do not bear out is none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from netloupe.explorer.dataflow import trace_back
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Graph, Model, Node, Tensor, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor, list_stored_tensors
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.progress import is_ending, step
from netloupe.explorer.quantization.quantized_elements import QuantizedElements
from netloupe.explorer.quantization.quantized_weights import QuantizedWeight

from .references import list_orders, open_reference
from .weight_correlation import (
    LEAST_ELEMENTS,
    Sample,
    WeightCorrelation,
    compare_samples,
    find_least_correlation,
    sample_codes,
    sample_reference,
)

#: of tensors with as many elements so many are compared in value
_MOST_CANDIDATES = 256
#: few elements are believed where they have a name in common, so many bits and this correlation
_BITS_OF_SMALL, _LEAST_OF_SMALL = 8, 0.999
#: samples that are kept
_MOST_SAMPLES = 4_096
#: what quantizers write behind the name of a weight
_SUFFIXES = re.compile(
    r"(_DequantizeLinear(_Output)?|_QuantizeLinear(_Input|_Output)?|_dequantized|_quantized|_quant"
    r"|_qweight|_Bnb4|_NF4|_FP4|_Q[248](G\d+)?|_q[248]|_int[248]|_uint[248]|_weight_q|_q|\.qweight"
    r"|:quantized)$"
)
_MOST_PASSED = 4
#: more elements are no bias; and what float32 leaves of a bias in 32 bits
_LARGEST_BIAS, _ROUNDING = 2**20, 2.0**-22

#: where a weight and its twin were paired by
Key = str


@dataclass(frozen=True, slots=True, eq=False)
class WeightPair:
    """A float weight that a quantized weight was made of, or why none was found.

    Parameters
    ----------
    tensor
        The float weight; None where there is none.
    order, turned
        In which order it has its elements; see
        :func:`~netloupe.explorer.compare.references.list_orders`.
    key
        What led to it: ``"node"``, ``"name"``, ``"value"``, or ``"own"`` where the file itself
        holds the float weight.
    correlation
        How alike some of the elements are.
    reason
        Why nothing was paired; "" where something is.
    expected
        The float weight that its name leads to, where that has other numbers and another one has
        its own; None where the name leads to the twin, or to nothing.
    is_unlike
        Whether nothing was paired although weights of as many elements could be compared: all of
        them have other numbers.
    """

    tensor: Tensor | None
    order: str = "as stored"
    turned: tuple[int, int, int] | None = None
    key: Key = ""
    correlation: WeightCorrelation | None = None
    reason: str = ""
    expected: Tensor | None = None
    is_unlike: bool = False


class TwinWeights:
    """The float weights of a twin, looked up for one quantized weight after the other.

    Parameters
    ----------
    reference
        The float model, or a graph of it.
    partners
        By node of the quantized model those of the reference that do the same.
    """

    def __init__(self, reference: Model | Graph, partners: Mapping[Node, Sequence[Node]]) -> None:
        self._by_size: dict[int, list[Tensor]] = {}
        self._by_name: dict[str, list[Tensor]] = {}
        self._graphs: dict[Tensor, Graph] = {}
        for graph in [reference] if isinstance(reference, Graph) else reference.graphs:
            for tensor in list_stored_tensors(graph):
                if tensor.dtype.is_float:
                    self._by_size.setdefault(tensor.size, []).append(tensor)
                    self._by_name.setdefault(tensor.name, []).append(tensor)
                    self._graphs[tensor] = graph
        self._partners = partners
        self._unread: set[Tensor] = set()
        self._samples: dict[tuple[Tensor, str, tuple[int, ...]], Sample | None] = {}

    def find(self, weight: QuantizedWeight, quantized: QuantizedElements) -> WeightPair:
        """Return the twin of a weight, verified by value.

        Raises
        ------
        TensorDataError
            Where the elements of the quantized weight cannot be read.
        """
        if weight.is_bias and (pair := self._find_bias(weight, quantized)) is not None:
            return pair
        pair = self._find_alike(weight, quantized)
        return replace(pair, expected=self._find_expected(weight, quantized, pair))

    def _find_alike(self, weight: QuantizedWeight, quantized: QuantizedElements) -> WeightPair:
        size = quantized.codes.size
        if size < LEAST_ELEMENTS:
            return self._find_small(weight, quantized)
        alike = self._by_size.get(size, [])
        if not alike:
            return WeightPair(None, reason="the float model has no weight of as many elements")
        codes = sample_codes(quantized)
        if not np.isfinite(codes.numbers).any() or not codes.numbers.any():
            return WeightPair(None, reason="all numbers that were looked at are 0 or not finite")
        least = find_least_correlation(weight.bits)
        best: WeightPair | None = None
        seen: set[Tensor] = set()
        for key, tensors in (
            ("node", self._list_by_node(weight)),
            ("name", self._list_by_name(weight)),
            ("value", iter(alike[:_MOST_CANDIDATES])),
        ):
            for tensor in tensors:
                if tensor in seen or tensor.size != size:
                    continue
                seen.add(tensor)
                for found in self._compare(tensor, quantized, codes, key):
                    if best is None or _rank(found) > _rank(best):
                        best = found
            if best is not None and best.correlation is not None and best.correlation.best >= least:
                return best
        unread = len(seen & self._unread)
        is_unlike = best is not None and not unread and seen.issuperset(alike)
        return WeightPair(None, reason=_explain(best, len(seen), unread), is_unlike=is_unlike)

    def _find_expected(
        self, weight: QuantizedWeight, quantized: QuantizedElements, pair: WeightPair
    ) -> Tensor | None:
        """Return what the name leads to, where that fits and is none of what a weight is alike."""
        if pair.tensor is None:
            return None
        named = dict.fromkeys(self._list_by_name(weight))
        if pair.tensor in named or not named:
            return None
        codes = sample_codes(quantized)
        least = find_least_correlation(weight.bits)
        expected = None
        for tensor in named:
            for found in self._compare(tensor, quantized, codes, "name"):
                if found.correlation is None or found.correlation.best >= least:
                    return None
                expected = expected or tensor
        return expected

    def find_value(self, pair: WeightPair) -> Value | None:
        """Return the value that holds a twin; None where a node of the float model gives it."""
        graph = None if pair.tensor is None else self._graphs.get(pair.tensor)
        value = None if graph is None or pair.tensor is None else graph.values.get(pair.tensor.name)
        return value if value is not None and value.initializer is pair.tensor else None

    def find_by_place(self, weight: QuantizedWeight) -> Tensor | None:
        """Return the twin of a weight of which one cannot be read, by node or name alone.

        None where several may be it.
        """
        size = None if weight.dims is None else math.prod(weight.dims)
        for tensors in (self._list_by_node(weight), self._list_by_name(weight)):
            alike = {tensor for tensor in tensors if size in (None, tensor.size)}
            if len(alike) == 1:
                return alike.pop()
        return None

    def _find_bias(
        self, weight: QuantizedWeight, quantized: QuantizedElements
    ) -> WeightPair | None:
        """Return the bias of the paired node, or of the same name, that most codes are nearest to.

        The others may be wrong, however far: codes of 32 bits are near nothing else by chance.
        """
        if quantized.codes.size > _LARGEST_BIAS:
            return None
        decoded = quantized.dequantize(
            quantized.codes.take(0, quantized.codes.size), 0, quantized.codes.size
        )
        step_size = np.abs(quantized.spread(quantized.scale, 0, quantized.codes.size))
        candidates = (("node", self._list_by_node(weight)), ("name", self._list_by_name(weight)))
        for key, tensors in candidates:
            for tensor in tensors:
                if tensor.size != quantized.codes.size or len(tensor.dims) > 1:
                    continue
                try:
                    floats = open_reference(tensor, None).take(0, tensor.size)
                except NetloupeError as error:
                    if is_ending(error):
                        raise
                    continue
                with np.errstate(all="ignore"):
                    near = np.abs(floats - decoded) <= step_size + np.abs(floats) * _ROUNDING
                if floats.any() and 2 * np.count_nonzero(near) > near.size:
                    return WeightPair(tensor, key=key)
        return None

    def _find_small(self, weight: QuantizedWeight, quantized: QuantizedElements) -> WeightPair:
        """Return the twin of a weight of few elements: of the same name, and nearly equal."""
        if quantized.codes.size > 1 and (weight.bits or 0) >= _BITS_OF_SMALL:
            codes = sample_codes(quantized)
            for tensor in self._list_by_name(weight):
                if tensor.size == quantized.codes.size:
                    for found in self._compare(tensor, quantized, codes, "name"):
                        correlation = found.correlation
                        if correlation is not None and correlation.overall >= _LEAST_OF_SMALL:
                            return found
        return WeightPair(None, reason="too few elements to tell by value")

    def _compare(
        self, tensor: Tensor, quantized: QuantizedElements, codes: Sample, key: Key
    ) -> Iterator[WeightPair]:
        for order, turned in list_orders(tensor, quantized.dims):
            sample = self._sample(tensor, order, turned, quantized)
            if sample is not None:
                yield WeightPair(tensor, order, turned, key, compare_samples(codes, sample))

    def _sample(
        self,
        tensor: Tensor,
        order: str,
        turned: tuple[int, int, int] | None,
        quantized: QuantizedElements,
    ) -> Sample | None:
        place = tensor, order, quantized.dims
        if place not in self._samples:
            step()
            if len(self._samples) >= _MOST_SAMPLES:
                self._samples.clear()
            try:
                reference = open_reference(tensor, turned)
                found = sample_reference(reference, quantized.dims, quantized.codes.size)
            except NetloupeError as error:
                if is_ending(error):
                    raise
                found = None
                self._unread.add(tensor)
            self._samples[place] = found
        return self._samples[place]

    def _list_by_node(self, weight: QuantizedWeight) -> Iterator[Tensor]:
        """Yield the float weights that the partners of a weight's users take."""
        for user in weight.list_users():
            for partner in self._partners.get(user, ()):
                yield from _list_taken(partner)

    def _list_by_name(self, weight: QuantizedWeight) -> Iterator[Tensor]:
        name = weight.tensor.name or weight.value.name
        for _ in range(_MOST_PASSED):
            yield from self._by_name.get(name, ())
            shorter = _SUFFIXES.sub("", name)
            if shorter == name:
                return
            name = shorter


def _list_taken(node: Node) -> Iterator[Tensor]:
    """Yield the float tensors that a node takes, also such as are handed on to it."""
    for value in node.inputs:
        stored = map(find_stored_tensor, trace_back(value, *LAYOUT_TRAITS, most=_MOST_PASSED))
        tensor = next((each for each in stored if each is not None), None)
        if tensor is not None and tensor.dtype.is_float:
            yield tensor


def _rank(pair: WeightPair) -> tuple[float, float]:
    correlation = pair.correlation
    return (0.0, 0.0) if correlation is None else (correlation.best, correlation.overall)


def _explain(best: WeightPair | None, count: int, unread: int) -> str:
    if best is None or best.correlation is None or best.tensor is None:
        return "no float weight of as many elements has a fitting shape, or can be read"
    told = f"the correlation with {best.tensor.path[:200]} is {best.correlation.best:.2f}"
    if count - unread > 1:
        told = f"none of {count - unread:,} float weights of as many elements is alike; {told}"
    if unread:
        told = f"{told}; {unread:,} more could not be read"
    return f"other numbers: {told}"
