"""Which boxes of a view are seen: closed ones, with the open ones around them."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.view import Item, View


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


def list_keys(items: list[Item]) -> tuple[str, ...]:
    """Return what tells some items from others."""
    return tuple(item.key for item in items)
