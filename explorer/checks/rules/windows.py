"""Kernels of convolutions and pools: their weights, and the lists that say how they move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from netloupe.explorer.checks.rule import Rule
from netloupe.explorer.checks.uses import Case, Demand
from netloupe.explorer.notation import say_how_many, write_count

from .operand_shapes import are_different, make_finder

#: lists of attributes, with how many entries there are for each spatial axis
_LISTS = {"kernel_shape": 1, "strides": 1, "dilations": 1, "pads": 2, "output_padding": 1}
#: what entries must at least be
_LEAST = {"kernel_shape": 1, "strides": 1, "dilations": 1, "pads": 0, "output_padding": 0}
#: what may be less all the same
_SHRINKING = ("pads", "MaxUnpool")


def _judge_lists(case: Case, rank: int | None) -> Iterator[str]:
    """Say which lists have not an entry for each spatial axis, or entries that cannot be.

    Where no rank is known the kernel tells it.
    """
    kernel = case.integers("kernel_shape")
    is_known, told = rank is not None, f": {case.say(0)}" if rank is not None else ""
    if rank is None and kernel is not None and case.is_stated("kernel_shape"):
        rank = len(kernel)
    for name, each in _LISTS.items():
        numbers = case.integers(name) if case.is_stated(name) else None
        if numbers is None or not (numbers or is_known):
            continue  # where no rank is known, what is empty may stand for what is left out
        if rank is not None and len(numbers) != each * rank:
            yield (
                f"{name} has {write_count(len(numbers), 'entry', 'entries')}, "
                f"{list(numbers[:8])}, but must have {each * rank} for "
                f"{write_count(rank, 'spatial axis', 'spatial axes')}{told}"
            )
        elif min(numbers, default=1) < _LEAST[name] and (name, case.op_type) != _SHRINKING:
            yield f"{name} is {list(numbers[:8])}, but entries must be at least {_LEAST[name]}"
    sizes = case.integers("output_shape") if case.is_stated("output_shape") else None
    if sizes is not None and rank is not None and len(sizes) != rank:
        yield (
            f"output_shape has {write_count(len(sizes), 'entry', 'entries')}, but must have {rank} "
            f"for {write_count(rank, 'spatial axis', 'spatial axes')}{told}"
        )
    elif sizes is not None and min(sizes, default=1) < 1:
        yield f"output_shape is {list(sizes[:8])}, but entries must be at least 1"


def _find_spatial(case: Case, *places: int) -> int | None:
    """Return the number of spatial axes; None where no rank is known."""
    ranks = [rank for rank in map(case.rank, places) if rank is not None]
    return ranks[0] - 2 if ranks else None


def _find_weights(case: Case) -> int:
    """Return which operand of a convolution is its weights."""
    return case.operator.operands.find("weight") or 1


def _convolve(case: Case) -> Iterator[str]:
    """Say what of a convolution does not fit (Operators.md, Conv: Inputs, Attributes)."""
    place = _find_weights(case)
    data, weights = case.dims(0), case.dims(place)
    rank = _find_spatial(case, place, 0)
    if rank is None:
        yield from _judge_lists(case, None)
        return
    if rank < 1:
        known = place if weights is not None else 0
        yield f"{case.say(known)}, but {case.op_type} takes at least 3 axes"
        return
    if data is not None and weights is not None and len(data) != len(weights):
        yield f"{case.say(0)} and {case.say(place)}, which must have one rank"
        return
    yield from _judge_lists(case, rank)
    group = case.integer("group", 1)
    if group is not None and group < 1:
        yield f"group is {group}, but must be at least 1"
        return
    if weights is None or group is None:
        return
    kernel = case.integers("kernel_shape")
    if kernel is not None and len(kernel) == rank and any(map(are_different, kernel, weights[2:])):
        yield f"kernel_shape is {list(kernel)}, but {case.say(place)}"
    is_transposed = case.operator.has("transposed")
    channels = data[1] if data is not None else None
    wanted = weights[0] if is_transposed else weights[1]
    if not is_transposed and isinstance(wanted, int):
        wanted *= group
    if are_different(channels, wanted):
        hint = ""
        if not is_transposed and group == 1 and weights[0] == channels:
            hint = "; with its first two axes swapped it would fit"
        grouped = f" with group {group}" if group != 1 else ""
        yield (
            f"{case.say(0)} and {case.say(place)}: the data has {channels} "
            f"channels, the weight is for {wanted}{grouped}{hint}"
        )
    elif isinstance(weights[0], int) and weights[0] % group:
        told = f"{case.say(place)}, whose number of filters, {weights[0]},"
        yield f"{told} is not divisible by group {group}"
    filters = weights[1 if is_transposed else 0]
    if is_transposed and isinstance(filters, int):
        filters *= group
    yield from _judge_bias(case, place, filters)


def _judge_bias(case: Case, weights: int, filters: object) -> Iterator[str]:
    place = case.operator.operands.find("bias")
    bias = None if place is None else case.dims(place)
    if place is None or bias is None:
        return
    if len(bias) != 1:
        yield f"{case.say(place)}, but a bias is a list"
    elif isinstance(filters, int) and are_different(bias[0], filters):
        yield f"{case.say(place)}, but {say_how_many(filters, 'filter')}: {case.say(weights)}"


def _judge_reach(case: Case, kernel: tuple[object, ...]) -> Iterator[str]:
    """Say along which axis a kernel is larger than the data with its padding."""
    data = case.dims(0)
    if data is None or case.text("auto_pad", "NOTSET") not in ("NOTSET", ""):
        return
    rank = len(data) - 2
    pads = case.integers("pads") if case.is_stated("pads") else (0,) * 2 * rank
    dilations = case.integers("dilations") if case.is_stated("dilations") else (1,) * rank
    strides = case.integers("strides") if case.is_stated("strides") else (1,) * rank
    if pads is None or dilations is None or strides is None:
        return
    if [len(pads), len(dilations), len(strides)] != [2 * rank, rank, rank]:
        return
    rounds_up = case.integer("ceil_mode", 0) == 1  # then what is left counts as one more
    for axis, (size, width) in enumerate(zip(data[2:], kernel, strict=False)):
        if not isinstance(size, int) or not isinstance(width, int):
            continue
        room = size + pads[axis] + pads[axis + rank]
        reach = (width - 1) * dilations[axis] + 1
        if room - reach + (strides[axis] - 1 if rounds_up else 0) < 0:
            told = f"{case.say(0)}: the kernel reaches over {reach} along axis {axis + 2}"
            yield f"{told}, where there are {room}; nothing comes out"
            return


def _pool(case: Case) -> Iterator[str]:
    """Say what of a pool does not fit (Operators.md, MaxPool: Attributes)."""
    kernel, rank = case.integers("kernel_shape"), _find_spatial(case, 0)
    if kernel is None:
        return
    if rank is not None and rank < 1:
        yield f"{case.say(0)}, but {case.op_type} takes at least 3 axes"
        return
    found = [*_judge_lists(case, rank)]
    yield from found
    if not found:
        yield from _judge_padding(case, kernel)


def _move(case: Case) -> Iterator[str]:
    """Say what of the lists does not fit, of operators whose layout is not looked at."""
    rank = _find_spatial(case, _find_weights(case), 0)
    yield from _judge_lists(case, rank if rank is None or rank > 0 else None)


def _unfold(case: Case) -> Iterator[str]:
    """Say what of Col2Im does not fit (Operators.md, Col2Im: Attributes)."""
    sizes = case.dims(1)
    rank = sizes[0] if sizes is not None and len(sizes) == 1 else None
    yield from _judge_lists(case, rank if isinstance(rank, int) else None)


def _reach_with_weights(case: Case) -> Iterator[str]:
    """Say whether a kernel is larger than the data, so that it fits nowhere."""
    weights = case.dims(_find_weights(case))
    if weights is not None and len(weights) > 2:
        yield from _judge_reach(case, weights[2:])


def _reach(case: Case) -> Iterator[str]:
    kernel = case.integers("kernel_shape")
    if kernel is not None:
        yield from _judge_reach(case, kernel)


def _judge_padding(case: Case, kernel: tuple[int, ...]) -> Iterator[str]:
    """Say where padding is as wide as a kernel, which would then lie in it wholly."""
    pads = case.integers("pads")  # which must fit beside another auto_pad too
    if pads is None:
        return
    if any(pad >= width for pad, width in zip(pads, (*kernel, *kernel), strict=False)):
        yield f"pads is {list(pads[:8])}, but must be smaller than the kernel {list(kernel[:8])}"


#: a function of this module for each operator, as in the tables behind
_WINDOWS: Mapping[str, Demand] = {
    **dict.fromkeys(("Conv", "ConvInteger", "ConvTranspose", "QLinearConv"), _convolve),
    **dict.fromkeys(("MaxPool", "AveragePool", "LpPool", "MaxUnpool"), _pool),
    "DeformConv": _move,
    "Col2Im": _unfold,
}
#: the same for operators of ONNX Runtime; the layout of some is another one
_CONTRIB: Mapping[str, Demand] = {
    "FusedConv": _convolve,
    **dict.fromkeys(("NhwcMaxPool", "MaxpoolWithMask", "QLinearAveragePool"), _pool),
    **dict.fromkeys(
        ("ConvTransposeWithDynamicPads", "NhwcConv", "NhwcFusedConv", "QLinearConv"), _move
    ),
}
#: the same for the reach of kernels; what is transposed makes more, and pads may be computed
_REACHES: Mapping[str, Demand] = {
    **dict.fromkeys(("Conv", "ConvInteger", "QLinearConv"), _reach_with_weights),
    **dict.fromkeys(("MaxPool", "AveragePool", "LpPool"), _reach),
}

RULES = (
    Rule(
        "NL-T14",
        "kernel-shape",
        "error",
        "Weights, strides or pads that do not fit the data of a convolution or pool",
        "The operator is not defined for them; runtimes refuse the model or fail in the first run.",
        "Give each list an entry for each spatial axis (pads two), and check group and the "
        "order of the weight's axes: filters, channels by group, kernel.",
        "Operators.md, Conv, ConvTranspose, MaxPool",
        make_finder(_WINDOWS, _CONTRIB),
    ),
    Rule(
        "NL-T21",
        "kernel-reach",
        "warning",
        "A kernel that is larger than the data with its padding",
        "The result has no elements, or a negative size: convolutions fail in the first run, and "
        "pools give nothing.",
        "Check the size of the inputs, the strides before it, and the padding.",
        "Operators.md, Conv, MaxPool: output shape",
        make_finder(_REACHES),
    ),
)
