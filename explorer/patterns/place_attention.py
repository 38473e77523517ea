"""Weights of channels, rows and columns, or places, by means of what they weigh."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count

from .convolutions import read_convolution
from .found_blocks import FoundBlock, FoundBlocks
from .leading import Leading, find_leading
from .operations import Operations
from .readings import read_axes, read_int
from .weight_sizes import read_type_dims

_GATES = ("Sigmoid", "HardSigmoid")
#: of what shares of branches are made
_MEANS = ("AveragePool", "GlobalAveragePool", "ReduceMean")
_POOLING = ("pools", "pools_all", "reduces")
#: a picture's axes, and those of its rows and columns
_RANK = 4
_ROWS, _COLUMNS = 2, 3
#: a context is made by so few operations
_MOST_OF_CONTEXT = 24
_BOTH = 2
_MOST_PASSED = 2


def find_place_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a value times how much of it counts, by a sigmoid of what its means tell.

    Means along rows and along columns give coordinate attention (Q. Hou and others, Coordinate
    Attention, 2021, equations 4 to 8); a kernel that goes along the means of channels, efficient
    channel attention (Q. Wang and others, ECA-Net, 2020, equation 5); strided convolutions that
    are made as large again, gather-excite (J. Hu and others, 2018, section 2). Where another value
    counts, too, it is an attention gate (O. Oktay and others, Attention U-Net, 2018, figure 2),
    whose weights may be of fewer places, and resampled.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        if kind != "Mul" or blocks.owner[end] is not None:
            continue
        factors = _list_factors(blocks, end)
        gates = [
            value
            for value in factors
            if operations.given_by(_pass_resampling(operations, value), *_GATES) is not None
        ]
        others = [value for value in factors if value not in gates]
        if len(others) != 1 or not 1 <= len(gates) <= _BOTH:
            continue
        found = _read_attention(blocks, end, others[0], gates)
        if found is not None:
            yield found


def _pass_resampling(operations: Operations, value: Value) -> Value:
    """Return what was made larger or smaller, or normalized by stored numbers."""
    for _ in range(_MOST_PASSED):
        number = operations.giver(value)
        if number is None or not operations.operands[number]:
            break
        is_passed = operations.nodes[number].operator.has("resamples")
        if not is_passed and operations.kinds[number] != "BatchNormalization":
            break
        value = operations.operands[number][0]
    return value


def _list_factors(blocks: FoundBlocks, end: int) -> list[Value]:
    """Return what is multiplied: two values, or three in two products."""
    operations = blocks.operations
    factors = [*operations.operands[end]]
    for value in factors[:]:
        inner = operations.given_by(value, "Mul")
        is_own = inner is not None and operations.only_user(inner) == end
        if inner is not None and is_own and len(factors) == _BOTH and not blocks.owner[inner]:
            factors.remove(value)
            factors += operations.operands[inner]
    return factors


def _read_attention(
    blocks: FoundBlocks, end: int, start: Value, gates: list[Value]
) -> FoundBlock | None:
    operations = blocks.operations
    core = {end} | {n for v in operations.operands[end] if (n := operations.given_by(v, "Mul"))}
    core = {n for n in core if n == end or operations.only_user(n) == end}
    leading = find_leading(operations, core, gates, [start])
    if leading is None or start not in leading.sources:
        return None
    if leading.sources != {start}:
        return _read_gate(blocks, end, start, leading)
    firsts = [n for n in leading.numbers if start in operations.operands[n]]
    numbers = frozenset({*core, *leading.numbers})
    if any(blocks.owner[n] is not None for n in core):
        return None
    convolutions = [n for n in sorted(leading.numbers) if operations.kinds[n] == "Conv"]
    if not convolutions:
        return None
    name, facts = "", tuple[str, ...]()
    if all(operations.nodes[n].operator.has(*_POOLING) for n in firsts):
        axes = [_read_pooled(operations, n) for n in firsts]
        if sorted(axes) == [(_ROWS,), (_COLUMNS,)]:
            name = "Coordinate attention"
        elif [*axes] == [(_ROWS, _COLUMNS)] and len(convolutions) == 1 and len(gates) == 1:
            details = read_convolution(operations, convolutions[0])
            if details.in_out == (1, 1) and max(details.kernel, default=1) > 1:
                name = "Efficient channel attention"
                facts = (f"kernel {max(details.kernel)}",)
    elif len(gates) == 1 and _is_gathered(operations, firsts, leading.numbers):
        name = "Gather-excite"
    return FoundBlock("excitation", name, numbers, end, facts) if name else None


def _read_gate(blocks: FoundBlocks, end: int, start: Value, leading: Leading) -> FoundBlock | None:
    """Find a gate that a sum of two projections makes, of what it gates and of another value.

    O. Oktay and others, Attention U-Net, 2018, figure 2.
    """
    operations = blocks.operations
    if operations.given_by(operations.operands[end][0], "Mul") in leading.numbers:
        return None
    for number in leading.numbers:
        if operations.kinds[number] != "Add" or len(operations.operands[number]) != _BOTH:
            continue
        added = [_pass_resampling(operations, value) for value in operations.operands[number]]
        layers = [operations.giver(value) for value in added]
        taken = [
            operations.operands[layer][0]
            for layer in layers
            if layer in leading.numbers and operations.kinds[layer] == "Conv"
        ]
        behind = [n for n in leading.numbers if n > number and operations.kinds[n] == "Conv"]
        narrow = [n for n in behind if (read_convolution(operations, n).out_features or 0) == 1]
        if len(taken) == _BOTH and {*taken} == leading.sources and start in taken and narrow:
            numbers = frozenset({end, *leading.numbers})
            width = read_convolution(operations, narrow[0]).in_features
            facts = (write_count(width, "feature", "features"),) if width else ()
            return FoundBlock("excitation", "Attention gate", numbers, end, facts)
    return None


def _read_pooled(operations: Operations, number: int) -> tuple[int, ...]:
    """Return along which axes an operation takes means or the largest."""
    node = operations.nodes[number]
    if node.operator.has("pools_all"):
        return _ROWS, _COLUMNS
    if node.operator.has("reduces"):
        return tuple(sorted(axis % _RANK for axis in read_axes(node) or ()))
    before, after = read_type_dims(node.input(0)), read_type_dims(node.output(0))
    if len(before) != _RANK or len(after) != _RANK:
        return ()
    return tuple(axis for axis in (_ROWS, _COLUMNS) if before[axis] != 1 and after[axis] == 1)


def _is_gathered(operations: Operations, firsts: list[int], numbers: frozenset[int]) -> bool:
    """Return whether depthwise convolutions make a value smaller, and it is made larger again."""
    details = [read_convolution(operations, n) for n in firsts if operations.kinds[n] == "Conv"]
    are_strided = bool(details) and all(one.stride and one.is_depthwise for one in details)
    is_larger = any(operations.nodes[n].operator.has("resamples") for n in numbers)
    return are_strided and len(details) == len(firsts) and is_larger


def find_branch_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find branches that are added up by shares that the means of their sum give.

    Kernels of several sizes compete (X. Li and others, Selective Kernel Networks, 2019, equations 1
    to 6); or parts of the channels (H. Zhang and others, ResNeSt, 2020, section 3.1).
    """
    operations = blocks.operations
    for softmax, kind in enumerate(operations.kinds):
        if kind != "Softmax":
            continue
        found = _read_mixture(blocks, softmax)
        if found is not None:
            yield found


