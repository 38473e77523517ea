"""The search for the groups that a first view opens: trials, and when each is taken back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from netloupe.explorer.options import Direction
from netloupe.explorer.progress import step
from netloupe.explorer.view import (
    Item,
    View,
    is_recursive,
    sibling_key,
    strip_numbers,
)

from .compose import Composer
from .emphasis import Emphasis
from .hidden_blocks import MOST_IDEAS, list_stacks, list_stacks_and_ideas
from .inset_scene import Inset, compose_with_insets, open_inset
from .lane_opening import find_parallel
from .opening_limits import (
    MOST_BOXES,
    find_kind,
    holds_repeat,
)
from .opening_worth import (
    find_only_block,
    list_shown,
    shows_a_list,
)
from .plan import Measure
from .scene import Scene
from .shown_items import count_boxes, list_closed, list_keys, list_opened
from .shut_ideas import is_shut_idea
from .stacks import (
    HiddenBlock,
    are_alike,
    are_same,
    are_side_by_side,
    is_another,
    is_in_stage,
    list_stages,
)
from .telling import list_telling

#: and as many a picture in two parts
MOST_WITH_INSETS = 30
#: as many may there be for nodes that matter more than others
_MOST_EMPHASISED = 40
#: tried one after the other for a stack: one repetition tells most of a model, so that its
#: picture may be smaller than the rest has to be
STACK_ZOOMS = (0.65, 0.55)
#: so many are drawn beside the picture at most, one at each side
_MOST_INSETS = 2
#: a frame with so many boxes is little more than the one of them that lists what is in it
_MOST_AROUND_IDEA = 2
#: a second one is drawn where all is still as large as in a figure
LEAST_ZOOM_WITH_TWO = 0.85
#: what is drawn beside it has so many boxes at least
_LEAST_IN_INSET = 3
#: groups are opened and laid out on trial so many times
MOST_TRIALS = 60


class Search:
    """One search for the groups to open."""

    def __init__(
        self,
        composer: Composer,
        measure: Measure,
        zoom_of: Callable[[Scene, bool], float],
        view: View,
        direction: Direction,
        end: float,
    ) -> None:
        self._composer, self.measure, self._zoom_of = composer, measure, zoom_of
        self.view, self._direction, self._end = view, direction, end
        self._trials = 0
        self._emphasis = Emphasis(view)
        #: stacks that are closed in the view and drawn open beside it
        self.insets: list[Inset] = []
        self._has_insets = False
        #: keys of stages that stay closed: what is in them is drawn beside the picture
        self.closed_stages: set[str] = set()
        #: whether the picture that was looked at last shows resolutions as levels
        self.has_levels = False
        #: whether what is drawn beside the picture is lanes
        self.shows_lanes_beside = False
        #: width and height of the picture that was looked at last, in one column
        self.size = (0.0, 0.0)
        #: whether towers side by side are open, with their stacks closed
        self.shows_towers = False
        #: whether a block without a name is open in its place, or had no room beside the picture
        self.shows_idea = self.misses_idea = False

    @property
    def is_special(self) -> bool:
        """Whether some nodes matter more than others."""
        return self._emphasis.is_special

    @property
    def shows_stages(self) -> bool:
        """Whether stages are closed, and what is in one of them is drawn beside the picture."""
        return bool(self.closed_stages)

    def shows_stack(self) -> bool:
        """Return whether one repetition of a repeat is open."""
        return any(item.repeat for item in self.view.open_items())

    def open_emphasised(self) -> None:
        """Open what holds nodes that matter more than others, as long as all can be read.

        Where most nodes do, none of them matters more.
        """
        emphasis = self._emphasis
        refused: set[tuple[str, ...]] = set()
        while emphasis.is_special:
            alike: dict[tuple[object, ...], list[Item]] = {}
            for item in list_closed(self.view.root):
                if item.openable and not is_recursive(item) and emphasis.is_in(item):
                    alike.setdefault((item.depth, *sibling_key(item)), []).append(item)
            candidates = [items for items in alike.values() if list_keys(items) not in refused]
            if not candidates:
                return
            chosen = max(candidates, key=lambda items: sum(map(emphasis.count, items)))
            refused.add(list_keys(chosen))
            for item in chosen:
                self.open_item(item)
            if self.try_zoom(_MOST_EMPHASISED) < STACK_ZOOMS[-1]:
                for item in chosen:
                    self.view.close_item(item)

    def shows_levels(self) -> bool:
        """Return whether the picture shows resolutions as levels: a U, or lanes."""
        self.zoom()
        return self.has_levels

    def open_stack(self, zooms_tried: Sequence[float] = STACK_ZOOMS) -> None:
        """Open what a model is about and has room, and its ancestors: a block, or one of a stack.

        There is room where all fits at one of some zooms, tried one after the other.
        """
        stacks = list_stacks(self.view)
        blocks = stacks if self.shows_levels() else list_stacks_and_ideas(self.view, stacks)
        choices = [
            [one]
            for one in blocks
            if one in stacks or (is_shut_idea(one.group) and not self._has_siblings(one))
        ]
        alike = [stack for stack in stacks if are_alike(stack, stacks[0])]
        # several in one group are one behind the other: one of them tells what all are
        if len(alike) > 1 and len({stack.group.parent for stack in alike}) == len(alike):
            choices.insert(0, alike)
        zooms: list[float] = []
        for least in zooms_tried:
            for number, chosen in enumerate(choices):
                if number < len(zooms) and zooms[number] < least:
                    continue
                opened = self._open_ways(chosen)
                zoom = self.try_zoom(MOST_BOXES)
                if zoom >= least:
                    self.shows_idea = is_shut_idea(chosen[0].group)
                    return
                for item in reversed(opened):
                    self.view.close_item(item)
                if number == len(zooms):
                    zooms.append(zoom)
                if len(chosen) > 1 and self._open_towers(chosen):
                    self.shows_towers = True
                    return

    def _has_siblings(self, block: HiddenBlock) -> bool:
        """Return whether other groups beside a block are called as it is but for their number."""
        around = block.group.parent
        if around is None or block.group.kind == "repeat":
            return False
        name = strip_numbers(block.group.label)
        return any(
            one is not block.group and strip_numbers(one.label) == name
            for one in around.inner_groups()
        )

    def open_insets(self) -> bool:
        """Draw what a model is about beside the picture; return whether there is room for any.

        That is one repetition of the largest stack and, at the other side, a stack of other
        blocks, or a block that has no name in the field. The latter comes first where the stack is
        of blocks that every convolutional network has, and before all a block in which several
        resolutions are lanes. Where no stack has room, what holds one is drawn beside the picture.
        """
        self._has_insets = True
        self._open_lanes()
        stacks = list_stacks(self.view)
        drawn: list[HiddenBlock] = []
        for stack in list_stacks_and_ideas(self.view, stacks):
            if len(self.insets) == _MOST_INSETS:
                break
            if any(one.group in stack.way for one in drawn):
                continue
            if not self.insets or is_another(stack.group, self.insets[0].item.element):
                before = len(self.insets)
                alike = [s for s in stacks if s != stack and are_alike(s, stack)]
                same = [s for s in stacks if s not in (stack, *alike) and are_same(s, stack)]
                if same:  # an encoder and a decoder of the same blocks
                    self._open_inset(stack, [*alike, *same])
                if len(self.insets) == before:
                    self._open_inset(stack, alike)
                drawn += [stack] * (len(self.insets) - before)
                self.misses_idea |= not drawn and is_shut_idea(stack.group)
        for stack in stacks:
            is_tower = any(other != stack and are_alike(other, stack) for other in stacks)
            if not self.insets and len(stack.way) > 1 and not is_tower:
                self._open_inset(stack._replace(way=stack.way[:-1]))
        self._has_insets = bool(self.insets)
        return self._has_insets

    def _open_lanes(self) -> None:
        """Draw a block beside the picture in which several resolutions are lanes."""
        for item in find_parallel(self.view)[:MOST_IDEAS]:
            inset = open_inset(self.view, item)
            circles = sum(map(self.measure.is_round, list_closed(inset.item)))
            if self.add_inset(inset, MOST_WITH_INSETS + circles) and self.shows_lanes_beside:
                return
            if self.insets:
                self.insets.pop()
                self.shows_lanes_beside = False

    def _open_inset(self, stack: HiddenBlock, alike: Sequence[HiddenBlock] = ()) -> None:
        """Open what is around a stack, and a repetition beside the picture, if there is room.

        What is around stacks that are alike is opened too: one tower open and the other closed
        would say that they differ.
        """
        if is_in_stage(stack):
            if self.add_inset(open_inset(self.view, stack.item, stack.way[1:])):
                self.closed_stages |= {child.key for child in list_stages(stack.item)}
            return
        opened = self._open_ways([one._replace(way=one.way[:-1]) for one in (stack, *alike)])
        item = stack.item
        for group in stack.way[1:]:
            item = next(child for child in item.children if child.element is group)
        if self.add_inset(open_inset(self.view, item)):
            for outer in opened:
                self._open_alike(outer)
            return
        for outer in reversed(opened):
            self.view.close_item(outer)

    def add_inset(
        self, inset: Inset, most: int = MOST_WITH_INSETS, least: float | None = None
    ) -> bool:
        """Draw something beside the picture; return whether there is room, and it is worth it.

        All fits at a zoom of ``least``; where that is None it is as for a stack.
        """
        if least is None:
            least = LEAST_ZOOM_WITH_TWO if self.insets else STACK_ZOOMS[0]
        self.insets.append(inset)
        self.open_item(inset.item)
        self._open_telling(inset.item)
        if (
            sum(item.kind != "stub" for item in list_closed(inset.item)) < _LEAST_IN_INSET
            or shows_a_list(inset.view, inset.item)
            or self.try_zoom(most) < least
        ):
            self.insets.pop()
            return False
        return True

    def _open_telling(self, item: Item) -> list[Item]:
        """Open that of the two blocks in a frame which is less ordinary; return what was opened."""
        boxes = list_shown(item.children)
        if len(boxes) >= _LEAST_IN_INSET or any(box.is_open or box.repeat for box in boxes):
            return []
        telling = [box for box in boxes if box.openable and list_telling(box.element)]
        if len(boxes) == 1 or len(telling) != 1:
            return []
        self.view_of(item).open_item(telling[0])
        return telling

    def _open_alike(self, item: Item) -> None:
        """Open what is like an open item, if there is room for all."""
        alike = [
            other
            for other in list_closed(self.view.root)
            if other.openable
            and other.depth == item.depth
            and sibling_key(other) == sibling_key(item)
            and holds_repeat(other)
        ]
        for other in alike:
            self.open_item(other)
        for other in [one for one in alike if len(list_shown(one.children)) == 1]:
            self.view.close_item(other)
            alike.remove(other)
        if alike and self.try_zoom(MOST_WITH_INSETS) < STACK_ZOOMS[0]:
            for other in alike:
                self.view.close_item(other)

    def shows_more_stacks(self) -> bool:
        """Return whether stacks like one beside the picture are closed in it."""
        names = {find_kind(inset.item.element) for inset in self.insets}
        keys = {inset.item.key for inset in self.insets}
        return any(
            item.repeat is not None and item.key not in keys and find_kind(item.element) in names
            for item in list_closed(self.view.root)
        )

    def count_in_insets(self) -> int:
        """Return how many boxes the smallest inset shows."""
        return min(
            sum(item.kind != "stub" for item in list_closed(inset.item)) for inset in self.insets
        )

    def _open_towers(self, stacks: list[HiddenBlock]) -> bool:
        """Open what is around alike stacks of towers side by side; return whether there is room.

        One tower open and the other closed would say that they differ. Papers draw such towers
        with their stacks closed, which say by their facts what they are.
        """
        towers = [stack.item for stack in stacks]
        if any(len(stack.way) < 2 for stack in stacks) or not are_side_by_side(self.view, towers):
            return False
        opened = self._open_ways([stack._replace(way=stack.way[:-1]) for stack in stacks])
        if self.try_zoom(MOST_BOXES) >= STACK_ZOOMS[0]:
            return True
        for item in reversed(opened):
            self.view.close_item(item)
        return False

    def _open_ways(self, stacks: list[HiddenBlock]) -> list[Item]:
        """Open some stacks and what is around them; return what was opened, outer items first."""
        opened = []
        for stack in stacks:
            item = stack.item
            for group in stack.way:
                if item.element is not group:
                    item = next(child for child in item.children if child.element is group)
                if not item.is_open:
                    self.open_item(item)
                    opened.append(item)
            if item.repeat is not None and item in opened:
                opened += self._open_telling(item)
        return opened

    def try_zoom(self, most: int, *, in_columns: bool = True) -> float:
        """Return the zoom at which the window shows all; 0 for more boxes, and for no more time.

        The circles of sums and products are no boxes: they are seen as part of the stream.
        """
        measure = self.measure
        circles = sum(measure.is_round(item) for item in self.list_closed())
        if self.count_boxes() - circles > most:
            return 0.0
        return self.zoom(in_columns=in_columns) if self.begin_trial() else 0.0

    def begin_trial(self) -> bool:
        """Count a trial more; return whether there are some left, and time for one."""
        if self._trials >= MOST_TRIALS or time.monotonic() > self._end:
            return False
        self._trials += 1
        step()
        return True

    def zoom(self, *, in_columns: bool = True) -> float:
        """Return the zoom at which the window shows all, cut into columns or not."""
        left = max(self._end - time.monotonic(), 0.0)
        try:
            scene = compose_with_insets(
                self._composer, self.view, self.insets, self.measure, self._direction, left
            )
            composed = self._composer.recall(self.view)
            self.has_levels = composed is not None and composed.arranged.assembly.is_exact
            self.shows_lanes_beside = any(map(self._is_lanes, self.insets))
        finally:  # what comes next is another picture, no change of this
            for view in self.views():
                self._composer.forget(view)
        self.size = scene.width, scene.height
        if len(scene.zooms) < len(self.insets):
            return 0.0
        return self._zoom_of(scene, in_columns and not self.insets)

    def _is_lanes(self, inset: Inset) -> bool:
        """Return whether what is drawn beside the picture is lanes, as it was laid out last."""
        pending = [self._composer.recall(inset.view)]
        while pending:
            composed = pending.pop()
            if composed is not None and composed.level.item is inset.item:
                return composed.arranged.assembly.is_exact and composed.plan.level.lanes is not None
            pending += composed.inner.values() if composed is not None else ()
        return False

    def views(self) -> Iterator[View]:
        """Yield the view of the picture, and those of what is beside it."""
        yield self.view
        for inset in self.insets:
            yield inset.view

    def view_of(self, item: Item) -> View:
        """Return the view whose item it is."""
        outer = item
        while outer.parent is not None:
            outer = outer.parent
        return next(view for view in self.views() if view.root is outer)

    def open_item(self, item: Item) -> None:
        """Open an item, and with it the one block around which it is little more than a frame."""
        view = self.view_of(item)
        inner: Item | None = item
        while inner is not None:
            view.open_item(inner)
            shown = list_shown(inner.children)
            core: object = find_only_block([child.element for child in shown])
            if core is None and len(shown) <= _MOST_AROUND_IDEA:
                ideas = [one.element for one in shown if is_shut_idea(one.element, inner.element)]
                core = ideas[0] if len(ideas) == 1 else None
            inner = next((child for child in shown if child.element is core), None)
            if inner is not None and inner.repeat and self._keeps_stacks_closed(view):
                return

    def _keeps_stacks_closed(self, view: View) -> bool:
        """Return whether stacks stay closed in a view: one is open beside the picture."""
        return self._has_insets and view is self.view

    def list_closed(self) -> Iterator[Item]:
        """Yield the closed boxes of the picture and of what is beside it."""
        yield from list_closed(self.view.root)
        for inset in self.insets:
            yield from list_closed(inset.item)

    def list_open(self) -> Iterator[Item]:
        """Yield what is open in the picture, and in what is beside it."""
        yield from self.view.open_items()
        for inset in self.insets:
            yield from list_opened(inset.item)

    def count_boxes(self) -> int:
        """Return how many boxes a person sees: what is closed, stubs left out."""
        return count_boxes(self.list_closed())
