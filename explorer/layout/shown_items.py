"""Which boxes of a view are seen: closed ones, with the open ones around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from netloupe.explorer.view import Item

#: of more inputs and outputs only so many count
_MOST_ENDS = 8


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


def count_boxes(items: Iterable[Item]) -> int:
    """Return how many boxes a person looks at: stubs are none, and of many ends few count.

    Names of inputs and outputs stand in rows, and are read as such.
    """
    boxes = ends = 0
    for item in items:
        boxes += item.kind != "stub" and not item.is_terminal
        ends += item.is_terminal
    return boxes + min(ends, _MOST_ENDS)


def list_keys(items: list[Item]) -> tuple[str, ...]:
    """Return what tells some items from others."""
    return tuple(item.key for item in items)
