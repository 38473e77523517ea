"""Every item that a view can open, opened once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from netloupe.explorer.progress import step
from netloupe.explorer.view import Item, View
from netloupe.explorer.view.expand import count_least, is_recursive

from .level_block import WrittenLevel
from .limits import Limits


class OpenedItem(NamedTuple):
    """An item that is open now, in one of the states that it can be opened in.

    Parameters
    ----------
    item
        The item; its children are closed.
    state
        Of a repeat which repetition is shown, -1 for all; 0 for all else.
    """

    item: Item
    state: int


def list_opened_items(
    view: View,
    limits: Limits,
    left_closed: set[str] | None = None,
    copy: Callable[[Item, int], list[WrittenLevel]] | None = None,
) -> Iterator[OpenedItem]:
    """Open every item of a view that can be opened, one after the other, and close it again.

    A repeat is opened with each of its repetitions and with all. What stands in several places
    under one key is opened in the first of them: it is the same everywhere.

    Parameters
    ----------
    view
        A view with everything closed; afterwards it is as before.
    limits
        Nothing more is opened once so many items were, or so many boxes were inside of them.
    left_closed
        Gets the keys of what these leave closed, whatever their depth.
    copy
        Called with each open item and its state. Returns the levels of it and of all inside, if
        these were written already: then nothing in it is opened.
    """
    seen: set[str] = set()
    left_closed = set() if left_closed is None else left_closed
    levels = boxes = listed = 0
    # what is opened next, and what is closed once all inside it has been
    pending: list[tuple[Item, int | None]] = [(view.root, 0)]
    while pending:
        item, state = pending.pop()
        if state is None:
            view.close_item(item)
            continue
        inside = 0 if item is view.root else _count_inside(item)
        in_terminals = listed + inside if item.is_terminal else _count_border(item)
        if item is not view.root and (
            levels >= limits.levels or boxes + inside > limits.boxes or in_terminals > limits.listed
        ):
            left_closed.add(item.key)
            continue
        step()
        _open(view, item, state)
        if item is not view.root:
            if boxes + len(item.children) > limits.boxes:  # more than could be told before
                left_closed.add(item.key)
                view.close_item(item)
                continue
            pending.append((item, None))
        copied = [] if copy is None else copy(item, state)
        if copied:
            levels += len(copied)
            boxes += sum(level.box_count for level in copied)
            seen.update(key for level in copied for key, _ in level.openable)
            continue
        levels += 1
        boxes += len(item.children)
        listed += len(item.children) if item.is_terminal else 0
        yield OpenedItem(item, state)
        for child in reversed(item.children):
            if not child.openable or child.key in seen or is_recursive(child):
                continue
            if limits.depth is not None and child.depth > limits.depth:
                continue
            count = 0 if child.repeat is None else len(child.repeat.children)
            if count and (levels + count >= limits.levels or count > limits.repetitions):
                left_closed.add(child.key)
                continue
            seen.add(child.key)
            pending += [(child, state) for state in reversed(list_states(child))]
    view.close_all()


def _count_inside(item: Item) -> int:
    """Return how many boxes opening an item shows at least."""
    if item.is_terminal:
        return sum(map(len, item.merged.values()))
    return count_least(item)


def _count_border(item: Item) -> int:
    """Return how many values an item takes and gives."""
    return sum(len(item.ports_by_value(ports)) for ports in (item.inputs, item.outputs))


def list_states(item: Item) -> list[int]:
    """Return the states that an item can be opened in: see :class:`OpenedItem`."""
    return [0] if item.repeat is None else [*range(len(item.repeat.children)), -1]


def _open(view: View, item: Item, state: int) -> None:
    if item is view.root:
        return
    if item.repeat is None:
        view.open_item(item)
    elif state < 0:
        view.unroll(item.key)
    else:
        view.show_repetition(item.key, state)
