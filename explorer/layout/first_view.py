"""The first view: which groups are open, so that a window shows all of the picture readably.

The objective, in the order of what counts: everything fits into the window at a zoom at which
titles can be read; there are at most as many boxes as a figure in a paper has; of the largest
stack of blocks that has room one block is open, by one level, and of stacks that are alike all;
then what holds most nodes is open as long as all is as large as in a figure; what is alike is
treated alike.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from netloupe.explorer.grouping import Group, recognise_function
from netloupe.explorer.model import Node
from netloupe.explorer.options import Direction
from netloupe.explorer.progress import step
from netloupe.explorer.roles import find_roles
from netloupe.explorer.view import (
    BORDER,
    Item,
    View,
    count_held_nodes,
    count_least,
    is_recursive,
    sibling_key,
    strip_numbers,
)

from .compose import DEADLINE, Composer
from .emphasis import Emphasis
from .plan import Measure
from .scene import Scene


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
    in_columns
        Whether the picture may be cut into columns, where that makes it larger.
    in_blocks
        Whether what is inside the repetition that is shown of a repeat is opened too, and
        blocks of a known kind, which their name and facts say more of than their nodes do. What
        shows single nodes that only arrange then remains closed.
    """

    below: int
    boxes: int
    zoom: float
    only_stacks: bool = False
    in_columns: bool = False
    in_blocks: bool = False


