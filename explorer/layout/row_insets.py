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
    kinds = {_tell_kind(group) for _, group in row}
    if any(_tell_kind(item.element) in kinds for item in search.list_open()):
        return
    share = sum(group.share for _, group in row)
    if share < _MOST_OF_MODEL:
        return
    row.sort(key=lambda one: _count_kinds(one[1]), reverse=True)
    for item, group in row[:_MOST_TRIED]:
        if draw_alone(search, UntoldBlock(item, (group,), share, tell_parts(group), 1.0)):
            return


def _find_row(search: Search) -> list[tuple[Item, Group]]:
    """Return the closed blocks of the kind that has most nodes; none where these are few."""
    kinds: dict[str, list[tuple[Item, Group]]] = {}
    for item in list_closed(search.view.root):
        group = item.element
        if (
            isinstance(group, Group)
            and item.openable
            and item.repeat is None
            and not is_recursive(item)
            and group.node_count <= _MOST_NODES
            and (kind := _tell_kind(group))
            and is_worth_a_frame(group)
        ):
            kinds.setdefault(kind, []).append((item, group))
    row = max(kinds.values(), key=_count_nodes, default=[])
    return row if len(row) >= _LEAST_IN_ROW else []


def _tell_kind(element: object) -> str:
    """Return the name of the one block that a group is, with a norm or activation before it."""
    contents = element.contents if isinstance(element, Group) else ()
    working = [one for one in contents if one.rank >= WORK]
    return working[0].name if len(working) == 1 and working[0].times == 1 else ""


def _count_nodes(row: list[tuple[Item, Group]]) -> int:
    return sum(group.node_count for _, group in row)


def _count_kinds(group: Group) -> int:
    """Return how many kinds of operator compute in a block: the one with most tells of all."""
    return len({node.op_type for node in nodes_inside(group) if node.operator.family != "shape"})
