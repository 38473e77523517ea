"""Results of operators that pick, fill or reduce: Slice, Gather, ConstantOfShape, ReduceMean.

Sources: ONNX operator specification, ContribOperators of ONNX Runtime, Caffe2's operators. A rule
gives a fact for each result that it knows; what depends on elements that are not known stays open.
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import data_type

from .elementwise import FLOAT32, MOST_ELEMENTS, read_elements
from .facts import Dim, Dims, Fact, Use, find_size, list_integers
from .polynomial import divide_exactly

INT64 = data_type("int64")

#: ends of slices from here on mean the end
_ENDLESS = 2**31 - 1


def split(use: Use) -> list[Fact | None]:
    """Return the pieces of the operand along an axis."""
    data, axis = use.operand(0), use.integer("axis", 0)
    if not use.results or data.dims is None or axis is None:
        return [Fact(None, data.dtype)] * use.results
    if not -len(data.dims) <= axis < len(data.dims):
        return [Fact(None, data.dtype)] * use.results
    place = axis % len(data.dims)
    size = data.dims[place]
    lengths: Sequence[Dim] | None = use.list_numbers("split", 1)
    if lengths is None and not use.has(1) and size is not None:
        each = divide_exactly(size, use.results)
        if each is None and isinstance(size, int):  # the last piece is smaller
            step = -(-size // use.results)
            last = size - step * (use.results - 1)
            lengths = [*([step] * (use.results - 1)), last] if last >= 0 else None
        else:
            lengths = [each] * use.results
    if lengths is None or len(lengths) != use.results:
        lengths = [None] * use.results
    before, after = data.dims[:place], data.dims[place + 1 :]
    pieces = {length: Fact((*before, length, *after), data.dtype) for length in set(lengths)}
    return [pieces[length] for length in lengths]


def slice_(use: Use) -> list[Fact | None]:
    """Return the result of Slice."""
    data = use.operand(0)
    starts, ends = _read_limits(use, "starts", 1), _read_limits(use, "ends", 2)
    axes, steps = use.list_numbers("axes", 3), use.list_numbers("steps", 4)
    if data.dims is None:
        return [Fact(None, data.dtype)]
    rank = len(data.dims)
    count = len(starts) if starts is not None else len(ends) if ends is not None else None
    if axes is None and not use.has(3) and count is not None:
        axes = tuple(range(count))
    if axes is None:
        return [Fact((None,) * rank, data.dtype)]
    if steps is None and not use.has(4):
        steps = (1,) * len(axes)
    dims = list(data.dims)
    for index, axis in enumerate(axes):
        if not -rank <= axis < rank:
            return [Fact((None,) * rank, data.dtype)]
        limits = [
            None if many is None or index >= len(many) else many[index]
            for many in (starts, ends, steps)
        ]
        dims[axis % rank] = _cut(data.dims[axis % rank], *limits)
    elements = None
    numbers = [
        list_integers(Fact(elements=None if many is None else tuple(many)))
        for many in (starts, ends, steps)
    ]
    if data.elements is not None and rank == 1 and len(axes) == 1 and None not in numbers:
        start, end, step = (many[0] for many in numbers if many)
        elements = data.elements[start:end:step] if step else None
    table = None
    if len(axes) == 1 and None not in numbers:
        table = _cut_table(data, axes[0] % rank, slice(*(many[0] for many in numbers if many)))
    return [Fact(tuple(dims), data.dtype, elements, table=table)]


def _cut_table(data: Fact, axis: int, cut: slice) -> Dims | None:
    """Return what is left of the rows or the columns of a matrix whose elements are known."""
    columns = data.dims[1] if data.dims is not None and data.table is not None else 0
    if data.table is None or not isinstance(columns, int) or not columns or cut.step == 0:
        return None
    rows = [data.table[at : at + columns] for at in range(0, len(data.table), columns)]
    kept = rows[cut] if axis == 0 else [row[cut] for row in rows]
    return tuple(one for row in kept for one in row)


def _count_steps(start: int, end: int, step: int) -> int:
    return max(0, -((start - end) // step))


def _read_limits(use: Use, name: str, operand: int) -> Sequence[Dim] | None:
    if use.is_stated(name):
        return use.integers(name)
    return use.operand(operand).elements


def _cut(size: Dim, start: Dim, end: Dim, step: Dim) -> Dim:
    """Return how many elements are left of so many."""
    if isinstance(size, int) and all(isinstance(limit, int) for limit in (start, end, step)):
        return _count_steps(*slice(start, end, step).indices(size)) if step else None
    if step != 1 or size is None:
        return None
    first: Dim = start if isinstance(start, int) and start >= 0 else None
    if start == size:
        return 0 if end == size or (isinstance(end, int) and end >= _ENDLESS) else None
    if isinstance(start, int) and start < 0:
        if isinstance(end, int) and end >= _ENDLESS and isinstance(size, int):
            return min(-start, size)
        return None
    if first is None:
        return None
    if end == size or (isinstance(end, int) and end >= _ENDLESS):
        return size - first
    if isinstance(end, int) and end < 0 and not isinstance(size, int):
        return size + (end - first)
    # a symbol that is said to end the slice is taken to be no more than there is
    return None if end is None or isinstance(end, int) else end - first


def gather(use: Use) -> list[Fact | None]:
    """Return the entries along an axis that indices pick."""
    data, indices = use.operand(0), use.operand(1)
    axis = use.integer("axis", 0)
    elements = None
    picked = list_integers(indices)
    if data.elements is not None and picked is not None and axis in (0, -1):
        count = len(data.elements)
        elements = tuple(
            data.elements[index] if -count <= index < count else None for index in picked
        )
    if data.dims is None or indices.dims is None or axis is None:
        return [Fact(None, data.dtype, elements)]
    rank = len(data.dims)
    if not -rank <= axis < rank:
        return [Fact(None, data.dtype)]
    place = axis % rank
    dims = (*data.dims[:place], *indices.dims, *data.dims[place + 1 :])
    return [Fact(dims, data.dtype, elements if len(dims) < 2 else None)]


def like_second(use: Use) -> list[Fact | None]:
    """Return the shape of the second operand and the type of the first."""
    return [Fact(use.dims(1), use.operand(0).dtype)]


def compress(use: Use) -> list[Fact | None]:
    """Return the entries along an axis that a mask keeps, or those of the flattened operand."""
    data, axis = use.operand(0), use.integer("axis", 0)
    if not use.is_stated("axis"):
        return [Fact((None,), data.dtype)]
    if data.dims is None or axis is None or not -len(data.dims) <= axis < len(data.dims):
        return [Fact(None, data.dtype)]
    dims = list(data.dims)
    dims[axis] = None
    return [Fact(tuple(dims), data.dtype)]


def gather_nd(use: Use) -> list[Fact | None]:
    """Return the result of GatherND."""
    data, indices, batch = use.operand(0), use.operand(1), use.integer("batch_dims", 0)
    if data.dims is None or not indices.dims or batch is None or batch < 0:
        return [Fact(None, data.dtype)]
    length = indices.dims[-1]
    if not isinstance(length, int):
        return [Fact(None, data.dtype)]
    return [Fact((*indices.dims[:-1], *data.dims[batch + length :]), data.dtype)]


def fill(use: Use) -> list[Fact | None]:
    """Return the result of ConstantOfShape: one element in a shape that is the operand."""
    wanted = use.operand(0)
    tensor = use.tensor("value")
    dtype = FLOAT32 if tensor is None else tensor.dtype
    first = None if tensor is None else read_elements(tensor)
    element: Dim = first[0] if first else None
    lengths = wanted.dims
    if wanted.elements is None:
        count = lengths[0] if lengths is not None and len(lengths) == 1 else None
        is_few = isinstance(count, int) and 0 <= count <= MOST_ELEMENTS
        return [Fact((None,) * count if is_few else None, dtype)]  # type: ignore[operator]
    dims = wanted.elements
    size = dims[0] if len(dims) == 1 else None
    is_list = isinstance(size, int) and 0 <= size <= MOST_ELEMENTS and element is not None
    elements = (element,) * size if is_list else None  # type: ignore[operator]
    return [Fact(dims, dtype, elements, wanted.is_constant)]


def draw(use: Use) -> list[Fact | None]:
    """Return the result of RandomNormal or RandomUniform."""
    return [Fact(use.integers("shape"), use.element_type("dtype") or FLOAT32)]


def make_like(use: Use) -> list[Fact | None]:
    """Return what has the shape of the operand, and its type unless an attribute says another."""
    data = use.operand(0)
    return [Fact(data.dims, use.element_type("dtype") or data.dtype)]


def draw_samples(use: Use) -> list[Fact | None]:
    """Return the result of Multinomial: samples for each row of the operand."""
    rows = use.dims(0)
    dims = (rows[0], use.integer("sample_size", 1)) if rows else None
    return [Fact(dims, use.element_type("dtype") or data_type("int32"))]


def make_window(use: Use) -> list[Fact | None]:
    """Return the result of HannWindow and its like: as long as the operand says."""
    size = use.operand(0).elements
    dims = (size[0],) if size and len(size) == 1 else (None,)
    return [Fact(dims, use.element_type("output_datatype") or FLOAT32)]


def make_mel_weights(use: Use) -> list[Fact | None]:
    """Return the result of MelWeightMatrix, a matrix."""
    return [Fact((None, None), use.element_type("output_datatype") or FLOAT32)]


def make_range(use: Use) -> list[Fact | None]:
    """Return the result of Range."""
    parts = [use.operand(index).elements for index in range(3)]
    start, end, step = (part[0] if part and len(part) == 1 else None for part in parts)
    count: Dim = None
    if start is not None and end is not None and step == 1:
        count = end - start
        count = max(count, 0) if isinstance(count, int) else count
    elif all(isinstance(part, int) for part in (start, end, step)) and step:
        count = _count_steps(start, end, step)  # type: ignore[arg-type]
    return [Fact((count,), use.operand(0).dtype)]


def reduce(use: Use) -> list[Fact | None]:
    """Return the operand with some dimensions made one element each, or taken away."""
    data = use.operand(0)
    elements = None
    if use.operator.form == "ReduceProd":
        size = find_size(data.elements)
        elements = None if size is None else (size,)
    keeps = use.integer("keepdims", 1)
    if data.dims is None or keeps is None:
        return [Fact(None, data.dtype, elements)]
    keeps = keeps == 1  # as runtimes read other numbers
    rank = len(data.dims)
    axes = use.list_numbers("axes", 1)
    if use.operator.has("finds_largest"):
        axis = use.integer("axis", 0)
        axes = None if axis is None else (axis,)
    elif axes is None and not use.has(1) and not use.is_stated("axes"):
        axes = () if use.integer("noop_with_empty_axes", 0) else tuple(range(rank))
    elif axes == () and not use.integer("noop_with_empty_axes", 0):
        axes = tuple(range(rank))
    if axes is None:
        return [Fact((None,) * rank if keeps else None, data.dtype)]
    gone = {axis % rank for axis in axes if -rank <= axis < rank}
    dims = tuple(
        1 if axis in gone else dim
        for axis, dim in enumerate(data.dims)
        if keeps or axis not in gone
    )
    dtype = INT64 if use.operator.has("finds_largest") else data.dtype
    return [Fact(dims, dtype, elements)]


def encode_one_hot(use: Use) -> list[Fact | None]:
    """Return the result of OneHot."""
    indices, depth, axis = use.operand(0), use.operand(1).elements, use.integer("axis", -1)
    dtype = use.operand(2).dtype
    if indices.dims is None or axis is None:
        return [Fact(None, dtype)]
    rank = len(indices.dims) + 1
    if not -rank <= axis < rank:
        return [Fact(None, dtype)]
    place = axis % rank
    size = depth[0] if depth and len(depth) == 1 else None
    return [Fact((*indices.dims[:place], size, *indices.dims[place:]), dtype)]


def take_top(use: Use) -> list[Fact | None]:
    """Return the results of TopK."""
    data, axis = use.operand(0), use.integer("axis", -1)
    count = use.operand(1).elements if use.has(1) else None
    size: Dim = use.integer("k") if use.is_stated("k") else None
    if count is not None and len(count) == 1:
        size = count[0]
    if data.dims is None or axis is None or not -len(data.dims) <= axis < len(data.dims):
        return [Fact(None, data.dtype), Fact(None, INT64)]
    dims = list(data.dims)
    dims[axis] = size
    return [Fact(tuple(dims), data.dtype), Fact(tuple(dims), INT64)]
