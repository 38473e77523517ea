"""Layers that gates open or shut beside a way around them: highways, and those of series."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import PICKING, Operations
from .readings import read_scalar
from .walks import keep_own, walk_back

_MOST_STEPS = 6
_MOST_OF_LAYER = 60
_LEAST_LAYERS = 3
#: what stands between the layers
_BETWEEN = (*PICKING, "activates", "adds", "splits")
_LEAST_VARIABLES = 2
_BOTH = 2
#: a gate of a part of one layer, and one of two layers
_GATED = ("GLU", "Gate")
#: so many operations are behind the ELU: two layers with their biases, and the gate
_MOST_BEHIND = 8


def find_highways(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find t · h(x) + (1 - t) · x, where a layer of x gives h, and a sigmoid of one gives t.

    R. Srivastava and others, Highway Networks, 2015, equation 3.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Add" or len(taken) != 2 or blocks.owner[end] is not None:
            continue
        for made, kept in (taken, taken[::-1]):
            one, other = operations.given_by(made, "Mul"), operations.given_by(kept, "Mul")
            if one is None or other is None or one == other:
                continue
            found = _read_highway(blocks, one, other)
            if found is not None:
                numbers = frozenset({end, one, other, *found})
                yield FoundBlock("highway", "Highway layer", numbers, end)
                break


def _read_highway(blocks: FoundBlocks, made: int, kept: int) -> set[int] | None:
    """Return what gives gate and layer of a highway, by the two products that are added."""
    operations = blocks.operations
    if any(len(operations.operands[number]) != 2 for number in (made, kept)):
        return None
    for stream, carry in (operations.operands[kept], operations.operands[kept][::-1]):
        for hidden, opened in (operations.operands[made], operations.operands[made][::-1]):
            inverse = _find_inverse(operations, carry, opened)
            if inverse is None:
                continue
            (gate,) = operations.operands[inverse]
            around, layer = _walk_layer(blocks, gate, stream), _walk_layer(blocks, hidden, stream)
            is_sigmoid = operations.given_by(gate, "Sigmoid") is not None
            if is_sigmoid and around is not None and layer is not None:
                return {inverse, *around, *layer}
    return None


def _find_inverse(operations: Operations, one: Value, other: Value) -> int | None:
    """Return what takes one of two values from 1 to give the other."""
    for first, second in ((one, other), (other, one)):
        number = operations.given_by(first, "Sub")
        if number is not None and operations.operands[number] == [second]:
            return number if _is_one_less(operations, number) else None
    return None


def _is_one_less(operations: Operations, number: int) -> bool:
    fixed = operations.fixed(number)
    is_first = len(fixed) == 1 and operations.nodes[number].input(0) is fixed[0]
    return is_first and read_scalar(fixed[0]) == 1.0


def _walk_layer(blocks: FoundBlocks, value: Value, start: Value) -> set[int] | None:
    """Return an activation and the layer of a value before it, of which it may be a part."""
    operations = blocks.operations
    numbers: set[int] = set()
    is_active = False
    for _ in range(_MOST_STEPS):
        giver = operations.giver(value)
        if giver is None:
            return None
        owner, node = blocks.owner[giver], operations.nodes[giver]
        numbers |= owner.numbers if owner is not None else {giver}
        if owner is not None and owner.kind == "linear" and owner.end == giver:
            taken = operations.operands[min(owner.numbers)]
            return numbers if is_active and taken == [start] else None
        is_active |= owner is not None and owner.kind == "activation"
        is_active |= operations.kinds[giver] == "Sigmoid"
        if owner is not None and owner.kind != "activation":
            return None
        if owner is None and not node.operator.has(*PICKING, "splits", "activates"):
            return None
        value = operations.operands[min(owner.numbers) if owner is not None else giver][0]
    return None


def _list_normed_sums(blocks: FoundBlocks) -> Iterator[tuple[FoundBlock, int, list[Value]]]:
    """Yield norms of a sum of two values, with the sum and the values."""
    operations = blocks.operations
    for end in range(len(operations)):
        norm = blocks.ending(end, "norm")
        total = operations.giver(operations.operands[min(norm.numbers)][0]) if norm else None
        if norm is None or total is None or operations.kinds[total] != "Add":
            continue
        taken = operations.operands[total]
        if len(taken) == _BOTH and blocks.owner[total] is None:
            yield norm, total, taken


def find_gated_residuals(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find norm(x + GLU(W₁ · ELU(W₂ · x + W₃ · c))), where x may be projected beside.

    A context c may be missing, and the gate be one of two layers of its own (B. Lim and others,
    Temporal Fusion Transformers for Interpretable Multi-horizon Time Series Forecasting, 2021,
    equations 2 to 5).
    """
    operations = blocks.operations
    for norm, total, taken in _list_normed_sums(blocks):
        for gated, stream in (taken, taken[::-1]):
            gate = blocks.ending(operations.giver(gated), "gate")
            shortcut = blocks.ending(operations.giver(stream), "linear")
            if gate is None or gate.name not in _GATED:
                continue
            starts = [stream]
            if shortcut is not None:
                starts.append(operations.operands[min(shortcut.numbers)][0])
            found = next((w for s in starts if (w := _walk_gated(blocks, gated, s))), None)
            if found is None:
                continue
            numbers = found | norm.numbers | {total}
            if shortcut is not None and operations.only_user(shortcut.end) == total:
                numbers |= shortcut.numbers
            name = "Gated residual network"
            yield FoundBlock("gated network", name, frozenset(numbers), norm.end)
            break


