"""Couplings of normalizing flows, draws of categories, and values that advantages are added to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.model import Value
from netloupe.explorer.model.constant import constant_tensor

from .coupling_steps import find_coupling_steps
from .details import BlockDetails, FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import PICKING, Operations
from .readings import read_numbers
from .transformer_details import MlpDetails
from .walks import find_parted, leads_to

_MOST_OF_NET = 60
#: between what stays and what a network makes of it
_MOST_OF_NETWORK = 10_000
_MOST_STEPS = 10
_MOST_OF_MASK = 4096
#: what makes scales of any numbers
_SCALES = ("Exp", "Sigmoid")
_ARITHMETIC = ("Add", "Div", "Mul", "Sub")
#: what scales and shifts go through
_SQUASHING = ("Add", "Clip", "Mul", "Neg", "Sigmoid", "Sub", "Tanh")


def find_couplings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find one part of a value scaled and shifted by what a network makes of another part.

    The scale is an exponential, so that it is never 0, and the other part goes on as it is
    (L. Dinh and others, Density Estimation Using Real NVP, 2017, equations 4 and 5); or a sigmoid
    (D. Kingma and P. Dhariwal, Glow, 2018, in the code that comes with section 5). Where the
    network stands elsewhere, its arithmetic is written out: ``(x − t) / exp(s)``.
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        taken = operations.operands[join]
        if not node.operator.has("joins") or len(taken) != 2 or blocks.owner[join] is not None:
            continue
        for moved, kept in (taken, taken[::-1]):
            found = _read_coupling(blocks, moved, kept)
            if found is None:
                continue
            numbers = found | {join}
            for value in (kept,):
                _add_parts(blocks, numbers, value)
            facts = _describe_net(blocks, numbers)
            yield FoundBlock("coupling", "Affine coupling", frozenset(numbers), join, facts)
            break
    yield from find_coupling_steps(blocks)


def find_masked_couplings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the same where a stored mask of zeros and ones tells which part goes on as it is.

    b · x + (1 - b) · (x scaled and shifted by what networks make of b · x) (L. Dinh and others,
    Density Estimation Using Real NVP, 2017, equation 9).
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Add" or len(taken) != 2 or blocks.owner[end] is not None:
            continue
        for kept, moved in (taken, taken[::-1]):
            mask = operations.given_by(kept, "Mul")
            if mask is None or blocks.owner[mask] is not None or not _is_mask(operations, mask):
                continue
            found = _walk_moved(blocks, moved, kept)
            if found is None:
                continue
            numbers = {end, mask, *found}
            facts = _describe_net(blocks, numbers)
            yield FoundBlock("coupling", "Masked coupling", frozenset(numbers), end, facts)
            break


def _is_mask(operations: Operations, number: int) -> bool:
    """Return whether an operation multiplies by a stored list of zeros and ones, both of them."""
    fixed = operations.fixed(number)
    source = find_source(fixed[0], "casts", "copies") if len(fixed) == 1 else None
    tensor = constant_tensor(source) if source is not None else None
    return tensor is not None and {*read_numbers(tensor, _MOST_OF_MASK)} == {0.0, 1.0}


def _walk_moved(blocks: FoundBlocks, moved: Value, kept: Value) -> set[int] | None:
    """Return what scales by an exponential and shifts, with the networks that take what is kept."""
    operations = blocks.operations
    start = operations.giver(kept)
    if start is None:
        return None
    before = {start, *operations.givers(start)}
    numbers: set[int] = set()
    pending = [operations.giver(moved)]
    has_exponential, networks = False, 0
    while pending:
        number = pending.pop()
        if number is None or number in before or number in numbers:
            continue
        if len(numbers) > _MOST_OF_NET:
            return None
        owner = blocks.owner[number]
        own = owner.numbers if owner is not None else frozenset({number})
        if owner is not None:
            if owner.kind not in ("mlp", "linear", "conv", "activation", "residual"):
                return None
            networks += owner.kind != "activation"
        elif operations.kinds[number] not in (*_ARITHMETIC, "Exp", "Neg", "Conv"):
            return None
        has_exponential = has_exponential or operations.kinds[number] == "Exp"
        numbers |= own
        pending += [giver for one in own for giver in operations.givers(one) if giver not in own]
        if owner is not None and kept not in _list_taken(operations, own) and owner.kind == "mlp":
            return None
    if not has_exponential or not networks:
        return None
    masked = sum(_is_mask(operations, n) for n in numbers if operations.kinds[n] == "Mul")
    return numbers if masked else None


def _list_taken(operations: Operations, numbers: frozenset[int]) -> set[Value]:
    return {value for number in numbers for value in operations.operands[number]}


def _read_coupling(blocks: FoundBlocks, moved: Value, kept: Value) -> set[int] | None:
    """Return the operations of b · exp(s(a)) + t(a), or of (b - t(a)) · exp(-s(a))."""
    operations = blocks.operations
    end = operations.given_by(moved, "Add", "Mul", "Sub", "Div")
    if end is None or blocks.owner[end] is not None:
        return None
    core = {end}
    others = [*operations.operands[end]]
    inner = [operations.given_by(v, "Add", "Mul", "Sub", "Div") for v in others]
    for number, value in zip(inner, [*others], strict=True):
        if number is None or blocks.owner[number] is not None:
            continue
        kinds = {operations.kinds[end], operations.kinds[number]}
        if len(kinds & {"Add", "Sub"}) == 1 and len(kinds & {"Mul", "Div"}) == 1:
            core.add(number)
            others.remove(value)
            others += operations.operands[number]
            break
    scale = next((n for v in others if (n := operations.given_by(v, *_SCALES)) is not None), None)
    if len(core) != 2 or scale is None or len(others) != 3:
        return None
    made = [v for v in others if _comes_of(blocks, v, kept)]
    free = [v for v in others if v not in made]
    if len(made) != 2 or len(free) != 1 or free[0] is kept:
        return None
    numbers = {*core}
    pending = [operations.giver(value) for value in made]
    while pending and len(numbers) < _MOST_OF_NET:
        number = pending.pop()
        if number is None or number in numbers or number == operations.giver(kept):
            continue
        owner = blocks.owner[number]
        own = owner.numbers if owner is not None else frozenset({number})
        numbers |= own
        pending += [giver for one in own for giver in operations.givers(one) if giver not in own]
    _add_parts(blocks, numbers, free[0])
    return numbers if not pending else None


def _comes_of(blocks: FoundBlocks, value: Value, start: Value) -> bool:
    """Return whether a value follows from another one by a network, and from nothing else."""
    operations = blocks.operations
    pending, seen = [value], {value}
    is_learned = False
    while pending:
        current = pending.pop()
        if current is start:
            continue
        giver = operations.giver(current)
        if giver is None or len(seen) > _MOST_OF_NET:
            return False
        owner = blocks.owner[giver]
        is_learned |= owner is not None and owner.kind in ("conv", "linear", "mlp", "residual")
        for operand in operations.operands[giver]:
            if operand not in seen:
                seen.add(operand)
                pending.append(operand)
    return is_learned


def _add_parts(blocks: FoundBlocks, numbers: set[int], value: Value) -> None:
    """Add what cuts a part out for some operations alone."""
    operations = blocks.operations
    giver = operations.giver(value)
    if giver is None or not operations.nodes[giver].operator.has(*PICKING, "splits"):
        return
    if blocks.owner[giver] is None and numbers.issuperset(operations.users[giver]):
        numbers.add(giver)


def _describe_net(blocks: FoundBlocks, numbers: set[int]) -> tuple[str, ...]:
    nets: list[BlockDetails] = []
    for number in sorted(numbers):
        found = blocks.ending(number, "mlp")
        if found is not None:
            nets.append(found.details)
    widths = nets[0].read_as(MlpDetails).widths if len(nets) == 1 else ()
    return (" → ".join(map(str, widths)),) if widths else ()


def is_coupling(operations: Operations) -> bool:
    """Return whether what a block gives is scaled and shifted by two parts of one value of it.

    However large the network is that makes them of what stays; the scale is an exponential, and
    both may be squashed, scaled, and masked (L. Dinh and others, Density Estimation Using Real NVP,
    2017, equations 7 to 9).
    """
    return next(find_wide_couplings(operations), None) is not None


def find_wide_couplings(operations: Operations) -> Iterator[frozenset[int]]:
    """Yield the arithmetic of couplings, however large the network is that steers them.

    The exponential, the product and the sum that it scales and shifts by, and what joins both
    parts again where a mask does not hold them apart; see `is_coupling`.
    """
    for number, kind in enumerate(operations.kinds):
        found = _read_arithmetic(operations, number) if kind == "Exp" else None
        if found is not None:
            yield found


def _read_arithmetic(operations: Operations, exponential: int) -> frozenset[int] | None:
    scale = operations.operands[exponential]
    products = [
        user
        for user in operations.users[exponential]
        if user >= 0 and operations.kinds[user] in ("Mul", "Div")
    ]
    cut = _find_cut(operations, scale[0]) if len(scale) == 1 else None
    if len(products) != 1 or cut is None:
        return None
    product = products[0]
    user = operations.only_user(product)
    sums = [
        (n, product)
        for v in operations.operands[product]
        if (n := operations.given_by(v, "Add", "Sub")) is not None
    ]
    if user is not None and operations.kinds[user] in ("Add", "Sub"):
        sums.append((user, user))
    for total, end in sums:
        for value in operations.operands[total]:
            shift = _find_cut(operations, value)
            if shift is None or shift.whole is not cut.whole or value is scale[0]:
                continue
            core = frozenset({exponential, product, total})
            if cut.is_masked and shift.is_masked:
                return core
            join = _find_beside(operations, end, cut.whole)
            if join is not None:
                return core | {join}
    return None


def _find_beside(operations: Operations, moved: int, made: Value) -> int | None:
    """Return what puts what is moved beside what the scale and shift are made of."""
    join = operations.only_user(moved)
    if join is None or not operations.nodes[join].operator.has("joins"):
        return None
    kept = [v for v in operations.operands[join] if operations.giver(v) != moved]
    is_beside = len(kept) == 1 and leads_to(operations, kept[0], made, _MOST_OF_NETWORK)
    return join if is_beside else None


class _Cut(NamedTuple):
    """Of what a value is a part, and whether a mask was put on it since."""

    whole: Value
    is_masked: bool


def _find_cut(operations: Operations, value: Value) -> _Cut | None:
    """Return what a value is a part of, which was only squashed, scaled or masked since."""
    is_masked = False
    for _ in range(_MOST_STEPS):
        whole = find_parted(operations, value)
        if whole is not None:
            return _Cut(whole, is_masked)
        number = operations.giver(value)
        taken = operations.operands[number] if number is not None else []
        if number is None or len(taken) != 1 or operations.kinds[number] not in _SQUASHING:
            return None
        is_masked |= operations.kinds[number] == "Mul" and _is_mask(operations, number)
        value = taken[0]
    return None


def find_gumbel_draws(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find softmax((logits - log(-log u)) / temperature): a category that is drawn softly.

    E. Jang and others, Categorical Reparameterization with Gumbel-Softmax, 2017, equation 2; C.
    Maddison and others, The Concrete Distribution, 2017, equation 10.
    """
    operations = blocks.operations
    for softmax, kind in enumerate(operations.kinds):
        owner = blocks.owner[softmax]
        if kind != "Softmax" or (owner is not None and owner.kind != "activation"):
            continue
        taken = operations.operands[softmax]
        total = operations.giver(taken[0]) if taken else None
        numbers = {softmax}
        if total is not None and operations.kinds[total] in ("Div", "Mul"):
            if len(operations.operands[total]) != 1:
                continue
            numbers.add(total)
            total = operations.giver(operations.operands[total][0])
        if total is None or operations.kinds[total] not in ("Add", "Sub"):
            continue
        for value in operations.operands[total]:
            noise = _read_gumbel(blocks, value, is_negative=operations.kinds[total] == "Sub")
            if noise is not None and operations.only_user(total) in numbers:
                numbers |= {total, *noise}
                yield FoundBlock("draw", "Gumbel-softmax", frozenset(numbers), softmax)
                break


