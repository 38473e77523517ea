"""Projections as units of a graph: their weights, and how what they give is cut into parts.

A projection multiplies what it takes by a stored matrix, with inputs along one axis of it and
outputs along the other, and may add a bias: MatMul [+ Add], Gemm, Caffe2's FC; and the one within
``com.microsoft``'s Attention, whose first operands are what is projected, the weights of query,
key and value joined along the outputs, and their biases (ContribOperators.md, com.microsoft
version 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from netloupe.explorer.dataflow import trace_back
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Node, Tensor, TensorType, Value
from netloupe.explorer.model.stored_tensors import find_own_tensor, find_stored_tensor
from netloupe.explorer.progress import is_ending
from netloupe.explorer.tensors import Elements, open_elements

from .partitions import read_stated, read_stated_list, read_stored_integers
from .units import Units

Numbers = npt.NDArray[np.float64]

#: the domain of the operator Attention that projects what it takes by itself
MICROSOFT = "com.microsoft"
#: so many nodes that pass a weight on are followed to where it is stored
_MOST_PASSED = 4
#: what is given is cut into so many parts at most
MOST_PARTS = 8
#: of the part of a matrix so many rows are looked at, and so many columns
_ALONG = 16
#: so many pairs of weights are compared at most
_MOST_COMPARISONS = 100_000


class Projection(NamedTuple):
    """A unit that multiplies what it takes by a stored matrix.

    Parameters
    ----------
    unit
        Its number.
    weight
        The matrix: shape (inputs, outputs), or (outputs, inputs) where it is turned.
    is_turned
        Whether the outputs are along the first axis.
    bias
        What is added: as many numbers as there are outputs; None where nothing is.
    result
        What it gives, with its bias; None where it does more than to project.
    """

    unit: int
    weight: Tensor
    is_turned: bool
    bias: Tensor | None
    result: Value | None

    @property
    def inputs(self) -> int:
        """How many numbers it takes."""
        return self.weight.dims[1 if self.is_turned else 0]

    @property
    def outputs(self) -> int:
        """How many numbers it gives."""
        return self.weight.dims[0 if self.is_turned else 1]


class OutputParts(NamedTuple):
    """Into what the results of a projection are cut along its outputs.

    Parameters
    ----------
    units
        The units that cut: one Split, or one Slice for each part.
    sizes
        How many outputs each part has.
    values
        The parts, in order.
    """

    units: tuple[int, ...]
    sizes: tuple[int, ...]
    values: tuple[Value, ...]


def read_projection(units: Units, unit: int) -> Projection | None:
    """Return what a unit projects by; None where it is no projection by stored floats."""
    node = units.head(unit)
    if node.operator.weight_kind == "attention":
        return _read_attention(unit, node)
    if units.kinds[unit] != "product with weights" or len(units.operands[unit]) != 1:
        return None
    layout = node.operator.weight_layout
    if node.domain != node.graph.dialect.domain or not layout or not _is_plain(node):
        return None
    found = _find_weight(node.input(1))
    if found is None:
        return None
    weight, is_turned = found
    is_transposed = layout == "linear_transposed" or bool(read_stated(node, "transB", 0))
    given = [value for value in node.inputs[2:] if value is not None]
    last = node
    for other in [*units.nodes(unit)][1:]:  # the sum with the bias
        taken = [value for value in other.inputs if value is not None]
        given += [value for value in taken if find_own_tensor(value) is not None]
        last = other
    result = last.output(0)
    return _add_bias(Projection(unit, weight, is_turned != is_transposed, None, result), given)


def _read_attention(unit: int, node: Node) -> Projection | None:
    roles = node.operator.operands
    weight, bias = roles.find("weight"), roles.find("bias")
    found = None if weight is None else _find_weight(node.input(weight))
    if found is None or found[1]:
        return None
    value = None if bias is None else node.input(bias)
    given = [] if value is None else [value]
    return _add_bias(Projection(unit, found[0], False, None, None), given)


def _add_bias(bare: Projection, given: Sequence[Value]) -> Projection | None:
    if not given:
        return bare
    bias = find_stored_tensor(given[0])
    if len(given) > 1 or bias is None or not bias.dims or not bias.dtype.is_float:
        return None
    if bias.size != bare.outputs or bias.dims[-1] != bare.outputs:
        return None
    return bare._replace(bias=bias)


def _is_plain(node: Node) -> bool:
    """Return whether a product does nothing but to multiply, and to add a bias."""
    factors = (read_stated(node, name, 1.0) for name in ("alpha", "beta", "axis_w"))
    return not read_stated(node, "transA", 0) and all(factor == 1 for factor in factors)


def _find_weight(value: Value | None) -> tuple[Tensor, bool] | None:
    """Return the matrix behind an operand, and whether it is turned on the way."""
    is_turned = False
    for one in trace_back(value, "casts", "copies", "permutes", most=_MOST_PASSED):
        tensor, node = find_stored_tensor(one), one.producer
        if tensor is not None:
            is_matrix = len(tensor.dims) == 2 and tensor.size > 0 and tensor.dtype.is_float
            return (tensor, is_turned) if is_matrix else None
        if node is None or node.domain != node.graph.dialect.domain:
            return None
        if node.operator.has("permutes"):
            is_turned = not is_turned  # of a matrix, or what follows is refused
            if read_stated(node, "perm", (1, 0)) != (1, 0):
                return None
    return None


def list_parts(units: Units, projection: Projection) -> OutputParts | None:
    """Return how what a projection gives is cut along its outputs; None where it is not.

    All that takes it cuts it, and the parts are the whole.
    """
    if projection.result is None or units.results[projection.unit]:
        return None
    users = dict.fromkeys(user for user, _ in units.users[projection.unit])
    if len(users) > MOST_PARTS:
        return None
    takers = [(node, user) for user in users for node in units.nodes(user)]
    if len(takers) == 1 and takers[0][0].operator.has("splits"):
        return _read_split(*takers[0], projection)
    if not 1 < len(takers) <= MOST_PARTS:
        return None
    if not all(node.operator.has("slices") for node, _ in takers):
        return None
    cuts = []
    for node, user in takers:
        bounds = _read_slice(node, projection)
        values = [value for value in node.outputs if value is not None]
        if bounds is None or len(values) != 1:
            return None
        cuts.append((*bounds, user, values[0]))
    cuts.sort(key=lambda cut: cut[:2])
    ends = [0, *(stop for _, stop, _, _ in cuts)]
    if [start for start, _, _, _ in cuts] != ends[:-1] or ends[-1] != projection.outputs:
        return None
    sizes = tuple(stop - start for start, stop in pairwise(ends))
    cutting = tuple(cut[2] for cut in cuts)
    return OutputParts(
        cutting[:1] if len(users) == 1 else cutting, sizes, tuple(cut[3] for cut in cuts)
    )


def _read_split(node: Node, unit: int, projection: Projection) -> OutputParts | None:
    values = tuple(value for value in node.outputs if value is not None)
    count = len(node.outputs)
    if not 1 < len(values) == count <= MOST_PARTS:
        return None
    sizes = read_stated_list(node, "split")
    if node.input(1) is not None:
        sizes = read_stored_integers(node.input(1))
        if sizes is None:
            return None
    axis, are_sizes_stated = read_stated(node, "axis", 0), sizes is not None
    if not _is_last(axis, node.input(0), are_sizes_stated=are_sizes_stated):
        return None
    if sizes is None:
        if projection.outputs % count:
            return None
        sizes = (projection.outputs // count,) * count
    if len(sizes) != count or min(sizes) < 1 or sum(sizes) != projection.outputs:
        return None
    return OutputParts((unit,), tuple(sizes), values)


def _read_slice(node: Node, projection: Projection) -> tuple[int, int] | None:
    """Return which outputs a Slice gives, from one up to another; None where not these alone."""
    if len(node.inputs) > 1:
        given = [read_stored_integers(value) for value in node.inputs[1:]]
    else:
        given = [read_stated_list(node, name) for name in ("starts", "ends", "axes")]
    starts, ends, axes, steps = (*given, None, None, None, None)[:4]
    if starts is None or ends is None or not len(starts) == len(ends) == 1:
        return None
    if (
        axes is None
        or len(axes) != 1
        or not _is_last(axes[0], node.input(0), are_sizes_stated=True)
    ):
        return None
    if len(node.inputs) > 4 and (steps is None or tuple(steps) != (1,)):
        return None
    count = projection.outputs
    bounds = (bound + count if bound < 0 else bound for bound in (starts[0], ends[0]))
    start, stop = (min(max(bound, 0), count) for bound in bounds)
    return (start, stop) if start < stop else None


def _is_last(axis: object, value: Value | None, *, are_sizes_stated: bool) -> bool:
    """Return whether an axis is the last one of a value.

    Where its type is not known, sizes that add up along another axis than the first tell it.
    """
    shape = value.type.shape if value is not None and isinstance(value.type, TensorType) else None
    if axis == -1 or not isinstance(axis, int):
        return axis == -1
    return axis == len(shape) - 1 if shape is not None else are_sizes_stated and axis > 0


class ProjectedNumbers:
    """The weights of projections, opened once each; of every one some elements are looked at."""

    def __init__(self) -> None:
        self._count = 0
        self._opened: dict[Tensor, Elements | None] = {}
        self._samples: dict[tuple[Tensor, bool, int, int], Numbers | None] = {}

    @np.errstate(all="ignore")
    def compare(self, joined: Projection, start: int, one: Projection) -> float:
        """Return how alike a part of one matrix and another matrix are.

        Parameters
        ----------
        joined, start
            The matrix, and the first output of the part.
        one
            The other matrix, which has as many inputs, and as many outputs as the part.

        Returns
        -------
        float
            The correlation (Pearson's) of elements at 16 x 16 places that are spread evenly: from
            -1 to 1; 0 where it cannot be told, as of elements that are all the same, and after
            100,000 comparisons.
        """
        self._count += 1
        if self._count > _MOST_COMPARISONS:
            return 0.0
        left = self._sample(joined, start, one.outputs)
        right = self._sample(one, 0, one.outputs)
        if left is None or right is None:
            return 0.0
        left, right = left - left.mean(), right - right.mean()
        lengths = float(np.sqrt((left * left).sum() * (right * right).sum()))
        found = float((left * right).sum()) / lengths if lengths else 0.0
        return found if np.isfinite(found) else 0.0

    def _sample(self, one: Projection, start: int, count: int) -> Numbers | None:
        key = one.weight, one.is_turned, start, count
        if key not in self._samples:
            self._samples[key] = self._read_sample(one, start, count)
        return self._samples[key]

    def _read_sample(self, one: Projection, start: int, count: int) -> Numbers | None:
        """Return elements of some outputs, shape (inputs, outputs)."""
        elements = self._open(one.weight)
        if elements is None or elements.is_constant:
            return None
        rows, columns = _spread(one.inputs), _spread(count) + start
        if one.is_turned:
            rows, columns = columns, rows
        width = one.weight.dims[1]
        first, last = int(columns[0]), int(columns[-1]) + 1
        try:
            taken = [
                np.asarray(elements.take(row * width + first, row * width + last))[columns - first]
                for row in rows.tolist()
            ]
        except (NetloupeError, ValueError) as error:
            if is_ending(error):
                raise
            return None
        found = np.stack(taken).astype(np.float64)
        return found.T if one.is_turned else found

    def _open(self, tensor: Tensor) -> Elements | None:
        if tensor not in self._opened:
            try:
                self._opened[tensor] = open_elements(tensor)
            except (NetloupeError, ValueError) as error:
                if is_ending(error):
                    raise
                self._opened[tensor] = None
        return self._opened[tensor]


def _spread(count: int) -> npt.NDArray[np.int64]:
    return np.linspace(0, count - 1, min(count, _ALONG)).astype(np.int64)


def is_all_zero(tensor: Tensor, start: int, stop: int) -> bool:
    """Return whether elements from one place up to another are 0; False where unreadable."""
    try:
        return not np.asarray(open_elements(tensor).take(start, stop)).any()
    except (NetloupeError, ValueError) as error:
        if is_ending(error):
            raise
        return False
