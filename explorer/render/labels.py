"""What is written on boxes and beside edges, and how much room it takes."""

from __future__ import annotations

from typing import Any

from netloupe.explorer.costs.bodies import count_trips
from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.layout import Title
from netloupe.explorer.model import Node
from netloupe.explorer.options import Details, Direction
from netloupe.explorer.view import Item

from .box import MARGIN
from .face import Face
from .faces import FaceBook
from .frames import CONTINUED, EACH_TURN, SHARED, measure_title
from .shares import Shares
from .sizes import TEXT_STYLES
from .text import measure_text, shorten_text

_LABEL_STYLE = TEXT_STYLES["label"]
_LABEL_WIDTH = 190.0
#: so many values are named that a loop carries
_MOST_CARRIED = 4


class Labels:
    """The faces of boxes and the labels of edges, as the layout needs them.

    Parameters
    ----------
    details, direction
        What stands on the boxes of nodes, and where the picture runs, as the options say.
    shares
        Draws bars on boxes; None for no bars.
    is_narrow
        Whether boxes are to be narrow rather than low: facts do not stand beside titles.
    has_controls
        Whether there is a sign on what can be opened.
    """

    def __init__(
        self,
        details: Details = "facts",
        direction: Direction = "TB",
        shares: Shares | None = None,
        *,
        is_narrow: bool = False,
        has_controls: bool = True,
    ) -> None:
        self.shares = shares
        self.faces = FaceBook(details, direction, is_narrow=is_narrow, has_controls=has_controls)
        self._labels: dict[str, tuple[str, float]] = {}
        style = TEXT_STYLES["title-muted"]
        self.continued_width = measure_text(f" {CONTINUED}", *style) + 2 * MARGIN

    def size(self, item: Any) -> tuple[float, float]:
        """Return the size of an item's face."""
        face = self.faces.face(item)
        return face.width, face.height

    def title(self, item: Any) -> Title:
        """Return the room that the title of an open item takes."""
        return measure_title(self.faces.face(item))

    def draw(self, item: Item) -> Face:
        """Return all that is drawn on an item's box, its share of the model included."""
        face = self.faces.face(item)
        return face if self.shares is None else self.shares.draw(item, face)

    def is_round(self, item: Any) -> bool:
        """Return whether an item's face is a circle."""
        return self.faces.face(item).outline == "junction"

    def label(self, text: str) -> tuple[str, float]:
        """Return a text as it stands beside an edge, and its width in pixels."""
        label = self._labels.get(text)
        if label is None:
            shown = shorten_text(text, _LABEL_WIDTH, *_LABEL_STYLE)
            label = self._labels[text] = (shown, measure_text(shown, *_LABEL_STYLE))
        return label

    def count_label(self, count: int) -> tuple[str, float]:
        """Return how many values an edge stands for, and the width of the text in pixels."""
        return self.label(f"×{count:,}")

    def loop_labels(self, item: Item) -> tuple[tuple[str, float], ...]:
        """Return the lines over the back edge of an open loop, each with its width in pixels.

        Nothing for a node that runs a graph where it can be closed again: a page without a kernel
        lays out its picture anew, and knows no way back.
        """
        repeat = item.repeat
        if repeat is None and self.faces.has_controls:
            return ()
        shared = "" if repeat is None else f"×{len(repeat.children):,}, {SHARED}"
        times = shared or _tell_trips(item.element)
        names = item.carried.loop
        more = len(names) - _MOST_CARRIED
        carried = ", ".join(names[:_MOST_CARRIED]) + (f" and {more} more" if more > 0 else "")
        return tuple(
            (text, measure_text(text, *TEXT_STYLES[style]))
            for text, style in ((f"carries {carried}" if carried else "", "text"), (times, "name"))
        )


def _tell_trips(element: object) -> str:
    """Return how often a node runs its graph."""
    if not isinstance(element, Node):
        return EACH_TURN
    count = count_trips(element, find_value_facts(element.graph.model))
    return EACH_TURN if count is None else f"×{count:,}"