def _read_gumbel(blocks: FoundBlocks, value: Value, *, is_negative: bool) -> set[int] | None:
    """Return the operations of -log(-log u), the last sign perhaps outside."""
    operations = blocks.operations
    numbers: set[int] = set()
    kinds: list[str] = ["Neg"] if is_negative else []
    number = operations.giver(value)
    for _ in range(_MOST_STEPS):
        if number is None or blocks.owner[number] is not None:
            break
        kind = operations.kinds[number]
        taken = operations.operands[number]
        is_random = operations.nodes[number].operator.has("random")
        if is_random:
            numbers.add(number)
            break
        if kind not in ("Add", "Clip", "Log", "Neg") or len(taken) != 1:
            break
        if kind in ("Log", "Neg"):
            kinds.append(kind)
        numbers.add(number)
        number = operations.giver(taken[0])
    return numbers if kinds == ["Neg", "Log", "Neg", "Log"] else None


def find_duels(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the value of a state and, of each action, its advantage less the mean of all.

    Z. Wang and others, Dueling Network Architectures for Deep Reinforcement Learning, 2016,
    equation 9.
    """
    operations = blocks.operations
    for mean, kind in enumerate(operations.kinds):
        difference = operations.only_user(mean) if kind == "ReduceMean" else None
        if difference is None or operations.kinds[difference] != "Sub":
            continue
        advantage = operations.operands[mean][0]
        first, second = (*operations.operands[difference], None, None)[:2]
        if second is None or first is None or operations.giver(second) != mean:
            continue
        if first is advantage:  # value + (advantage - mean)
            end = operations.only_user(difference)
            others = (
                [v for v in operations.operands[end] if operations.giver(v) != difference]
                if (end is not None and operations.kinds[end] == "Add")
                else []
            )
        else:  # (value + advantage) - mean
            total = operations.given_by(first, "Add")
            end = difference
            others = (
                [v for v in operations.operands[total] if v is not advantage]
                if total is not None and advantage in operations.operands[total]
                else []
            )
            difference = total if total is not None else difference
        if end is None or len(others) != 1 or blocks.owner[end] is not None:
            continue
        heads = [
            found
            for v in (others[0], advantage)
            if (found := blocks.ending(operations.giver(v), "linear", "mlp")) is not None
        ]
        outs = [_read_out(head.details) for head in heads]
        # of distributions there are as many shares for each action as for the value
        if len(outs) == 2 and outs[1] > outs[0] > 0 == outs[1] % outs[0]:
            numbers = {mean, difference, end}
            for head in heads:
                if numbers.issuperset(operations.users[head.end]):
                    numbers |= head.numbers
            facts = ("value + advantage − mean",)
            yield FoundBlock("duel", "Dueling heads", frozenset(numbers), end, facts)


def _read_out(details: BlockDetails) -> int:
    widths = details.read_as(MlpDetails).widths
    return widths[-1] if widths else details.read_as(FeatureDetails).out_features or 0
