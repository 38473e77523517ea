"""The search for the groups that a first view opens: trials, and when each is taken back."""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Node
from netloupe.explorer.options import Direction
from netloupe.explorer.patterns import Recognition
from netloupe.explorer.progress import step
from netloupe.explorer.roles import find_roles
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
from .opening_worth import (
    find_core,
    find_recognition,
    is_called_after_parts,
    is_told_by_face,
    list_kinds,
    list_kinds_inside,
    list_shown,
    shows_a_list,
    shows_enough,
)
from .plan import Measure
from .scene import Scene
from .stacks import (
    HiddenBlock,
    are_alike,
    are_side_by_side,
    find_hidden_ideas,
    find_hidden_stacks,
    is_boilerplate,
    is_in_stack,
)


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
    with_lists
        Whether also what shows a few operations one behind another is opened, or nothing new.
    is_last
        Whether a frame may be around a single box.
    """

    below: int
    boxes: int
    zoom: float
    only_stacks: bool = False
    in_columns: bool = False
    in_blocks: bool = False
    with_lists: bool = False
    is_last: bool = False


#: as many boxes as a figure has at most
_MOST_BOXES = 26
#: and as many a picture in two parts
_MOST_WITH_INSETS = 30
#: as many may there be for nodes that matter more than others
_MOST_EMPHASISED = 40
#: tried one after the other for a stack: one repetition tells most of a model, so that its
#: picture may be smaller than the rest has to be
STACK_ZOOMS = (0.65, 0.55)
#: so many stacks are tried, the largest first
_MOST_STACKS = 4
#: so many stacks at most are drawn beside it, one at each side; the second is no smaller than
#: this share of the first
_MOST_INSETS = 2
#: blocks without a name are drawn beside it where they have so many nodes, and this share of those
#: of a block of the largest stack; so many are tried
_LEAST_IDEA, _SHARE_OF_BLOCK, _MOST_IDEAS = 8, 0.5, 3
_AS_LARGE = 0.3
#: for all else, one after the other: a picture of few boxes says too little
LIMITS = (
    Limit(1_000_000, _MOST_BOXES, 0.85, only_stacks=True, in_columns=True),
    Limit(1_000_000, _MOST_BOXES, 0.85),
    Limit(9, 30, 0.65, in_blocks=True),
    Limit(6, 30, 0.5, in_blocks=True, with_lists=True),
    Limit(5, 60, 0.2, in_blocks=True, with_lists=True),
    Limit(3, 400, 0.0, in_blocks=True, with_lists=True, is_last=True),
)
#: families of blocks that say nothing more when they are open
_DETAILS = frozenset(("activation", "normalization"))
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
        self._is_u = False
        #: whether towers side by side are open, with their stacks closed
        self.shows_towers = False

    @property
    def is_special(self) -> bool:
        """Whether some nodes matter more than others."""
        return self._emphasis.is_special

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

    def shows_u(self) -> bool:
        """Return whether the picture is an encoder and a decoder with skips, as a U."""
        self.zoom()
        return self._is_u

    def open_stack(self, zooms_tried: Sequence[float] = STACK_ZOOMS) -> None:
        """Open one repetition of the largest stack for which there is room, and its ancestors.

        There is room where all fits at one of some zooms, tried one after the other.
        """
        stacks = self._list_stacks()
        choices = [[stack] for stack in stacks]
        alike = [stack for stack in stacks if are_alike(stack, stacks[0])]
        if len(alike) > 1:
            choices.insert(0, alike)
        zooms: list[float] = []
        for least in zooms_tried:
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

    def open_insets(self) -> bool:
        """Draw what a model is about beside the picture; return whether there is room for any.

        That is one repetition of the largest stack and, at the other side, a stack of other
        blocks, or a block that has no name in the field. The latter comes first where the stack is
        of blocks that every convolutional network has. Where no stack has room, what holds one is
        drawn beside the picture.
        """
        self._has_insets = True
        stacks = self._list_stacks()
        ideas = self._list_ideas(stacks)
        chosen = [*stacks, *ideas]
        if stacks and is_boilerplate(stacks[0].group):
            chosen = [*ideas, *stacks]
        for stack in chosen:
            if len(self.insets) == _MOST_INSETS:
                break
            if not self.insets or _is_another(stack.group, self.insets[0].item.element):
                self._open_inset(stack, [s for s in stacks if s != stack and are_alike(s, stack)])
        for stack in stacks:
            if not self.insets and len(stack.way) > 1:
                self._open_inset(stack._replace(way=stack.way[:-1]))
        self._has_insets = bool(self.insets)
        return self._has_insets

    def _list_ideas(self, stacks: list[HiddenBlock]) -> list[HiddenBlock]:
        """Return the blocks without a name that are as large as half a block of a stack."""
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
        return heapq.nlargest(_MOST_IDEAS, found, key=lambda stack: stack.group.node_count)

    def _open_inset(self, stack: HiddenBlock, alike: Sequence[HiddenBlock] = ()) -> None:
        """Open what is around a stack, and a repetition beside the picture, if there is room.

        What is around stacks that are alike is opened too: one tower open and the other closed
        would say that they differ.
        """
        opened = self._open_ways([one._replace(way=one.way[:-1]) for one in (stack, *alike)])
        item = stack.item
        for group in stack.way[1:]:
            item = next(child for child in item.children if child.element is group)
        self.insets.append(open_inset(self._view, item))
        self._open_item(self.insets[-1].item)
        inset = self.insets[-1]
        if (
            shows_a_list(inset.view, inset.item)
            or self._try_zoom(_MOST_WITH_INSETS) < STACK_ZOOMS[0]
        ):
            self.insets.pop()
            for outer in reversed(opened):
                self._view.close_item(outer)
            return
        for outer in opened:
            self._open_alike(outer)

    def _open_alike(self, item: Item) -> None:
        """Open what is like an open item, if there is room for all."""
        alike = [
            other
            for other in list_closed(self._view.root)
            if other.openable
            and other.depth == item.depth
            and sibling_key(other) == sibling_key(item)
            and _holds_repeat(other)
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
        names = {_find_kind(inset.item.element) for inset in self.insets}
        keys = {inset.item.key for inset in self.insets}
        return any(
            item.repeat is not None and item.key not in keys and _find_kind(item.element) in names
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
        if self._try_zoom(_MOST_BOXES) >= STACK_ZOOMS[0]:
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
            found.sort(key=_tell_rank)
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

    def _try_zoom(self, most: int) -> float:
        """Return the zoom at which the window shows all; 0 for more boxes, and for no more time."""
        if self._count_boxes() > most:
            return 0.0
        if self._trials >= MOST_TRIALS or time.monotonic() > self._end:
            return 0.0
        self._trials += 1
        step()
        return self.zoom()

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
                and not any(map(_shows_arrangement, chosen))
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
            self._is_u = composed is not None and composed.plan.level.u is not None
        finally:  # what comes next is another picture, no change of this
            for view in self._views():
                self._composer.forget(view)
        if len(scene.zooms) < len(self.insets):
            return 0.0
        return self._zoom_of(scene, in_columns and not self.insets)

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
            core = find_core([child.element for child in shown])
            if core is not None and core.kind == "repeat" and self._keeps_stacks_closed(view):
                return
            inner = next((child for child in shown if child.element is core), None)

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
        kept_closed = {inset.item.key for inset in self.insets}
        if kept_closed:  # one stack beside the picture, and all closed in it
            closed = list_closed(self._view.root)
            kept_closed |= {item.key for item in closed if item.repeat is not None}
        for item in self._list_closed():
            shown.update(list_kinds(item.element))
            if item.key in kept_closed and self._view_of(item) is self._view:
                continue
            if _may_open(item, limit):
                alike.setdefault((item.depth, *sibling_key(item)), []).append(item)
        ranked: list[tuple[int, int, int, list[Item]]] = []
        for items in alike.values():
            if _are_seen_closed(items, shown):
                continue  # of one kind all are open or none
            new = _count_new_kinds(items, shown)
            if new or any(map(_holds_repeat, items)) or limit.with_lists:
                ranked.append((-new, -sum(map(count_held_nodes, items)), len(ranked), items))
        return [items for *_, items in sorted(ranked)]


def _find_kind(element: object) -> str:
    """Return what a block or the blocks of a stack are, or else the author's type; "" for none."""
    recognition = find_recognition(element)
    if recognition is not None:
        return recognition.name
    return element.type_name if isinstance(element, Group) else ""


