"""A model that pages show: read in a thread of its own, while pages are loaded already."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from netloupe.explorer.progress import Cancelled, watched

if TYPE_CHECKING:
    from netloupe.explorer.model import Model
    from netloupe.explorer.overlays import Overlay

#: steps that follow one another more quickly are not told
_EVERY_SECONDS = 0.1


class ReadyModel(NamedTuple):
    """A model, and what its boxes can be coloured by."""

    model: Model
    overlays: Sequence[Overlay] = ()


class Step(NamedTuple):
    """What is being done, and the share of it that is done, from 0 to 1; None where unknown."""

    what: str
    share: float | None


class ServedModel:
    """A model that pages show once it is read.

    Parameters
    ----------
    name
        What pages call it.
    read
        Reads it; called once, in a thread of its own.
    explain
        Returns what is said of an error of reading.
    files
        Of which it is read: addresses of pages tell it from others by them. Its name where there
        are none.
    is_sent
        Whether a page has sent it: where it is kept tells its user nothing.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[], ReadyModel],
        explain: Callable[[Exception], str] = str,
        files: Sequence[str | Path] = (),
        *,
        is_sent: bool = False,
    ) -> None:
        self.name = name
        #: the absolute path of its file; "" where that has none that its user knows
        self.place = str(Path(files[0]).absolute()) if files and not is_sent else ""
        #: what addresses of its pages begin with; the same however often its files are written
        self.mark = _make_mark([str(Path(file).absolute()) for file in files] or [name])
        self._explain = explain
        self._read = read
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], None]] = []
        self._is_begun = self._is_given_up = False
        self.step = Step("starting", None)
        self._told_at = 0.0
        self.loaded: ReadyModel | None = None
        #: why it cannot be shown
        self.failure: Exception | None = None

    @classmethod
    def of(cls, model: Model, overlays: Sequence[Overlay] = ()) -> ServedModel:
        """Return one of a model that is read already."""
        loaded = ReadyModel(model, overlays)
        name = Path(model.source).name or model.source
        served = cls(name, lambda: loaded, files=(model.source,))
        served.loaded = loaded
        served._is_begun = True
        return served

    @property
    def is_settled(self) -> bool:
        """Whether it is known what can be shown."""
        return self.loaded is not None or self.failure is not None

    def explain(self) -> str:
        """Return why it cannot be shown; "" where it can."""
        return "" if self.failure is None else self._explain(self.failure)

    def begin(self) -> None:
        """Begin to read it, where nobody has yet."""
        with self._lock:
            if self._is_begun:
                return
            self._is_begun = True
        threading.Thread(target=self._work, name="netloupe-reading", daemon=True).start()

    def give_up(self) -> None:
        """Read on no further; nobody waits for it."""
        self._is_given_up = True

    def follow(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call something when there is a new step and when it is settled, from any thread.

        Returns
        -------
        Callable
            Ends that.
        """
        with self._lock:
            self._listeners.append(changed)

        def stop() -> None:
            with self._lock:
                if changed in self._listeners:
                    self._listeners.remove(changed)

        return stop

    def _work(self) -> None:
        try:
            with watched(self._look):
                loaded = self._read()
                from . import exploration  # noqa: F401 - what shows it, read where nobody waits
        except Cancelled:
            return
        except Exception as error:
            self.failure = error
        else:
            self.loaded = loaded
        self._tell()

    def _look(self, what: str, share: float | None) -> None:
        if self._is_given_up:
            raise Cancelled
        now = time.monotonic()
        self.step = Step(what or self.step.what, share)
        if now >= self._told_at + _EVERY_SECONDS:
            self._told_at = now
            self._tell()

    def _tell(self) -> None:
        with self._lock:
            listeners = [*self._listeners]
        for changed in listeners:
            changed()


def _make_mark(texts: Sequence[str]) -> str:
    """Return eight digits for some texts; of other texts others."""
    whole = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(whole).hexdigest()[:8]
