"""Attention whose queries, keys and values take a way of their own from the one value."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from netloupe.explorer.operators import ARRANGING_TRAITS
from netloupe.explorer.patterns.transformer_details import AttentionDetails

from .composites import Merge, make_part
from .outline import MAIN_KINDS, Outline, OutlinePart
from .sizes import list_matrices

_MOST_LEADING = 24
#: so many operators arrange the weights of attention by distances
_MOST_ARRANGING = 8


def find_projected(outline: Outline) -> Iterator[Merge]:
    """Find attentions of which all that they take, but for masks, comes from one value.

    So is self-attention with positions that are multiplied with queries and keys: the entries of a
    table for every pair of positions (Y. Li and others, MViTv2, 2022, equation 4), or products
    with a table's rows of which each pair picks one (P. He and others, DeBERTa, 2021, equation 4).
    """
    main = sum(1 << part.place for part in outline.main)
    for attention in outline.of_kind("attention"):
        details = attention.details.read_as(AttentionDetails)
        if attention.name not in ("Attention", "Self-attention") or details.kv_heads:
            continue
        leading, sources = _walk_back(outline, attention, partial(_may_lead, outline))
        if not any(_projects(outline, part) for part in leading):
            continue
        # what stands before all weights makes a mask, unless nothing else is taken
        data = [part for part in sources if part.kind in MAIN_KINDS or part.before & main]
        data = sources if len(sources) == 1 else data
        if len(data) != 1 or data[0].kind == "Split":
            continue
        details = replace(details, attention="Self-attention")
        if any(_picks_positions(outline, part) for part in leading):
            details = replace(details, positions="relative")
        parts = [*leading, attention]
        merged = make_part(parts, "attention", "Self-attention", details)
        merged.end = attention.end
        yield parts, merged


def find_convolved(outline: Outline) -> Iterator[Merge]:
    """Find attentions whose queries, keys and values one convolution of each channel gives.

    It takes what a 1×1 convolution makes of the features, and nothing else takes from either (S.
    Zamir and others, Restormer, 2022, equation 1).
    """
    for attention in outline.of_kind("attention"):
        givers = outline.givers(attention)
        deep = givers[0] if len(givers) == 1 else None
        if deep is None or not deep.is_depthwise or outline.only_user(deep) is not attention:
            continue
        before = outline.givers(deep)
        wide = before[0] if len(before) == 1 else None
        if wide is None or outline.only_user(wide) is not deep:
            continue
        if wide.kind != "linear" and not wide.is_pointwise:
            continue
        parts = [wide, deep, attention]
        merged = make_part(parts, "attention", attention.name, attention.details)
        merged.end = attention.end
        yield parts, merged


def find_relative_values(outline: Outline) -> Iterator[Merge]:
    """Find attentions whose weights multiply a table of distances, too, which is added to values.

    What that gives is projected as the result of attention is (P. Shaw and others, Self-Attention
    with Relative Position Representations, 2018, equation 3).
    """
    for total in outline.parts:
        givers = outline.givers(total) if total.has("adds") else []
        if len(givers) != 2:
            continue
        for attention, table in (givers, givers[::-1]):
            if attention.kind != "attention" or table.kind != "linear":
                continue
            if outline.only_user(table) is not total:
                continue
            between = _walk_to_weights(outline, table, attention)
            if between is None:
                continue
            parts = [attention, *between, table, total]
            last = outline.only_user(total)
            if last is not None and last.kind == "linear":
                parts.append(last)
            details = attention.details
            merged = make_part(parts, "attention", attention.name, details)
            merged.end, merged.facts = parts[-1].end, attention.facts
            yield parts, merged
            break


def _walk_to_weights(
    outline: Outline, table: OutlinePart, attention: OutlinePart
) -> list[OutlinePart] | None:
    """Return what only arranges the weights of attention for a table; None for other values."""
    between: list[OutlinePart] = []
    part = table
    for _ in range(_MOST_ARRANGING):
        values = outline.operands(part)
        if len(values) != 1:
            return None
        giver = outline.giver(values[0])
        if giver is attention:
            number = outline.operations.giver(values[0])
            return between if number != attention.end else None
        if giver is None or not giver.has("pads", "picks", *ARRANGING_TRAITS):
            return None
        if outline.only_user(giver) is not part:
            return None
        between.append(giver)
        part = giver
    return None


def _may_lead(outline: Outline, part: OutlinePart) -> bool:
    """Return whether a part may stand between the value that is attended to and the products.

    So may projections and their biases, what cuts them into queries, keys and values, and products
    with tables of positions.
    """
    is_bias = (
        part.has("adds")
        and bool(outline.operations.fixed(part.end))
        and all(_projects(outline, giver) for giver in outline.givers(part))
    )
    return is_bias or part.kind == "linear" or part.has("looks_up", "multiplies", "picks")


def _projects(outline: Outline, part: OutlinePart) -> bool:
    """Return whether a part multiplies by a weight, be it of one matrix for each head."""
    is_product = part.has("multiplies") and len(outline.operands(part)) == 1
    return part.kind == "linear" or (is_product and bool(list_matrices(outline, [part])))


def _walk_back(
    outline: Outline,
    attention: OutlinePart,
    passes: Callable[[OutlinePart], bool],
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
            not passes(part)
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
