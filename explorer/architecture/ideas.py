"""Small blocks that are the idea of a paper, put together from parts of an outline.

They are looked for where no family is told, so that a sentence can name them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from netloupe.explorer.model import TensorType, Value
from netloupe.explorer.patterns.convolution_details import ConvolutionDetails
from netloupe.explorer.patterns.details import FeatureDetails

from .composites import Merge, make_part
from .opened import goes_down_and_up
from .outline import Outline, OutlinePart

#: sines of so many multiples of one value are a positional encoding
_LEAST_SINES = 3
#: of what may stand between the two transforms of a mixing, and around them
_AROUND_TRANSFORMS = ("gathers", "joins", "looks_up", "picks", "solves", "pads")
_MOST_AROUND = 8
#: so many parts are looked at before the sum of what neighbours send
_MOST_SENT = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class IdeaDetails(FeatureDetails):
    """Of a small block that a sentence names.

    Parameters
    ----------
    words
        What is said behind its name.
    """

    words: str = ""


def add_ideas(outline: Outline) -> None:
    """Put parts together that are one idea."""
    for find in FINDERS:
        merged = list(find(outline))
        if merged:
            outline.merge(merged)


def _find_nested(outline: Outline) -> Iterator[Merge]:
    """Find residual blocks that make their maps smaller and larger again.

    X. Qin and others, U²-Net, 2020, figure 2.
    """
    for part in outline.of_kind("residual"):
        if goes_down_and_up(outline, part):
            merged = make_part([part], "group", "Nested U", part.details)
            merged.end = part.end
            yield [part], merged


def _find_fourier(outline: Outline) -> Iterator[Merge]:
    """Find discrete Fourier transforms of tokens of which the real part is added to the stream.

    J. Lee-Thorp and others, FNet: Mixing Tokens with Fourier Transforms, 2022, figure 1.
    """
    done: set[OutlinePart] = set()
    for first in outline.of_kind("DFT"):
        if first in done:
            continue
        parts = [first]
        givers = outline.givers(first)
        if len(givers) == 1 and givers[0].has("joins", "pads"):
            parts.insert(0, givers[0])
        current = first
        for _ in range(_MOST_AROUND):
            user = outline.only_user(current)
            if user is None or not user.has(*_AROUND_TRANSFORMS):
                break
            parts.append(user)
            current = user
        done.update(parts)
        user = outline.only_user(current)
        adds = user is not None and user.has("adds")
        name = "Fourier mixing" if adds else "Fourier transform"
        yield parts, make_part(parts, "fourier", name, IdeaDetails())


def _find_gated(outline: Outline) -> Iterator[Merge]:
    """Find two convolutions of one value, one of which gates the other by a sigmoid.

    A. van den Oord and others, WaveNet, 2016, equation 2.
    """
    for product in outline.parts:
        if not product.has("multiplies_elements"):
            continue
        givers = outline.givers(product)
        if len(givers) != 2 or {one.kind for one in givers} != {"conv"}:
            continue
        gates = [one for one in givers if _ends_with(one, "Sigmoid")]
        others = [one for one in givers if one not in gates]
        if len(gates) != 1 or outline.operands(gates[0]) != outline.operands(others[0]):
            continue
        if any(outline.only_user(one) is not product for one in givers):
            continue
        details = others[0].details.read_as(ConvolutionDetails)
        if details.kernel != gates[0].details.read_as(ConvolutionDetails).kernel:
            continue
        yield [*givers, product], make_part([*givers, product], "gated", "Gated conv", details)


def _ends_with(part: OutlinePart, activation: str) -> bool:
    return any(found.kind == "activation" and found.name == activation for found in part.parts)


def _find_reparametrised(outline: Outline) -> Iterator[Merge]:
    """Find noise times an exponential, added to another value of the same width.

    D. Kingma and M. Welling, Auto-Encoding Variational Bayes, 2014, section 2.4.
    """
    for total in outline.parts:
        if not total.has("adds"):
            continue
        for product in outline.givers(total):
            if not product.has("multiplies_elements") or outline.only_user(product) is not total:
                continue
            givers = outline.givers(product)
            spread = next((one for one in givers if one.kind == "Exp"), None)
            taken = outline.operations.nodes[product.end].inputs
            if spread is None or not any(_is_noise(value) for value in taken if value):
                continue
            parts = [spread, product, total]
            before = outline.givers(spread)
            if len(before) == 1 and before[0].has("multiplies_elements", "divides"):
                parts.insert(0, before[0])
                before = outline.givers(before[0])
            means = [one for one in outline.givers(total) if one is not product]
            widths = {one.out_features for one in (*before, *means)}
            if len(widths) != 1 or not (width := widths.pop()):
                continue
            details = IdeaDetails(
                words=f"of {width:,} features", in_features=width, out_features=width
            )
            yield parts, make_part(parts, "reparametrised", "Reparametrisation", details)
            break


def _is_noise(value: Value) -> bool:
    """Return whether a value is drawn at random, or is what a graph takes."""
    node = value.producer
    if node is None:
        return value.initializer is None
    return node.operator.has("random")


def _find_encoded(outline: Outline) -> Iterator[Merge]:
    """Find sines and cosines of several multiples of one value.

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
        details = IdeaDetails(words=f"of {number} frequencies")
        yield parts, make_part(parts, "positions", "Positional encoding", details)


