"""Levels of repetitions that are the same but for names, written without being laid out."""

from __future__ import annotations

from collections.abc import Callable

from netloupe.explorer.grouping import Group
from netloupe.explorer.layout import Title
from netloupe.explorer.progress import step
from netloupe.explorer.view import Item

from .level_block import LevelWriter, WrittenLevel
from .renamed_repetitions import RenamedRepetition, RepetitionComparer
from .renaming import Renaming

Look = Callable[[WrittenLevel, list[tuple[int, str]], Item], None]


class LevelCopier:
    """Writes what is inside a repetition as it was written of another.

    Parameters
    ----------
    writer
        Has the levels.
    repetitions
        Tells which repetitions are alike.
    title_of
        Gives the room that the title of an open item takes.
    look
        Called with each level, the numbers and names in it as :meth:`LevelWriter.add` returns
        them, and the item that is open then.
    """

    def __init__(
        self,
        writer: LevelWriter,
        repetitions: RepetitionComparer,
        title_of: Callable[[Item], Title],
        look: Look,
    ) -> None:
        self._writer = writer
        self._repetitions = repetitions
        self._title_of = title_of
        self._look = look
        #: by key and state of a level, and room for a title, one that is like it and has as much
        self._titled: dict[tuple[str, int, Title], tuple[str, int]] = {}
        #: by key and state of a level what :meth:`_check` returns
        self._checked: dict[tuple[str, int], frozenset[str] | None] = {}

    def copy(self, item: Item, state: int) -> list[WrittenLevel]:
        """Write what is inside an open item, if it is like another; return the levels.

        Parameters
        ----------
        item, state
            What is open, with all inside it closed.
        """
        repeat, number = _find_repetition(item, state)
        if repeat is None:
            return []
        renamed = self._repetitions.find(repeat, number)
        copied = self._rename(item, state, renamed)
        if not copied and renamed is not None:
            copied = self._rename(item, state, renamed.to_sample())
        before = len(self._writer.levels)
        for names in self._writer.copy(item, copied) if copied else ():
            step()
            self._look(self._writer.levels[-1], names, item)
        return self._writer.levels[before:]

    def _rename(
        self, item: Item, state: int, renamed: RenamedRepetition | None
    ) -> list[WrittenLevel]:
        """Return the levels of an open item with those of what it is like; none where it is not."""
        levels = self._list_inside(item, renamed.first) if renamed is not None else []
        if renamed is None or not levels:
            return []
        titled = self._find_titled(item, state, levels[0])
        if renamed.is_sample:
            return []
        unchanged = self._check(item, levels, renamed)
        renaming = renamed.renaming
        if unchanged is None or any(renaming.rename(name) != name for name in unchanged):
            return []
        if titled is None or not self._writer.have_one_table(levels[0], titled):
            return []
        copied = [level.renamed(renaming) for level in levels]
        if any(len(set(level.names)) < len(level.names) for level in copied):
            return []  # what was told apart in all samples is not here
        copied[0] = copied[0]._replace(key=item.key, state=state, form=titled.form)
        return copied

    def _find_titled(self, item: Item, state: int, first: WrittenLevel) -> WrittenLevel | None:
        """Return a level like another one, with as much room for its title as an item takes.

        Room for ``shows 12 of 16`` may move what is inside. The first of each is laid out.
        """
        place = first.key, first.state, self._title_of(item)
        known = self._titled.setdefault(place, (item.key, state))
        return next(iter(self._writer.list_inside(*known)), None)

    def _list_inside(self, item: Item, number: int) -> list[WrittenLevel]:
        """Return what was written of another repetition that is shown in the same way."""
        if item.repeat is not None:
            return self._writer.list_inside(item.key, number)
        assert item.parent is not None  # noqa: S101 - it is one of several
        return self._writer.list_inside(item.parent.children[number].key, 0)

    def _check(
        self, item: Item, levels: list[WrittenLevel], renamed: RenamedRepetition
    ) -> frozenset[str] | None:
        """Return which names were the same in all samples, and so must be here.

        None where the levels of the samples are not those that copying gives.
        """
        key = levels[0].key, levels[0].state
        if key not in self._checked:
            samples = renamed.samples
            is_expected = all(
                _is_copy(levels, self._list_inside(item, number), renaming)
                for number, renaming in samples
            )
            unchanged = frozenset(
                name
                for level in levels
                for name in (*level.names, *level.rows)
                if all(renaming.texts.get(name, "") == name for _, renaming in samples)
            )
            self._checked[key] = unchanged if is_expected else None
        return self._checked[key]


def _find_repetition(item: Item, state: int) -> tuple[Group | None, int]:
    """Return of which repeat an open item shows a repetition, and which."""
    element, around = item.element, item.parent
    if around is None or item.instance.prefix != item.instance.graph.path:
        return None, 0
    if item.repeat is not None:
        return (item.repeat, state) if state >= 0 else (None, 0)
    if around.repeat is None or not around.is_unrolled or not isinstance(element, Group):
        return None, 0
    repeat = around.repeat
    return (repeat, repeat.children.index(element)) if element.parent is repeat else (None, 0)


def _is_copy(levels: list[WrittenLevel], others: list[WrittenLevel], renaming: Renaming) -> bool:
    if len(levels) != len(others):
        return False
    first, *inner = others
    copied = levels[0].renamed(renaming)
    expected = copied._replace(key=first.key, state=first.state, frame=first.frame, rows=first.rows)
    return first == expected and all(
        other == level.renamed(renaming) for level, other in zip(levels[1:], inner, strict=True)
    )
