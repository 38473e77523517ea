"""All levels of a page, laid out and written."""

from __future__ import annotations

from collections.abc import Callable

from netloupe.explorer.layout.composed import Composed
from netloupe.explorer.layout.patience import Patience
from netloupe.explorer.layout.place import Placer
from netloupe.explorer.layout.prepared import Preparer, list_prepared
from netloupe.explorer.options import Direction
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.view import Item, View

from .copying import LevelCopier
from .level_block import LevelWriter, Numbers, WrittenLevel
from .limits import USUAL, Limits
from .renamed_repetitions import RepetitionComparer
from .walk import list_opened_items
from .walk_progress import WalkProgress

#: seconds after which what is not laid out yet gets a simpler layout
PATIENCE = 60.0


Look = Callable[[int, str, Item, int], None]


def write_levels(
    view: View,
    labels: Labels,
    direction: Direction = "TB",
    first: Composed | None = None,
    texts: Numbers | None = None,
    look: Look | None = None,
    limits: Limits = USUAL,
    left_closed: set[str] | None = None,
    repetitions: RepetitionComparer | None = None,
    patience: Patience | None = None,
    placer: Placer | None = None,
) -> bytes:
    """Return the block of levels (:mod:`.level_block`) of everything that a view can show.

    Parameters
    ----------
    view
        A view with everything closed.
    labels
        Faces and labels.
    direction
        Where values flow to.
    first
        The picture that the page begins with: its places are used where as much is open.
    texts
        Those of levels in another direction, which grow; none where None.
    look
        Called with each path in the levels, once: with its number among their texts, the path,
        the item that is open then, and how many are around where it is, in that or further in.
    limits
        How much is written at most.
    left_closed
        Gets the keys of what can be opened and is not written for these.
    repetitions
        Tells which repetitions are alike but for names: those are not laid out again.
    patience
        That of the page; one of its own where None.
    placer
        Likewise: it keeps the placements that were seen.
    """
    preparer = Preparer(labels, direction, PATIENCE, patience=patience or Patience(), placer=placer)
    writer = LevelWriter(labels.draw, Numbers() if texts is None else texts)
    looked: set[int] = set()

    def look_at(level: WrittenLevel, names: list[tuple[int, str]], item: Item) -> None:
        for number, name in names:
            if look is not None and number not in looked:
                looked.add(number)
                look(number, name, item, level.depth)

    progress = WalkProgress("laying out groups")
    repetitions = repetitions or RepetitionComparer(view.operand_kinds)
    copier = LevelCopier(writer, repetitions, labels.title, look_at)
    for opened in list_opened_items(view, limits, left_closed, copier.copy):
        item, state = opened
        progress.report(opened)
        names = writer.add(state, *preparer.prepare(view, item))
        look_at(writer.levels[-1], names, item)
    for plan, prepared in list_prepared(first) if first is not None else ():
        if prepared.opened:
            writer.add_placement(plan.item.key, state_of(plan.item), prepared)
    return writer.write(preparer.notices)


def state_of(item: Item) -> int:
    """Return the state in which an item is open: see :class:`.walk.OpenedItem`."""
    if item.repeat is None:
        return 0
    return -1 if item.is_unrolled else item.shown
