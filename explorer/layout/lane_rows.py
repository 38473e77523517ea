"""The rows of lanes: at which resolution each box of a level works."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from .level import Level

#: of two resolutions one is at least so much of the other where both are of one row: a size that
#: is no power of two is not the same again after it was halved and doubled
_SAME = 1.5
#: one that was halved, and perhaps rounded up, is by so much smaller at least
_HALVED = 1.7
#: a picture of so many places is halved to one of a single place
_LAST_STEP = 4

Rows = dict[int, tuple[int, int]]


class Maps(NamedTuple):
    """What is known of a wire's values: how many places they have.

    Parameters
    ----------
    resolutions
        The different ones; none where they are not known.
    is_picture
        Whether they are those of a picture or signal.
    has_places
        Whether a value has places at all, or may have.
    """

    resolutions: tuple[int, ...]
    is_picture: bool
    has_places: bool


def find_ladder(level: Level, maps: Sequence[Maps]) -> dict[int, int]:
    """Return the row of each resolution that pictures have, from the highest on.

    A picture of one place is one where it was halved to that: otherwise it is a mean over all.
    Nothing is returned where one is less than twice another: these are as many series, or tokens,
    and no resolutions of one picture.
    """
    known = {each for found in maps if found.is_picture for each in found.resolutions}
    if 1 in known:
        singles = {w.source for w, found in zip(level.wires, maps, strict=True) if 1 in found[0]}
        taken = [
            max(found.resolutions, default=0)
            for wire, found in zip(level.wires, maps, strict=True)
            if wire.target in singles
        ]
        if not taken or max(taken) > _LAST_STEP:
            known.discard(1)
    ladder: dict[int, int] = {}
    row, last = -1, 0
    for resolution in sorted(known, reverse=True):
        if last and _SAME <= last / resolution < _HALVED:
            return {}
        if not last or last / resolution >= _SAME:
            row, last = row + 1, resolution
        ladder[resolution] = row
    return ladder


def find_rows(
    level: Level,
    order: Sequence[int],
    maps: Sequence[Maps],
    ladder: Mapping[int, int],
    stubs: Collection[int],
) -> tuple[Rows, list[int]] | None:
    """Return the first and the last row of each box of the lanes, and all other boxes.

    The row is that of what a box gives; at the end that of what it takes. What stands between
    boxes of the lanes, such as a mean and a gate, is of the row that it takes values from.

    Parameters
    ----------
    level, maps, ladder, stubs
        The boxes and wires, what is known of these, the row of each resolution, and which boxes
        are stubs.
    order
        The boxes in the order of flow.

    Returns
    -------
    tuple or None
        None where a box gives pictures whose resolution is not known.
    """
    given, taken = _find_known(level, maps, ladder)
    leaving = {wire.source for wire in level.wires}
    rows: Rows = {}
    for box in order:
        found = given.get(box, set()) if box in leaving else taken.get(box, set())
        if found and box not in stubs and (box in leaving or len(found) == 1):
            rows[box] = min(found), max(found)
    pairs = [(wire.source, wire.target) for wire in level.wires]
    behind = _spread(rows, pairs, order)
    before = _spread(rows, [(target, source) for source, target in pairs], order[::-1])
    others = []
    for box in order:
        if box in rows:
            continue
        if box in stubs:
            continue
        if box in behind and box in before:
            sources = [source for source, target in pairs if target == box]
            low = max((rows[source][0] for source in sources if source in rows), default=-1)
            if not _may_be_at(level, box, maps, ladder, low):
                return None
            rows[box] = low, low
            continue
        others.append(box)
    _add_beginnings(rows, others, level, maps, stubs)
    _add_ends(rows, others, pairs, stubs)
    at_rows = {end for ends in pairs if {*ends} & {*rows} for end in ends}
    others += [stub for stub in stubs if stub not in at_rows]
    return rows, sorted(box for box in others if box not in rows)


def _find_known(
    level: Level, maps: Sequence[Maps], ladder: Mapping[int, int]
) -> tuple[dict[int, set[int]], dict[int, set[int]]]:
    """Return the rows of the pictures that each box gives, and of those that it takes."""
    given: dict[int, set[int]] = {}
    taken: dict[int, set[int]] = {}
    for wire, found in zip(level.wires, maps, strict=True):
        if found.is_picture and all(each in ladder for each in found.resolutions):
            rows = {ladder[each] for each in found.resolutions}
            given.setdefault(wire.source, set()).update(rows)
            taken.setdefault(wire.target, set()).update(rows)
    return given, taken


def _may_be_at(
    level: Level, box: int, maps: Sequence[Maps], ladder: Mapping[int, int], row: int
) -> bool:
    """Return whether what a box gives may be of a row: a gate, or as many tokens."""
    return all(
        not found.has_places or {ladder.get(each, -1) for each in found.resolutions} == {row}
        for wire, found in zip(level.wires, maps, strict=True)
        if wire.source == box
    )


def _spread(
    begin: Iterable[int], ways: Iterable[tuple[int, int]], order: Sequence[int]
) -> set[int]:
    """Return what some boxes come to along ways, in an order of flow."""
    following: dict[int, list[int]] = {}
    for source, target in ways:
        following.setdefault(source, []).append(target)
    found, starts = set[int](), {*begin}
    for box in order:
        if box in found or box in starts:
            found.update(following.get(box, ()))
    return found


def _add_beginnings(
    rows: Rows,
    others: Sequence[int],
    level: Level,
    maps: Sequence[Maps],
    stubs: Collection[int],
) -> None:
    """Give what lanes begin with the row where they do.

    A picture whose size is not known, or a code that becomes one, stands where the way begins
    that takes nothing else with places.
    """
    entering: dict[int, set[int]] = {}
    leaving: dict[int, set[int]] = {}
    with_places = set[int]()
    for wire, found in zip(level.wires, maps, strict=True):
        entering.setdefault(wire.target, set()).add(wire.source)
        leaving.setdefault(wire.source, set()).add(wire.target)
        if found.has_places:
            with_places.add(wire.source)
    for box in reversed(others):
        around = leaving.get(box, set()) - {*stubs}
        target = next(iter(around), -1)
        if len(around) != 1 or target not in rows or len(entering.get(box, ())) > 1:
            continue
        beside = entering[target] - {box}
        if not beside or (box in with_places and not beside & (with_places | {*rows})):
            rows[box] = rows[target]


def _add_ends(
    rows: Rows,
    others: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    stubs: Collection[int],
) -> None:
    """Give what stands behind the end of a way, and takes nothing else, the row of that."""
    for box in others:
        sources = {source for source, target in pairs if target == box}
        source = next(iter(sources), -1)
        targets = {target for each, target in pairs if each == source} - {*stubs}
        if len(sources) == 1 and source in rows and targets == {box} and box not in rows:
            low, high = rows[source]
            if low == high:
                rows[box] = low, high
