"""Shapes of operands that have to fit one another: broadcasting, products, joined operands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.checks.uses import Case, Demand, write_dimensions
from netloupe.explorer.costs.facts import Dim, Dims
from netloupe.explorer.costs.products import GATES, read_factors
from netloupe.explorer.notation import say_how_many, write_count

_MOST_OPERANDS = 1_000
#: versions from which on operands are stretched as numpy does: two, and any number (Operators.md)
_STRETCHING, _STRETCHING_ALL = 7, 8


def are_different(one: Dim, two: Dim) -> bool:
    """Return whether two dimensions can never be the same."""
    return isinstance(one, int) and isinstance(two, int) and one != two


def are_shapes_different(one: Dims, two: Dims) -> bool:
    """Return whether two shapes can never be the same."""
    return len(one) != len(two) or any(map(are_different, one, two))


def find_clash(shapes: Sequence[Dims]) -> tuple[int, int, int] | None:
    """Return an axis counted from the end, and two shapes that it cannot be stretched for."""
    rank = max(map(len, shapes), default=0)
    for axis in range(-1, -rank - 1, -1):
        first: int | None = None
        for number, dims in enumerate(shapes):
            size = dims[axis] if len(dims) >= -axis else 1
            if not isinstance(size, int) or size == 1:
                continue
            if first is None:
                first = number
            elif shapes[first][axis] != size:
                return axis, first, number
    return None


def _stretch(case: Case) -> Iterator[str]:
    """Say which operands cannot be stretched to one shape (Broadcasting.md, multidirectional)."""
    if case.version < _STRETCHING:
        yield from _stretch_second(case)
        return
    places = [
        index
        for index in range(min(len(case.operands), _MOST_OPERANDS))
        if case.dims(index) is not None
    ]
    clash = find_clash([case.dims(index) or () for index in places])
    if clash is not None:
        axis, one, two = clash
        yield (
            f"{case.say(places[one])} and {case.say(places[two])}, which cannot be broadcast: axis "
            f"{axis} must be the same in both, or 1 in one of them"
        )


def _stretch_second(case: Case) -> Iterator[str]:
    """Say the same of operators before version 7, which stretch their second operand only."""
    known = case.known_dims(0, 1)
    if known is None or len(case.operands) != 2:
        return
    first, second = known
    if not case.integer("broadcast", 0):
        if len(first) != len(second) or any(map(are_different, first, second)):
            yield (
                f"{case.say(0)} and {case.say(1)}: {case.op_type}-{case.version} needs the same "
                "shape unless broadcast is 1"
            )
        return
    axis = case.integer("axis", len(first) - len(second))
    begin = None if axis is None else axis + (len(first) if axis < 0 else 0)
    if begin is None or begin < 0 or begin + len(second) > len(first):
        yield f"{case.say(1)}, which cannot stand at axis {axis} of {write_dimensions(first)}"
        return
    if any(two != 1 and are_different(first[begin + i], two) for i, two in enumerate(second)):
        yield f"{case.say(0)} and {case.say(1)}, which cannot be broadcast at axis {begin}"


def _stretch_all(case: Case) -> Iterator[str]:
    if case.version >= _STRETCHING_ALL:
        yield from _stretch(case)


def _stretch_one(case: Case, small: int, large: int = 0) -> Iterator[str]:
    """Say whether one operand cannot be stretched to another (unidirectional)."""
    known = case.known_dims(small, large)
    if known is None or not case.has(small):
        return
    one, two = known
    is_wrong = len(one) > len(two) or any(
        size != 1 and are_different(size, other)
        for size, other in zip(reversed(one), reversed(two), strict=False)
    )
    if is_wrong:
        yield f"{case.say(small)}, which cannot be broadcast to {case.say(large)}"


def _stretch_slope(case: Case) -> Iterator[str]:
    if case.version >= 7:
        yield from _stretch_one(case, 1)


def _expand(case: Case) -> Iterator[str]:
    wanted, data = case.operand(1).elements, case.dims(0)
    if wanted is None or data is None:
        return
    clash = find_clash([data, wanted])
    if clash is not None:
        yield f"{case.say(0)}, which cannot be broadcast to the shape {write_dimensions(wanted)}"


# products


def _multiply(case: Case, left: int = 0, right: int = 1) -> Iterator[str]:
    """Say which factors of a product as numpy.matmul has it do not fit."""
    one, two = read_factors(case, left, right)
    if one is None or two is None:
        return
    if not one or not two:
        yield f"{case.say(left if not one else right)}, but a product takes no scalar"
        return
    columns, rows = one[-1], two[-2] if len(two) > 1 else two[-1]
    if are_different(columns, rows):
        hint = _suggest_transposed(case, columns, right)
        yield (
            f"{case.say(left)} and {case.say(right)}: {_count(columns, 'column')} against "
            f"{_count(rows, 'row')}; both must be the same{hint}"
        )
    clash = find_clash([one[:-2], two[:-2]])
    if clash is not None:
        yield f"{case.say(left)} and {case.say(right)}, whose batches cannot be broadcast"


def _count(dim: Dim, noun: str) -> str:
    """Return what an axis has; its size may be a symbol."""
    return f"{dim} {noun}{'' if dim == 1 else 's'}"


def _suggest_transposed(case: Case, columns: Dim, right: int) -> str:
    dims = case.dims(right)
    if dims is None or len(dims) < 2:
        return ""
    other = dims[-1] if case.integer("transB", 0) == 0 else dims[-2]
    rows = _count(columns, "row")
    return f" (the second one transposed has {rows})" if other == columns else ""


def _multiply_and_add(case: Case) -> Iterator[str]:
    for index in (0, 1):
        rank = case.rank(index)
        if rank is not None and rank != 2:
            yield f"{case.say(index)}, but Gemm takes a matrix"
            return
    yield from _multiply(case)
    left, right = read_factors(case, 0, 1)
    bias = case.dims(2) if case.has(2) else None
    if not left or not right or bias is None or case.version < 7:
        return
    result = (left[0], right[1])
    is_wrong = len(bias) > 2 or any(
        size != 1 and are_different(size, other)
        for size, other in zip(reversed(bias), reversed(result), strict=False)
    )
    if is_wrong:
        yield f"{case.say(2)}, which cannot be broadcast to the product {write_dimensions(result)}"


def _contract(case: Case) -> Iterator[str]:
    """Say what of Einsum does not fit its equation."""
    equation = case.text("equation").replace(" ", "")
    terms = equation.partition("->")[0].split(",")
    if not equation or "." in equation:
        return
    if len(terms) != len(case.operands):
        told = f"the equation {equation[:60]!r} has {write_count(len(terms), 'term')}"
        yield f"{told}, but {say_how_many(len(case.operands), 'operand')}"
        return
    given, result = {*"".join(terms)}, equation.partition("->")[2]
    unknown = [letter for letter in result if letter not in given]
    if unknown or len({*result}) < len(result):
        what = f"{unknown[0]!r}, which no term has" if unknown else "a letter twice"
        yield f"the result {result[:60]!r} of the equation has {what}"
        return
    sizes: dict[str, tuple[int, int]] = {}
    for index, term in enumerate(terms):
        dims = case.dims(index)
        if dims is None:
            continue
        if len(dims) != len(term):
            axes = write_count(len(term), "axis", "axes")
            yield f"{case.say(index)}, but its term {term!r} of the equation has {axes}"
            return
        for letter, size in zip(term, dims, strict=True):
            if not isinstance(size, int) or size == 1:
                continue
            first, known = sizes.setdefault(letter, (index, size))
            if known != size:
                yield f"{case.say(first)} and {case.say(index)}: {letter!r} is {known} and {size}"
                return


def _project(case: Case) -> Iterator[str]:
    """Say what of MatMulNBits does not fit the sizes that its attributes give."""
    data, length = case.dims(0), case.integer("K")
    if data and length is not None and are_different(data[-1], length):
        yield f"{case.say(0)}, but K is {length}"


def _recur(case: Case) -> Iterator[str]:
    """Say what of RNN, GRU or LSTM does not fit (Operators.md, LSTM: Inputs)."""
    for index, rank in ((0, 3), (1, 3), (2, 3), (3, 2)):
        found = case.rank(index) if case.has(index) else None
        if found is not None and found != rank:
            yield f"{case.say(index)}, but {case.op_type} takes {rank} axes there"
            return
    directions = 2 if case.text("direction", "forward") == "bidirectional" else 1
    hidden, gates = case.integer("hidden_size"), GATES[case.op_type]
    data, more = case.dims(0), case.dims(2)
    width: Dim = data[2] if data is not None else None
    size: Dim = hidden if hidden is not None else more[2] if more is not None else None
    many: Dim = size * gates if isinstance(size, int) else None
    wanted: list[tuple[int, Dims]] = [
        (1, (directions, many, width)),
        (2, (directions, many, size)),
        (3, (directions, 2 * many if isinstance(many, int) else None)),
    ]
    for index, shape in wanted:
        dims = case.dims(index) if case.has(index) else None
        if dims is not None and any(map(are_different, dims, shape)):
            yield f"{case.say(index)}, but {case.op_type} takes {write_dimensions(shape)} there"


# operands one after the other


def _join(case: Case) -> Iterator[str]:
    """Say which operands of Concat do not fit one another."""
    axis = case.integer("axis", 1 if case.version < 4 else None)
    facts = [(index, case.dims(index)) for index in range(min(len(case.operands), _MOST_OPERANDS))]
    known = [(index, dims) for index, dims in facts if dims is not None]
    if not known or axis is None:
        return
    first, given = known[0]
    rank = len(given)
    for index, dims in known[1:]:
        if len(dims) != rank:
            yield f"{case.say(first)} and {case.say(index)}; Concat takes operands of one rank"
            return
        wrong = [
            place
            for place in range(rank)
            if place != axis % max(rank, 1) and are_different(given[place], dims[place])
        ]
        if wrong:
            yield (
                f"{case.say(first)} and {case.say(index)}; they are joined along axis {axis}, and "
                f"axis {wrong[0]} must be the same in both"
            )
            return


def _normalize(
    case: Case, places: Sequence[int], *, has_entries_of_groups: bool = False
) -> Iterator[str]:
    """Say which operands are no list with an entry for each channel, or for each group."""
    data = case.dims(0)
    if data is not None and len(data) < 1:
        yield f"{case.say(0)}, but {case.op_type} takes a batch with channels"
        return
    channels: Dim = data[1] if data is not None and len(data) > 1 else None
    if data is not None and len(data) == 1:
        channels = 1  # Operators.md, BatchNormalization: what has no channels has one
    if case.integer("spatial", 1) == 0:
        return
    if has_entries_of_groups:
        channels = case.integer("num_groups")
    for index in places:
        dims = case.dims(index) if case.has(index) else None
        if dims is None:
            continue
        if len(dims) != 1:
            yield f"{case.say(index)}, but {case.op_type} takes a list there"
        elif are_different(dims[0], channels):
            yield f"{case.say(index)}, but of {_count(channels, 'channel')}: {case.say(0)}"


def _normalize_groups(case: Case) -> Iterator[str]:
    data, groups = case.dims(0), case.integer("num_groups")
    if groups is not None and groups < 1:
        yield f"num_groups is {groups}"
    elif data and len(data) > 1 and groups and isinstance(data[1], int) and data[1] % groups:
        channels = write_count(data[1], "channel")
        yield f"{case.say(0)}, of {channels}, which is not divisible into {groups} groups"
    yield from _normalize(case, (1, 2), has_entries_of_groups=case.version < 21)


def _normalize_layer(case: Case) -> Iterator[str]:
    """Say whether scale and bias do not fit the axes that are normalized."""
    data, axis = case.dims(0), case.integer("axis", -1)
    if data is None or axis is None or not -len(data) <= axis < len(data):
        return
    for index in (1, 2):
        if case.has(index):
            yield from _stretch_one(case, index)


def _attend(case: Case) -> Iterator[str]:
    """Say what of Attention does not fit (Operators.md, Attention-23)."""
    known = case.known_dims(0, 1, 2)
    if known is None:
        return
    query, key, value = known
    heads, few = case.integer("q_num_heads"), case.integer("kv_num_heads")
    for index, dims in enumerate(known):
        if len(dims) not in (3, 4):
            yield f"{case.say(index)}, but Attention takes 3 or 4 axes"
            return
    for index, dims, count in ((0, query, heads), (1, key, few), (2, value, few)):
        if len(dims) == 3 and count == 0:
            yield f"{case.say(index)}, of 0 heads"
            return
        if len(dims) == 3 and count and isinstance(dims[2], int) and dims[2] % count:
            yield f"{case.say(index)}, whose width {dims[2]} is not divisible by {count} heads"
            return
    if len(query) == len(key) == 4 and are_different(query[3], key[3]):
        yield f"{case.say(0)} and {case.say(1)}, whose heads must be equally wide"
    if are_different(key[-2], value[-2]):
        yield f"{case.say(1)} and {case.say(2)}, which must be equally long"


#: a function of this module for each operator, as in the tables behind
_STRETCH: Mapping[str, Demand] = {
    **dict.fromkeys(
        (
            "Add",
            "Sub",
            "Mul",
            "Div",
            "Pow",
            "Mod",
            "And",
            "Or",
            "Xor",
            "Equal",
            "Greater",
            "GreaterOrEqual",
            "Less",
            "LessOrEqual",
            "BitShift",
            "BitwiseAnd",
            "BitwiseOr",
            "BitwiseXor",
        ),
        _stretch,
    ),
    **dict.fromkeys(("Max", "Min", "Sum", "Mean"), _stretch_all),
    "Where": _stretch,
    "PRelu": _stretch_slope,
    "Expand": _expand,
}
#: the same for products
_PRODUCTS: Mapping[str, Demand] = {
    "MatMul": _multiply,
    "MatMulInteger": _multiply,
    "QLinearMatMul": partial(_multiply, left=0, right=3),
    "Gemm": _multiply_and_add,
    "Einsum": _contract,
    **dict.fromkeys(("RNN", "GRU", "LSTM"), _recur),
    "Attention": _attend,
}
#: the same for operators of ONNX Runtime
_CONTRIB_PRODUCTS: Mapping[str, Demand] = {
    "FusedMatMul": _multiply,
    "MatMulIntegerToFloat": _multiply,
    "DynamicQuantizeMatMul": _multiply,
    "MatMulNBits": _project,
}
_JOINED: Mapping[str, Demand] = {"Concat": _join}
#: the same for norms
_CHANNELS: Mapping[str, Demand] = {
    "BatchNormalization": partial(_normalize, places=(1, 2, 3, 4)),
    "InstanceNormalization": partial(_normalize, places=(1, 2)),
    "GroupNormalization": _normalize_groups,
    "LayerNormalization": _normalize_layer,
    "RMSNormalization": _normalize_layer,
}


def _find_misfits(
    subject: Subject, demands: Mapping[str, Demand], contrib: Mapping[str, Demand]
) -> Iterator[Occurrence]:
    if subject.is_onnx:
        yield from subject.uses.find(demands)
        yield from subject.uses.find(contrib, "com.microsoft")


def make_finder(
    demands: Mapping[str, Demand], contrib: Mapping[str, Demand] | None = None
) -> Callable[[Subject], Iterator[Occurrence]]:
    """Return what finds the uses that do not meet some demands; it can be pickled."""
    return partial(_find_misfits, demands=demands, contrib=contrib or {})


RULES = (
    Rule(
        "NL-T10",
        "broadcast",
        "error",
        "Operands that cannot be broadcast to one shape",
        "The operator is not defined for them; runtimes refuse the model or fail in the first run.",
        "Reshape one of them (Unsqueeze, Reshape, Transpose), or correct the constant.",
        "Broadcasting.md",
        make_finder(_STRETCH),
    ),
    Rule(
        "NL-T11",
        "product-shape",
        "error",
        "Factors of a product, or weights of a recurrent layer, that do not fit",
        "The product is not defined; runtimes refuse the model or fail in the first run.",
        "Transpose the weight, or correct the layer before it.",
        "Operators.md, MatMul, Gemm, Einsum, LSTM, Attention",
        make_finder(_PRODUCTS, _CONTRIB_PRODUCTS),
    ),
    Rule(
        "NL-T12",
        "joined-shape",
        "error",
        "Operands of Concat that differ beside the axis that they are joined along",
        "They cannot be put one after the other.",
        "Correct the axis, or what gives the operand.",
        "Operators.md, Concat",
        make_finder(_JOINED),
    ),
    Rule(
        "NL-T13",
        "channel-count",
        "error",
        "Scales, biases or statistics that do not fit the channels",
        "There must be one for each channel; runtimes refuse the model or fail in the first run.",
        "Take the tensor that belongs to the layer.",
        "Operators.md, BatchNormalization, GroupNormalization, LayerNormalization",
        make_finder(_CHANNELS),
    ),
)
