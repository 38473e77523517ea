"""How repeats are, or were left: which repetition is shown, and what is open in each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from netloupe.explorer.grouping import Group

from .item import Item
from .open_state import RepetitionOpenState, pair_alike, read_repetition_open_state


class RepeatStates:
    """The states of repeats by their keys.

    Parameters
    ----------
    open_item
        Opens an item.
    open_keys
        Opens the items of some keys, as far as they exist.
    """

    def __init__(
        self, open_item: Callable[[Item], None], open_keys: Callable[[Iterable[str]], None]
    ) -> None:
        self._open_item = open_item
        self._open_keys = open_keys
        #: which repetition is shown; and the repeats that are unrolled
        self.shown: dict[str, int] = {}
        self.unrolled: set[str] = set()
        #: by the index of a repetition, what was opened in it by hand before others were shown
        self.repetitions: dict[str, dict[int, RepetitionOpenState]] = {}
        #: of the repetition that is shown, what was opened in it as it was in another
        self._mirrored: dict[str, tuple[int, RepetitionOpenState]] = {}

    def restore(
        self,
        shown: Mapping[str, int],
        unrolled: Iterable[str],
        repetitions: Mapping[str, Mapping[int, RepetitionOpenState]],
    ) -> None:
        """Take over states that were noted."""
        self.shown = dict(shown)
        self.unrolled = set(unrolled)
        self.repetitions = {key: dict(kept) for key, kept in repetitions.items()}
        self._mirrored.clear()

    def change(self, item: Item, *, is_unrolled: bool, shown: int | None) -> None:
        """Note in which state a repeat is to be opened."""
        if is_unrolled:
            self.unrolled.add(item.key)
        else:
            self.unrolled.discard(item.key)
        if shown is not None:
            self.shown[item.key] = shown

    def remember(self, item: Item) -> None:
        """Note what is open in the repetitions of an open repeat before others are shown."""
        kept = self.repetitions.setdefault(item.key, {})
        if item.is_unrolled:
            numbers = {id(part): number for number, part in enumerate(_parts(item))}
            for child in item.children:
                number = numbers.get(id(child.element), -1)
                if child.is_open and number >= 0:
                    is_framed = _is_framed(item, number)
                    kept[number] = read_repetition_open_state(
                        child.children if is_framed else [child]
                    )
        else:
            inside = read_repetition_open_state(item.children)
            if self._mirrored.get(item.key) != (item.shown, inside):
                kept[item.shown] = inside

    def open_repetition(self, item: Item, number: int, inside: RepetitionOpenState) -> None:
        """Open in an unrolled repeat the repetition that was shown before."""
        if _is_framed(item, number):
            part = _parts(item)[number]
            self._open_item(next(child for child in item.children if child.element is part))
        self._open_keys(inside.keys)

    def open_as_before(self, item: Item, before: Sequence[Item]) -> None:
        """Open in the repetition that is shown what was opened in it, else what is in another."""
        kept = self.repetitions.get(item.key, {}).get(item.shown)
        if kept is not None:
            self._open_keys(kept.keys)
            return
        pending = [(before, item.children)]
        while pending:
            for our, their in pair_alike(*pending.pop()):
                if not our.is_open or (our.repeat is None) != (their.repeat is None):
                    continue
                if their.repeat is not None:
                    shown = our.shown if our.shown < len(_parts(their)) else None
                    self.change(their, is_unrolled=our.is_unrolled, shown=shown)
                self._open_item(their)
                pending.append((our.children, their.children))
        self._mirrored[item.key] = (item.shown, read_repetition_open_state(item.children))

    def forget(self, key: str) -> None:
        """Forget how a repeat and those in it were left; but not which repetition it showed."""
        self.unrolled.discard(key)
        self._mirrored.pop(key, None)
        for inside in self.repetitions.pop(key, {}).values():
            for inner in inside.keys:
                self.forget(inner)


def _parts(item: Item) -> Sequence[object]:
    assert item.repeat is not None  # noqa: S101 - asked of repeats only
    return item.repeat.children


def _is_framed(item: Item, number: int) -> bool:
    """Return whether a repetition has no box of its own while it is the one that is shown."""
    part = _parts(item)[number]
    return isinstance(part, Group) and part.kind != "repeat"
