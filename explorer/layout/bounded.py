"""A cache that forgets what was used longest ago when it holds too much."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Entry = TypeVar("Entry")


class BoundedCache(Generic[Entry]):
    """Entries by key, up to a total weight.

    Parameters
    ----------
    most
        The weight, in whatever unit :meth:`put` is given, that is kept at most.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.weight = 0
        self._entries: OrderedDict[Hashable, tuple[Entry, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable) -> Entry | None:
        """Return an entry and note that it was used; None where there is none."""
        found = self._entries.get(key)
        if found is None:
            return None
        self._entries.move_to_end(key)
        return found[0]

    def put(self, key: Hashable, entry: Entry, weight: int) -> None:
        """Keep an entry; what was used longest ago goes where it gets too heavy."""
        old = self._entries.pop(key, None)
        if old is not None:
            self.weight -= old[1]
        self._entries[key] = entry, weight
        self.weight += weight
        while self.weight > self.most and len(self._entries) > 1:
            _, (_, gone) = self._entries.popitem(last=False)
            self.weight -= gone

    def drop(self, key: Hashable) -> None:
        """Forget an entry, if there is one."""
        _, weight = self._entries.pop(key, (None, 0))
        self.weight -= weight
