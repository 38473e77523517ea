"""What the inspector of a page asks of the model behind it, wherever the page is shown."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from itertools import count
from typing import Any

from netloupe.explorer.describe import Description
from netloupe.explorer.errors import NetloupeError, NotFoundError
from netloupe.explorer.model import SparseTensor, Tensor, Value
from netloupe.explorer.page.description_html import write_description
from netloupe.explorer.progress import Cancelled, watched
from netloupe.explorer.session import Views
from netloupe.explorer.session.lookup import describe_selected

from .weight_statistics import write_weight

#: takes ``{"answer": {"id": …, …}}`` or ``{"renew": True}``, and buffers, to the page
Tell = Callable[[Mapping[str, Any], Sequence[bytes]], None]


class Inspecting:
    """Answers what an inspector asks, one question after the other, in a thread of its own.

    It is told of the model itself, as :class:`~netloupe.explorer.session.overview.Overview` tells
    whoever shows descriptions.

    Parameters
    ----------
    views
        The model and its views.
    looking
        Returns what is entered to look at views, which nobody changes meanwhile.
    tell
        Takes an answer to the page, and that more is known; called from any thread.
    log
        Where failures are written that are ours.
    """

    def __init__(
        self,
        views: Views,
        looking: Callable[[], AbstractContextManager[object]],
        tell: Tell,
        log: logging.Logger,
    ) -> None:
        #: held by whoever tells of the model
        self.lock = threading.RLock()
        self._views = views
        self._looking = looking
        self._tell = tell
        self._log = log
        self._of_model: Description | None = None
        #: by the numbers that descriptions give them, each of which is given once only: a page
        #: knows by it whether a weight is still the one that it shows
        self._weights: dict[int, tuple[Tensor | SparseTensor, Value | None]] = {}
        self._numbers = count()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="netloupe-inspector")
        #: of the weight that was asked for last
        self._wanted_weight: Any = None

    def close(self) -> None:
        """Give up what is under way."""
        self._wanted_weight = None
        self._pool.shutdown(wait=False, cancel_futures=True)

    def receive(self, asked: Mapping[str, Any]) -> bool:
        """Take a question, which is answered later; return whether it is one."""
        match asked:
            case {"describe": str() | [str(), *_] as paths, "id": int(number)}:
                self._wanted_weight = None  # what is told now comes first
                given = [paths] if isinstance(paths, str) else [*map(str, paths)]
                self._pool.submit(self._describe, number, given)
            case {"weight": int(weight), "id": int(number)}:
                self._wanted_weight = number
                self._pool.submit(self._weigh, number, weight)
            case _:
                return False
        return True

    # what is told of the model

    def show(self, description: Description) -> None:
        """Take what is said of the model."""
        if description != self._of_model:
            self._of_model = description
            self.tell_more()

    def renew(self, description: Description) -> None:
        """Take what more is known of the model."""
        self.show(description)

    def tell_more(self) -> None:
        """Let the page ask again for what it shows, of which more is known."""
        self._tell({"renew": True}, ())

    def forget(self) -> None:
        """Forget weights of a model that is no longer shown."""
        self._weights = {}

    # answers

    def _describe(self, number: int, paths: Sequence[str]) -> None:
        try:
            described = self._of_model
            if described is None or [*paths] != [""]:
                with self._looking():
                    described = describe_selected(self._views.model, self._views.current, paths)
            weight = None
            if described.tensor is not None:
                weight = self._number(described.tensor, described.value)
            html = write_description(described, weight)
        except NetloupeError as error:
            self._answer(number, error=str(error))
        except Exception as error:
            self._log.exception("describing %r failed", paths[0])
            self._answer(number, error=f"internal error: {error}")
        else:
            self._answer(number, html=html)

    def _number(self, tensor: Tensor | SparseTensor, value: Value | None) -> int:
        for number, (known, of) in self._weights.items():
            if known is tensor and of is value:
                return number
        number = next(self._numbers)
        self._weights[number] = (tensor, value)
        return number

    def _weigh(self, number: int, weight: int) -> None:
        """Read a weight; it is given up where another is asked for meanwhile."""

        def look(_what: str, _share: float | None) -> None:
            if self._wanted_weight != number:
                raise Cancelled

        try:
            wanted = self._weights.get(weight)
            if wanted is None:
                raise NotFoundError(f"There is no weight {weight}.")
            with watched(look):
                look("", None)
                block = write_weight(*wanted)
        except Cancelled:
            self._answer(number, error="Reading the weight was given up for another one.")
        except (NetloupeError, OSError, ValueError) as error:
            self._answer(number, error=str(error))
        except MemoryError:
            self._answer(number, error="There is not enough memory to read these elements.")
        except Exception as error:
            self._log.exception("reading a weight failed")
            self._answer(number, error=f"internal error: {error}")
        else:
            self._tell({"answer": {"id": number}}, [block])

    def _answer(self, number: int, **content: str) -> None:
        self._tell({"answer": {"id": number, **content}}, ())
