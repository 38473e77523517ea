"""Ways through resolutions: down and up again, with what goes across, or up alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count
from netloupe.explorer.patterns import Detail
from netloupe.explorer.patterns.readings import read_ints

from .layer_words import write_lower
from .nested_unets import NESTED_UNET, is_nested, write_nested
from .outline import Outline, OutlinePart
from .resolutions import Resolution, Resolutions
from .sizes import may_enlarge, read_stated_shape

#: kinds of block that work on maps
_MAPS = frozenset(
    {"atrous pyramid", "conv", "excitation", "group", "inverted", "pyramid pooling", "residual"}
    | {"separable"}
)
_LEAST_STEPS = 2
#: below the finest level whose features go across a UNet may have so many more
_MOST_BARE = 2
#: between what goes across and the block that gave it there are fewer operations
_MOST_BEFORE = 200
#: between a sum and what it gates
_MOST_OF_GATE = 8
#: so often a network goes down and up as a whole; else blocks of it do
_MOST_TIMES = 4


@dataclass(frozen=True)
class Levels:
    """The way of a network through resolutions.

    Parameters
    ----------
    title
        What a network is called that goes this way; "" for others.
    text
        What is said of it.
    facts
        The same by name.
    """

    title: str = ""
    text: str = ""
    facts: tuple[tuple[str, Detail], ...] = ()


def find_levels(outline: Outline, resolutions: Resolutions) -> Levels:
    """Return the way through resolutions where it is down and up again, or up alone.

    O. Ronneberger and others, U-Net, 2015, figure 1: a UNet convolves on each level of its way
    up, beside which it puts what the same level gave on the way down, up to the first resolution.
    What does not share that way is another branch, or the input again, and no skip.
    V. Badrinarayanan and others, SegNet, 2017, figure 2: an encoder-decoder need not.
    """
    given = [resolutions.of_value(value) for value in outline.graph.outputs]
    operations = outline.operations
    found = [resolutions[n] for n in range(len(operations)) if n not in resolutions.inner]
    # what goes down to one vector beside the way to all maps that come out is none of it
    lowest = max((one.deepest for one in given if one.is_up), default=None)
    downs = sorted(
        {
            f
            for one in found
            if (f := one.factor) is not None and not one.is_up and 1 < f <= (lowest or f)
        }
    )
    ups = sorted({f for one in found if (f := one.factor) is not None and one.is_up})
    if not resolutions.is_sure or not ups or any(one.restarts for one in given):
        return Levels()
    if not downs:
        return Levels(text=_write_growth(outline, min(ups)))
    turns = max(one.turns for one in found)
    if not turns or not any(one.is_up for one in given):
        return Levels()
    if turns > 1:
        is_back = any(one.turns == turns and one.is_up for one in given)
        times = (turns + 1) // 2
        is_whole = turns % 2 and is_back and times <= _MOST_TIMES and resolutions.fused < 2
        if is_whole and _count_waists(outline, resolutions) >= times - 1:
            return Levels(text=f"down and up {times} times")
        return Levels(text=_count_resolutions(outline, resolutions))
    if len(downs) < _LEAST_STEPS or len(ups) < _LEAST_STEPS:
        return Levels()
    every = [*_list_across(outline, resolutions)]
    way = _find_way_down(outline, resolutions, downs[-1])
    across = Counter(factor for factor, start in every if start & way or not way)
    if every and not across:  # branches from the first resolution on, which meet at the end
        return Levels(text=_count_resolutions(outline, resolutions))
    if is_nested(outline, resolutions, ups):
        return Levels(NESTED_UNET, write_nested(len(ups)), (("downs", len(downs)),))
    # of maps that are joined at one size, the one that has that size is no skip
    if sum(across.values()) < resolutions.fused and resolutions.fused > 1:
        return Levels(text=f"maps of {resolutions.fused + 1} resolutions put together")
    facts: tuple[tuple[str, Detail], ...] = (("downs", len(downs)), ("ups", len(ups)))
    text = f"{write_count(len(downs), 'level')} down, {len(ups):,} up"
    if across:
        count = sum(across.values())
        is_each = across.keys() == {*ups} and count == len(ups)
        if is_each:
            text += ", skips at each level"
        elif _is_around_lowest(outline, resolutions, downs[-1]):
            text += ", with skips"  # whether that is one of them is not known
        else:
            text += f", {write_count(count, 'skip')}"
        facts += (("skips", count),)
    if resolutions.fused > 1:
        text += f", {resolutions.fused + 1} levels put together"
    is_unet = _is_unet(outline, resolutions, ups, across) and len({o.factor for o in given}) == 1
    return Levels("UNet" if is_unet else "Convolutional encoder-decoder", text, facts)


def _count_waists(outline: Outline, resolutions: Resolutions) -> int:
    """Return how often all goes through one part behind a way up, before the next way down.

    Between stacked hourglasses it does (A. Newell and others, 2016, figure 4); resolutions that
    exchange values side by side go neither down nor up (J. Wang and others, 2020, figure 2).
    """
    before = [part.before for part in outline.parts]
    behind = [0] * len(before)
    for part, mask in zip(outline.parts, before, strict=True):
        for place in range(len(before)):
            if mask >> place & 1:
                behind[place] |= 1 << part.place
    every = sum(1 << part.place for part in outline.parts)
    found = {
        resolutions[part.end].turns
        for part in outline.parts
        if every == before[part.place] | behind[part.place] | 1 << part.place
    }
    return sum(turns > 0 and turns % 2 == 0 for turns in found)


def _is_unet(
    outline: Outline,
    resolutions: Resolutions,
    ups: Sequence[Fraction],
    across: Counter[Fraction],
) -> bool:
    """Return whether levels of a way up each take what goes across, and convolve it."""
    if len(across) < _LEAST_STEPS or resolutions.fused > 1 or ups[0] > 1:
        return False
    if any(count > 1 for count in _count_enlarged(outline, resolutions).values()):
        return False
    bare = [factor for factor in ups if factor not in across]
    if len(bare) > _MOST_BARE or any(factor > min(across) for factor in bare):
        return False
    convolved = {
        resolutions[number].factor
        for number, node in enumerate(outline.operations.nodes)
        if node.operator.has("convolves")
        and not node.operator.has("transposed")
        and max(read_ints(node, "kernel_shape"), default=1) > 1
        and resolutions[number].is_up
        and number not in resolutions.inner
    }
    return len(convolved & across.keys()) >= len(across) - 1


def _count_enlarged(outline: Outline, resolutions: Resolutions) -> Counter[Fraction | None]:
    """Return by level how many results are made larger to it, without what gates others."""
    operations = outline.operations
    return Counter(
        resolutions[number].factor
        for number, node in enumerate(operations.nodes)
        if node.operator.has("resamples", "moves_pixels", "transposed")
        and resolutions[number].is_up
        and number not in resolutions.inner
        and resolutions[number] is not resolutions.of_value(operations.operands[number][0])
        and not _is_of_gate(outline, number)
        and not _comes_of_gate(outline, number)
    )


def _find_way_down(outline: Outline, resolutions: Resolutions, lowest: Fraction) -> int:
    """Return the blocks of maps that lead to the lowest level, as bits of their places."""
    before = 0
    for part in outline.parts:
        found = resolutions[part.end]
        if part.kind in _MAPS and found.factor == lowest and not found.is_up:
            before |= part.before | 1 << part.place
    return before & sum(1 << part.place for part in outline.parts if part.kind in _MAPS)


def _list_across(outline: Outline, resolutions: Resolutions) -> Iterator[tuple[Fraction, int]]:
    """Yield for each value from the way down that is put beside one on the way up which level.

    And what it comes from, as bits of the places of parts.
    """
    operations = outline.operations
    for number, node in enumerate(operations.nodes):
        result = resolutions[number]
        if not node.operator.has("adds", "joins") or not result.is_up or result.factor is None:
            continue
        values = operations.operands[number]
        taken = [resolutions.of_value(value) for value in values]
        if number in resolutions.inner:
            continue
        is_way_up = any(one.is_up or one.is_larger for one in taken)
        if not is_way_up or _is_of_gate(outline, number):
            continue
        for one, value in zip(taken, values, strict=True):
            start = outline.giver(_pass_gate(outline, value))
            if _is_on_way_down(one, result) and start is not None:
                yield result.factor, start.before | 1 << start.place


def _pass_gate(outline: Outline, value: Value) -> Value:
    """Return what a gate lets through of a value, which something else may steer; else that."""
    operations = outline.operations
    for _ in range(_MOST_OF_GATE):
        giver = operations.giver(operations.source(value))
        if giver is None or not operations.nodes[giver].operator.has("multiplies_elements"):
            break
        others = [
            one
            for one in operations.operands[giver]
            if (number := operations.giver(one)) is None
            or not operations.nodes[number].operator.has("squashes", "resamples")
        ]
        if len(others) != 1:
            break
        value = others[0]
    return value


def _comes_of_gate(outline: Outline, number: int) -> bool:
    """Return whether what an operation takes is squashed, and what it gives a factor."""
    operations = outline.operations
    givers, user = operations.givers(number), operations.only_user(number)
    is_squashed = bool(givers) and operations.nodes[givers[0]].operator.has("squashes")
    return (
        is_squashed
        and user is not None
        and (operations.nodes[user].operator.has("multiplies_elements"))
    )


def _is_of_gate(outline: Outline, number: int) -> bool:
    """Return whether a sum only tells how much of something goes on.

    O. Oktay and others, Attention U-Net, 2018, figure 2.
    """
    operations = outline.operations
    current: int | None = number
    is_squashed = False
    for _ in range(_MOST_OF_GATE):
        current = operations.only_user(current) if current is not None else None
        if current is None:
            return False
        operator = operations.nodes[current].operator
        if is_squashed and operator.has("multiplies_elements"):
            return True
        is_squashed |= operator.has("squashes")
    return False


def _is_on_way_down(one: Resolution, result: Resolution) -> bool:
    return one.factor == result.factor and not one.is_up and not one.is_vector


def _is_around_lowest(outline: Outline, resolutions: Resolutions, lowest: Fraction) -> bool:
    """Return whether something goes around what stands between both ways.

    As around recurrent layers (Demucs: Music Source Separation in the Waveform Domain, 2019,
    figure 2), or beside what it becomes.
    """
    operations = outline.operations
    recurrent = sum(1 << part.place for part in outline.parts if part.has("recurrent"))
    for number, node in enumerate(operations.nodes):
        values = operations.operands[number]
        if not node.operator.has("adds", "joins") or len(values) != 2:
            continue
        taken = [resolutions.of_value(value) for value in values]
        given = [outline.giver(value) for value in values]
        if any(one.factor != lowest or one.is_up or one.is_vector for one in taken):
            continue
        one, two = (0 if part is None else part.before | 1 << part.place for part in given)
        if (one ^ two) & recurrent or (node.operator.has("joins") and (one | two) in (one, two)):
            return True
    return False


def _count_resolutions(outline: Outline, resolutions: Resolutions) -> str:
    """Return at how many resolutions there are several blocks; "" for fewer than three.

    Where nothing puts several resolutions together there is one map after another, whose sizes
    differ by more than steps where convolutions do not pad.
    """
    if resolutions.fused < 2:
        return ""
    counts = Counter(resolutions[part.end].factor for part in outline.parts if part.kind in _MAPS)
    number = sum(count > 1 for factor, count in counts.items() if factor is not None)
    return f"maps of {number:,} resolutions" if number > _LEAST_STEPS else ""


def _write_growth(outline: Outline, finest: Fraction) -> str:
    """Return how much larger a result is: by both sizes where the file states them.

    Nothing where it is as large as what comes in: places that became channels in the beginning are
    put back.
    """
    shapes = [
        read_stated_shape(value)
        for value in (*outline.graph.inputs[:1], *outline.graph.outputs[:1])
    ]
    sizes = [[dim for dim in shape[2:] if isinstance(dim, int)] for shape in shapes if shape]
    if not may_enlarge(outline):
        return ""
    if len(sizes) == 2 and len(sizes[0]) == len(sizes[1]) > 1 and sizes[0] != sizes[1]:
        before, after = (" × ".join(f"{dim:,}" for dim in size) for size in sizes)
        return f"{before} → {after}"
    growth = 1 / finest
    return f"×{growth} resolution" if growth.denominator == 1 and growth > 1 else ""


def works_on_maps(parts: Sequence[OutlinePart]) -> bool:
    """Return whether most of some parts are of kinds that work on maps."""
    return 2 * sum(part.kind in _MAPS for part in parts) > len(parts)


def write_axes(outline: Outline, title: str) -> str:
    """Return a title with the number of axes along which all convolutions go: ``3-D UNet``.

    As it is where that are two, or where they differ. Kernels of size 1 do not count.
    """
    kernels = [
        read_ints(node, "kernel_shape")
        for node in outline.operations.nodes
        if node.operator.has("convolves")
    ]
    axes = {len(kernel) for kernel in kernels if max(kernel, default=0) > 1}
    if axes not in ({1}, {3}):
        return title
    return f"{axes.pop()}-D {write_lower(title)}"
