"""Attention whose queries, keys and values take a way of their own from the one value."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from netloupe.explorer.patterns import Detail

from .composites import Merge, make_part
from .outline import MAIN_KINDS, Outline, OutlinePart

#: what may stand between the value that is attended to and the products: projections, what cuts
#: them into queries, keys and values, and products with tables of positions
_LEADING = frozenset({"Einsum", "Gather", "GatherElements", "MatMul", "Slice", "Split", "linear"})
_MOST_LEADING = 24


def find_projected(outline: Outline) -> Iterator[Merge]:
    """Find attentions of which all that they take, but for masks, comes from one value.

    So is self-attention with positions that are multiplied with queries and keys: the entries of a
    table for every pair of positions (Y. Li and others, MViTv2, 2022, equation 4), or products
    with a table's rows of which each pair picks one (P. He and others, DeBERTa, 2021, equation 4).
    """
    main = sum(1 << part.place for part in outline.main)
    for attention in outline.of_kind("attention"):
        if attention.name not in ("Attention", "Self-attention") or attention.size("kv_heads"):
            continue
        leading, sources = _walk_back(outline, attention)
        if all(part.kind != "linear" for part in leading):
            continue
        # what stands before all weights makes a mask, unless nothing else is taken
        data = [part for part in sources if part.kind in MAIN_KINDS or part.before & main]
        data = sources if len(sources) == 1 else data
        if len(data) != 1 or data[0].kind == "Split":
            continue
        details: dict[str, Detail] = {**attention.details, "attention": "Self-attention"}
        if any(_picks_positions(outline, part) for part in leading):
            details["positions"] = "relative"
        parts = [*leading, attention]
        merged = make_part(parts, "attention", "Self-attention", details)
        merged.end = attention.end
        yield parts, merged


def _walk_back(
    outline: Outline, attention: OutlinePart
) -> tuple[list[OutlinePart], list[OutlinePart]]:
    """Return the parts that give to nothing but an attention, and those that give to them."""
    inner = {attention}
    sources: list[OutlinePart] = []
    pending = [-giver.place for giver in outline.givers(attention)]
    heapq.heapify(pending)
    seen = set(pending)
    while pending:
        part = outline.parts[-heapq.heappop(pending)]
        users = outline.users(part)
        if (
            part.kind not in _LEADING
            or len(inner) > _MOST_LEADING
            or not users
            or not inner.issuperset(users)
        ):
            sources.append(part)
            continue
        inner.add(part)
        for giver in outline.givers(part):
            if -giver.place not in seen:
                seen.add(-giver.place)
                heapq.heappush(pending, -giver.place)
    leading = sorted(inner - {attention}, key=lambda part: part.place)
    return leading, sources


def _picks_positions(outline: Outline, part: OutlinePart) -> bool:
    """Return whether a part multiplies with an entry for each pair of positions, or picks one."""
    fixed = outline.operations.fixed(part.end)
    if part.kind == "GatherElements":
        givers = outline.givers(part)
        return bool(fixed) and len(givers) == 1 and givers[0].kind in ("MatMul", "linear")
    if part.kind != "Einsum" or len(fixed) != 1:
        return False
    node = outline.operations.nodes[part.end]
    attribute = node.attributes.get("equation")
    equation = attribute.value if attribute is not None else None
    if not isinstance(equation, str) or equation.count("->") != 1:
        return False
    operands, _, given = equation.replace(" ", "").partition("->")
    letters: Sequence[str] = operands.split(",")
    if len(letters) != 2 or "." in equation:
        return False
    place = [index for index, value in enumerate(node.inputs) if value is fixed[0]]
    if len(place) != 1:
        return False
    table, queries = {*letters[place[0]]}, {*letters[1 - place[0]]}
    own = table & queries & {*given}
    summed = (table & queries) - {*given}
    keys = (table - queries) & {*given}
    return bool(own) and bool(summed) and bool(keys)
