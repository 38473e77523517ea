"""Linear attention that goes over a sequence in chunks, and keeps a state between them."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value
from netloupe.explorer.model.constant import constant_tensor

from .attention_forms import find_gate
from .found_blocks import FoundBlock, FoundBlocks
from .layers_around import add_layers_around
from .operations import PICKING, Operations
from .transformer_details import AttentionDetails

_LEAST_CHUNKS = 2
_MOST_OF_CHUNK = 40
#: what a chunk is computed by of its queries, keys and values, and of the state
_COMPUTING = frozenset({"Add", "Einsum", "Exp", "Gemm", "MatMul", "Mul"})
#: queries, keys and values
_ROLES = 3
_MOST_BEFORE = 12


def find_chunked_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find chunks of (q·kᵀ times a stored decay)·v + q·state, of which each adds to the state.

    Within a chunk scores are of pairs of tokens; what came before is in the state, the sum of k·vᵀ
    of all chunks so far, which falls from chunk to chunk (Z. Qin and others, Lightning
    Attention-2, 2024, algorithm 1; MiniMax, MiniMax-01, 2025, section 2.2.1; Y. Sun and others,
    Retentive Network, 2023, equation 7).
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        if kind != "Concat" or blocks.owner[end] is not None:
            continue
        chunks = [operations.given_by(value, "Add") for value in operations.operands[end]]
        if len(chunks) < _LEAST_CHUNKS or None in chunks:
            continue
        found = _follow_back(blocks, end, _MOST_OF_CHUNK * len(chunks))
        if found is None:
            continue
        numbers, taken = found
        decay = _find_decay(operations, numbers)
        if decay is None or len(taken) != _ROLES or not operations.is_closed(numbers, end):
            continue
        yield _make(blocks, numbers, end, decay)


def _follow_back(
    blocks: FoundBlocks, end: int, most: int
) -> tuple[set[int], dict[Value, None]] | None:
    """Return what gives joined chunks, and the values of which these take their parts."""
    operations = blocks.operations
    numbers, taken = {end}, dict[Value, None]()
    pending = operations.givers(end)
    while pending:
        number = pending.pop()
        if number in numbers:
            continue
        if len(numbers) > most:
            return None
        owner = blocks.owner[number]
        if operations.nodes[number].operator.has("slices") and owner is None:
            numbers.add(number)
            taken[operations.operands[number][0]] = None
            continue
        if owner is not None and owner.kind != "linear":
            return None  # the state at first may look like a layer
        if operations.kinds[number] not in _COMPUTING:
            return None
        numbers |= owner.numbers if owner is not None else {number}
        pending += operations.givers(number)
    return numbers, taken


def _find_decay(operations: Operations, numbers: Collection[int]) -> tuple[int, int] | None:
    """Return how many heads there are and how long chunks, by what the scores are multiplied by."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        for value in operations.fixed(number) if operations.kinds[number] == "Mul" else ():
            tensor = constant_tensor(value)
            dims = tensor.dims if tensor is not None else ()
            if len(dims) > 1 and dims[-1] == dims[-2] > 1:
                found.append((dims[-3] if len(dims) > len(dims[-2:]) else 1, dims[-1]))
    return max(found, key=lambda pair: pair[1], default=None)


def _make(blocks: FoundBlocks, numbers: set[int], end: int, decay: tuple[int, int]) -> FoundBlock:
    """Return the attention with what projects around it, and what gates its result."""
    operations = blocks.operations
    heads, length = decay
    facts = find_value_facts(operations.context.graph.model)
    dims = facts.find_dims(operations.nodes[end].output(0)) or ()
    width = dims[-1] if len(dims) > _ROLES and dims[1] == heads else None
    gate, last = find_gate(blocks, end)
    whole = _add_maps(blocks, numbers | gate)
    whole, last = add_layers_around(blocks, whole, last)
    told = f"{heads} heads" if heads > 1 else "1 head"
    told += f" × {width}" if isinstance(width, int) else ""
    details = AttentionDetails(
        attention="Linear attention",
        heads=heads,
        head_width=width if isinstance(width, int) else None,
        causal=True,
    )
    told_all = (told, "causal", f"chunks of {length:,}")
    return FoundBlock("attention", "Linear attention", frozenset(whole), last, told_all, details)


def _add_maps(blocks: FoundBlocks, numbers: set[int]) -> set[int]:
    """Add what makes queries, keys and values apart, and maps their features, if nothing else is.

    An activation of all three stands before they are split.
    """
    operations = blocks.operations
    whole = {*numbers}
    pending = sorted({g for n in numbers for g in operations.givers(n)} - numbers)
    for _ in range(_MOST_BEFORE):
        if not pending:
            break
        number = pending.pop()
        owner = blocks.owner[number]
        own = owner.numbers if owner is not None else frozenset({number})
        is_map = owner.kind == "activation" if owner is not None else False
        is_part = owner is None and operations.nodes[number].operator.has(*PICKING, "splits")
        if number in whole or not (is_map or is_part):
            continue
        if all((whole | own).issuperset(operations.users[one]) for one in own):
            whole |= own
            pending += sorted({g for one in own for g in operations.givers(one)} - whole)
    return whole
