"""What operations without weights are together: statistics, a selection, a mask, a formula.

A program spills them between its layers. Each is told by what its operations do; what none of
these words fits has no name.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node, TensorType, Value
from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import ARITHMETIC_TRAITS
from netloupe.explorer.roles import find_weight

from .found_blocks import FoundBlock, FoundBlocks
from .operations import ARRANGING, OUTSIDE, Operations
from .readings import finds_smallest, read_axes, read_int, read_numbers
from .recognition import Recognition
from .terms import Term, read_terms
from .weight_sizes import read_dims, read_type_dims, read_width

#: fewer operations are seen at once, unless a formula tells them
_LEAST, _LEAST_WRITTEN = 4, 2
#: so many of a rearrangement do more than change a shape
_LEAST_REARRANGED = 2
_MOST = 60
_BOTH = 2
#: a setting is so many numbers at most; more may have been learned
_MOST_STORED = 4
#: of so many numbers it is seen whether they are evenly spaced, as float32 tells it
_MOST_SPACED, _SAME_STEP = 64, 1e-5
#: of so many numbers it is seen whether they all are the same
_MOST_ALIKE = 4096
_MOST_OF_SERIES = 1 << 16
#: so many functions are written as a formula, and so many of a longer one are named
_MOST_WRITTEN, _MOST_LISTED = 5, 4
#: what only takes, moves and joins elements
_TAKING = (*ARRANGING, "gathers", "inserts_axes", "moves_pixels", "picks", "slices", "splits")
_REARRANGING = (*_TAKING, "joins", "pads", "repeats")
#: what computes each element from those at the same place, or one of many along axes
_COMPUTING = ("elementwise", "reduces", "accumulates", *ARITHMETIC_TRAITS, *_TAKING)
_SELECTING = ("finds_largest", "selects")
_MASKING = ("compares", "compares_order", "logical", "chooses", "counts", "masks", "fills")
#: what is told of elements along an axis, as it is called in a list
_STATISTICS = {
    "mean": "mean",
    "weighted mean": "mean",
    "deviation": "deviation",
    "variance": "variance",
    "maximum": "maximum",
    "minimum": "minimum",
    "sum": "sum",
}
FORMULA, _MASK, _REARRANGED, _SELECTION = "Formula", "Mask", "Rearrangement", "Selection"
_GATED = "Gated mix"
_NAMES = (FORMULA, _GATED, _MASK, _REARRANGED, _SELECTION)
#: blocks that a formula may hold
_PLAIN = ("activation", "attention", "weighted sum")


def find_statistics(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find mean and deviation along an axis, or several such numbers, put one behind another.

    So utterances and clouds of points of any length become vectors (D. Snyder and others,
    X-vectors, 2018, table 1: statistics pooling; C. Qi and others, PointNet, 2017, section 4.2);
    both may be weighted by the shares of an attention (K. Okabe and others, Attentive Statistics
    Pooling, 2018, equations 4 and 5), to which they may be given as context (B. Desplanques and
    others, ECAPA-TDNN, 2020, section 3.2).
    """
    end = _find_end(blocks, _PLAIN)
    operations = blocks.operations
    if end is None or not operations.nodes[end].operator.has("joins"):
        return
    terms = read_terms(operations)
    joined = [_find_picked(operations, terms, value) for value in operations.operands[end]]
    told = [term for term in joined if term.kind in _STATISTICS]
    of = {term.of for term in told}
    rest = [value for value in operations.operands[end] if value not in of]
    if len(told) < _BOTH or len(of) != 1 or len(rest) != len(told):
        return
    if len({(term.axes, term.shares) for term in told}) != 1:
        return
    name, facts = _name_statistics(told), tuple[str, ...]()
    if len(told) < len(joined):
        facts = ("joined to their input",)
    elif {term.kind.removeprefix("weighted ") for term in told} == {"mean", "deviation"}:
        is_weighted = told[0].shares is not None
        facts = (name.lower(),)
        name = "Attentive statistics pooling" if is_weighted else "Statistics pooling"
    yield FoundBlock("statistics", name, frozenset(range(len(operations))), end, facts)


def _find_picked(operations: Operations, terms: list[Term], value: Value) -> Term:
    """Return what a value is, that may be repeated or lack an axis of one element."""
    giver = operations.giver(value)
    while giver is not None and operations.nodes[giver].operator.has("gathers", "repeats"):
        if len(operations.operands[giver]) != 1:
            break
        value = operations.operands[giver][0]
        giver = operations.giver(value)
    return terms[giver] if giver is not None else Term("value", value)


