"""Small blocks that are the idea of a paper, put together from parts of an outline.

They are looked for where no family is told, so that a sentence can name them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

from netloupe.explorer.model import TensorType, Value
from netloupe.explorer.notation import write_count
from netloupe.explorer.patterns import read_dims
from netloupe.explorer.patterns.combinations import REDUCTIONS, is_divisor, moves_rows
from netloupe.explorer.patterns.details import NO_DETAILS, FeatureDetails
from netloupe.explorer.patterns.nested_levels import count_nested_levels
from netloupe.explorer.patterns.readings import read_str
from netloupe.explorer.patterns.recognise import add_ideas

from .composites import Merge, make_part
from .dense_graphs import find_dense_graphs
from .outline import Outline, OutlinePart, make_block_part
from .sinc_filters import mark_sinc_filters
from .spectral_layers import merge_spectral_layers
from .teleports import find_teleports
from .whole_sets import find_whole_sets
from .wide_couplings import merge_couplings

#: sines of so many multiples of one value are a positional encoding
_LEAST_SINES = 3
#: a vector for each of several numbers has so many axes
_TABLE = 2
#: so many parts are looked at before the sum of what neighbours send
_MOST_SENT = 40
#: one operation that is an idea by itself
_UNPOOL = "MaxUnpool"
#: a part that joins what is at both ends of edges
_JOINED_ENDS = "edge inputs"


def merge_ideas(outline: Outline) -> None:
    """Put parts together that are one idea, and name what their kernels are computed of."""
    mark_sinc_filters(outline)
    for find in FINDERS:
        merged = list(find(outline))
        if merged:
            outline.merge(merged)


def _find_recognised(outline: Outline) -> Iterator[Merge]:
    """Find the ideas that patterns know, of which no part of the outline is half inside.

    A product alone is no idea that is told: what it is part of tells more.
    """
    known = [*outline.blocks.list_outermost()]  # kept, so that no new one has the same id
    before = set(map(id, known))
    add_ideas(outline.blocks)
    for found in outline.blocks.list_outermost():
        if isinstance(found, int) or id(found) in before:
            continue
        if len(found.numbers) < 2 and outline.operations.kinds[found.end] != _UNPOOL:
            continue
        convolves = any(inner.kind == "conv" for inner in found.parts)
        is_unit = convolves and found.name != "Gate"
        if found.kind == "message passing" or (found.kind == "gate" and not is_unit):
            continue  # layers in them are told
        parts: dict[OutlinePart, None] = dict.fromkeys(map(outline.owner, sorted(found.numbers)))
        if all(part.numbers <= found.numbers for part in parts):
            yield [*parts], make_block_part(found)


def _find_nested(outline: Outline) -> Iterator[Merge]:
    """Find residual blocks that make their maps smaller and larger again.

    X. Qin and others, U²-Net, 2020, figure 2.
    """
    for part in outline.of_kind("residual"):
        if count_nested_levels(outline.operations, part.numbers):
            merged = make_part([part], "group", "Nested U", part.details)
            merged.end = part.end
            yield [part], merged


def _find_residual(outline: Outline) -> Iterator[Merge]:
    """Find two convolutions and a sum with what they take, or what its activation is of.

    Where several begin with one activation it is no part of any of them (J. Kong and others,
    HiFi-GAN, 2020, figure 1).
    """
    for total in outline.parts:
        givers = outline.givers(total)
        if not total.has("adds") or len(givers) != 2:
            continue
        for last, stream in (givers, givers[::-1]):
            first = outline.givers(last)
            if last.kind != "conv" or len(first) != 1 or first[0].kind != "conv":
                continue
            if outline.only_user(last) is not total or outline.only_user(first[0]) is not last:
                continue
            source = outline.givers(first[0])
            if len(source) != 1:
                continue
            before = outline.givers(source[0]) if source[0].kind == "activation" else source
            if before != [stream] and source != [stream]:
                continue
            details = FeatureDetails(
                in_features=first[0].in_features, out_features=last.out_features
            )
            parts = [first[0], last, total]
            yield parts, make_part(parts, "residual", "Residual block", details)
            break


def _find_encoded(outline: Outline) -> Iterator[Merge]:
    """Find sines and cosines of several multiples of one value, beside other features.

    B. Mildenhall and others, NeRF, 2020, equation 4.
    """
    sources: dict[Value, list[tuple[OutlinePart, OutlinePart | None]]] = {}
    for wave in outline.parts:
        if not wave.has("takes_sine"):
            continue
        operands = outline.operands(wave)
        if len(operands) != 1:
            continue
        giver = outline.giver(operands[0])
        factor = giver if giver is not None and giver.has("multiplies_elements") else None
        taken = outline.operands(factor) if factor is not None else operands
        if len(taken) == 1:
            sources.setdefault(taken[0], []).append((wave, factor))
    for waves in sources.values():
        counts: dict[str, int] = {}
        for wave, _ in waves:
            counts[wave.kind] = counts.get(wave.kind, 0) + 1
        if len(counts) != 2 or len({*counts.values()}) != 1:
            continue
        number = next(iter(counts.values()))
        if number < _LEAST_SINES:
            continue
        parts = list(dict.fromkeys(part for pair in waves for part in pair if part is not None))
        merged = make_part(parts, "positions", "Positional encoding", NO_DETAILS)
        if not any(_has_row(outline, factor) for _, factor in waves if factor is not None):
            merged.facts = (write_count(number, "frequency", "frequencies"),)
        yield parts, merged


def _has_row(outline: Outline, factor: OutlinePart) -> bool:
    """Return whether a part multiplies by several frequencies at once: a table of them."""
    fixed = outline.operations.fixed(factor.end)
    return any(prod(read_dims(value)) > 1 for value in fixed)


def _find_passed(outline: Outline) -> Iterator[Merge]:
    """Find what sums up at each node of a graph what its neighbours send.

    J. Gilmer and others, Neural Message Passing for Quantum Chemistry, 2017, equation 1: rows are
    picked by the ends of edges, and what is made of them is added up by the other ends.
    """
    lookups = {
        part: numbers
        for part in outline.parts
        if (part.has("gathers") or part.kind == _JOINED_ENDS)
        and (numbers := [*_list_picking(outline, part)])
    }
    for scatter in outline.parts:
        if not scatter.has("scatters"):
            continue
        if read_str(outline.operations.nodes[scatter.end], "reduction") not in REDUCTIONS:
            continue  # elements are written over
        if is_divisor(outline.operations, scatter.end):
            continue
        pending, seen = [scatter], {scatter}
        is_sent = False
        while pending and len(seen) < _MOST_SENT and not is_sent:
            for giver in outline.givers(pending.pop()):
                is_sent |= any(
                    moves_rows(outline.operations, number, scatter.end)
                    for number in lookups.get(giver, ())
                )
                if giver not in seen and not giver.has("scatters"):
                    seen.add(giver)
                    pending.append(giver)
        if is_sent:
            yield [scatter], make_part([scatter], "message passing", "Message passing", NO_DETAILS)


def _list_picking(outline: Outline, part: OutlinePart) -> Iterator[int]:
    """Yield the operations of a part that pick rows at one end of edges."""
    for number in sorted(part.numbers):
        if outline.operations.nodes[number].operator.has("gathers") and picks_rows(outline, number):
            yield number


def picks_rows(outline: Outline, number: int) -> bool:
    """Return whether rows of what is computed are picked by what a graph takes."""
    node = outline.operations.nodes[number]
    rows, index = node.input(0), node.input(1)
    if rows is None or index is None or outline.operations.is_fixed(rows):
        return False
    stated = rows.type
    is_integer = isinstance(stated, TensorType) and stated.dtype.is_integer
    return not outline.operations.is_fixed(index) and not is_integer


def _find_tokenizers(outline: Outline) -> Iterator[Merge]:
    """Find numbers of which each is multiplied by a vector of its own, and another one is added.

    Y. Gorishniy and others, Revisiting Deep Learning Models for Tabular Data, 2021, section 3.3.
    """
    for product in outline.parts:
        if not product.has("multiplies_elements") or outline.givers(product):
            continue
        total = outline.only_user(product)
        dims = [read_dims(value) for value in outline.operations.fixed(product.end)]
        sizes = [tuple(dim for dim in each if dim != 1) for each in dims]
        if total is None or not total.has("adds") or len(sizes) != 1 or len(sizes[0]) != _TABLE:
            continue
        if len(outline.operands(product)) != 1 or not outline.operations.fixed(total.end):
            continue
        count, width = sizes[0]
        merged = make_part([product, total], "tokenizer", "Feature tokenizer", NO_DETAILS)
        merged.facts = (f"{count:,} numbers × {width:,}",)
        yield [product, total], merged


FINDERS: tuple[Callable[[Outline], Iterator[Merge]], ...] = (
    _find_residual,
    _find_nested,
    merge_spectral_layers,
    find_dense_graphs,
    _find_recognised,
    merge_couplings,
    find_whole_sets,
    _find_encoded,
    _find_passed,
    find_teleports,
    _find_tokenizers,
)
