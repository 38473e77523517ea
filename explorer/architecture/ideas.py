"""Small blocks that are the idea of a paper, put together from parts of an outline.

They are looked for where no family is told, so that a sentence can name them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from netloupe.explorer.model import Value
from netloupe.explorer.patterns.convolution_details import ConvolutionDetails
from netloupe.explorer.patterns.details import FeatureDetails

from .composites import Merge, make_part
from .outline import Outline, OutlinePart

#: sines of so many multiples of one value are a positional encoding
_LEAST_SINES = 3
#: of what may stand between the two transforms of a mixing, and around them
_AROUND_TRANSFORMS = ("gathers", "joins", "looks_up", "picks", "solves", "pads")
_MOST_AROUND = 8


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


FINDERS: tuple[Callable[[Outline], Iterator[Merge]], ...] = (
    _find_fourier,
    _find_gated,
    _find_reparametrised,
    _find_encoded,
)
