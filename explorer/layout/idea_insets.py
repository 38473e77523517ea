"""Insets for what a picture leaves untold: what no closed box tells is drawn open beside it.

It is the last step of a first view, and follows one measure (:mod:`.untold`): what leaves most
untold is drawn first, as long as the page has room. Where it has none, what a name in the field
tells as well is closed for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

from netloupe.explorer.grouping import Group
from netloupe.explorer.view import Item, sibling_key

from .first_view_search import LEAST_ZOOM_WITH_TWO, MOST_WITH_INSETS, Search
from .hidden_blocks import only_looks_up
from .idea_opening import open_ideas
from .inset_scene import Inset, open_inset
from .opening_limits import MOST_BOXES
from .opening_worth import list_kinds, list_shown, shows_enough, stands_in_row
from .shown_items import count_boxes, list_closed, list_opened
from .shut_ideas import shows_work
from .stacks import tell_block
from .telling import is_ordinary
from .untold import UntoldBlock, list_untold, rate_face, tell_parts

#: so many blocks are tried, and so many insets are drawn at most
_MOST_TRIED, _MOST_INSETS = 6, 2
#: of so many boxes each
_LEAST_IN_INSET, _MOST_IN_INSET = 4, MOST_BOXES
#: and where nothing else is open
_LEAST_ALONE = 3
#: of which so many may be around what it is drawn for
_MOST_AROUND = 4
#: and so many of those that are made alike
_MOST_ALIKE = 2
#: a picture of more boxes than a figure has takes one of so many, where it remains as large
_MOST_BESIDE_MANY = 10
#: all fits so where a block leaves much untold
_LEAST_ZOOM, _MUCH = 0.78, 0.1
#: what leaves so much of a model untold may make so many boxes, and the picture so small; it is
#: still smaller where nothing else is open, and it has few boxes or the picture is small without it
_MOST_OF_MODEL, _MOST_BOXES, _LEAST_ZOOM_OF_MOST = 0.3, 38, 0.72
_MUCH_OF_TELLING = 0.2
_LEAST_ZOOM_ALONE, _SMALLER_ALONE = 0.64, 0.78
_LEAST_ZOOM_OF_FEW, _FEW = 0.56, 16
#: an open group of more of all nodes is no block
_MOST_OF_BLOCK = 0.5
#: a block is seen for itself where so much of it is new
_NEW = 0.6
#: a picture that is smaller may become so much smaller still
_AS_LARGE = 0.97
#: and so much longer than wide, or wider than long; with what leaves most of a model untold so much
_MOST_ASPECT, _MOST_ASPECT_OF_MOST = 2.4, 2.8
#: what leaves so much untold takes the room of what is told
_TAKES_ROOM = 0.15


def show_untold(search: Search) -> None:
    """Draw beside the picture what it leaves untold, as far as there is room."""
    refused: Counter[object] = Counter()
    is_told_ordinary = cache(is_ordinary)
    for _ in range(_MOST_TRIED):
        shows_telling = _shows_telling(search)
        shown = {
            tell_parts(item.element)
            for item in search.list_open()
            if isinstance(item.element, Group) and not is_frame_of_one(item)
        }
        block = next(
            (
                block
                for block in list_untold(
                    search.view.model, list(search.list_closed()), list_open_blocks(search)
                )
                if not refused[block.group]
                and refused[block.made_of] < _MOST_ALIKE
                and block.made_of not in shown
                and not only_looks_up(block.group)
                and not (
                    shows_telling
                    and is_told_ordinary(block.group)
                    and not (block.untold >= _MOST_OF_MODEL and _is_beside_open(block.item))
                )
                and not _is_drawn(search, block)
            ),
            None,
        )
        if block is None:
            return
        refused.update((block.group, block.made_of))
        if _is_beside_open(block.item) and _open_in_place(search, block):
            continue
        if shows_telling and is_told_ordinary(block.group):
            continue
        if _draw(search, block) or _draw_instead(search, block) or _open_alone(search, block):
            open_ideas(search)


def is_frame_of_one(item: Item) -> bool:
    """Return whether an open item is a frame around what is closed in it and has all its parts."""
    parts = tell_parts(tell_block(item.element))
    return any(
        isinstance(child.element, Group)
        and not child.is_open
        and tell_parts(child.element) == parts
        for child in item.children
    )


def _shows_telling(search: Search) -> bool:
    """Return whether a block is drawn that no ordinary network has: others leave it the room."""
    return any(not is_ordinary(inset.item.element) for inset in search.insets)


def list_open_blocks(search: Search) -> list[Item]:
    """Return the open blocks: what holds most of the model is no block of it."""
    most = _MOST_OF_BLOCK * len(search.view.graph.nodes)
    return [
        item
        for item in search.list_open()
        if isinstance(item.element, Group)
        and (item.repeat is not None or item.element.node_count <= most)
    ]


def _is_drawn(search: Search, block: UntoldBlock) -> bool:
    """Return whether a block, or what is around it or in it, is beside the picture."""
    if search.view_of(block.item) is not search.view:
        return any(inset.item.element is block.group for inset in search.insets)
    for inset in search.insets:
        outer: Item | None = inset.item
        while outer is not None:
            if outer.element is block.group:
                return True
            outer = outer.parent
        if inset.item.element in block.way:
            return True
    return False


def _draw(search: Search, block: UntoldBlock) -> bool:
    """Draw a block beside the picture; return whether there is room, and it is worth it.

    It is drawn with all of the closed box that it is in where there is little around it.
    """
    if len(search.insets) == _MOST_INSETS:
        return False
    insets = _list_beside(search, block)
    if not insets or not _tells_more(search, block, insets[-1]):
        return False
    return any(_try_inset(search, block, inset) for inset in insets)


def _try_inset(
    search: Search, block: UntoldBlock, inset: Inset, fewest: int = _LEAST_IN_INSET
) -> bool:
    """Draw one inset of a block; return whether there is room."""
    zoom = search.zoom()
    is_most = _is_most(search, block)
    most_aspect = max(_MOST_ASPECT_OF_MOST if is_most else _MOST_ASPECT, _tell_aspect(search))
    least, most = _tell_limits(search, block)
    boxes = _count(search, list_closed(inset.item))
    if not fewest <= boxes <= _MOST_IN_INSET:
        return False
    if boxes <= _FEW and _is_alone(search, block):
        least = _LEAST_ZOOM_OF_FEW
    least = min(least, _AS_LARGE * zoom)
    shown = _count(search, search.list_closed()) + boxes
    if shown > most:  # it may be in what is empty of the page
        if boxes > _MOST_BESIDE_MANY:
            return False
        least = _AS_LARGE * zoom
    if not search.add_inset(inset, shown, least):
        return False
    if _tell_aspect(search) <= most_aspect:
        return True
    search.insets.pop()
    return False


def _tell_limits(search: Search, block: UntoldBlock) -> tuple[float, int]:
    """Return the least zoom and the most boxes of a picture with a block beside it."""
    if not _is_most(search, block):
        is_new = _is_new(block)
        most = _MOST_BOXES if is_new else MOST_WITH_INSETS
        return _LEAST_ZOOM if is_new or block.untold >= _MUCH else LEAST_ZOOM_WITH_TWO, most
    if not _is_alone(search, block):
        return _LEAST_ZOOM_OF_MOST, _MOST_BOXES
    return min(_LEAST_ZOOM_ALONE, _SMALLER_ALONE * search.zoom(in_columns=False)), _MOST_BOXES


def _is_alone(search: Search, block: UntoldBlock) -> bool:
    """Return whether a block is most of a model, and nothing of that is open yet."""
    return _is_most(search, block) and _shows_none(search)


def _is_most(search: Search, block: UntoldBlock) -> bool:
    """Return whether a block leaves most of a model untold.

    Where nothing is open, much is enough of what no ordinary network has.
    """
    is_telling = _shows_none(search) and not is_ordinary(block.group)
    return block.untold >= (_MUCH_OF_TELLING if is_telling else _MOST_OF_MODEL)


def _shows_none(search: Search) -> bool:
    return not (search.insets or search.shows_stack())


def _is_new(block: UntoldBlock) -> bool:
    """Return whether a block joins parts of several kinds that no open block shows."""
    return block.novelty >= _NEW and len({*block.made_of}) > 1


def _tells_more(search: Search, block: UntoldBlock, inset: Inset) -> bool:
    """Return whether what is open in an inset says more than its closed box and the picture."""
    item = inset.item
    held = {sibling_key(one) for one in list_shown(item.children)}
    if any(held <= {sibling_key(one) for one in other.children} for other in search.list_open()):
        return False
    shown = frozenset().union(*(list_kinds(one.element) for one in search.list_closed()))
    kinds = frozenset().union(*(list_kinds(one.element) for one in list_closed(item)))
    return (
        (block.untold >= _TAKES_ROOM or _is_new(block) or not kinds <= shown)
        and not stands_in_row(inset.view, item)
        and shows_work(item)
        and shows_enough(item)
    )


def _count(search: Search, items: Iterable[Item]) -> int:
    """Return how many boxes some items are, stubs and circles left out."""
    return count_boxes(one for one in items if not search.measure.is_round(one))


def _tell_aspect(search: Search) -> float:
    width, height = search.size
    return max(width, height) / max(min(width, height), 1.0)


def _list_beside(search: Search, block: UntoldBlock) -> list[Inset]:
    """Return a block open in a view of its own, at last, and before with all of its box.

    Nothing where the view shows it otherwise.
    """
    item, way = block.item, block.way[1:]
    try:
        alone = open_inset(search.view_of(item), item, way)
    except StopIteration:
        return []
    if not way or any(group.kind == "repeat" for group in block.way):
        return [alone]
    whole = open_inset(search.view_of(item), item)
    inner = whole.item
    for group in way:
        inner = next(child for child in inner.children if child.element is group)
        whole.view.open_item(inner)
    around = _count(search, list_closed(whole.item)) - _count(search, list_closed(alone.item))
    return [whole, alone] if around <= _MOST_AROUND else [alone]


def _draw_instead(search: Search, block: UntoldBlock) -> bool:
    """Draw a block beside the picture in the room of what a name tells as well."""
    if block.untold < _TAKES_ROOM:
        return False
    insets = [*search.insets]
    for number in range(len(insets) - 1, -1, -1):
        around = insets[number].item
        if not _is_told(around) or any(_is_in(one.item, around) for one in insets[number + 1 :]):
            continue
        search.insets[:] = insets[:number] + insets[number + 1 :]
        if _draw(search, block):
            return True
        search.insets[:] = insets
    state = search.view.open_state()
    for item in list(_list_told(search.view.root)):
        if _is_in(block.item, item):
            continue
        search.view.close_item(item)
        if _draw(search, block):
            return True
        search.view.reopen(state)
    return False


def draw_alone(search: Search, block: UntoldBlock) -> bool:
    """Draw a block beside a picture that shows none, or in its place; return whether it is drawn.

    It is taken for what all of its kind are, so that what is around it makes no difference.
    """
    inset = open_inset(search.view, block.item, block.way[1:])
    is_sum = not shows_work(inset.item)
    if is_sum:  # around one body, whose layers are what the block is
        bodies = [one for one in list_shown(inset.item.children) if list_kinds(one.element)]
        if len(bodies) != 1 or not bodies[0].openable or bodies[0].repeat is not None:
            return False
        inset.view.open_item(bodies[0])
    if _try_inset(search, block, inset, _LEAST_ALONE):
        return True
    return not is_sum and _open_alone(search, block)


def _is_beside_open(item: Item) -> bool:
    """Return whether a group beside a closed one is open, which says that they differ."""
    around = item.parent
    return around is not None and any(
        other.is_open and other.repeat is None and isinstance(other.element, Group)
        for other in around.children
    )


def _open_in_place(search: Search, block: UntoldBlock) -> bool:
    """Open a block in its place, as what stands beside it is; return whether there is room.

    So are those that are called alike, or none.
    """
    if block.untold < _MUCH or search.shows_levels():
        return False
    view, before = search.view, search.view.open_state()
    if search.view_of(block.item) is not view or block.item.repeat is not None:
        return False
    zoom, aspect = search.zoom(in_columns=False), _tell_aspect(search)
    for item in _list_alike(block):
        search.open_item(item)
    least, most = _tell_limits(search, block)
    if (
        _count(search, search.list_closed()) <= most
        and shows_work(block.item)
        and shows_enough(block.item)
        and search.begin_trial()
        and search.zoom(in_columns=False) >= min(least, _AS_LARGE * zoom)
        and _tell_aspect(search) <= max(_MOST_ASPECT, aspect)
    ):
        return True
    view.close_all()
    view.reopen(before)
    return False


def _list_alike(block: UntoldBlock) -> list[Item]:
    """Return the item of a block, and of those beside it that are closed and called alike."""
    around = block.item.parent
    beside = around.children if around is not None else ()
    alike = [
        item
        for item in beside
        if item is not block.item
        and isinstance(item.element, Group)
        and item.openable
        and not item.is_open
        and sibling_key(item) == sibling_key(block.item)
    ]
    return [block.item, *alike]


def _open_alone(search: Search, block: UntoldBlock) -> bool:
    """Open a block in its place where nothing is open yet; return whether there is room.

    A picture of many boxes is in columns, and has no place beside it. The levels of a U count
    more than what is open between them.
    """
    if block.untold < _MOST_OF_MODEL or search.insets or search.shows_stack():
        return False
    if search.shows_levels():
        return False
    view, before = search.view, search.view.open_state()
    item, boxes = block.item, search.count_boxes()
    for group in block.way:
        if item.element is not group:
            item = next(child for child in item.children if child.element is group)
        search.open_item(item)
    if (
        search.count_boxes() - boxes <= _MOST_BESIDE_MANY
        and shows_work(item)
        and shows_enough(item)
        and search.begin_trial()
        and search.zoom() >= _LEAST_ZOOM_ALONE
    ):
        return True
    view.close_all()
    view.reopen(before)
    return False


def _is_in(item: Item, around: Item) -> bool:
    outer: Item | None = item
    while outer is not None and outer.key != around.key:
        outer = outer.parent
    return outer is not None


def _list_told(root: Item) -> Iterator[Item]:
    """Yield the outermost open items that a name in the field, or a chain, tells as well."""
    for item in root.children:
        if item.is_open and isinstance(item.element, Group):
            if _is_told(item):
                yield item
            else:
                yield from _list_told(item)


def _is_told(item: Item) -> bool:
    """Return whether the closed box of an open item, and of all in it, would say what it shows."""
    return not any(
        rate_face(one.element, one.parent.element if one.parent is not None else None)
        for one in list_opened(item)
    )