def _are_seen_closed(items: list[Item], shown: Counter[str]) -> bool:
    """Return whether blocks of the kind of some recognised ones are also closed elsewhere."""
    names = Counter(
        recognition.name
        for item in items
        if (recognition := _recognise(item.element)) is not None and not item.repeat
    )
    return any(shown[name] > count for name, count in names.items())


def _recognise(element: object) -> Recognition | None:
    """Return what something is, where that is one thing with a name."""
    recognition = find_recognition(element)
    return None if recognition is None or recognition.family == "group" else recognition


def _tell_rank(stack: HiddenBlock) -> int:
    """Return how much a stack is of what every network has: least is most worth to be seen."""
    if is_boilerplate(stack.group):
        return 2
    return int(any(map(_is_known, stack.way)))


def _count_new_kinds(items: list[Item], shown: Counter[str]) -> int:
    """Return how many kinds of box are seen where some are opened, and nowhere else.

    ``shown`` are those of all closed boxes, these among them.
    """
    found: set[str] = set()
    for item in items:
        inside = list_kinds_inside(item)
        if inside is None:
            return 1
        found |= inside
    return sum(not shown[kind] for kind in found)


def _is_another(stack: Group, first: object) -> bool:
    """Return whether a stack is worth to be seen beside another one.

    It is of nearly the size of the first, shows boxes of other kinds, and not what every network
    has.
    """
    assert isinstance(first, Group)  # noqa: S101 - insets are of groups
    if is_boilerplate(stack):
        return False
    size, other = (_block_of(group).node_count for group in (stack, first))
    if size < _AS_LARGE * other:
        return False
    kinds, others = (
        frozenset().union(*map(list_kinds, _block_of(group).children)) for group in (stack, first)
    )
    return kinds != others


def _block_of(group: Group) -> Group:
    """Return one repetition of a repeat, and any other group itself."""
    block = group.children[group.exemplar] if group.kind == "repeat" else group
    return block if isinstance(block, Group) else group


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
    if is_told_by_face(item.element) and not (
        limit.with_lists and is_called_after_parts(item.element)
    ):
        return False
    if limit.only_stacks and not _holds_repeat(item):
        return False
    return limit.in_blocks or not (is_in_stack(item) or _is_known(item.element))


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
    return _recognise(element) is not None


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
