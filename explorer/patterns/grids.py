"""Features that become places of a grid, and places that features become."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.notation import write_count

from .found_blocks import FoundBlock, FoundBlocks
from .leading import find_leading
from .operations import ARRANGING, Operations

_Array = npt.NDArray[np.float64]

#: along how many axes places are told
_AXES = (2, 3)
_MOST_NUMBERS = 1 << 16
_LEAST_PLACES = 2
_EVEN = 1e-3
#: so many operations make one number of where something stands along each axis
_MOST_BEFORE = 24
#: a grid is turned and put into another form by so many nodes
_MOST_ARRANGED = 6
_SCATTERS = ("Scatter", "ScatterElements", "ScatterND")
#: the axes of a picture, with those of examples and channels
_PICTURE = 4


def find_spatial_softmaxes(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the places of a grid that are expected by shares of a Softmax over all of them.

    S. Levine and others, End-to-End Training of Deep Visuomotor Policies, 2016, section 4.2; X. Sun
    and others, Integral Human Pose Regression, 2018, equation 2, where shares are summed up along
    the other axes first.
    """
    operations = blocks.operations
    for softmax, kind in enumerate(operations.kinds):
        if kind != "Softmax" or blocks.holding(softmax, "attention") is not None:
            continue
        found = _read_product(operations, softmax) or _read_sums(blocks, softmax)
        if found is None:
            continue
        numbers, end = found
        maps = _count_maps(operations, softmax)
        facts = (write_count(maps, "keypoint"),) if maps else ()
        every = frozenset({softmax, *numbers})
        if operations.is_closed({*every}, end):
            yield FoundBlock("expectation", "Spatial softmax", every, end, facts)


def _read_product(operations: Operations, softmax: int) -> tuple[set[int], int] | None:
    """Return the product of shares and a stored table with the places of a grid."""
    product = operations.only_user(softmax)
    if product is None or operations.kinds[product] != "Gemm":
        return None
    tables = [
        table
        for value in operations.fixed(product)
        if (table := _read(_find_stored(value)[0])).ndim == 2
    ]
    if len(tables) != 1:
        return None
    table = tables[0] if tables[0].shape[1] in _AXES else tables[0].T
    is_grid = table.shape[1] in _AXES and _is_grid([*table.T])
    return ({product}, product) if is_grid else None


def _read_sums(blocks: FoundBlocks, softmax: int) -> tuple[set[int], int] | None:
    """Return the sums of shares times stored places along each axis, put side by side."""
    operations = blocks.operations
    numbers: set[int] = set()
    axes: list[_Array] = []
    joins: set[int | None] = set()
    users = operations.users[softmax]
    if len(users) not in _AXES or min(users) < 0:
        return None
    are_along, are_repeated = False, True
    for user in users:
        product: int | None = user
        if operations.kinds[user] == "ReduceSum":  # over the other axes
            are_along = True
            numbers.add(user)
            product = operations.only_user(user)
        fixed = operations.fixed(product) if product is not None else []
        if product is None or operations.kinds[product] != "Mul" or len(fixed) != 1:
            return None
        total = operations.only_user(product)
        if total is None or operations.kinds[total] != "ReduceSum":
            return None
        stored, repeats = _find_stored(fixed[0])
        axes.append(_read(stored).ravel())
        are_repeated &= repeats
        numbers |= {product, total}
        joins.add(operations.only_user(total))
    end = joins.pop() if len(joins) == 1 else None
    if end is None or not operations.nodes[end].operator.has("joins"):
        return None
    is_grid = all(map(_is_even, axes)) if are_along or are_repeated else _is_grid(axes)
    return ({*numbers, end}, end) if is_grid else None


def _find_stored(value: Value) -> tuple[Value, bool]:
    """Return of what a fixed value is made, and whether that is repeated."""
    repeats = False
    for _ in range(_MOST_BEFORE):
        node = value.producer
        first = node.input(0) if node is not None else None
        if node is None or first is None or not node.operator.has(*ARRANGING, "repeats"):
            break
        repeats = repeats or node.operator.has("repeats", "broadcasts")
        value = first
    return value, repeats


def _read(value: Value) -> _Array:
    """Return a stored table of few numbers; nothing where it is large or no table."""
    tensor = constant_tensor(value)
    if tensor is None or not 0 < tensor.size <= _MOST_NUMBERS:
        return np.zeros(0)
    try:
        return np.asarray(tensor.numpy(), np.float64)
    except (NetloupeError, TypeError, ValueError):
        return np.zeros(0)


def _is_even(numbers: _Array) -> bool:
    """Return whether different numbers are evenly spaced, in order."""
    if numbers.size < _LEAST_PLACES:
        return False
    steps = np.diff(numbers)
    return bool(abs(steps[0]) > 0 and np.all(abs(steps - steps[0]) <= _EVEN * abs(steps[0])))


def _is_grid(columns: Sequence[_Array]) -> bool:
    """Return whether columns are all places of a grid, one axis each."""
    sizes = [np.unique(np.round(column, 6)) for column in columns]
    count = columns[0].size
    product = 1
    for unique in sizes:
        product *= unique.size
    if len({column.size for column in columns}) != 1 or product != count:
        return False
    places = np.unique(np.round(np.stack(columns, 1), 6), axis=0)
    return all(map(_is_even, sizes)) and len(places) == count


def _count_maps(operations: Operations, softmax: int) -> int:
    """Return over how many maps of a picture shares are; 0 where unknown."""
    facts = find_value_facts(operations.context.graph.model)
    dims = facts.find_dims(operations.operands[softmax][0])
    count = dims[1] if dims and len(dims) >= _PICTURE else None
    return count if isinstance(count, int) else 0


def find_grid_scatters(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find features that are put at computed places of a stored grid, which is convolved.

    So pillars of points become a picture from above (A. Lang and others, PointPillars, 2019,
    section 2.1: scattered back to a pseudo-image).
    """
    operations = blocks.operations
    for scatter, kind in enumerate(operations.kinds):
        node = operations.nodes[scatter]
        taken = operations.operands[scatter]
        if kind not in _SCATTERS or blocks.owner[scatter] is not None or len(node.inputs) != 3:
            continue
        is_empty = operations.is_fixed(node.input(0))
        places = node.input(1)
        if not is_empty or places is None or operations.is_fixed(places) or len(taken) != 2:
            continue
        grid = _find_convolved(node)
        sizes = find_value_facts(operations.context.graph.model).find_dims(grid) if grid else None
        told = " × ".join(str(size) for size in (sizes or ())[2:])
        where = operations.source(places)
        leading = find_leading(operations, {scatter}, [where], (), _MOST_BEFORE)
        numbers = {scatter, *(leading.numbers if leading is not None else ())}
        if any(blocks.owner[number] is not None for number in numbers):
            numbers = {scatter}
        if sizes and len(sizes) >= _PICTURE:
            yield FoundBlock("unit", "Scatter to a grid", frozenset(numbers), scatter, (told,))


def _find_convolved(node: Node) -> Value | None:
    """Return what a node gives as a convolution takes it, which alone does; else None."""
    for _ in range(_MOST_ARRANGED):
        value = node.output(0) if node.outputs else None
        if value is None or len(value.users) != 1:
            return None
        (node,) = value.users
        if node.operator.has("convolves"):
            return value if node.input(0) is value else None
        if not node.operator.has(*ARRANGING):
            return None
    return None
