"""Codes that are found, and codes that are looked up again: both halves of a quantizer."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value

from .details import EmbeddingDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import PARTING, PICKING, Operations
from .quantizers import NEAREST, find_distances_to_codes
from .readings import read_int, read_scalar

_LEAST_TABLES = 2
_MOST_PICKED = 4


def find_nearest_codes(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the search for the nearest entry of a code book, whose number alone goes on.

    The least of |x|² - 2·x·e + |e|² (A. van den Oord and others, Neural Discrete Representation
    Learning, 2017, equation 1).
    """
    operations = blocks.operations
    for nearest, node in enumerate(operations.nodes):
        if not node.operator.has("finds_largest") or blocks.owner[nearest] is not None:
            continue
        distances = find_distances_to_codes(blocks, nearest)
        if not any(operations.nodes[n].operator.has("reduces") for n in distances):
            continue
        numbers = frozenset({nearest, *distances})
        facts = _describe(operations, nearest)
        yield FoundBlock("quantizer", NEAREST, numbers, nearest, facts)


def _describe(operations: Operations, nearest: int) -> tuple[str, ...]:
    """Return of how many codes the nearest is searched."""
    node = operations.nodes[nearest]
    dims = find_value_facts(node.graph.model).find_dims(node.input(0))
    axis = read_int(node, "axis")
    if not dims or axis is None or not -len(dims) <= axis < len(dims):
        return ()
    count = dims[axis]
    return (f"{count:,} codes",) if isinstance(count, int) else ()


def find_summed_embeddings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find rows of several equal tables added up, which parts of one value pick.

    So do decoders of residual quantizers (N. Zeghidour and others, SoundStream, 2021, section
    III-C), and models of their codes (J. Copet and others, Simple and Controllable Music
    Generation, 2023, section 2.2).
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        if kind not in ("Add", "Sum") or blocks.owner[end] is not None:
            continue
        user = operations.only_user(end)
        is_inner = user is not None and operations.kinds[user] in ("Add", "Sum")
        if is_inner and user is not None and _is_row(blocks, user, end):
            continue  # it goes on
        tables, sums = _list_tables(blocks, end)
        if len(tables) < _LEAST_TABLES:
            continue
        wholes = {_find_whole(operations, table) for table in tables}
        known = [table.details.read_as(EmbeddingDetails) for table in tables]
        if len(wholes) != 1 or None in wholes or len({*known}) != 1 or not known[0].rows:
            continue
        numbers = sums.union(*(table.numbers for table in tables))
        parting = {giver for n in numbers for giver in operations.givers(n)} - numbers
        numbers |= {
            n
            for n in parting
            if operations.nodes[n].operator.has(*PICKING, "splits")
            and blocks.owner[n] is None
            and numbers.issuperset(operations.users[n])
        }
        size = f"{known[0].rows:,} × {known[0].width:,}" if known[0].width else ""
        facts = (f"{len(tables)} tables" + (f" of {size}" if size else ""),)
        yield FoundBlock("unit", "Summed embeddings", frozenset(numbers), end, facts)


def _is_row(blocks: FoundBlocks, total: int, before: int) -> bool:
    """Return whether a sum adds a row of a table to what another sum gives."""
    operations = blocks.operations
    others = [n for n in operations.givers(total) if n != before]
    return all(blocks.ending(n, "embedding") is not None for n in others)


def _list_tables(blocks: FoundBlocks, end: int) -> tuple[list[FoundBlock], set[int]]:
    """Return the tables whose rows a sum adds up, and the sums; nothing where it adds others."""
    operations = blocks.operations
    tables: list[FoundBlock] = []
    sums: set[int] = set()
    pending = [end]
    while pending:
        number = pending.pop()
        sums.add(number)
        for value in operations.operands[number]:
            giver = operations.giver(value)
            table = blocks.ending(giver, "embedding")
            if giver is not None and table is not None and table.name == "Embedding":
                if operations.only_user(giver) != number:
                    return [], set()
                tables.append(table)
            elif giver is not None and operations.kinds[giver] in ("Add", "Sum"):
                if operations.only_user(giver) != number or blocks.owner[giver] is not None:
                    return [], set()
                pending.append(giver)
            else:
                return [], set()
        if any(not _is_zero(value) for value in operations.fixed(number)):
            return [], set()
    return tables, sums


def _is_zero(value: Value) -> bool:
    """Return whether a sum begins with nothing, as programs write it."""
    return read_scalar(value) == 0.0


def _find_whole(operations: Operations, table: FoundBlock) -> Value | None:
    """Return the value whose part picks the rows of a table."""
    taken = operations.operands[min(table.numbers)]
    value = taken[-1] if taken else None
    for step in range(_MOST_PICKED):
        giver = operations.giver(value) if value is not None else None
        if giver is None or not operations.nodes[giver].operator.has(*PARTING):
            return value if step else None
        first = operations.nodes[giver].input(0)
        value = operations.source(first) if first is not None else None
    return value
