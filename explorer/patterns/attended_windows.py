"""Attention of the places of a window of an image to one another, with what cuts these out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .image_windows import ImagePart, read_part_of
from .operations import OUTSIDE, Operations

_BOTH = 2
_SHIFTED = "shifted"
_MOST_AROUND = 8


@dataclass(slots=True)
class AttendedWindows:
    """Windows, or grids, of an image that an attention works in.

    Parameters
    ----------
    part
        What they are.
    numbers
        What fills the image up to whole windows and moves it, and what undoes this.
    end
        What gives the result then.
    shifted
        Whether the image was moved.
    padded
        Whether it was filled up.
    """

    part: ImagePart
    numbers: set[int]
    end: int
    shifted: bool = False
    padded: bool = False

    @property
    def name(self) -> str:
        """What such an attention is called."""
        return "Grid attention" if self.part.is_grid else "Window attention"

    @property
    def facts(self) -> tuple[str, ...]:
        """The size of a window, and whether windows are shifted."""
        size = self.part.text
        return (size, _SHIFTED) if self.shifted else (size,)


def name_among_others(name: str, facts: Sequence[str]) -> str:
    """Return what attention is called among other parts: ``Shifted window attention``.

    In shifted windows it sees other places than in those of the layer before (Z. Liu and others,
    Swin Transformer, 2021, figure 2).
    """
    return f"Shifted {name[:1].lower()}{name[1:]}" if _SHIFTED in facts else name


def find_windows(operations: Operations, whole: set[int], end: int) -> AttendedWindows | None:
    """Return the windows of which an attention takes each alone; None where it takes no such.

    Z. Liu and others, Swin Transformer, 2021, section 3.2 and figure 4: what attention takes is
    cut into windows, of an image that in every other layer was rolled along both axes before and
    is rolled back behind; an image whose sides are no multiples of that of a window is filled up
    with zeros, which are cut off again.

    Parameters
    ----------
    whole
        The operations of the attention, with its projections.
    end
        Which of them gives its result.
    """
    taken = [
        value
        for number in sorted(whole)
        for value in operations.nodes[number].inputs
        if value is not None
        and not operations.is_fixed(value)
        and operations.giver(operations.source(value)) not in whole
    ]
    parts = {read_part_of(operations, operations.path(value)[::-1]) for value in taken}
    part = parts.pop() if len(parts) == 1 else None
    if part is None:
        return None
    found = AttendedWindows(part, set(), end)
    sources = {operations.source(value) for value in taken}
    if len(sources) == 1:
        _add_before(operations, found, whole, operations.giver(sources.pop()))
        _add_behind(operations, found)
    return found


def _add_before(
    operations: Operations, found: AttendedWindows, whole: set[int], number: int | None
) -> None:
    """Take in what fills an image up and rolls it before it is cut into windows."""
    for _ in range(_MOST_AROUND):
        inside = whole | found.numbers
        if number is None or not inside.issuperset(operations.users[number]):
            return
        if operations.nodes[number].operator.has("pads"):
            found.padded = True
            found.numbers.add(number)
            before = operations.givers(number)
        else:
            rolled = _find_roll(operations, number)
            if not rolled:
                return
            found.shifted = True
            found.numbers |= rolled
            before = operations.givers(min(rolled))
        number = before[0] if before else None


def _add_behind(operations: Operations, found: AttendedWindows) -> None:
    """Take in what rolls an image back, and cuts off what it was filled up with."""
    for _ in range(_MOST_AROUND):
        users = operations.users[found.end]
        if OUTSIDE in users:
            return
        if len(users) == 1 and found.padded and operations.nodes[users[0]].operator.has("slices"):
            found.numbers.add(users[0])
            found.end = users[0]
            continue
        joined = {user for number in users for user in operations.users[number]}
        roll = joined.pop() if found.shifted and len(joined) == 1 else OUTSIDE
        rolled = _find_roll(operations, roll) if roll != OUTSIDE else set()
        if not rolled or rolled != {*users, roll}:
            return
        found.numbers |= rolled
        found.end = roll


def _find_roll(operations: Operations, number: int) -> set[int]:
    """Return the operations by which the last places of an axis are put before the first ones.

    Both parts are cut out of one value, the second one up to where the first begins, and nothing
    else takes them.
    """
    if not operations.nodes[number].operator.has("joins"):
        return set()
    cuts = operations.givers(number)
    are_cuts = all(operations.nodes[cut].operator.has("slices") for cut in cuts)
    if len(cuts) != _BOTH or len(operations.operands[number]) != _BOTH or not are_cuts:
        return set()
    one, other = cuts
    is_alone = all(operations.only_user(cut) == number for cut in cuts)
    is_same = operations.operands[one][:1] == operations.operands[other][:1]
    if one == other or not is_alone or not is_same:
        return set()
    read = operations.context.read_list
    starts, ends = ([read(operations.nodes[cut].input(place)) for cut in cuts] for place in (1, 2))
    is_whole = len(starts[0]) == 1 and [*starts[1]] == [0] and [*ends[1]] == [*starts[0]]
    return {number, *cuts} if is_whole else set()
