"""Detectors: networks that predict the same at every place of maps of several resolutions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from netloupe.explorer.patterns import Detail

from .levels import Levels
from .map_heads import MapHead, MapHeads
from .outline import Outline
from .resolutions import Resolutions

#: four numbers of a box, and whether there is anything in it
_LEAST_FEATURES = 5
#: the finest maps that detectors predict from, where nothing else tells them
_FINEST = 4
_FINEST_BARE = 8
#: anchors of each place, and what is told of each (J. Redmon and A. Farhadi, YOLOv3, section 2.3)
_ANCHORS = 3
_MOST_TIMES = 8


def find_detector(outline: Outline, resolutions: Resolutions, heads: MapHeads) -> Levels | None:
    """Return what is said of a detector; None for any other network.

    At every place of maps of two or more resolutions the same is predicted: as many channels, or
    as many of each kind in proportion, where the number of anchors differs (W. Liu and others,
    SSD, 2016, figure 2; T. Lin and others, Focal Loss, 2018, figure 3; J. Redmon and A. Farhadi,
    YOLOv3, 2018, section 2.3). Maps of features, of classes at every place or of flow are not put
    into one row of all places, are finer, or have fewer channels.
    """
    heads, masks = _split_masks(heads)
    by_factor = heads.by_factor
    if len(by_factor) < 2 or heads.crops or not all(by_factor):
        return None
    if any(factor.denominator != 1 or factor < _FINEST for factor in by_factor):
        return None
    kinds = [sorted(head.features for head in each) for each in by_factor.values()]
    if not all(map(all, kinds)) or not all(_are_alike(kinds[0], kind) for kind in kinds):
        return None
    if any(sum(kind) < _LEAST_FEATURES for kind in kinds):
        return None
    is_joined = any(len({head.factor for head in each}) > 1 for each in heads.heads)
    if not is_joined and not _is_told_bare(by_factor):
        return None
    strides = ", ".join(f"{factor.numerator:,}" for factor in by_factor)
    text = f"heads at strides {strides}"
    if all(kind == kinds[0] for kind in kinds):
        text += f" ({_list_widths(kinds[0])} channels each)"
    if masks is not None:
        text += f", {masks.features:,} mask prototypes at 1/{masks.factor.numerator:,}"
    facts: tuple[tuple[str, Detail], ...] = (("scales", len(by_factor)),)
    pyramid = _tell_pyramid(resolutions, [head for each in by_factor.values() for head in each])
    return Levels("One-stage detector", ", ".join(filter(None, (pyramid, text))), facts)


def _split_masks(heads: MapHeads) -> tuple[MapHeads, MapHead | None]:
    """Return heads without the one that gives masks, and this; all of them where there is none.

    One output is a map no coarser than those that boxes are predicted from, with as many channels
    as there are coefficients at each place of these, by which they are added up (D. Bolya and
    others, YOLACT, 2019, section 3 and figure 2).
    """
    joined = [each for each in heads.heads if len({head.factor for head in each}) > 1]
    others = [each for each in heads.heads if each not in joined]
    if not joined or len(others) != 1 or len(others[0]) != 1:
        return heads, None
    kept, masks = MapHeads(tuple(joined), heads.crops), others[0][0]
    is_fine = masks.factor.denominator == 1 and masks.factor <= min(kept.by_factor)
    weighed = all(
        masks.features in [head.features for head in each] and len(each) > 1
        for each in kept.by_factor.values()
    )
    return (kept, masks) if is_fine and weighed else (heads, None)


def _is_told_bare(by_factor: dict[Fraction, list[MapHead]]) -> bool:
    """Return whether maps that stay apart are those of a detector: several a scale, or anchors."""
    if all(len(each) > 1 for each in by_factor.values()):
        return True
    each = [head for heads in by_factor.values() for head in heads]
    features = each[0].features
    is_of_anchors = not features % _ANCHORS and features // _ANCHORS > _LEAST_FEATURES
    return min(by_factor) >= _FINEST_BARE and is_of_anchors and all(one.is_wider for one in each)


def _are_alike(one: Sequence[int], other: Sequence[int]) -> bool:
    """Return whether two lists of widths are the same, or in proportion."""
    return len(one) == len(other) and all(
        a * other[0] == b * one[0] for a, b in zip(one, other, strict=True)
    )


def _list_widths(widths: Sequence[int]) -> str:
    *first, last = (f"{width:,}" for width in widths)
    return f"{', '.join(first)} and {last}" if first else last


def _tell_pyramid(resolutions: Resolutions, heads: Sequence[MapHead]) -> str:
    """Return how often maps go up, and down again, before they are predicted from.

    T. Lin and others, Feature Pyramid Networks, 2017, figure 1d; S. Liu and others, Path
    Aggregation Network, 2018, figure 1.
    """
    turns = max(resolutions[head.number].turns for head in heads)
    if turns < 2:
        return "feature pyramid" if turns else ""
    if turns == 2:
        return "feature pyramid, up and down again"
    times = turns // 2
    return f"feature pyramid, {times} times up and down" if times <= _MOST_TIMES else ""