#: as many boxes as a figure has at most
_MOST_BOXES = 26
#: as many may there be for nodes that matter more than others
_MOST_EMPHASISED = 40
#: tried one after the other for a stack: one repetition tells most of a model, so that its
#: picture may be smaller than the rest has to be
STACK_ZOOMS = (0.65, 0.55)
#: so many stacks are tried, the largest first
_MOST_STACKS = 4
#: stacks of as many like blocks are opened together where they have this share of the largest
#: one's nodes
_AS_LARGE = 0.5
#: for all else, one after the other: a picture of few boxes says too little
LIMITS = (
    Limit(1_000_000, _MOST_BOXES, 0.85, only_stacks=True, in_columns=True),
    Limit(1_000_000, _MOST_BOXES, 0.85),
    Limit(9, 30, 0.65, in_blocks=True),
    Limit(6, 30, 0.5, in_blocks=True),
    Limit(5, 60, 0.2, in_blocks=True),
    Limit(3, 400, 0.0, in_blocks=True),
)
#: families of blocks that say nothing more when they are open
_DETAILS = frozenset(("activation", "normalization"))
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
    zoom_of
        Gives the zoom at which a picture fits there, cut into columns or not, where that is not
        only a matter of its size: it may have a title.

    Notes
    -----
    The largest stack is tried first, with all that is around it and no more. The rest is greedy:
    the heaviest group is opened first, together with those that are alike, and closed again where
    the picture then is beyond a limit. That sizes are those of real layouts matters: estimates
    take pictures with long edges for smaller than they are.
    """

    def __init__(
        self,
        composer: Composer,
        measure: Measure,
        window: Window = WINDOW,
        zoom_of: Callable[[Scene, bool], float] | None = None,
    ) -> None:
        self.composer, self.measure, self.window = composer, measure, window
        self.zoom_of = zoom_of or (lambda scene, _: window.zoom(scene.width, scene.height))

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
        search.open_emphasised()
        search.open_stack()
        for limit in LIMITS:
            search.open_within(limit)
        if not search.shows_towers and not any(item.repeat for item in view.open_items()):
            search.open_stack()  # there may be one in what a node holds that is open now


class _Stack(NamedTuple):
    """A repeat inside a closed item, and the groups to open on the way from the one to the other.

    The way begins with the item's own group and ends with the repeat.
    """

    item: Item
    way: tuple[Group, ...]

    @property
    def group(self) -> Group:
        return self.way[-1]


class _Search:
    """One search for the groups to open."""

    def __init__(self, first: FirstView, view: View, direction: Direction, end: float) -> None:
        self._first, self._view, self._direction, self._end = first, view, direction, end
        self._trials = 0
        #: whether towers side by side are open, with their stacks closed
        self.shows_towers = False

    def open_emphasised(self) -> None:
        """Open what holds nodes that matter more than others, as long as all can be read.

        Where most nodes do, none of them matters more.
        """
        emphasis = Emphasis(self._view)
        refused: set[tuple[str, ...]] = set()
        while emphasis.is_special:
            alike: dict[tuple[object, ...], list[Item]] = {}
            for item in list_closed(self._view.root):
                if item.openable and not is_recursive(item) and emphasis.is_in(item):
                    alike.setdefault((item.depth, *sibling_key(item)), []).append(item)
            candidates = [items for items in alike.values() if _keys(items) not in refused]
            if not candidates:
                return
            chosen = max(candidates, key=lambda items: sum(map(emphasis.count, items)))
            refused.add(_keys(chosen))
            for item in chosen:
                self._view.open_item(item)
            if self._try_zoom(_MOST_EMPHASISED) < STACK_ZOOMS[-1]:
                for item in chosen:
                    self._view.close_item(item)

    def open_stack(self) -> None:
        """Open one repetition of the largest stack for which there is room, and its ancestors."""
        stacks = self._list_stacks()
        choices = [[stack] for stack in stacks]
        alike = [stack for stack in stacks if _are_alike(stack, stacks[0])]
        if len(alike) > 1:
            choices.insert(0, alike)
        zooms: list[float] = []
        for least in STACK_ZOOMS:
            for number, chosen in enumerate(choices):
                if number < len(zooms) and zooms[number] < least:
                    continue
                opened = self._open_ways(chosen)
                zoom = self._try_zoom(_MOST_BOXES)
                if zoom >= least:
                    return
                for item in reversed(opened):
                    self._view.close_item(item)
                if number == len(zooms):
                    zooms.append(zoom)
                if len(chosen) > 1 and self._open_towers(chosen):
                    self.shows_towers = True
                    return

    def _open_towers(self, stacks: list[_Stack]) -> bool:
        """Open what is around alike stacks of towers side by side; return whether there is room.

        One tower open and the other closed would say that they differ. Papers draw such towers
        with their stacks closed, which say by their facts what they are.
        """
        towers = [stack.item for stack in stacks]
        if any(len(stack.way) < 2 for stack in stacks) or not _are_side_by_side(self._view, towers):
            return False
        opened = self._open_ways([stack._replace(way=stack.way[:-1]) for stack in stacks])
        if self._try_zoom(_MOST_BOXES) >= STACK_ZOOMS[0]:
            return True
        for item in reversed(opened):
            self._view.close_item(item)
        return False

    def _list_stacks(self) -> list[_Stack]:
        """Return the largest stacks in what is closed, those that say most first."""
        found: list[_Stack] = []
        for item in list_closed(self._view.root):
            if isinstance(item.element, Group) and item.openable and not _is_in_stack(item):
                found += _find_stacks(item, item.element)
        found = heapq.nlargest(2 * _MOST_STACKS, found, key=lambda stack: stack.group.node_count)
        if len(found) > 1:  # to tell what a stack is takes a look at many blocks
            found.sort(key=lambda stack: any(map(_is_known, stack.way)))
        return found[:_MOST_STACKS]

    def _open_ways(self, stacks: list[_Stack]) -> list[Item]:
        """Open some stacks and what is around them; return what was opened, outer items first."""
        opened = []
        for stack in stacks:
            item = stack.item
            for group in stack.way:
                if item.element is not group:
                    item = next(child for child in item.children if child.element is group)
                if not item.is_open:
                    self._view.open_item(item)
                    opened.append(item)
        return opened

    def _try_zoom(self, most: int) -> float:
        """Return the zoom at which the window shows all; 0 for more boxes, and for no more time."""
        if count_boxes(self._view) > most:
            return 0.0
        if self._trials >= MOST_TRIALS or time.monotonic() > self._end:
            return 0.0
        self._trials += 1
        step()
        return self._zoom(in_columns=True)

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
            if (
                found <= limit.boxes
                and not any(map(_shows_arrangement, chosen))
                and self._zoom(limit.in_columns) >= limit.zoom
            ):
                boxes = found
            else:
                for item in chosen:
                    self._view.close_item(item)

    def _zoom(self, in_columns: bool) -> float:
        """Return the zoom at which the window shows all, cut into columns or not."""
        composer, left = self._first.composer, self._end - time.monotonic()
        try:
            scene = composer.compose(
                self._view, self._first.measure, self._direction, deadline=max(left, 0.0)
            )
        finally:
            composer.forget(self._view)  # what comes next is another picture, no change of this
        return self._first.zoom_of(scene, in_columns)

    def _list_candidates(self, limit: Limit) -> list[list[Item]]:
        """Return the groups that may be opened, alike ones as one; the heaviest first."""
        alike: dict[tuple[object, ...], list[Item]] = {}
        for item in list_closed(self._view.root):
            if _may_open(item, limit):
                alike.setdefault((item.depth, *sibling_key(item)), []).append(item)
        return sorted(alike.values(), key=lambda items: -sum(map(count_held_nodes, items)))


def _find_stacks(item: Item, around: Group) -> Iterator[_Stack]:
    """Yield the repeats of groups in a closed item's group that are in no other repeat."""
    pending = [around]
    while pending:
        group = pending.pop()
        if group.is_beside:
            continue
        if group.kind != "repeat":
            pending += reversed(group.inner_groups())
        elif isinstance(group.children[group.exemplar], Group):
            way = [group]
            while way[-1] is not around:
                outer = way[-1].parent
                assert outer is not None  # noqa: S101 - it is inside
                way.append(outer)
            yield _Stack(item, tuple(reversed(way)))


