"""What a ladder shows, before anything is drawn: its rows, and the links between them."""

from __future__ import annotations

from dataclasses import dataclass

from netloupe.explorer.compare import Diff
from netloupe.explorer.progress import step

from .account import Account, Tone
from .cells import LadderRow, RungLink
from .folding import fold_rows
from .links import list_rung_links
from .rows import make_ladder_rows


@dataclass(eq=False, slots=True)
class Ladder:
    """What a ladder shows: its rows from top to bottom, and the links between their boxes.

    Parameters
    ----------
    rows
        The rows; those that are open hold others.
    links
        The links, also between boxes of different rows.
    tones
        By number of an entry how what it is about is painted; what is equal or only written
        otherwise has no mark and is left out.
    has_general
        Whether something is told of a model as a whole, and not of a place in it.
    """

    rows: list[LadderRow]
    links: list[RungLink]
    tones: dict[int, Tone]
    has_general: bool = False


def build_ladder(found: Diff, most: int) -> Ladder:
    """Return the rows and links of a ladder.

    Parameters
    ----------
    found
        What differs between two models.
    most
        So many rows are shown; more are told in one.
    """
    step("pairing blocks")
    account = Account(found)
    rows = fold_rows(make_ladder_rows(account), most)
    has_general = bool(account.around["model"])
    return Ladder(rows, [*list_rung_links(rows, account)], account.tones, has_general)
