"""What a composer remembers of the open items that it has laid out."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

from netloupe.explorer.options import Direction, Wrap
from netloupe.explorer.view import View

from .assembly import Assembly
from .layout_stability import PieceHistory
from .level import Level
from .placement import Floats
from .plan import Plan
from .scene import Inside, SceneLevel


@dataclass(frozen=True, slots=True, eq=False)
class Arranged:
    """An inside and how it came about; shared by items that look alike.

    Parameters
    ----------
    inside
        Where everything is.
    level
        What was placed.
    assembly
        The pieces that it was put together from.
    is_mirrored
        Whether the pieces are those of the level with left and right exchanged.
    framed, lines
        The same with the back edge of a loop, and the centres of what is written over that.
    labels
        Places of labels that were found, by what is open and written.
    """

    inside: Inside
    level: Level
    assembly: Assembly
    framed: Inside
    lines: Floats
    is_mirrored: bool = False
    labels: dict[Hashable, Floats] = field(default_factory=dict)


class Composed(NamedTuple):
    """An open item as it was laid out.

    Parameters
    ----------
    level
        What is shown of it.
    revision
        That of the item when the level was made.
    plan
        What was laid out, by which the next level of the item is found with little work.
    arranged
        The level's inside, and how it came about.
    history
        What the item looked like before; None where it has not changed since it was opened.
    inner
        Those of its children that are open, by their number.
    """

    level: SceneLevel
    revision: int
    plan: Plan
    arranged: Arranged
    history: PieceHistory | None
    inner: dict[int, Composed]


class Shown:
    """What was last laid out of a view."""

    def __init__(self, view: View, direction: Direction, wrap: Wrap) -> None:
        self.view = view
        self.direction: Direction = direction
        self.wrap = wrap
        self.root: Composed | None = None
