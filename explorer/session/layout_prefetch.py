"""Laying out in advance what is likely to be opened next."""

from __future__ import annotations

import time
from collections.abc import Callable

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.layout import Composer, LayoutEngine, SceneLevel
from netloupe.explorer.progress import Cancelled, watched
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.view import Item, View

#: so many closed groups are laid out in advance, for so many seconds in all
MOST_PREFETCHED = 12
_PREPARE_SECONDS = 3.0


def prefetch_layouts(
    composer: Composer,
    view: View,
    root: SceneLevel,
    labels: Labels,
    engine: LayoutEngine,
    is_wanted: Callable[[], bool],
) -> None:
    """Lay out the insides of groups that are closed in a scene, largest groups first.

    Parameters
    ----------
    composer
        Keeps the layouts until they are asked for.
    view, root
        What is shown, and the outermost level of its scene.
    labels
        The sizes of boxes and labels.
    engine
        Does it.
    is_wanted
        Asked all the time; False ends it.
    """

    def check(_what: str, _share: float | None) -> None:
        if not is_wanted():
            raise Cancelled

    end = time.monotonic() + _PREPARE_SECONDS
    for item in _list_likely(root):
        left = end - time.monotonic()
        if left <= 0 or not is_wanted():
            return
        try:
            with watched(check):
                composer.prepare(view, item, labels, engine, deadline=left)
        except (NetloupeError, Cancelled):
            return


def _list_likely(root: SceneLevel) -> list[Item]:
    """Return closed items of a scene that have an inside, those of most nodes first."""
    sizes: dict[str, int] = {}
    likely: list[tuple[int, Item]] = []
    pending = [root]
    while pending and len(likely) < 20 * MOST_PREFETCHED:
        level = pending.pop()
        pending.extend(level.inner.values())
        for number, child in enumerate(level.children):
            # a list of inputs is laid out in no time
            if child.openable and not child.is_open and not child.is_terminal:
                size = getattr(child.element, "node_count", 1)
                # of boxes alike the first stands for all: their layouts are the same
                size_key = f"{level.inside.boxes[number][2:]} {size}"
                if sizes.setdefault(size_key, number) == number:
                    likely.append((size, child))
    likely.sort(key=lambda pair: -pair[0])
    return [item for _, item in likely[:MOST_PREFETCHED]]