def _read_mixture(blocks: FoundBlocks, softmax: int) -> FoundBlock | None:
    operations = blocks.operations
    numbers, products, branches = {softmax}, list[int](), list[Value]()
    for user in operations.users[softmax]:
        if user < 0:
            return None
        if operations.nodes[user].operator.has("picks", "splits", "gathers", "slices"):
            numbers.add(user)
            products += [one for one in operations.users[user] if one >= 0]
        else:
            products.append(user)
    products = [*dict.fromkeys(products)]
    for product in products:
        factors = operations.operands[product]
        if operations.kinds[product] != "Mul" or len(factors) != _BOTH:
            return None
        branches += [v for v in factors if operations.giver(v) not in numbers]
    ends = {user for product in products for user in operations.users[product]}
    if len(ends) != 1 or len(branches) != len(products) or not branches:
        return None
    (end,) = ends
    if end < 0 or operations.kinds[end] not in ("Add", "ReduceSum", "Sum"):
        return None
    count = len(products)
    parts = 0
    if operations.kinds[end] == "ReduceSum":
        join = operations.giver(branches[0])
        is_join = join is not None and operations.nodes[join].operator.has("joins")
        if count != 1:
            return None
        if join is not None and is_join:
            numbers.add(join)
            branches, count = [*operations.operands[join]], len(operations.operands[join])
        else:
            count = parts = _count_parts(operations, softmax, end)
    elif count != len(operations.operands[end]):
        return None
    numbers |= {end, *products}
    leading = find_leading(operations, numbers, operations.operands[softmax], branches)
    if leading is None or count < _BOTH:
        return None
    pools = [n for n in leading.numbers if operations.kinds[n] in _MEANS]
    layers = [n for n in leading.numbers if operations.kinds[n] in ("Conv", "Gemm")]
    is_own = leading.sources <= {*branches, *_list_joins(operations, branches)}
    if not pools or not layers or not is_own:
        return None
    splits = {operations.giver(value) for value in branches}
    if parts and not _sums_parts(operations, leading.numbers, branches[0], end):
        return None
    split = splits.pop() if len(splits) == 1 else None
    is_split = split is not None and operations.nodes[split].operator.has("picks", "splits")
    name = "Split attention" if is_split or parts else "Selective kernel attention"
    every = frozenset({*numbers, *leading.numbers})
    if any(blocks.owner[n] is not None for n in (end, *products)):
        return None
    return FoundBlock("excitation", name, every, end, (f"{count} branches",))


