"""The first view: which groups are open, so that a window shows all of the picture readably.

The objective, in the order of what counts: everything fits into the window at a zoom at which
titles can be read; there are about as many boxes as a figure in a paper has; what holds most
nodes is open; what is alike is treated alike; of a repeat one repetition is open, by one level.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Node
from netloupe.explorer.options import Direction
from netloupe.explorer.progress import step
from netloupe.explorer.view import Item, View, count_held_nodes, count_least, is_recursive, likeness

from .compose import DEADLINE, Composer
from .plan import Measure


@dataclass(frozen=True, slots=True)
class Window:
    """The size of what a picture is shown in, in pixels."""

    width: float
    height: float

    def zoom(self, width: float, height: float) -> float:
        """Return the zoom at which a picture of some size fits, at most 1."""
        return min(self.width / max(width, 1.0), self.height / max(height, 1.0), 1.0)


#: of a browser on a laptop, or half a page of a report
WINDOW = Window(1100.0, 800.0)


@dataclass(frozen=True, slots=True)
class Limit:
    """What may be opened, and how far.

    Parameters
    ----------
    below
        Groups are opened while there are fewer boxes than this.
    boxes, zoom
        No group is opened that makes more boxes, or a picture that fits at a smaller zoom only.
    only_stacks
        Whether only repeats, and groups that hold one, are opened.
    one_of_alike
        Whether the largest of groups that are alike may be opened alone, while no repeat is open.
    in_blocks
        Whether what is inside the repetition that is shown of a repeat is opened too, and
        blocks of a known kind, which their name and facts say more of than their nodes do.
    """

    below: int
    boxes: int
    zoom: float
    only_stacks: bool = False
    one_of_alike: bool = False
    in_blocks: bool = False


#: tried one after the other: one repetition of what repeats tells most of a model, and a picture
#: of few boxes says too little, so that both may be smaller than the rest has to be
LIMITS = (
    Limit(1_000_000, 26, 0.7, only_stacks=True),
    Limit(1_000_000, 26, 0.55, only_stacks=True),
    Limit(1_000_000, 26, 0.55, only_stacks=True, one_of_alike=True),
    Limit(1_000_000, 26, 0.55, only_stacks=True, one_of_alike=True, in_blocks=True),
    Limit(1_000_000, 26, 0.7),
    Limit(15, 26, 0.7, in_blocks=True),
    Limit(9, 30, 0.5, in_blocks=True),
    Limit(9, 40, 0.35, in_blocks=True),
    Limit(5, 60, 0.2, in_blocks=True),
    Limit(3, 400, 0.0, in_blocks=True),
)
#: groups are opened and laid out on trial so many times
MOST_TRIALS = 60


class FirstView:
    """Opens the groups of a view that a first look should see.

    Parameters
    ----------
    composer, measure
        Lay out each trial; what is laid out here is at hand when the view is composed.
    window
        Where the picture is to be read.

    Notes
    -----
    Greedy: the heaviest group is opened first, together with those that are alike, and closed
    again where the picture then is beyond a limit. That sizes are those of real layouts matters:
    estimates take pictures with long edges for smaller than they are.
    """

    def __init__(
        self,
        composer: Composer,
        measure: Measure,
        window: Window = WINDOW,
    ) -> None:
        self.composer, self.measure, self.window = composer, measure, window

    def open(self, view: View, direction: Direction = "TB", deadline: float = DEADLINE) -> None:
        """Open groups of a view in which everything is closed.

        Parameters
        ----------
        view
            What is shown.
        direction
            Where values flow to.
        deadline
            Seconds; what is open by then remains so.
        """
        search = _Search(self, view, direction, time.monotonic() + deadline)
        for limit in LIMITS:
            if not (limit.one_of_alike and any(item.repeat for item in view.open_items())):
                search.open_within(limit)


class _Search:
    """One search for the groups to open."""

    def __init__(self, first: FirstView, view: View, direction: Direction, end: float) -> None:
        self._first, self._view, self._direction, self._end = first, view, direction, end
        self._trials = 0

    def open_within(self, limit: Limit) -> None:
        """Open what can be opened within a limit, the heaviest first."""
        boxes = count_boxes(self._view)
        refused: set[tuple[str, ...]] = set()
        while boxes < limit.below:
            candidates = self._list_candidates(limit)
            chosen = next((items for items in candidates if _keys(items) not in refused), None)
            if chosen is None:
                return
            refused.add(_keys(chosen))
            if boxes + sum(count_least(item) - 1 for item in chosen) > limit.boxes:
                continue
            if self._trials >= MOST_TRIALS or time.monotonic() > self._end:
                return
            self._trials += 1
            step()
            for item in chosen:
                self._view.open_item(item)
            found = count_boxes(self._view)
            if found <= limit.boxes and self._zoom() >= limit.zoom:
                boxes = found
            else:
                for item in chosen:
                    self._view.close_item(item)

    def _zoom(self) -> float:
        """Return the zoom at which the window shows all."""
        composer, left = self._first.composer, self._end - time.monotonic()
        try:
            scene = composer.compose(
                self._view, self._first.measure, self._direction, deadline=max(left, 0.0)
            )
        finally:
            composer.forget(self._view)  # what comes next is another picture, no change of this
        return self._first.window.zoom(scene.width, scene.height)

    def _list_candidates(self, limit: Limit) -> list[list[Item]]:
        """Return the groups that may be opened, alike ones as one; the heaviest first."""
        alike: dict[tuple[object, ...], list[Item]] = {}
        for item in list_closed(self._view.root):
            if _may_open(item, limit):
                alike.setdefault((item.depth, *likeness(item)), []).append(item)
        found = [*alike.values()]
        for items in alike.values():
            if limit.one_of_alike and len(items) > 1:
                found.append([max(items, key=count_held_nodes)])
        return sorted(found, key=lambda items: -sum(map(count_held_nodes, items)))


def _keys(items: list[Item]) -> tuple[str, ...]:
    return tuple(item.key for item in items)


def list_closed(root: Item) -> Iterator[Item]:
    """Yield the closed items inside one, in their order."""
    pending = [iter(root.children)]
    while pending:
        for item in pending[-1]:
            if item.is_open:
                pending.append(iter(item.children))
                break
            yield item
        else:
            pending.pop()


def count_boxes(view: View) -> int:
    """Return how many boxes a person sees: what is closed, stubs left out."""
    return sum(item.kind != "stub" for item in list_closed(view.root))


def _may_open(item: Item, limit: Limit) -> bool:
    if not item.openable or item.is_terminal or is_recursive(item):
        return False
    repeat = item.repeat
    if repeat is not None and isinstance(repeat.children[item.shown], Node):
        return False  # one node of many tells no more than the stack
    if isinstance(item.element, Group) and _stays_closed(item.element):
        return False
    if limit.only_stacks and not _holds_repeat(item):
        return False
    return limit.in_blocks or not (_is_in_stack(item) or _is_known(item))


def _is_in_stack(item: Item) -> bool:
    outer = item.parent
    while outer is not None and outer.repeat is None:
        outer = outer.parent
    return outer is not None


def _stays_closed(group: Group) -> bool:
    """Return whether a group is an operation, or beside a body too large to be open as a whole."""
    if not group.is_beside:
        return group.kind == "operation"
    root = group
    while root.parent is not None:
        root = root.parent
    return root.node_count > LIMITS[0].boxes


def _is_known(item: Item) -> bool:
    """Return whether an item is a block such as attention, MLP, norm or ``Conv · ReLU``."""
    recognition = item.element.recognised if isinstance(item.element, Group) else None
    return recognition is not None and recognition.family != "group"


def _holds_repeat(item: Item) -> bool:
    """Return whether an item is a repeat, or a group with one in it at any depth."""
    pending = [item.element] if isinstance(item.element, Group) else []
    for group in pending:
        if group.kind == "repeat":
            return True
        pending += group.inner_groups()
    return False