def _find_passed(outline: Outline) -> Iterator[Merge]:
    """Find what sums up at each node of a graph what its neighbours send.

    J. Gilmer and others, Neural Message Passing for Quantum Chemistry, 2017, equation 1: rows are
    picked by the ends of edges, and what is made of them is added up by the other ends.
    """
    lookups = {id(part) for part in outline.parts if part.has("gathers") and _picks(outline, part)}
    for scatter in outline.parts:
        if not scatter.has("scatters"):
            continue
        pending, seen = [scatter], {scatter}
        is_sent = False
        while pending and len(seen) < _MOST_SENT and not is_sent:
            for giver in outline.givers(pending.pop()):
                is_sent |= id(giver) in lookups
                if giver not in seen and not giver.has("scatters"):
                    seen.add(giver)
                    pending.append(giver)
        if is_sent:
            yield [scatter], make_part([scatter], "passed", "Message aggregation", IdeaDetails())


def _picks(outline: Outline, part: OutlinePart) -> bool:
    """Return whether rows of what is computed are picked by what a graph takes."""
    node = outline.operations.nodes[part.end]
    rows, index = node.input(0), node.input(1)
    if rows is None or index is None or outline.operations.is_fixed(rows):
        return False
    stated = rows.type
    is_integer = isinstance(stated, TensorType) and stated.dtype.is_integer
    return not outline.operations.is_fixed(index) and not is_integer


def _find_quantizers(outline: Outline) -> Iterator[Merge]:
    """Find tables of which the row nearest to each place is taken.

    A. van den Oord and others, Neural Discrete Representation Learning, 2017, equation 1.
    """
    for table in outline.of_kind("embedding"):
        givers = outline.givers(table)
        if len(givers) != 1 or not givers[0].has("finds_largest"):
            continue
        parts = [givers[0], table]
        before = outline.givers(givers[0])
        while len(before) == 1 and len(parts) < _MOST_AROUND:
            part = before[0]
            if part.kind == "linear" and outline.only_user(part) is parts[0]:
                parts.insert(0, part)
                break
            if not part.has("adds", "subtracts", "multiplies_elements"):
                break
            parts.insert(0, part)
            before = [one for one in outline.givers(part) if not one.has("reduces")]
        merged = make_part(parts, "quantizer", "Vector quantizer", table.details)
        yield parts, merged


def _find_pairs(outline: Outline) -> Iterator[Merge]:
    """Find products of all rows of a value with all of them.

    M. Naumov and others, Deep Learning Recommendation Model, 2019, section 2.1.3.
    """
    for product in outline.of_kind("MatMul"):
        operands = outline.operands(product)
        if len(operands) == 1 and outline.operations.nodes[product.end].operator.has("multiplies"):
            yield [product], make_part([product], "pairs", "Dot interaction", IdeaDetails())


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


FINDERS: tuple[Callable[[Outline], Iterator[Merge]], ...] = (
    _find_residual,
    _find_nested,
    _find_fourier,
    _find_gated,
    _find_reparametrised,
    _find_encoded,
    _find_passed,
    _find_pairs,
    _find_quantizers,
)
