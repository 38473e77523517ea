"""Results of operators that arrange elements anew: Reshape, Transpose, Concat and their like.

Sources: ONNX operator specification, ContribOperators of ONNX Runtime, Caffe2's operators. A rule
gives a fact for each result that it knows; what depends on elements that are not known stays open.
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import DataType, data_type

from .elementwise import MOST_ELEMENTS
from .facts import UNKNOWN, Dim, Dims, Fact, Use, find_size, list_integers
from .polynomial import Amount, divide_exactly
from .products import broadcast

INT64 = data_type("int64")

#: scales from here on are beyond all sense
_MOST_SCALE = 2**31 - 1


def read_shape(use: Use) -> list[Fact | None]:
    """Return the dimensions of the operand as elements."""
    dims = use.dims(0)
    if dims is None:
        return [Fact((None,), INT64)]
    taken = dims[use.integer("start", 0) : use.integer("end")]
    return [Fact((len(taken),), INT64, taken if len(taken) <= MOST_ELEMENTS else None)]


def read_size(use: Use) -> list[Fact | None]:
    """Return the number of elements."""
    size = use.operand(0).size
    return [Fact((), INT64, None if size is None else (size,))]


def reshape(use: Use) -> list[Fact | None]:
    """Return the result of Reshape; 0 keeps a dimension, and -1 takes what is left."""
    data = use.operand(0)
    wanted = use.operand(1).elements if use.has(1) else use.integers("shape")
    second = Fact(None, INT64)
    if wanted is None:
        lengths = use.dims(1)
        count = lengths[0] if lengths is not None and len(lengths) == 1 else None
        is_few = isinstance(count, int) and 0 <= count <= MOST_ELEMENTS
        return [Fact((None,) * count if is_few else None, data.dtype), second]  # type: ignore[operator]
    is_literal = use.integer("allowzero", 0) == 1
    dims: list[Dim] = []
    for place, size in enumerate(wanted):
        if size == 0 and not is_literal:
            is_there = data.dims is not None and place < len(data.dims)
            dims.append(data.dims[place] if is_there else None)  # type: ignore[index]
        else:
            dims.append(None if isinstance(size, int) and size < 0 else size)
    if wanted.count(-1) == 1 and wanted.count(None) == 0:
        place = wanted.index(-1)
        dims[place] = _find_rest(data.dims, wanted, dims, place)
    listed = data.table if data.elements is None else data.elements
    elements = listed if len(dims) == 1 or (not dims and data.size == 1) else None
    is_table = listed is not None and len(dims) == 2 and find_size(tuple(dims)) == len(listed)
    table = listed if is_table else None
    return [Fact(tuple(dims), data.dtype, elements, table=table), second]


def _find_rest(given: Dims | None, wanted: Sequence[Dim], dims: list[Dim], place: int) -> Dim:
    """Return the dimension that -1 stands for, where what is there divides without a rest."""
    if given is None:
        return None
    kept = {axis for axis, size in enumerate(wanted) if size == 0 and axis < len(given)}
    size = find_size(tuple(d for axis, d in enumerate(given) if axis not in kept))
    taken = find_size(tuple(d for a, d in enumerate(dims) if a != place and a not in kept))
    return None if size is None or not taken else divide_exactly(size, taken)


def make_matrix(use: Use) -> list[Fact | None]:
    """Return a matrix: the dimensions before an axis, and those from it on."""
    data, axis = use.operand(0), use.integer("axis", 1)
    if data.dims is None or axis is None or not -len(data.dims) <= axis <= len(data.dims):
        return [Fact((None, None), data.dtype)]
    cut = axis + len(data.dims) if axis < 0 else axis
    parts = (find_size(data.dims[:cut]), find_size(data.dims[cut:]))
    return [Fact(parts, data.dtype)]


def transpose(use: Use) -> list[Fact | None]:
    """Return the operand with its dimensions in another order."""
    data = use.operand(0)
    name = "perm" if use.is_stated("perm") else "axes"
    order = use.integers(name)
    if data.dims is None:
        return [Fact((None,) * len(order) if order else None, data.dtype)]
    if order is None:
        order = tuple(reversed(range(len(data.dims))))
    if sorted(order) != list(range(len(data.dims))):
        return [Fact(None, data.dtype)]
    table = None
    if data.table is not None and tuple(order) == (1, 0) and isinstance(data.dims[1], int):
        table = tuple(
            one for column in range(data.dims[1]) for one in data.table[column :: data.dims[1]]
        )
    return [Fact(tuple(data.dims[axis] for axis in order), data.dtype, table=table)]


def squeeze(use: Use) -> list[Fact | None]:
    """Return the operand without dimensions of 1."""
    data = use.operand(0)
    axes = use.list_numbers("axes", 1)
    if data.dims is None:
        return [Fact(None, data.dtype, data.elements)]
    rank = len(data.dims)
    if axes is None:
        is_open = use.has(1) or any(not isinstance(dim, int) for dim in data.dims)
        if is_open:
            return [Fact(None, data.dtype, data.elements)]
        axes = tuple(axis for axis, dim in enumerate(data.dims) if dim == 1)
    gone = {axis % rank for axis in axes if -rank <= axis < rank}
    dims = tuple(dim for axis, dim in enumerate(data.dims) if axis not in gone)
    return [Fact(dims, data.dtype, data.elements)]


def unsqueeze(use: Use) -> list[Fact | None]:
    """Return the operand with further dimensions of 1."""
    data = use.operand(0)
    axes = use.list_numbers("axes", 1)
    if data.dims is None or axes is None:
        return [Fact(None, data.dtype)]
    rank = len(data.dims) + len(axes)
    places = {axis % rank for axis in axes if -rank <= axis < rank}
    if len(places) != len(axes):
        return [Fact(None, data.dtype)]
    left = iter(data.dims)
    dims = tuple(1 if axis in places else next(left) for axis in range(rank))
    return [Fact(dims, data.dtype, data.elements if rank == 1 else None)]


def concatenate(use: Use) -> list[Fact | None]:
    """Return the operands one after the other along an axis."""
    axis = use.integer("axis", 1 if use.opset is None else None)
    if axis is None and not use.is_stated("axis"):
        axis = 1  # the default of Concat before opset 4, and of Caffe2
    facts = [use.operand(index) for index in range(len(use.operands))]
    dtype = next((fact.dtype for fact in facts if fact.dtype), None)
    return [join(facts, axis, dtype)]


def join(facts: Sequence[Fact], axis: int | None, dtype: DataType | None) -> Fact:
    """Return several operands one after the other along an axis."""
    ranks = {len(fact.dims) for fact in facts if fact.dims is not None}
    if len(ranks) != 1 or axis is None:
        return Fact(None, dtype)
    rank = ranks.pop()
    if not -rank <= axis < rank:
        return Fact(None, dtype)
    place = axis % rank
    dims: list[Dim] = []
    for index in range(rank):
        sizes = [None if fact.dims is None else fact.dims[index] for fact in facts]
        known = [size for size in sizes if size is not None]
        if index == place:
            dims.append(_sum(known) if len(known) == len(sizes) else None)
        else:
            numbers = [size for size in known if isinstance(size, int)]
            dims.append((numbers or known or [None])[0])
    elements: list[Dim] | None = []
    for fact in facts if rank == 1 else ():
        if fact.elements is None and (fact.dims is None or not isinstance(fact.dims[0], int)):
            elements = None
            break
        count = fact.dims[0] if fact.dims is not None else 0
        more = fact.elements or ((None,) * min(int(count or 0), MOST_ELEMENTS + 1))  # type: ignore[arg-type]
        elements = [*elements, *more]  # type: ignore[misc]
        if len(elements) > MOST_ELEMENTS:
            elements = None
            break
    return Fact(tuple(dims), dtype, tuple(elements) if elements and rank == 1 else None)


def _sum(amounts: Sequence[Amount]) -> Amount:
    total: Amount = 0
    for amount in amounts:
        total = total + amount
    return total


def expand(use: Use) -> list[Fact | None]:
    """Return the operand broadcast to a shape."""
    data, wanted = use.operand(0), use.operand(1).elements
    if wanted:
        return [Fact(broadcast(data.dims, wanted), data.dtype)]
    lengths = use.dims(1)
    count = lengths[0] if lengths and len(lengths) == 1 else None
    if data.dims is None or not isinstance(count, int) or not 0 <= count <= MOST_ELEMENTS:
        return [Fact(None, data.dtype)]
    # whatever the shape is, what has more than one element stays
    kept = tuple(None if dim == 1 else dim for dim in data.dims)
    return [Fact((*[None] * (count - len(kept)), *kept), data.dtype)]


def tile(use: Use) -> list[Fact | None]:
    """Return the operand repeated along its dimensions."""
    data, times = use.operand(0), use.operand(1).elements
    if data.dims is None:
        return [Fact(None, data.dtype)]
    if times is None or len(times) != len(data.dims):
        return [Fact((None,) * len(data.dims), data.dtype)]
    dims = tuple(None if d is None or n is None else d * n for d, n in zip(data.dims, times))  # noqa: B905 - checked
    return [Fact(dims, data.dtype)]


def pad(use: Use) -> list[Fact | None]:
    """Return the operand with more at both ends of its dimensions."""
    data = use.operand(0)
    pads: Dims | None = use.integers("pads") or use.integers("paddings")
    if pads is None and use.has(1):
        pads = use.operand(1).elements
    if data.dims is None:
        return [Fact(None, data.dtype)]
    rank = len(data.dims)
    axes = list_integers(use.operand(3)) if use.has(3) else tuple(range(rank))
    if pads is None or axes is None or len(pads) != 2 * len(axes):
        return [Fact((None,) * rank, data.dtype)]
    dims = list(data.dims)
    for index, axis in enumerate(axes):
        if -rank <= axis < rank:
            parts = (dims[axis], pads[index], pads[index + len(axes)])
            known = [part for part in parts if part is not None]
            dims[axis] = _sum(known) if len(known) == 3 else None
    return [Fact(tuple(dims), data.dtype)]


def resize(use: Use) -> list[Fact | None]:
    """Return the result of Resize or Upsample, from sizes or whole scales."""
    data = use.operand(0)
    if data.dims is None:
        return [Fact(None, data.dtype)]
    rank = len(data.dims)
    sizes = use.operand(3).elements if use.has(3) else None
    axes = use.integers("axes")
    stretches = use.text("keep_aspect_ratio_policy", "stretch") == "stretch"
    if sizes is not None and axes is None and len(sizes) == rank and stretches:
        return [Fact(sizes, data.dtype)]
    scales = use.numbers("scales")
    for place in (1, 2):
        scales = scales or use.operand(place).numbers
    if scales is not None and axes is None and len(scales) == rank and not use.has(3):
        dims = tuple(map(_stretch, data.dims, scales))
        return [Fact(dims, data.dtype)]
    return [Fact((None,) * rank, data.dtype)]


def _stretch(size: Dim, scale: float) -> Dim:
    if size is None or not 0 < scale < _MOST_SCALE:
        return None
    if scale == int(scale):
        return size * int(scale)
    return int(size * scale) if isinstance(size, int) and size < _MOST_SCALE else None


def move_depth(use: Use) -> list[Fact | None]:
    """Return the result of DepthToSpace or SpaceToDepth."""
    data, block = use.operand(0), use.integer("blocksize")
    if data.dims is None or len(data.dims) != 4 or not block:
        return [Fact(None, data.dtype)]
    batch, channels, height, width = data.dims
    if use.operator.form == "DepthToSpace":
        depth = None if channels is None else divide_exactly(channels, block * block)
        sides = [None if side is None else side * block for side in (height, width)]
    else:
        depth = None if channels is None else channels * block * block
        sides = [None if side is None else divide_exactly(side, block) for side in (height, width)]
    return [Fact((batch, depth, *sides), data.dtype)]


def concatenate_with_sizes(use: Use) -> list[Fact | None]:
    """Return the results of Concat of Caffe2: the operands in a row, and their sizes."""
    axis = use.integer("axis", -1 if use.text("order") == "NHWC" else 1)
    facts = [use.operand(index) for index in range(len(use.operands))]
    if use.integer("add_axis", 0):
        return [UNKNOWN, Fact((len(facts),), data_type("int32"))]
    dtype = facts[0].dtype if facts else None
    return [join(facts, axis, dtype), Fact((len(facts),), data_type("int32"))]


def move_channels(use: Use) -> list[Fact | None]:
    """Return the result of NCHW2NHWC or NHWC2NCHW of Caffe2."""
    data = use.operand(0)
    if data.dims is None or len(data.dims) < 3:
        return [Fact(None, data.dtype)]
    batch, *rest = data.dims
    moved = (*rest[1:], rest[0]) if use.operator.form == "NCHW2NHWC" else (rest[-1], *rest[:-1])
    return [Fact((batch, *moved), data.dtype)]
