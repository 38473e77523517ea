"""Inferring the shapes that a file leaves out, beside the kernel's own work."""

from __future__ import annotations

import logging
from collections.abc import Callable

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.inference import infer_shapes, lacks_types, note_problem
from netloupe.explorer.model import Model
from netloupe.explorer.progress import Cancelled

from .background import Background


class Inferring:
    """Infers the types that a model does not state; says nothing where that is not possible.

    What keeps it from it stands beside the types that are not known.

    Parameters
    ----------
    on_done
        Called from a thread with the model when more, or the reason for no more, is known.
    log
        Gets what nobody expects.
    """

    def __init__(self, model: Model, on_done: Callable[[Model], None], log: logging.Logger) -> None:
        self._model = model
        self._on_done = on_done
        self._log = log
        self._is_started = False
        self._working = Background(self._work, lambda _share: None)

    def start(self) -> None:
        """Start, once; called when the browser has its first picture."""
        if not self._is_started:
            self._is_started = True
            self._working.start()

    def wait(self, seconds: float) -> bool:
        """Wait until it is over; return whether it is."""
        return self._working.wait(seconds)

    def close(self) -> None:
        """End it, and the process that it waits for."""
        self._working.cancel()

    def _work(self) -> None:
        model = self._model
        if not model.can_infer_shapes or not lacks_types(model):
            return
        note_problem(model, "the file states none; shapes are being inferred")
        try:
            infer_shapes(model)
        except Cancelled:
            note_problem(model, "")
            raise
        except NetloupeError as error:
            note_problem(model, f"the file states none. {_strip(error, model)}")
        except Exception as error:
            note_problem(model, "the file states none, and inferring shapes failed")
            self._log.exception("inferring shapes failed", exc_info=error)
        self._on_done(model)


def _strip(error: NetloupeError, model: Model) -> str:
    """Return a message without the name of the file, as the beginning of a sentence."""
    text = str(error).removeprefix(f"{model.source}: ")
    return text[:1].upper() + text[1:]