def _name_statistics(told: list[Term]) -> str:
    kinds = {term.kind for term in told}
    # called alike, whatever stands first
    words = [*dict.fromkeys(word for kind, word in _STATISTICS.items() if kind in kinds)]
    *first, last = words
    text = f"{', '.join(first)} and {last}" if first else last
    text = f"weighted {text}" if told[0].shares is not None else text
    return text[0].upper() + text[1:]


def find_standardized(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find (x - mean) / deviation without weights, the mean or the deviation perhaps kept.

    So series are made alike before a network (T. Kim and others, Reversible Instance Normalization,
    2022, equation 1). One that keeps both is reversed at the end, which is told before this.
    """
    operations = blocks.operations
    if not 0 < len(operations) <= _MOST or any(
        find_weight(node) is not None for node in operations.nodes
    ):
        return
    ends = [n for n, users in enumerate(operations.users) if OUTSIDE in users or not users]
    terms = read_terms(operations)
    standard = [n for n in ends if terms[n].kind == "standard"]
    kept = {terms[n].kind for n in ends if n not in standard}
    if len(standard) != 1 or not kept <= {"mean", "deviation"}:
        return
    if any(not _is_plain_number(operations, n) for n in range(len(operations))):
        return
    numbers = frozenset(range(len(operations)))
    yield FoundBlock("standardized", "Standardization", numbers, standard[0])


def _is_plain_number(operations: Operations, number: int) -> bool:
    """Return whether all that an operation computes with, and is stored, is one number each."""
    for value in operations.fixed(number):
        tensor = constant_tensor(value)
        is_large = tensor is not None and tensor.dtype.is_float and tensor.size > _MOST_STORED
        if is_large and len({*read_numbers(tensor, _MOST_OF_SERIES)}) != 1:
            return False
    return True


def find_softmaxes(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find exp(x - max x) / Σ exp(x - max x), the largest perhaps limited, as it is no number.

    J. Bridle, Probabilistic Interpretation of Feedforward Classification Network Outputs, 1990.
    """
    end = _find_end(blocks, ("activation",))
    operations = blocks.operations
    if end is None or operations.kinds[end] != "Div" or len(operations.operands[end]) < _BOTH:
        return
    value, total = operations.operands[end]
    exponential, summed = operations.given_by(value, "Exp"), operations.given_by(total, "ReduceSum")
    if exponential is None or summed is None or operations.operands[summed] != [value]:
        return
    shift = operations.given_by(operations.operands[exponential][0], "Sub")
    taken = operations.operands[shift] if shift is not None else []
    numbers = {end, exponential, summed, shift}
    largest = operations.giver(taken[1]) if len(taken) > 1 else None
    while largest is not None and operations.kinds[largest] in ("Clip", "Max"):
        numbers.add(largest)
        before = operations.givers(largest)
        largest = before[0] if len(before) == 1 else None
    numbers.add(largest)
    if largest is None or operations.kinds[largest] != "ReduceMax":
        return
    axes = {read_axes(operations.nodes[number]) for number in (largest, summed)}
    if len(axes) > 1:
        return
    if operations.operands[largest] == taken[:1] and len(numbers) == len(operations):
        every = frozenset(range(len(operations)))
        yield FoundBlock("softmax", "Softmax", every, end)


def find_rearranged(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find operations that only take, move and join elements of one value, and compute nothing."""
    operations = blocks.operations
    end = _find_end(blocks, ())
    count = len(operations)
    if end is None or count < _LEAST_REARRANGED or count + len(operations.arrangement) < _LEAST:
        return
    if not all(node.operator.has(*_REARRANGING) for node in operations.nodes):
        return
    if any(_takes_stored(operations, number) for number in range(count)):
        return
    taken = {v for n in range(len(operations)) for v in operations.operands[n]}
    entries = [value for value in taken if operations.giver(value) is None]
    facts = _write_sizes(entries[0], operations, end) if len(entries) == 1 else ()
    numbers = frozenset(range(len(operations)))
    yield FoundBlock("rearranged", _REARRANGED, numbers, end, facts)


def find_selections(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a search for the largest elements, the smallest or those not 0, and what is taken there.

    A search that only ends it is one for what was computed.
    """
    operations = blocks.operations
    end = _find_end(blocks, ("activation",))
    if end is None or not _LEAST <= len(operations) <= _MOST:
        return
    if not any(node.operator.has(*_SELECTING) for node in operations.nodes[:-1]):
        return
    numbers = range(len(operations))
    searches = [n for n in numbers if operations.kinds[n] == "TopK"]
    count = _read_count(operations, searches[0]) if len(searches) == 1 else 0
    is_sorted = any(_takes_all(operations, n) for n in numbers)
    facts = (f"{count} {_name_best(operations, searches[0])}",) if count and not is_sorted else ()
    yield FoundBlock("largest", _SELECTION, frozenset(numbers), end, facts)


def find_formulas(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find operations without weights that compute one value.

    They are written as people write it where that is short, what a Sigmoid gives as g where it is
    the gate between two values; of at least four the functions are told where it is longer. Where
    all that is computed is true or false, it is a mask.
    """
    operations = blocks.operations
    end = _find_end(blocks, ("activation", "length", "soft cap"))
    if end is None or not _LEAST_WRITTEN <= len(operations) <= _MOST:
        return
    operators = [node.operator for node in operations.nodes]
    numbers = frozenset(range(len(operations)))
    if any(operator.has("looks_up", "scatters", *_SELECTING) for operator in operators):
        return
    is_short = len(operations) < _LEAST
    if all(operator.has(*_MASKING, *_REARRANGING) for operator in operators):
        if not is_short and any(operator.has(*_MASKING) for operator in operators):
            yield FoundBlock("mask", _MASK, numbers, end, ("by comparison",))
        return
    if not all(operator.has(*_COMPUTING, *_MASKING) for operator in operators):
        return
    from .formulas import find_mixing_gate, write_formula

    text = write_formula(operations, end, _MOST_WRITTEN)
    facts = (text,) if text else () if is_short else _list_functions(operations)
    if facts:
        is_gate = bool(text) and find_mixing_gate(operations, end) is not None
        yield FoundBlock("formula", _GATED if is_gate else FORMULA, numbers, end, facts)


def _find_end(blocks: FoundBlocks, kinds: tuple[str, ...]) -> int | None:
    """Return the operation that alone gives a result; None where weights or other blocks are."""
    operations = blocks.operations
    if not 0 < len(operations) <= _MOST:
        return None
    for number, owner in enumerate(blocks.owner):
        if owner is not None and owner.kind not in kinds:
            return None
        if has_weights(operations.nodes[number]):
            return None
    ends = [n for n, users in enumerate(operations.users) if OUTSIDE in users or not users]
    return ends[0] if len(ends) == 1 else None


def has_weights(node: Node) -> bool:
    """Return whether a node takes weights: a factor, or more numbers than a setting has."""
    if find_weight(node) is not None:
        return True
    return any(value is not None and _may_be_learned(value) for value in node.inputs)


def takes_few_stored(node: Node) -> bool:
    """Return whether a node computes with a few stored numbers, or a matrix of them.

    A setting is one number or a scale of many; these may be that, or have been learned.
    """
    found = [read_dims(v) for v in node.inputs if v is not None and _is_float(v)]
    sizes = [[dim for dim in dims if dim > 1] for dims in found]
    return any(len(dims) > 1 or (dims and dims[0] <= _MOST_STORED) for dims in sizes)


def _may_be_learned(value: Value) -> bool:
    """Return whether a value is stored and more than a setting; one number in all places is one.

    What is learned may begin as that, but no node of its own stores it. Nothing learned is evenly
    spaced.
    """
    width = read_width(value)
    if width <= _MOST_STORED or not _is_float(value):
        return False
    if width <= _MOST_SPACED and _is_evenly_spaced(value):
        return False
    node = value.producer
    if node is not None and node.operator.has("repeats"):
        first = node.input(0)
        if first is not None and find_stored_tensor(first) is not None and read_width(first) <= 1:
            return False  # one number in all places, however often it was repeated
    is_set = node is not None and node.operator.has("stores_constant")
    tensor = constant_tensor(value) if is_set else None
    return tensor is None or len({*read_numbers(tensor, _MOST_ALIKE)}) != 1


def _is_evenly_spaced(value: Value) -> bool:
    """Return whether a value is a scale of numbers, each as much larger than the one before."""
    stored = find_stored_tensor(value)
    numbers = read_numbers(stored, _MOST_SPACED)
    steps = [after - before for before, after in pairwise(numbers)]
    if not steps or steps[0] == 0:
        return False
    room = _SAME_STEP * max(map(abs, numbers))
    return all(abs(step - steps[0]) <= room for step in steps)


def _is_float(value: Value) -> bool:
    tensor = constant_tensor(value)
    if tensor is not None:
        return tensor.dtype.is_float
    stated = value.type
    return not isinstance(stated, TensorType) or stated.dtype.is_float


def _takes_stored(operations: Operations, number: int) -> bool:
    """Return whether an operation joins something stored, or takes from computed places."""
    node = operations.nodes[number]
    if node.operator.has("joins"):
        return any(map(operations.is_fixed, node.inputs))
    return len(operations.operands[number]) > 1


def _read_count(operations: Operations, number: int) -> int:
    """Return how many a search takes, by an operand or, before version 10, an attribute."""
    count = operations.scalar(number)
    return int(count) if count is not None else read_int(operations.nodes[number], "k") or 0


def _name_best(operations: Operations, search: int) -> str:
    """Return whether a search takes the largest or the smallest of what it is about.

    The largest of what has another sign in the same block are the smallest.
    """
    is_smallest = finds_smallest(operations.nodes[search])
    giver = operations.giver(operations.operands[search][0])
    while giver is not None and operations.kinds[giver] == "Neg":
        is_smallest = not is_smallest
        giver = operations.giver(operations.operands[giver][0])
    return "smallest" if is_smallest else "largest"


def _takes_all(operations: Operations, number: int) -> bool:
    """Return whether a search for the largest takes all there are: it sorts."""
    node = operations.nodes[number]
    dims = find_value_facts(node.graph.model).find_dims(node.input(0))
    if operations.kinds[number] != "TopK" or not dims:
        return False
    axis = read_int(node, "axis")
    return dims[-1 if axis is None else axis] == _read_count(operations, number)


def _write_sizes(entry: Value, operations: Operations, end: int) -> tuple[str, ...]:
    """Return ``3 × 64 × 64 → 64 × 48`` of what is rearranged; nothing where sizes are unknown."""
    outputs = [value for value in operations.nodes[end].outputs if value is not None]
    sizes = [read_type_dims(value) for value in (entry, *outputs[:1])]
    if len(sizes) < _BOTH or not all(sizes):
        return ()
    before, behind = (" × ".join(map(str, dims)) for dims in sizes)
    return (f"{before} → {behind}",)


def is_mere_arithmetic(found: Recognition) -> bool:
    """Return whether a block is mere arithmetic, which is no part that a list would name."""
    return found.name in _NAMES


def is_written_formula(found: Recognition) -> bool:
    """Return whether a block is a formula that is written, and no list of functions."""
    is_formula = found.name in (FORMULA, _GATED) and len(found.facts) > 0
    return is_formula and not {*found.facts[0]}.isdisjoint(_OF_FORMULAS)


#: signs of what is written, which are in no list
_OF_FORMULAS = "(+−·/√²³|‖=<>^Σ"
#: what functions are called in a list
_POWERS = {0.5: "root", 2.0: "square"}
_WORDS = {
    "Pow": "power",
    "Sqrt": "root",
    "ReduceSum": "sum",
    "ReduceMean": "mean",
    "ReduceMax": "maximum",
    "ReduceMin": "minimum",
    "ReduceProd": "product",
    "CumSum": "running sum",
    "Clip": "limits",
    "Abs": "absolute value",
    "Sin": "sine",
    "Cos": "cosine",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "Relu": "ReLU",
    "Exp": "exp",
    "Log": "log",
    "Softplus": "softplus",
    "Where": "choice",
}


def _list_functions(operations: Operations) -> tuple[str, ...]:
    """Return ``with exp, log, sum``: the functions in a long formula, which is more than these.

    Nothing where none of them has a word, or too many have one.
    """
    words: dict[str, None] = {}
    for number, (kind, node) in enumerate(zip(operations.kinds, operations.nodes, strict=True)):
        if kind == "Pow" and operations.scalar(number) in _POWERS:
            words[_POWERS[operations.scalar(number) or 0]] = None
        elif kind in _WORDS:
            words[_WORDS[kind]] = None
        elif node.operator.has("activates"):
            words[kind] = None
    if not 0 < len(words) <= _MOST_LISTED:
        return ()
    return (f"with {', '.join(words)}",)
