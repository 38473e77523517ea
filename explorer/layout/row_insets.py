"""One block of a long row of like blocks, drawn open: papers print it beside the row.

Blocks of one kind that have other widths each are no stack, so that none of them is open: sixteen
boxes of the same words tell how wide they are, and not what is in them. So it is in M. Tan and
Q. Le, EfficientNet, 2019, table 1, whose block is the figure of M. Sandler and others, MobileNetV2,
2018, figure 4.
"""

from __future__ import annotations

from netloupe.explorer.grouping import Group
from netloupe.explorer.patterns import WORK
from netloupe.explorer.view import Item, is_recursive, nodes_inside

from .first_view_search import Search
from .idea_insets import draw_alone
from .opening_worth import is_worth_a_frame
from .shown_items import list_closed
from .untold import UntoldBlock, tell_parts

#: so many blocks are a row, and have this share of the model
_LEAST_IN_ROW, _MOST_OF_MODEL = 3, 0.5
#: so many of a kind are tried, those that have most first
_MOST_TRIED = 2
#: groups of more nodes are stages, and no blocks
_MOST_NODES = 400


def show_one_of_row(search: Search) -> None:
    """Draw one of the blocks open that are most of a model, where no block is open yet."""
    if search.insets or search.shows_stack() or search.shows_levels():
        return
    row = _find_row(search)
    kinds = {_tell_kind(way[-1]) for _, way in row}
    if any(_tell_kind(item.element) in kinds for item in search.list_open()):
        return
    share = sum(way[0].share for _, way in row)
    if share < _MOST_OF_MODEL:
        return
    row.sort(key=lambda one: _count_kinds(one[1][-1]), reverse=True)
    for item, way in row[:_MOST_TRIED]:
        if draw_alone(search, UntoldBlock(item, way, share, tell_parts(way[-1]), 1.0)):
            return


def _find_row(search: Search) -> list[tuple[Item, tuple[Group, ...]]]:
    """Return the closed blocks of the kind that has most nodes; none where these are few.

    They stand each in a box of its own, or several in one that holds nothing else.
    """
    kinds: dict[str, list[tuple[Item, tuple[Group, ...]]]] = {}
    for item in list_closed(search.view.root):
        group = item.element
        if (
            isinstance(group, Group)
            and item.openable
            and item.repeat is None
            and not is_recursive(item)
            and (way := _find_block(group))
            and way[-1].node_count <= _MOST_NODES
            and is_worth_a_frame(way[-1])
        ):
            kinds.setdefault(_tell_kind(way[-1]), []).append((item, way))
    row = max(kinds.values(), key=_count_nodes, default=[])
    return row if sum(_count_blocks(way[0]) for _, way in row) >= _LEAST_IN_ROW else []


def _count_blocks(group: Group) -> int:
    """Return how many blocks a closed box holds that holds nothing else."""
    return sum(one.times for one in group.contents if one.rank >= WORK)


def _find_block(group: Group) -> tuple[Group, ...]:
    """Return the way to a block that is all of a closed box, or one of several that are.

    That is the second of several: the first often makes what comes in smaller.
    """
    kind = _tell_kind(group)
    if kind:
        return (group,)
    contents = [one for one in group.contents if one.rank >= WORK]
    if len({one.name for one in contents}) != 1:
        return ()
    blocks = [one for one in group.inner_groups() if _tell_kind(one) == contents[0].name]
    is_all = len(blocks) == sum(one.times for one in contents)
    return (group, blocks[1]) if is_all and len(blocks) > 1 else ()


def _tell_kind(element: object) -> str:
    """Return the name of the one block that a group is, with a norm or activation before it."""
    contents = element.contents if isinstance(element, Group) else ()
    working = [one for one in contents if one.rank >= WORK]
    return working[0].name if len(working) == 1 and working[0].times == 1 else ""


def _count_nodes(row: list[tuple[Item, tuple[Group, ...]]]) -> int:
    return sum(way[0].node_count for _, way in row)


def _count_kinds(group: Group) -> int:
    """Return how many kinds of operator compute in a block: the one with most tells of all."""
    return len({node.op_type for node in nodes_inside(group) if node.operator.family != "shape"})
