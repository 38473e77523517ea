"""The way down to an element: which child of an open item is it, or holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloupe.explorer.grouping import Group

from .item import Item
from .targets import find_child, find_first_user, find_hidden, find_target, is_below

if TYPE_CHECKING:
    from .view import View


def find_child_on_path(
    view: View, item: Item, path: str, *, is_shown: bool
) -> tuple[Item | None, bool]:
    """Return the child of an open item that is or holds what is at a path, and which of both.

    The second part is True where the child is the end of the way: it is the element itself, or
    stands for it as a node does for its constants and results. So an open repeat stands for its
    repetitions.

    Parameters
    ----------
    view
        The view of the item.
    item
        An open item.
    path
        The path of an element.
    is_shown
        Whether what is drawn now is looked for. Else what keeps the element from being shown is
        changed: a repeat shows the repetition that holds it, and shape arithmetic is shown.
    """
    body = item.body
    if body is None or not path.startswith(body.prefix):
        return None, False
    for child in item.children:
        if child.stands_for(path):
            # an open box of several inputs has a box for each inside
            return child, not (child.is_terminal and child.is_open) or path == child.key
        if child.kind == "branch" and is_below(path, child.path):
            return child, False
    borders = view.borders(body.graph)
    local = body.graph.path + path[len(body.prefix) :]
    target, exact = find_target(view.model, borders, local)
    if target is None:
        return None, False
    folded = find_hidden(borders, target)
    if folded is not None and not is_shown:
        borders.set_hidden([folded], False)
        view.rebuild()
        item = view.items[item.key]
    elif folded is not None:
        target, exact = find_first_user(borders, folded), False
        if target is None:
            return item, True
    if item.repetition is not None and (item.repeat is not target):
        low = target.low if isinstance(target, Group) else borders.tree.position_of(target)
        repeat = item.repeat
        assert repeat is not None  # noqa: S101 - it has a repetition
        index = borders.repetitions(repeat).find(low)
        if index < 0:
            return None, False
        if index != item.shown:
            if is_shown:
                return item, True
            view.show_repeat(item, is_unrolled=False, shown=index)
        if isinstance(target, Group) and target is item.repetition:
            return item, True
    holder = find_child(item, borders.tree, target)
    return holder, exact and holder is not None and holder.element is target