def _walk_gated(blocks: FoundBlocks, gated: Value, start: Value) -> set[int] | None:
    """Return what makes a gated value of another one by three layers and an ELU."""
    operations = blocks.operations
    starts = {start, *_find_context(blocks, gated, start)}
    found = walk_back(operations, gated, starts, _MOST_OF_LAYER)
    if found is None:
        return None
    owners = {id(o): o for n in found if (o := blocks.owner[n]) is not None}
    if any(not owner.numbers <= found for owner in owners.values()):
        return None
    layers = sum(operations.kinds[number] == "Gemm" for number in found)
    forms = {operations.nodes[number].operator.form for number in found}
    others = {n for n in found if not operations.nodes[n].operator.has(*_BETWEEN)}
    is_bare = all(operations.kinds[number] in ("Gemm", "Mul") for number in others)
    return found if layers >= _LEAST_LAYERS and {"Elu", "Sigmoid"} <= forms and is_bare else None


def _find_context(blocks: FoundBlocks, gated: Value, start: Value) -> list[Value]:
    """Return the value whose projection is added to that of another one before the ELU."""
    operations = blocks.operations
    for _ in range(_MOST_BEHIND):
        number = operations.giver(gated)
        if number is None or not operations.operands[number]:
            return []
        gated = operations.operands[number][0]
        if operations.kinds[number] == "Elu":
            break
    total = operations.given_by(gated, "Add")
    layers = [blocks.ending(operations.giver(v), "linear") for v in operations.operands[total or 0]]
    known = [one for one in layers if one is not None]
    if total is None or blocks.owner[total] is not None or len(known) != len(layers) != 1:
        return []
    if any(operations.only_user(one.end) != total for one in known):
        return []
    taken = [operations.operands[min(one.numbers)][0] for one in known]
    return [value for value in taken if value is not start] if start in taken else []


def find_gated_skips(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find norm(x + GLU(W · y)): a sum that leaves out what is not needed of another layer.

    B. Lim and others, Temporal Fusion Transformers, 2021, equation 17.
    """
    operations = blocks.operations
    for norm, total, taken in _list_normed_sums(blocks):
        for gated, _ in (taken, taken[::-1]):
            gate = blocks.ending(operations.giver(gated), "gate")
            split = min(gate.numbers) if gate is not None else None
            if gate is None or split is None or gate.name != "GLU":
                continue
            layer = blocks.ending(operations.giver(operations.operands[split][0]), "linear")
            numbers = {total, *gate.numbers, *norm.numbers, *(layer.numbers if layer else ())}
            if layer is None or not operations.is_closed(numbers, norm.end):
                continue
            name = "Gated skip connection"
            parts = (layer, norm)
            yield FoundBlock("gated skip", name, frozenset(numbers), norm.end, parts=parts)
            break


def find_variable_selections(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find gated residual networks of several variables, summed up by shares that another gives.

    B. Lim and others, Temporal Fusion Transformers, 2021, equations 6 to 8.
    """
    operations = blocks.operations
    for total, kind in enumerate(operations.kinds):
        if kind != "ReduceSum" or blocks.owner[total] is not None:
            continue
        product = operations.given_by(operations.operands[total][0], "Mul")
        factors = operations.operands[product] if product is not None else []
        if product is None or len(factors) != 2:
            continue
        for shares, values in (factors, factors[::-1]):
            softmax = operations.given_by(shares, "Softmax")
            join = operations.giver(values)
            if softmax is None or join is None or not operations.nodes[join].operator.has("joins"):
                continue
            parts = [
                blocks.ending(operations.giver(v), "gated network")
                for v in operations.operands[join]
            ]
            scored = operations.giver(operations.operands[softmax][0])
            weights = blocks.ending(scored, "gated network", "linear", "mlp")
            known = [part for part in (*parts, weights) if part is not None]
            if len(known) != len(parts) + 1 or len(parts) < _LEAST_VARIABLES:
                continue
            numbers = {product, join, softmax}.union(*(part.numbers for part in known))
            givers = {g for n in numbers for g in operations.givers(n)} - numbers
            numbers |= {
                g
                for g in givers
                if operations.nodes[g].operator.has(*PICKING, "splits")
                and blocks.owner[g] is None
                and numbers.issuperset(operations.users[g])
            }
            own = keep_own(operations, numbers, total)
            facts = (f"{len(parts)} variables",)
            name = "Variable selection"
            yield FoundBlock("variable selection", name, frozenset(own), total, facts)
            break
