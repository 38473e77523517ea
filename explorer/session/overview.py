"""What an inspector says of the model itself, while nothing is selected."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from netloupe.explorer.describe import (
    Description,
    describe_contents,
    describe_model,
    describe_outline,
)
from netloupe.explorer.model import Model

from .background import Background

#: with more nodes and weights, all of them are looked at in the background
_MOST_AT_ONCE = 10_000


class ShowsDescriptions(Protocol):
    """Shows one description at a time."""

    #: held by whoever changes what is shown
    lock: threading.RLock

    def show(self, description: Description) -> None:
        """Show a description in place of the last one."""

    def renew(self, description: Description) -> None:
        """Show what more is known of what is shown."""


class Overview:
    """Describes a model: at once what is in it, of a large one in outline, and then in full.

    What the model is as a whole, and of a large one what all weights are looked at for, is found in
    the background.

    Parameters
    ----------
    inspector
        Shows it.
    is_wanted
        Tells whether the inspector still has nothing else to show.
    """

    def __init__(
        self, model: Model, inspector: ShowsDescriptions, is_wanted: Callable[[], bool]
    ) -> None:
        self.model = model
        self._inspector = inspector
        self._is_wanted = is_wanted
        count = sum(len(graph.nodes) + len(graph.initializers) for graph in model.graphs)
        self._is_whole = count <= _MOST_AT_ONCE
        self._description: Description | None = None
        self._is_started = False
        self._is_read = threading.Event()
        self._reading = Background(self._read, lambda _share: None)

    def show(self) -> None:
        """Show what is known of the model so far."""
        if self._description is None:
            self._description = self._describe_at_once()
        self._inspector.show(self._description)

    def renew(self) -> None:
        """Show what more is known of the model, as far as it is read."""
        is_read = self._is_read.is_set()
        self._description = describe_model(self.model) if is_read else self._describe_at_once()
        self._inspector.renew(self._description)

    def _describe_at_once(self) -> Description:
        return describe_contents(self.model) if self._is_whole else describe_outline(self.model)

    def read(self) -> None:
        """Find the rest, and show it if it is still wanted; only once."""
        if not self._is_started:
            self._is_started = True
            self._reading.start()

    def wait(self, seconds: float) -> bool:
        """Wait until all is read and shown; return whether it is."""
        return self._is_read.wait(seconds)

    def close(self) -> None:
        """Read no further."""
        self._reading.cancel()

    def _read(self) -> None:
        if self._description is None and self._is_wanted():
            self.show()
        self._description = describe_model(self.model)
        with self._inspector.lock:
            if self._is_wanted():
                self.show()
        self._is_read.set()
