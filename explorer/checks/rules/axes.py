"""Axes and places in operands: within the rank, each once, and within the size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from math import prod

from netloupe.explorer.checks.operands import read_constant
from netloupe.explorer.checks.rule import Rule
from netloupe.explorer.checks.uses import Case, Demand
from netloupe.explorer.costs.facts import Dim, Dims, list_integers
from netloupe.explorer.notation import say_how_many, write_count

from .operand_shapes import are_different, are_shapes_different, make_finder


def _say_range(case: Case, name: str, axis: int, rank: int, more: int = 0) -> Iterator[str]:
    low, high = -rank, rank - 1 + more
    if not low <= axis <= high:
        yield f"{name} is {axis}, but {case.say(0)}: {name} must be {low} to {high}"


def _judge_axis(case: Case, name: str = "axis", grown: int = 0, more: int = 0) -> Iterator[str]:
    """Say whether one axis is outside of the rank; ``grown`` is what a result has more."""
    axis, rank = case.integer(name), case.rank(0)
    if axis is None or rank is None or not case.is_stated(name):
        return
    if not rank and not grown:
        if axis not in (0, -1) or case.operator.has("joins", "looks_up", "splits"):
            yield f"{name} is {axis}, but {case.say(0)}, a scalar"
        return
    yield from _say_range(case, name, axis, rank + grown, more)


def _judge_axes(case: Case, place: int = 1, name: str = "axes") -> Iterator[str]:
    """Say whether one of several axes is outside of the rank or there twice."""
    axes, rank = case.list_numbers(name, place), case.rank(0)
    if axes is None or rank is None:
        return
    yield from _judge_each(case, name, axes, rank)


def _judge_each(case: Case, name: str, axes: tuple[int, ...], rank: int) -> Iterator[str]:
    wrong = [axis for axis in axes if not -rank <= axis < rank]
    if wrong and rank:
        yield from _say_range(case, name, wrong[0], rank)
    elif wrong and any(axis not in (0, -1) for axis in wrong):
        yield f"{name} is {list(axes[:8])}, but {case.say(0)}, a scalar"
    elif rank and len({axis % rank for axis in axes}) < len(axes):
        yield f"{name} is {list(axes[:8])}, which has an axis twice"


def _transpose(case: Case) -> Iterator[str]:
    order, rank = case.integers("perm"), case.rank(0)
    if order is None or not case.is_stated("perm"):
        return
    if sorted(order) != list(range(len(order))):
        yield f"perm is {list(order[:16])}, but must have each of 0 to {len(order) - 1} once"
    elif rank is not None and len(order) != rank:
        yield f"perm is {list(order[:16])}, but {case.say(0)}"


def _judge_stated(case: Case) -> Iterator[str]:
    """Say the same of axes that are an attribute in all versions."""
    axes, rank = case.integers("axes") if case.is_stated("axes") else None, case.rank(0)
    if axes is not None and rank is not None:
        yield from _judge_each(case, "axes", axes, rank)


def _crop(case: Case) -> Iterator[str]:
    """Say whether CenterCropPad is not told a size for each of its axes (Operators.md)."""
    found = [*_judge_stated(case)]
    yield from found
    axes, sizes = case.integers("axes") if case.is_stated("axes") else None, case.dims(1)
    if found or axes is None or case.rank(0) is None or sizes is None or len(sizes) != 1:
        return
    if are_shapes_different(sizes, (len(axes),)):
        yield f"{case.say(1)}, but axes is {list(axes[:8])}"


def _scatter_cache(case: Case) -> Iterator[str]:
    """Say whether the axis of TensorScatter is none of the sequence (Operators.md)."""
    axis, rank = case.integer("axis", -2), case.rank(0)
    if axis is None or not rank:
        return
    if not -rank <= axis < rank or axis % rank == 0:
        yield f"axis is {axis}, but {case.say(0)}, of which the first axis is the batch"


def _transform(case: Case) -> Iterator[str]:
    """Say whether the axis of DFT is the last one, of real and imaginary parts, or none."""
    axis, rank = case.integer("axis", 1), case.rank(0)
    if axis is None or not rank or not case.is_stated("axis"):
        return
    if not -rank <= axis < rank - 1 or axis == -1:
        yield f"axis is {axis}, but {case.say(0)}, whose last axis holds real and imaginary parts"


def _unsqueeze(case: Case) -> Iterator[str]:
    axes, rank = case.list_numbers("axes", 1), case.rank(0)
    if axes is not None and rank is not None:
        yield from _judge_each(case, "axes", axes, rank + len(axes))


def _squeeze(case: Case) -> Iterator[str]:
    axes, dims = case.list_numbers("axes", 1), case.dims(0)
    if axes is None or dims is None:
        return
    found = [*_judge_each(case, "axes", axes, len(dims))]
    yield from found
    if not found and dims:
        wrong = [axis for axis in axes if isinstance(dims[axis], int) and dims[axis] != 1]
        if wrong:
            yield f"axis {wrong[0]} shall go, but is not 1: {case.say(0)}"


#: since this version Split no longer makes equal parts where nothing is said of them
_STATED_PARTS = 18


def _split(case: Case) -> Iterator[str]:
    """Say why an operand cannot be split so (Operators.md, Split)."""
    found = [*_judge_axis(case)]
    yield from found
    dims, axis = case.dims(0), case.integer("axis", 0)
    lengths = case.list_numbers("split", 1)
    if case.version >= _STATED_PARTS and case.has(1) is case.is_stated("num_outputs"):
        told = (
            "both split and num_outputs are" if case.has(1) else "neither split nor num_outputs is"
        )
        yield f"{told} given, but Split needs one of them"
        return
    if found or dims is None or axis is None or not -len(dims) <= axis < len(dims):
        return
    size, count = dims[axis], case.results
    if lengths is not None:
        if len(lengths) != count:
            told = f"split is {list(lengths[:8])}, {write_count(len(lengths), 'part')}"
            yield f"{told}, but {say_how_many(count, 'output')}"
        elif min(lengths, default=0) < 0 or (isinstance(size, int) and sum(lengths) != size):
            told = f"split is {list(lengths[:8])}, {sum(lengths)} in all"
            yield f"{told}, but axis {axis} has {size}: {case.say(0)}"
        return
    parts = case.integer("num_outputs") if case.is_stated("num_outputs") else None
    if parts is not None and parts != count:
        yield f"num_outputs is {parts}, but {say_how_many(count, 'output')}"
    elif parts is None and not case.has(1) and isinstance(size, int) and count and size % count:
        yield (
            f"axis {axis} has {size}, not divisible into "
            f"{write_count(count, 'part')}: {case.say(0)}"
        )


def _take_top(case: Case) -> Iterator[str]:
    """Say whether TopK asks for more than there is."""
    found = [*_judge_axis(case)]
    yield from found
    dims, axis = case.dims(0), case.integer("axis", -1)
    picked = list_integers(case.operand(1)) if case.has(1) else None
    count = case.integer("k") if case.is_stated("k") else None
    if picked is not None and len(picked) == 1:
        (count,) = picked
    if found or count is None or not dims or axis is None:
        return
    if not -len(dims) <= axis < len(dims):
        return
    size = dims[axis]
    if count < 0 or (isinstance(size, int) and count > size):
        yield f"k is {count}, but axis {axis} has {size}: {case.say(0)}"


def _read_indices(case: Case, place: int) -> tuple[int, int] | None:
    """Return the least and the largest index that is stored; None where none is known."""
    picked = case.operand(place).elements
    numbers = [number for number in picked or () if isinstance(number, int)]
    if numbers:
        return min(numbers), max(numbers)
    value = case.node.input(place)
    if value is None or not case.operand(place).is_constant:
        return None
    stored = read_constant(value)
    if stored is None or not stored.size or stored.dtype.kind not in "iu":
        return None
    return int(stored.min()), int(stored.max())


def _pick(case: Case, *, needs_one_rank: bool = False) -> Iterator[str]:
    """Say whether a stored index is beyond the size (Operators.md, Gather: indices)."""
    found = [*_judge_axis(case)]
    yield from found
    dims, axis = case.dims(0), case.integer("axis", 0)
    if dims is not None and not dims:
        if not found:
            yield f"{case.say(0)}, a scalar, from which nothing can be picked"
        return
    if found or dims is None or axis is None or not -len(dims) <= axis < len(dims):
        return
    if needs_one_rank and case.rank(1) not in (None, len(dims)):
        yield f"{case.say(0)} and {case.say(1)}, which must have one rank"
        return
    yield from _judge_indices(case, 1, dims[axis], f"axis {axis}")


def _judge_indices(case: Case, place: int, size: Dim, what: str) -> Iterator[str]:
    if not isinstance(size, int):
        return
    limits = _read_indices(case, place)
    if limits is not None and (limits[0] < -size or limits[1] >= size):
        wrong = limits[1] if limits[1] >= size else limits[0]
        yield f"{case.name(place)} has the index {wrong}, but {what} has {size}: {case.say(0)}"


def _scatter(case: Case) -> Iterator[str]:
    """Say what of ScatterElements does not fit: updates are as the indices."""
    found = [*_judge_axis(case)]
    yield from found
    known = case.known_dims(0, 1, 2)
    if found or known is None:
        return
    data, indices, updates = known
    if len(data) != len(indices):
        yield f"{case.say(0)} and {case.say(1)}, which must have one rank"
    elif are_shapes_different(indices, updates):
        yield f"{case.say(1)} and {case.say(2)}, which must have one shape"
    else:
        axis = case.integer("axis", 0)
        if axis is not None and data and -len(data) <= axis < len(data):
            yield from _judge_indices(case, 1, data[axis], f"axis {axis}")


def _gather_many(case: Case) -> Iterator[str]:
    """Say whether the tuples of GatherND or ScatterND are longer than the rank."""
    known = case.known_dims(0, 1)
    batches = case.integer("batch_dims", 0)  # which ScatterND does not have
    if known is None or batches is None:
        return
    data, indices = known
    if not data or not indices:
        yield f"{case.say(0)} and {case.say(1)}, of which none may be a scalar"
        return
    length = indices[-1]
    if isinstance(length, int) and length > len(data) - batches:
        yield f"{case.say(1)}, whose tuples of {length} are longer than the rank: {case.say(0)}"
        return
    updates = case.dims(2)
    if updates is not None and isinstance(length, int):
        wanted = (*indices[:-1], *data[length:])
        if are_shapes_different(wanted, updates):
            shown = ", ".join("?" if dim is None else str(dim) for dim in wanted)
            yield f"{case.say(2)}, but must be [{shown}]"


def _slice(case: Case) -> Iterator[str]:
    yield from _judge_axes(case, 3)
    lists = [case.list_numbers(name, place) for name, place in (("starts", 1), ("ends", 2))]
    axes, steps = case.list_numbers("axes", 3), case.list_numbers("steps", 4)
    lengths = {len(numbers) for numbers in (*lists, axes, steps) if numbers is not None}
    if len(lengths) > 1:
        yield f"starts, ends, axes and steps have different lengths: {sorted(lengths)}"
    if steps is not None and 0 in steps:
        yield "steps has a 0"
    rank = case.rank(0)
    if lists[0] is not None and rank is not None and len(lists[0]) > rank:
        yield f"starts has {write_count(len(lists[0]), 'entry', 'entries')}, but {case.say(0)}"


def _quantize(case: Case) -> Iterator[str]:
    """Say what of scale and zero point does not fit the data (Operators.md, QuantizeLinear)."""
    data, scale = case.dims(0), case.dims(1)
    zero = case.dims(2) if case.has(2) else None
    if scale is not None and zero is not None and are_shapes_different(scale, zero):
        is_one = all(prod(d for d in dims if isinstance(d, int)) == 1 for dims in (scale, zero))
        if not is_one:
            yield f"{case.say(1)} and {case.say(2)}, which must have one shape"
            return
    if data is None or scale is None or not scale or prod_is_one(scale):
        return
    block = case.integer("block_size", 0)
    axis = case.integer("axis", 1)
    if axis is None or block is None:
        return
    if not -len(data) <= axis < len(data):
        yield from _say_range(case, "axis", axis, len(data))
        return
    if block > 0:
        yield from _judge_blocks(case, data, scale, axis % len(data), block)
    elif len(scale) == 1:
        size = data[axis]
        if isinstance(size, int) and isinstance(scale[0], int) and size != scale[0]:
            yield f"{case.say(1)}, but axis {axis} has {size}: {case.say(0)}"
    elif len(scale) > 1 and len(scale) != len(data):
        yield f"{case.say(1)} and {case.say(0)}, which must have one rank"


def _judge_blocks(case: Case, data: Dims, scale: Dims, axis: int, block: int) -> Iterator[str]:
    """Say whether there is not a scale for each block (Operators.md, QuantizeLinear-21)."""
    if len(scale) != len(data):
        yield f"{case.say(1)} and {case.say(0)}, which must have one rank for blocks of {block}"
        return
    for place, (size, count) in enumerate(zip(data, scale, strict=True)):
        wanted = -(-size // block) if place == axis and isinstance(size, int) else size
        if are_different(wanted, count):
            blocks = f" for blocks of {block}" if place == axis else ""
            told = f"{case.say(1)}, but must have {wanted} along axis {place}{blocks}"
            yield f"{told}: {case.say(0)}"
            return


def prod_is_one(dims: tuple[Dim, ...]) -> bool:
    """Return whether dimensions are those of one element."""
    return all(dim == 1 for dim in dims)


def _accumulate(case: Case) -> Iterator[str]:
    axes, rank = list_integers(case.operand(1)), case.rank(0)
    if axes and rank:
        yield from _say_range(case, "axis", axes[0], rank)


def _reverse(case: Case) -> Iterator[str]:
    batch, time = case.integer("batch_axis", 1), case.integer("time_axis", 0)
    rank = case.rank(0)
    if rank is not None and rank < 2:
        yield f"{case.say(0)}, but ReverseSequence takes at least 2 axes"
    elif None not in (batch, time) and {batch, time} != {0, 1}:
        yield f"batch_axis is {batch} and time_axis {time}, but one must be 0 and the other 1"


#: a function of this module for each operator, as in the tables behind
_AXES: Mapping[str, Demand] = {
    **dict.fromkeys(
        [
            "Softmax",
            "LogSoftmax",
            "Hardmax",
            "Concat",
            "ArgMax",
            "ArgMin",
            "LayerNormalization",
            "RMSNormalization",
            "LpNormalization",
            "Compress",
            "SplitToSequence",
            "Unique",
        ],
        _judge_axis,
    ),
    "Flatten": partial(_judge_axis, more=1),
    "OneHot": partial(_judge_axis, grown=1),
    "Transpose": _transpose,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    **dict.fromkeys(
        [
            "ReduceL1",
            "ReduceL2",
            "ReduceLogSum",
            "ReduceLogSumExp",
            "ReduceMax",
            "ReduceMean",
            "ReduceMin",
            "ReduceProd",
            "ReduceSum",
            "ReduceSumSquare",
        ],
        _judge_axes,
    ),
    "MeanVarianceNormalization": partial(_judge_axes, place=99),
    "CenterCropPad": _crop,
    "Resize": _judge_stated,
    "TensorScatter": _scatter_cache,
    "DFT": _transform,
    "Slice": _slice,
    "CumSum": _accumulate,
    "ReverseSequence": _reverse,
    **dict.fromkeys(("QuantizeLinear", "DequantizeLinear"), _quantize),
}
#: the same for parts
_PARTS: Mapping[str, Demand] = {"Split": _split, "TopK": _take_top}
#: the same for what is picked and scattered
_PICKED: Mapping[str, Demand] = {
    "Gather": _pick,
    "GatherElements": partial(_pick, needs_one_rank=True),
    **dict.fromkeys(("Scatter", "ScatterElements"), _scatter),
    **dict.fromkeys(("GatherND", "ScatterND"), _gather_many),
}

RULES = (
    Rule(
        "NL-T15",
        "axis-range",
        "error",
        "An axis that the operand does not have, or that is there twice",
        "The operator is not defined for it; runtimes refuse the model or fail in the first run.",
        "Count axes from 0, or from −1 at the end, within the rank.",
        "Operators.md: axis, axes, perm",
        make_finder(_AXES),
    ),
    Rule(
        "NL-T16",
        "part-sizes",
        "error",
        "Parts of Split or TopK that do not fit the size",
        "More is asked for than there is, or something is left over; runtimes refuse the model or "
        "fail in the first run.",
        "Make the parts add up to the size, as many as there are outputs; let k be at most that.",
        "Operators.md, Split, TopK",
        make_finder(_PARTS),
    ),
    Rule(
        "NL-T17",
        "index-range",
        "error",
        "Stored indices beyond the size of what they pick from, or of another shape",
        "Runtimes fail in the first run, or read what is not there.",
        "Correct the indices, or take the table that they belong to.",
        "Operators.md, Gather: all index values are expected to be within bounds",
        make_finder(_PICKED),
    ),
)