def _count_parts(operations: Operations, softmax: int, end: int) -> int:
    """Return how many parts of an axis of their own a sum is of, as shares are; else 0."""
    facts = find_value_facts(operations.context.graph.model)
    axes = read_axes(operations.nodes[end]) or ()
    summed = facts.find_dims(operations.nodes[end].input(0)) or ()
    shared = facts.find_dims(operations.nodes[softmax].output(0)) or ()
    axis = read_int(operations.nodes[softmax], "axis")
    if len(axes) != 1 or not -len(summed) <= axes[0] < len(summed) or not shared:
        return 0
    count, shares = summed[axes[0]], shared[-1 if axis is None else axis]
    return count if isinstance(count, int) and count == shares else 0


def _sums_parts(operations: Operations, numbers: Collection[int], value: Value, end: int) -> bool:
    """Return whether means are taken of the sum of the same parts of a value."""
    axes = read_axes(operations.nodes[end])
    sums = [n for n in numbers if operations.kinds[n] == "ReduceSum"]
    return any(
        operations.operands[n] == [value] and read_axes(operations.nodes[n]) == axes for n in sums
    )


def _list_joins(operations: Operations, branches: list[Value]) -> set[Value]:
    """Return what joins all of some values."""
    found: set[Value] = set()
    givers = {operations.giver(value) for value in branches}
    for giver in givers - {None}:
        for user in operations.users[giver or 0]:
            if user >= 0 and operations.nodes[user].operator.has("joins"):
                output = operations.nodes[user].output(0)
                found |= {output} if output is not None else set()
    return found


def find_global_contexts(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find what layers make of one weighted mean over all places, added to each place.

    Y. Cao and others, GCNet, 2019, figure 4d: a convolution gives one number for each place, their
    softmax are the weights.
    """
    operations = blocks.operations
    for softmax, kind in enumerate(operations.kinds):
        scored = operations.operands[softmax][:1] if kind == "Softmax" else []
        layer = operations.given_by(scored[0], "Conv") if scored else None
        if layer is None or read_convolution(operations, layer).out_features != 1:
            continue
        start = operations.operands[layer][0]
        product = operations.only_user(softmax)
        if product is None or operations.kinds[product] != "MatMul":
            continue
        if start not in operations.operands[product] or operations.only_user(layer) != softmax:
            continue
        end, numbers = product, {layer, softmax, product}
        while (user := operations.only_user(end)) is not None and len(numbers) < _MOST_OF_CONTEXT:
            if start in operations.operands[user] and operations.kinds[user] in ("Add", "Mul"):
                numbers.add(user)
                yield FoundBlock("excitation", "Global context", frozenset(numbers), user)
                break
            owner = blocks.owner[user]
            own = owner.numbers if owner is not None else frozenset({user})
            if not (owner or len(operations.operands[user]) == 1):
                break
            numbers |= own
            end = owner.end if owner is not None else user
