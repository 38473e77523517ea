"""The search for the groups that a first view opens: trials, and when each is taken back."""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from netloupe.explorer.grouping import Group
from netloupe.explorer.options import Direction
from netloupe.explorer.progress import step
from netloupe.explorer.view import (
    Item,
    View,
    count_held_nodes,
    count_least,
    is_recursive,
    sibling_key,
)

from .compose import Composer
from .emphasis import Emphasis
from .inset_scene import Inset, compose_with_insets, open_inset
from .lane_opening import find_parallel
from .opening_limits import (
    MOST_BOXES,
    Limit,
    are_seen_closed,
    count_new_kinds,
    find_kind,
    holds_repeat,
    may_open,
    shows_arrangement,
)
from .opening_worth import (
    find_core,
    list_kinds,
    list_shown,
    shows_a_list,
    shows_enough,
)
from .plan import Measure
from .scene import Scene
from .shut_ideas import is_shut_idea, shows_work
from .stacks import (
    HiddenBlock,
    are_alike,
    are_side_by_side,
    find_hidden_ideas,
    find_hidden_stacks,
    is_another,
    is_boilerplate,
    is_in_stack,
    is_in_stage,
    list_stages,
    tell_block,
    tell_rank,
)

#: and as many a picture in two parts
_MOST_WITH_INSETS = 30
#: as many may there be for nodes that matter more than others
_MOST_EMPHASISED = 40
#: tried one after the other for a stack: one repetition tells most of a model, so that its
#: picture may be smaller than the rest has to be
STACK_ZOOMS = (0.65, 0.55)
#: so many stacks are tried, the largest first
_MOST_STACKS = 4
#: so many are drawn beside the picture at most, one at each side
_MOST_INSETS = 2
#: blocks without a name are drawn beside it where they have so many nodes, and this share of those
#: of a block of the largest stack; so many are tried
_LEAST_IDEA, _SHARE_OF_BLOCK, _MOST_IDEAS = 8, 0.5, 3
#: what holds more of all nodes is the model, and no part of it
_MOST_OF_MODEL = 0.67
#: a frame with so many boxes is little more than the one of them that lists what is in it
_MOST_AROUND_IDEA = 2
#: a second one is drawn where all is still as large as in a figure
_LEAST_ZOOM_WITH_TWO = 0.85
#: a repetition with what it is about open in it has so many boxes at most, and all fits so
_MOST_IN_FRAME, _LEAST_ZOOM_WITH_IDEA = 14, 0.7
#: a picture with a second inset behind the first is so much longer than wide at most
_MOST_ASPECT = 2.8
#: what it is about alone has so many
_MOST_IN_IDEA = 18
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
        self._composer, self._measure, self._zoom_of = composer, measure, zoom_of
        self._view, self._direction, self._end = view, direction, end
        self._trials = 0
        self._emphasis = Emphasis(view)
        #: stacks that are closed in the view and drawn open beside it
        self.insets: list[Inset] = []
        self._has_insets = False
        #: keys of stages that stay closed: what is in them is drawn beside the picture
        self._closed: set[str] = set()
        self._shows_levels = False
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
        return bool(self._closed)

    def shows_stack(self) -> bool:
        """Return whether one repetition of a repeat is open."""
        return any(item.repeat for item in self._view.open_items())

    def open_emphasised(self) -> None:
        """Open what holds nodes that matter more than others, as long as all can be read.

        Where most nodes do, none of them matters more.
        """
        emphasis = self._emphasis
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
                self._open_item(item)
            if self._try_zoom(_MOST_EMPHASISED) < STACK_ZOOMS[-1]:
                for item in chosen:
                    self._view.close_item(item)

    def shows_levels(self) -> bool:
        """Return whether the picture shows resolutions as levels: a U, or lanes."""
        self.zoom()
        return self._shows_levels

    def open_stack(self, zooms_tried: Sequence[float] = STACK_ZOOMS) -> None:
        """Open what a model is about and has room, and its ancestors: a block, or one of a stack.

        There is room where all fits at one of some zooms, tried one after the other.
        """
        stacks = self._list_stacks()
        blocks = stacks if self.shows_levels() else self._list_blocks(stacks)
        choices = [[one] for one in blocks if one in stacks or is_shut_idea(one.group)]
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
                zoom = self._try_zoom(MOST_BOXES)
                if zoom >= least:
                    self.shows_idea = is_shut_idea(chosen[0].group)
                    return
                for item in reversed(opened):
                    self._view.close_item(item)
                if number == len(zooms):
                    zooms.append(zoom)
                if len(chosen) > 1 and self._open_towers(chosen):
                    self.shows_towers = True
                    return

    def open_insets(self) -> bool:
        """Draw what a model is about beside the picture; return whether there is room for any.

        That is one repetition of the largest stack and, at the other side, a stack of other
        blocks, or a block that has no name in the field. The latter comes first where the stack is
        of blocks that every convolutional network has, and before all a block in which several
        resolutions are lanes. Where no stack has room, what holds one is drawn beside the picture.
        """
        self._has_insets = True
        self._open_lanes()
        stacks = self._list_stacks()
        drawn: list[HiddenBlock] = []
        for stack in self._list_blocks(stacks):
            if len(self.insets) == _MOST_INSETS:
                break
            if any(one.group in stack.way for one in drawn):
                continue
            if not self.insets or is_another(stack.group, self.insets[0].item.element):
                before = len(self.insets)
                self._open_inset(stack, [s for s in stacks if s != stack and are_alike(s, stack)])
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
        for item in find_parallel(self._view)[:_MOST_IDEAS]:
            inset = open_inset(self._view, item)
            circles = sum(map(self._measure.is_round, list_closed(inset.item)))
            if self._add_inset(inset, _MOST_WITH_INSETS + circles) and self.shows_lanes_beside:
                return
            if self.insets:
                self.insets.pop()
                self.shows_lanes_beside = False

    def _list_blocks(self, stacks: list[HiddenBlock]) -> list[HiddenBlock]:
        """Return stacks and ideas, those that say most first.

        A stack in an idea comes after it: the idea shows it, closed.
        """
        ideas = self._list_ideas(stacks)
        around = {idea.group: idea for idea in ideas}
        order = {id(block): _tell_order(block.group) for block in (*stacks, *ideas)}
        for stack in stacks:
            for group in stack.way[:-1]:
                if group in around:
                    outer = id(around[group])
                    order[outer] = min(order[outer], order[id(stack)])
                    order[id(stack)] = max(order[id(stack)], order[outer] + 1)
        return sorted([*stacks, *ideas], key=lambda block: order[id(block)])

    def _list_ideas(self, stacks: list[HiddenBlock]) -> list[HiddenBlock]:
        """Return the blocks without a name that are as large as half a block of a stack.

        What is of the kind of a stack's blocks is no idea of its own.
        """
        sizes = [
            block.node_count
            for stack in stacks
            if isinstance(block := stack.group.children[stack.group.exemplar], Group)
        ]
        least = max(_LEAST_IDEA, int(_SHARE_OF_BLOCK * max(sizes, default=0)))
        found: list[HiddenBlock] = []
        for item in list_closed(self._view.root):
            if isinstance(item.element, Group) and item.openable and not is_in_stack(item):
                found += find_hidden_ideas(item, item.element, least)
        kinds = {find_kind(stack.group.children[stack.group.exemplar]) for stack in stacks}
        found = [idea for idea in found if find_kind(idea.group) not in kinds - {""}]
        most = _MOST_OF_MODEL * len(self._view.graph.nodes)
        found = [idea for idea in found if idea.group.node_count <= most]
        return heapq.nlargest(_MOST_IDEAS, found, key=lambda idea: _count_own(idea.group))

    def _open_inset(self, stack: HiddenBlock, alike: Sequence[HiddenBlock] = ()) -> None:
        """Open what is around a stack, and a repetition beside the picture, if there is room.

        What is around stacks that are alike is opened too: one tower open and the other closed
        would say that they differ.
        """
        if is_in_stage(stack):
            if self._add_inset(open_inset(self._view, stack.item, stack.way[1:])):
                self._closed |= {child.key for child in list_stages(stack.item)}
            return
        opened = self._open_ways([one._replace(way=one.way[:-1]) for one in (stack, *alike)])
        item = stack.item
        for group in stack.way[1:]:
            item = next(child for child in item.children if child.element is group)
        if self._add_inset(open_inset(self._view, item)):
            for outer in opened:
                self._open_alike(outer)
            return
        for outer in reversed(opened):
            self._view.close_item(outer)

    def _add_inset(
        self, inset: Inset, most: int = _MOST_WITH_INSETS, least: float | None = None
    ) -> bool:
        """Draw something beside the picture; return whether there is room, and it is worth it.

        All fits at a zoom of ``least``; where that is None it is as for a stack.
        """
        if least is None:
            least = _LEAST_ZOOM_WITH_TWO if self.insets else STACK_ZOOMS[0]
        self.insets.append(inset)
        self._open_item(inset.item)
        if (
            sum(item.kind != "stub" for item in list_closed(inset.item)) < _LEAST_IN_INSET
            or shows_a_list(inset.view, inset.item)
            or self._try_zoom(most) < least
        ):
            self.insets.pop()
            return False
        return True

    def _open_alike(self, item: Item) -> None:
        """Open what is like an open item, if there is room for all."""
        alike = [
            other
            for other in list_closed(self._view.root)
            if other.openable
            and other.depth == item.depth
            and sibling_key(other) == sibling_key(item)
            and holds_repeat(other)
        ]
        for other in alike:
            self._open_item(other)
        for other in [one for one in alike if len(list_shown(one.children)) == 1]:
            self._view.close_item(other)
            alike.remove(other)
        if alike and self._try_zoom(_MOST_WITH_INSETS) < STACK_ZOOMS[0]:
            for other in alike:
                self._view.close_item(other)

    def shows_more_stacks(self) -> bool:
        """Return whether stacks like one beside the picture are closed in it."""
        names = {find_kind(inset.item.element) for inset in self.insets}
        keys = {inset.item.key for inset in self.insets}
        return any(
            item.repeat is not None and item.key not in keys and find_kind(item.element) in names
            for item in list_closed(self._view.root)
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
        if any(len(stack.way) < 2 for stack in stacks) or not are_side_by_side(self._view, towers):
            return False
        opened = self._open_ways([stack._replace(way=stack.way[:-1]) for stack in stacks])
        if self._try_zoom(MOST_BOXES) >= STACK_ZOOMS[0]:
            return True
        for item in reversed(opened):
            self._view.close_item(item)
        return False

    def _list_stacks(self) -> list[HiddenBlock]:
        """Return the largest stacks in what is closed, those that say most first."""
        found: list[HiddenBlock] = []
        for item in list_closed(self._view.root):
            if isinstance(item.element, Group) and item.openable and not is_in_stack(item):
                found += find_hidden_stacks(item, item.element)
        found = heapq.nlargest(2 * _MOST_STACKS, found, key=lambda stack: stack.group.node_count)
        if len(found) > 1:  # to tell what a stack is takes a look at many blocks
            found.sort(key=tell_rank)
        return found[:_MOST_STACKS]

    def _open_ways(self, stacks: list[HiddenBlock]) -> list[Item]:
        """Open some stacks and what is around them; return what was opened, outer items first."""
        opened = []
        for stack in stacks:
            item = stack.item
            for group in stack.way:
                if item.element is not group:
                    item = next(child for child in item.children if child.element is group)
                if not item.is_open:
                    self._open_item(item)
                    opened.append(item)
        return opened

    def _try_zoom(self, most: int, *, in_columns: bool = True) -> float:
        """Return the zoom at which the window shows all; 0 for more boxes, and for no more time.

        The circles of sums and products are no boxes: they are seen as part of the stream.
        """
        measure = self._measure
        circles = sum(measure.is_round(item) for item in self._list_closed())
        if self._count_boxes() - circles > most:
            return 0.0
        if self._trials >= MOST_TRIALS or time.monotonic() > self._end:
            return 0.0
        self._trials += 1
        step()
        return self.zoom(in_columns=in_columns)

    def open_ideas(self) -> None:
        """Open what a shown repetition, or what is beside the picture, is about.

        That is the block in it whose closed box can only list its parts. It is opened where the
        whole remains as readable as it has to be for a stack.
        """
        refused: set[tuple[str, ...]] = set()
        while True:
            candidates: dict[tuple[object, ...], list[Item]] = {}
            for item in self._list_closed():
                outer = self._find_frame(item)
                if outer is None or not item.openable or is_recursive(item):
                    continue
                if is_shut_idea(item.element, outer.element):
                    candidates.setdefault((id(outer), *sibling_key(item)), []).append(item)
            tried = [items for items in candidates.values() if _keys(items) not in refused]
            if not tried:
                return
            chosen = max(tried, key=lambda items: sum(map(count_held_nodes, items)))
            refused.add(_keys(chosen))
            is_open = self._open_idea(chosen) or (len(chosen) > 1 and self._open_idea(chosen[:1]))
            if not is_open and len(self.insets) == 1 and not self.count_ideas():
                self._draw_idea(chosen[0])

    def _draw_idea(self, item: Item) -> None:
        """Draw a block in an inset beside that, where it has too many boxes to be open in it."""
        inset = open_inset(self._view_of(item), item)
        first = self.insets[0].item
        is_inside = self._find_frame(item) is first and first.repeat is not None
        if not is_inside or not shows_work(inset.item):
            return
        if self._count_in(inset.item) <= _MOST_IN_IDEA:
            is_added = self._add_inset(inset, least=_LEAST_ZOOM_WITH_IDEA)
            if is_added and max(self.size) > _MOST_ASPECT * min(self.size):
                self.insets.pop()

    def _open_idea(self, items: list[Item]) -> bool:
        """Open some blocks that are alike; return whether there is room, and they are worth it."""
        outer = self._find_frame(items[0])
        assert outer is not None  # noqa: S101 - it was found before
        is_first = items[0].parent is outer and len(items) == 1
        least = _LEAST_ZOOM_WITH_IDEA if is_first else _LEAST_ZOOM_WITH_TWO
        for item in items:
            self._open_item(item)
        if (
            self._count_in(outer) <= _MOST_IN_FRAME
            and all(shows_enough(item) and shows_work(item) for item in items)
            and self._try_zoom(_MOST_WITH_INSETS, in_columns=False) >= least
        ):
            return True
        for item in items:
            self._view_of(item).close_item(item)
        return False

    def count_ideas(self) -> int:
        """Return how many blocks are open inside of what is shown of stacks."""
        frames = [item for item in self._view.open_items() if item.repeat is not None]
        frames += [inset.item for inset in self.insets]
        keys = {
            item.key
            for frame in frames
            for item in list_opened(frame)
            if is_shut_idea(item.element) and is_in_stack(item) and item.repeat is None
        }
        return len(keys)

    def _find_frame(self, item: Item) -> Item | None:
        """Return the shown repetition, or what is drawn beside the picture, around an item."""
        insets = [inset.item for inset in self.insets]
        outer = item.parent
        while outer is not None and outer.repeat is None and outer not in insets:
            outer = outer.parent
        return outer

    def _count_in(self, item: Item) -> int:
        """Return how many boxes an open item shows, circles left out."""
        closed = [one for one in list_closed(item) if one.kind != "stub"]
        return sum(not self._measure.is_round(one) for one in closed)

    def open_within(self, limit: Limit) -> None:
        """Open what can be opened within a limit, the heaviest first."""
        boxes = self._count_boxes()
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
                self._open_item(item)
            found = self._count_boxes()
            if (
                found <= limit.boxes
                and (limit.is_last or all(self._shows_enough(item, limit) for item in chosen))
                and not any(map(shows_arrangement, chosen))
                and self.zoom(in_columns=limit.in_columns) >= limit.zoom
            ):
                boxes = found
            else:
                for item in chosen:
                    self._view_of(item).close_item(item)

    def _shows_enough(self, item: Item, limit: Limit) -> bool:
        is_list = not limit.with_lists and shows_a_list(self._view_of(item), item)
        return shows_enough(item) and not is_list

    def zoom(self, *, in_columns: bool = True) -> float:
        """Return the zoom at which the window shows all, cut into columns or not."""
        left = max(self._end - time.monotonic(), 0.0)
        try:
            scene = compose_with_insets(
                self._composer, self._view, self.insets, self._measure, self._direction, left
            )
            composed = self._composer.recall(self._view)
            self._shows_levels = composed is not None and composed.arranged.assembly.is_exact
            self.shows_lanes_beside = any(map(self._is_lanes, self.insets))
        finally:  # what comes next is another picture, no change of this
            for view in self._views():
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

    def _views(self) -> Iterator[View]:
        yield self._view
        for inset in self.insets:
            yield inset.view

    def _view_of(self, item: Item) -> View:
        """Return the view whose item it is."""
        outer = item
        while outer.parent is not None:
            outer = outer.parent
        return next(view for view in self._views() if view.root is outer)

    def _open_item(self, item: Item) -> None:
        """Open an item, and with it the one block around which it is little more than a frame."""
        view = self._view_of(item)
        inner: Item | None = item
        while inner is not None:
            view.open_item(inner)
            shown = list_shown(inner.children)
            core: object = find_core([child.element for child in shown])
            if core is None and len(shown) <= _MOST_AROUND_IDEA:
                ideas = [one.element for one in shown if is_shut_idea(one.element, inner.element)]
                core = ideas[0] if len(ideas) == 1 else None
            inner = next((child for child in shown if child.element is core), None)
            if inner is not None and inner.repeat and self._keeps_stacks_closed(view):
                return

    def _keeps_stacks_closed(self, view: View) -> bool:
        """Return whether stacks stay closed in a view: one is open beside the picture."""
        return self._has_insets and view is self._view

    def _list_closed(self) -> Iterator[Item]:
        """Yield the closed boxes of the picture and of what is beside it."""
        yield from list_closed(self._view.root)
        for inset in self.insets:
            yield from list_closed(inset.item)

    def _count_boxes(self) -> int:
        """Return how many boxes a person sees: what is closed, stubs left out."""
        return sum(item.kind != "stub" for item in self._list_closed())

    def _list_candidates(self, limit: Limit) -> list[list[Item]]:
        """Return the groups that may be opened, alike ones as one; what shows most kinds first.

        Of those that show as many new kinds of block or operator the heaviest is first.
        """
        alike: dict[tuple[object, ...], list[Item]] = {}
        shown: Counter[str] = Counter()
        kept_closed = {inset.item.key for inset in self.insets} | self._closed
        if kept_closed:  # one stack beside the picture, and all closed in it
            closed = list_closed(self._view.root)
            kept_closed |= {item.key for item in closed if item.repeat is not None}
        for item in self._list_closed():
            shown.update(list_kinds(item.element))
            if item.key in kept_closed and self._view_of(item) is self._view:
                continue
            if self._shows_levels and not limit.in_blocks and self._view_of(item) is self._view:
                continue  # what is open between levels pulls them apart
            if may_open(item, limit):
                alike.setdefault(_peers_key(item), []).append(item)
        ranked: list[tuple[int, int, int, list[Item]]] = []
        beside = {find_kind(tell_block(inset.item.element)) for inset in self.insets} - {""}
        opened = {find_kind(item.element) for v in self._views() for item in v.open_items()} - {""}
        siblings = Counter(map(_siblings_key, self._list_closed()))
        for items in alike.values():
            if are_seen_closed(items, shown) or any(find_kind(i.element) in beside for i in items):
                continue  # of one kind all are open or none
            if any(item.repeat and find_kind(item.element) in opened for item in items):
                continue  # one of them is open
            own = Counter(map(_siblings_key, items))
            if not limit.with_lists and any(siblings[key] > own[key] for key in own):
                continue  # the same of what is called alike beside each other
            new = count_new_kinds(items, shown)
            if new or any(map(holds_repeat, items)) or limit.with_lists:
                ranked.append((-new, -sum(map(count_held_nodes, items)), len(ranked), items))
        return [items for *_, items in sorted(ranked)]


def _count_own(group: Group) -> int:
    """Return how many nodes a group has besides those that prepare for others."""
    return group.node_count - sum(g.node_count for g in group.inner_groups() if g.is_beside)


def _tell_order(group: Group) -> int:
    """Return how early something is drawn beside a picture: ideas before what has a name."""
    is_repeat = group.kind == "repeat"
    if is_shut_idea(group):
        return 0 if is_repeat else 1
    if not is_repeat:
        return 3
    return 4 if is_boilerplate(group) else 2


def _peers_key(item: Item) -> tuple[object, ...]:
    """Return what items have in common that are opened together, or none of them.

    Those are called and typed alike, or stand in one group and hold stacks of the same blocks, as
    an encoder and its decoder may.
    """
    if isinstance(item.element, Group) and item.repeat is None:
        stack = next(find_hidden_stacks(item, item.element), None)
        kind = find_kind(stack.group) if stack is not None else ""
        if kind:
            return item.depth, id(item.parent), kind
    return item.depth, *sibling_key(item)


def _siblings_key(item: Item) -> tuple[object, ...]:
    """Return what items have in common that stand beside each other and are called alike."""
    return item.repeat is not None, id(item.parent), *sibling_key(item)


def _keys(items: list[Item]) -> tuple[str, ...]:
    return tuple(item.key for item in items)


def list_opened(root: Item) -> Iterator[Item]:
    """Yield an open item, and the open ones inside of it."""
    pending = [root]
    while pending:
        item = pending.pop()
        yield item
        pending += [child for child in item.children if child.is_open]


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
