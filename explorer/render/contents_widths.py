"""Through which widths the parts of a closed group go: ``3 → 16 → 32``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

from netloupe.explorer.grouping.ports import Ports
from netloupe.explorer.patterns import IDEA, WORK, Ingredient
from netloupe.explorer.patterns.details import RecurrentDetails
from netloupe.explorer.patterns.linear import write_layer_widths, write_widths
from netloupe.explorer.patterns.transformer_details import AttentionDetails, MlpDetails

#: so many widths are written one by one
_MOST_WIDTHS = 6
#: of what goes in and what comes out
_LEAST_WIDTHS = 2


def write_course_of(ingredients: Sequence[Ingredient], ports: Ports) -> str:
    """Return through which widths parts go that stand one behind the other; "" where it is unclear.

    Each width is what a layer gives and the next one takes. Where values of several kinds go
    through the parts, as scalars and vectors (B. Jing and others, Learning from Protein Structure
    with Geometric Vector Perceptrons, 2021, figure 1), each has a course of its own.

    Parameters
    ----------
    ingredients
        Parts in a row.
    ports
        The sizes at the border of their group.
    """
    are_layers = _are_layers(ingredients)
    # beside other ideas each part is one arrow
    is_whole = all(one.details.read_as(MlpDetails).widths for one in ingredients if _is_idea(one))
    known = [
        (one, widths if is_whole else (widths[0], widths[-1]))
        for one in ingredients
        if (widths := _list_widths(one))
    ]
    is_broken = not all(_follows(*pair) for pair in pairwise(known))
    if is_broken and not ports.has_maps and len({len(dims) for dims in ports.taken}) > 1:
        return ", ".join(_write_course(course) for course in _list_tracks(ingredients))
    # what is joined besides makes the next part take more, a part of a value that it takes less
    if not known or any(after[0] < before[-1] for (_, before), (_, after) in pairwise(known)):
        return ""
    if _is_of_heads(known[0][1][0], ingredients, ports):
        return ""
    if is_broken and ports.joins_entering:  # what each gives is beside what those before it gave
        ends = ports.find_ends()
        return write_widths(*ends) if ends else ""
    widths = _join_courses([each for _, each in known], is_broken=is_broken)
    if _is_unknown(ingredients):  # what follows takes of its values
        taken = ports.find_taken(widths[-1])
        # what an MLP has inside would be read as what enters
        has_hidden = len(_list_widths(known[0][0])) > _LEAST_WIDTHS or widths[0] == widths[-1]
        unknown = () if has_hidden else widths[1:]
        widths = unknown if taken is None else (taken, *widths[1:])
    widths = ports.correct(widths)
    if len(widths) < _LEAST_WIDTHS:
        return ""
    return write_layer_widths(widths) if are_layers else _write_course(widths)


def _is_of_heads(width: int, ingredients: Sequence[Ingredient], ports: Ports) -> bool:
    """Return whether a first layer takes what one head has, and not what enters.

    So gates of relative positions do (S. Chen and others, WavLM, 2022, equation 6).
    """
    heads = {one.details.read_as(AttentionDetails).head_width for one in ingredients}
    return width in heads and bool(ports.taken) and all(width != dims[-1] for dims in ports.taken)


def _follows(
    before: tuple[Ingredient, tuple[int, ...]], after: tuple[Ingredient, tuple[int, ...]]
) -> bool:
    """Return whether a part takes the features that the one before it gives.

    Layers behind maps may take those of all places.
    """
    given, taken = before[1][-1], after[1][0]
    of_places = not _is_linear(before[0]) and _is_linear(after[0])
    return given == taken or (of_places and taken % given == 0)


def _is_idea(one: Ingredient) -> bool:
    return one.rank == IDEA


def _is_linear(one: Ingredient) -> bool:
    return one.kind == "linear" or bool(one.details.read_as(MlpDetails).widths)


def _list_tracks(ingredients: Sequence[Ingredient]) -> list[tuple[int, ...]]:
    """Return the courses of widths of what goes side by side through parts, in their order.

    Each layer goes on with the course of a layer that gives it as many features as it takes. What
    takes of several, as a gate does, is in none.
    """
    tracks: list[tuple[int, ...]] = []
    #: by place, the tracks that come to what stands there
    open_at: list[frozenset[int]] = []
    for one in ingredients:
        coming = frozenset[int]().union(*(open_at[place] for place in one.before))
        widths = _list_widths(one)
        if widths and (len(one.before) < _LEAST_WIDTHS or one.kind == "linear"):
            fitting = [number for number in coming if tracks[number][-1] == widths[0]]
            if len(fitting) == 1:
                tracks[fitting[0]] += widths[1:]
            else:
                fitting = [len(tracks)]
                tracks.append(widths)
            coming = frozenset(fitting)
        open_at.append(coming)
    return tracks


def _join_courses(known: Sequence[tuple[int, ...]], *, is_broken: bool) -> tuple[int, ...]:
    """Return through which widths parts go that stand one behind the other.

    It is the ends alone where a part takes other features than the one before it gives, so that no
    layer goes from the one width to the next, and of MLPs that have too many layers to tell each.
    """
    widths = (known[0][0], *(width for each in known for width in each[1:]))
    mlps = [each for each in known if len(each) > _LEAST_WIDTHS]
    is_long = len(known) > 1 and mlps and len(widths) > _MOST_WIDTHS
    return (widths[0], widths[-1]) if is_broken or is_long else widths


def _is_unknown(ingredients: Sequence[Ingredient]) -> bool:
    """Return whether a chain begins with an idea of which it is not known what it takes."""
    working = [one for one in ingredients if one.rank >= WORK]
    return bool(working) and working[0].rank == IDEA and not _list_widths(working[0])


def _are_layers(ingredients: Sequence[Ingredient]) -> bool:
    """Return whether what has ideas is one MLP, and the rest with widths linear layers.

    Of these a reader counts each.
    """
    mlps = [one for one in ingredients if one.details.read_as(MlpDetails).widths]
    others = [one for one in ingredients if one not in mlps]
    return (
        len(mlps) <= 1
        and all(one.kind == "linear" or not _list_widths(one) for one in others if one.rank < IDEA)
        and not any(one.rank == IDEA for one in others)
    )


def _write_course(widths: Sequence[int]) -> str:
    """Return widths each once in a row, or the ends of a long course.

    A short one of several steps is told whole: a reader takes its arrows for layers.
    """
    listed = [width for width, _ in groupby(widths)]
    if _LEAST_WIDTHS < len(listed) < len(widths) <= _MOST_WIDTHS:
        listed = [*widths]
    if len(listed) > _MOST_WIDTHS:
        listed = [listed[0], listed[-1]]
    return write_widths(*(listed if len(listed) > 1 else listed * 2))


def _list_widths(one: Ingredient) -> tuple[int, ...]:
    """Return how many features go into a part, and come out, with those inside of an MLP.

    Of a layer that goes along a sequence both ways results of both come out, side by side.
    """
    if one.details.read_as(RecurrentDetails).bidirectional and one.details.in_out is not None:
        taken, hidden = one.details.in_out
        return taken, 2 * hidden
    return one.details.read_as(MlpDetails).widths or one.details.in_out or ()
