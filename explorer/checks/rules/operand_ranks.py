"""Ranks of operands, and the lengths of lists that operators take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from netloupe.explorer.checks.rule import Rule
from netloupe.explorer.checks.uses import Case, Demand, write_dimensions
from netloupe.explorer.costs.facts import Dims, list_integers
from netloupe.explorer.notation import write_count

from .operand_shapes import are_different, make_finder

#: as many axes as there may be
_ANY = 64
#: facts of this rule: by operator, ranks that operands must have (Operators.md); of two numbers the
#: least and the most
_RANKS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "Range": ((0, 0, 0), (1, 0, 0), (2, 0, 0)),
    "ConstantOfShape": ((0, 1, 1),),
    "NonMaxSuppression": ((0, 3, 3), (1, 3, 3)),
    "RoiAlign": ((0, 4, 4), (1, 2, 2), (2, 1, 1)),
    "Multinomial": ((0, 2, 2),),
    "EyeLike": ((0, 2, 2),),
    "Det": ((0, 2, _ANY),),
    "Trilu": ((0, 2, _ANY),),
    "Compress": ((1, 1, 1),),
    "GridSample": ((0, 3, _ANY), (1, 3, _ANY)),
    "AffineGrid": ((1, 1, 1),),
    "CausalConvWithState": ((0, 3, 3), (1, 3, 3), (2, 1, 1), (3, 3, 3)),
    "Col2Im": ((0, 3, 3), (1, 1, 1), (2, 1, 1)),
    "DeformConv": ((0, 3, _ANY),),
    "Expand": ((1, 1, 1),),
    "ImageDecoder": ((0, 1, 1),),
    "MaxUnpool": ((1, 2, _ANY), (2, 1, 1)),
    "NegativeLogLikelihoodLoss": ((0, 2, _ANY), (1, 1, _ANY), (2, 1, 1)),
    "OneHot": ((0, 1, _ANY), (1, 0, 1), (2, 1, 1)),
    "ReverseSequence": ((0, 2, _ANY), (1, 1, 1)),
    "RotaryEmbedding": ((0, 3, 4),),
    "SoftmaxCrossEntropyLoss": ((0, 2, _ANY), (1, 1, _ANY), (2, 1, 1)),
    "STFT": ((0, 2, _ANY),),
    "TensorScatter": ((2, 1, 1),),
    "TfIdfVectorizer": ((0, 1, 2),),
    "GlobalAveragePool": ((0, 2, _ANY),),
    "GlobalMaxPool": ((0, 2, _ANY),),
    "LRN": ((0, 2, _ANY),),
}


def _judge_ranks(case: Case) -> Iterator[str]:
    for index, least, most in _RANKS[case.op_type]:
        rank = case.rank(index) if case.has(index) else None
        if rank is None or least <= rank <= most:
            continue
        if rank == 1 and not most and case.dims(index) in ((1,), (None,)):
            continue  # a list of one element, which runtimes take for a scalar
        wanted = f"{least}" if least == most else f"at least {least}"
        if least < most < _ANY:
            wanted = f"{least} to {most}"
        axes = "axis" if wanted == "1" else "axes"
        yield f"{case.say(index)}, but {case.op_type} takes {wanted} {axes} there"


def _fill(case: Case) -> Iterator[str]:
    yield from _judge_ranks(case)
    sizes = list_integers(case.operand(0))
    if sizes is not None and min(sizes, default=0) < 0:
        yield f"the shape {list(sizes[:16])} has a negative size"
    filling = case.tensor("value")
    if filling is not None and filling.dims != (1,):
        told = f"{filling.dtype}{write_dimensions(filling.dims)}"
        yield f"value of ConstantOfShape is {told}, but must be a list of 1 element"


def _normalize_strings(case: Case) -> Iterator[str]:
    """Say whether StringNormalizer takes another shape than [C] or [1, C]."""
    dims = case.dims(0)
    if dims is not None and (
        len(dims) not in (1, 2) or (len(dims) == 2 and are_different(dims[0], 1))
    ):
        yield f"{case.say(0)}, but StringNormalizer takes a list, or one row of a matrix"


def _pick_boxes(case: Case) -> Iterator[str]:
    yield from _judge_ranks(case)
    known = case.known_dims(0, 1)
    if known is None or [len(dims) for dims in known] != [3, 3]:
        return
    boxes, scores = known
    if are_different(boxes[2], 4):
        yield f"{case.say(0)}, but a box has 4 numbers"
    elif are_different(boxes[1], scores[2]) or are_different(boxes[0], scores[0]):
        yield f"{case.say(0)} and {case.say(1)}, which must have as many boxes and batches"


def _take_square(case: Case) -> Iterator[str]:
    yield from _judge_ranks(case)
    dims: Dims | None = case.dims(0)
    if dims is not None and len(dims) > 1 and are_different(dims[-1], dims[-2]):
        yield f"{case.say(0)}, but Det takes square matrices"


def _sample(case: Case) -> Iterator[str]:
    found = [*_judge_ranks(case)]
    yield from found
    known = None if found else case.known_dims(0, 1)
    if known is None:
        return
    data, grid = known
    if len(data) != len(grid):
        yield f"{case.say(0)} and {case.say(1)}, which must have one rank"
    elif are_different(grid[-1], len(data) - 2):
        yield f"{case.say(1)}, whose last axis must be {len(data) - 2}"
    elif are_different(grid[0], data[0]):
        yield f"{case.say(0)} and {case.say(1)}, which must have one batch size"


def _take_one(case: Case) -> Iterator[str]:
    """Say whether K of TopK is no list of one number (Operators.md, TopK: Inputs)."""
    dims = case.dims(1) if case.has(1) else None
    if dims is not None and (len(dims) != 1 or are_different(dims[0], 1)):
        yield f"{case.say(1)}, but must be a list of 1 element"


def _set_one(case: Case) -> Iterator[str]:
    """Say whether OneHot is told no depth, or not what is off and on (Operators.md: Inputs)."""
    found = [*_judge_ranks(case)]
    yield from found
    depth, values = case.dims(1), case.dims(2)
    if depth is not None and len(depth) == 1 and are_different(depth[0], 1):
        yield f"{case.say(1)}, but a depth is one number"
    if values is not None and len(values) == 1 and are_different(values[0], 2):
        yield f"{case.say(2)}, but must have {write_count(2, 'element')}: off and on"


def _match_lists(case: Case) -> Iterator[str]:
    """Say whether lists have not an element for each of what they tell of."""
    found = [*_judge_ranks(case)]
    yield from found
    for place, of, axis in () if found else _LENGTHS[case.op_type]:
        dims, other = (case.dims(each) if case.has(each) else None for each in (place, of))
        if not dims or other is None or (axis is not None and axis >= len(other)):
            continue
        wanted = len(other) if axis is None else other[axis]
        if are_different(dims[0], wanted):
            each = "along its first axis" if axis is not None else "elements, one for each axis"
            yield f"{case.say(place)}, which must have {wanted} {each}: {case.say(of)}"


def _pool_places(case: Case) -> Iterator[str]:
    yield from _match_lists(case)
    places = case.dims(1)
    if places is not None and len(places) == 2 and are_different(places[1], 4):
        yield f"{case.say(1)}, but a region has 4 numbers"


def _lose(case: Case) -> Iterator[str]:
    """Say whether a loss is told other classes than one for each place (Operators.md)."""
    found = [*_judge_ranks(case)]
    yield from found
    known = None if found else case.known_dims(0, 1)
    if known is None:
        return
    scores, classes = known
    wanted = (scores[0], *scores[2:])
    if len(classes) != len(wanted) or any(map(are_different, classes, wanted)):
        yield f"{case.say(1)}, but must be {write_dimensions(wanted)}: {case.say(0)}"


#: the same: by operator which operand has as many entries as another one has along an axis, or as
#: it has axes
_LENGTHS: dict[str, tuple[tuple[int, int, int | None], ...]] = {
    "Col2Im": ((2, 1, 0),),
    "MaxUnpool": ((2, 0, None),),
    "RoiAlign": ((2, 1, 0),),
}
#: a function of this module for each operator
_RANKED: Mapping[str, Demand] = {
    **dict.fromkeys(_RANKS, _judge_ranks),
    **dict.fromkeys(_LENGTHS, _match_lists),
    **dict.fromkeys(("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"), _lose),
    "TopK": _take_one,
    "OneHot": _set_one,
    "RoiAlign": _pool_places,
    "ConstantOfShape": _fill,
    "NonMaxSuppression": _pick_boxes,
    "Det": _take_square,
    "GridSample": _sample,
    "StringNormalizer": _normalize_strings,
}

RULES = (
    Rule(
        "NL-T19",
        "operand-rank",
        "error",
        "An operand with more or fewer axes than the operator takes",
        "The operator is not defined for it; runtimes refuse the model or fail in the first run.",
        "Reshape the operand (Unsqueeze, Squeeze, Reshape).",
        "Operators.md: Inputs",
        make_finder(_RANKED),
    ),
)