def _are_alike(stack: _Stack, largest: _Stack) -> bool:
    """Return whether a stack has blocks like those of the largest, and as many of them."""
    block, other = (one.group.children[one.group.exemplar] for one in (stack, largest))
    return (
        isinstance(block, Group)
        and isinstance(other, Group)
        and len(stack.group.children) == len(largest.group.children)
        and (strip_numbers(block.label), block.type_name)
        == (strip_numbers(other.label), other.type_name)
        and stack.group.node_count >= _AS_LARGE * largest.group.node_count
    )


def _are_side_by_side(view: View, items: list[Item]) -> bool:
    """Return whether items stand in the same one, and no value goes from one to another."""
    outer = items[0].parent
    if outer is None or len({*items}) < len(items) or any(one.parent is not outer for one in items):
        return False
    numbers = {child: number for number, child in enumerate(outer.children)}
    following: dict[int, list[int]] = {}
    for link in view.links(outer):
        following.setdefault(link.source, []).append(link.target)
    towers = {numbers[item] for item in items}
    for tower in towers:
        pending, seen = [*following.get(tower, ())], {BORDER}
        while pending:
            number = pending.pop()
            if number in towers:
                return False
            if number not in seen:
                seen.add(number)
                pending += following.get(number, ())
    return True


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
    return limit.in_blocks or not (_is_in_stack(item) or _is_known(item.element))


def _is_in_stack(item: Item) -> bool:
    outer = item.parent
    while outer is not None and outer.repeat is None:
        outer = outer.parent
    return outer is not None


def _stays_closed(group: Group) -> bool:
    """Return whether a group is an operation, or a detail of a model too large to be all open.

    Details are what is beside the body, normalizations and activations.
    """
    if group.kind == "operation":
        return True
    recognition = group.recognised
    if not group.is_beside and (recognition is None or recognition.family not in _DETAILS):
        return False
    root = group
    while root.parent is not None:
        root = root.parent
    return root.node_count > LIMITS[0].boxes


def _is_known(element: object) -> bool:
    """Return whether something is a block such as attention, MLP, norm or ``Conv · ReLU``.

    So is a call of a function that is one.
    """
    recognition = element.recognised if isinstance(element, Group) else None
    if isinstance(element, Node) and element.function is not None:
        recognition = recognise_function(element.function)
    return recognition is not None and recognition.family != "group"


def _shows_arrangement(item: Item) -> bool:
    """Return whether an open block of a known kind shows single nodes that only arrange values."""
    return _is_known(item.element) and any(
        isinstance(child.element, Node)
        and find_roles(child.element.graph).of(child.element) in ("arrangement", "preparation")
        for child in item.children
    )


def _holds_repeat(item: Item) -> bool:
    """Return whether an item is a repeat, or a group with one in it at any depth."""
    pending = [item.element] if isinstance(item.element, Group) else []
    for group in pending:
        if group.kind == "repeat":
            return True
        pending += group.inner_groups()
    return False
