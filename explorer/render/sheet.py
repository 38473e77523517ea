"""The sheet that a picture is drawn on: a page, or as large as the picture; title and legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from netloupe.explorer.options import Background, PageName

from .key import Key
from .legend import Entry, Legend, Placed
from .marks import TextMark
from .sizes import TEXT_STYLES
from .text import clean_label, measure_text, shorten_text
from .theme import Theme

#: the least size of text on a page, in points
LEAST_TEXT = 6.0
_SMALLEST = min(size for size, _ in TEXT_STYLES.values())
#: points per pixel at which the smallest text is as small as it may be on a page
LEAST_SCALE = LEAST_TEXT / _SMALLEST

#: size of the title, and that it is bold
_TITLE = (17.0, True)
_TITLE_ABOVE = 12.0
_TITLE_ROW = 23.0
_TITLE_BASELINE = 17.0
_MOST_TITLE_ROWS = 5
#: a picture without a page is made so much wider at most for its title
_MOST_TITLE_WIDTH = 320.0
#: around title and legend
_MARGIN = 16.0


class Paper(NamedTuple):
    """A kind of page.

    Parameters
    ----------
    width, height
        Size in points (1/72 in).
    margin
        What stays free at each side, in points.
    scale
        Points per pixel of a picture at most.
    dpi
        Pixels of a PNG per inch.
    is_cut
        Whether it ends where the picture does.
    """

    width: float
    height: float
    margin: float
    scale: float = 0.75
    dpi: int = 200
    is_cut: bool = False

    @property
    def room(self) -> tuple[float, float]:
        """Width and height inside of the margins, in points."""
        return self.width - 2 * self.margin, self.height - 2 * self.margin


_MM = 72 / 25.4
PAPERS: dict[PageName, Paper] = {
    "a4": Paper(210 * _MM, 297 * _MM, 36),
    "letter": Paper(612, 792, 36),
    "slide": Paper(960, 540, 30, 1.5, 144),
    "column": Paper(252, 684, 0, dpi=300, is_cut=True),
}


@dataclass(frozen=True)
class Sheet:
    """Where a picture stands on what it is drawn on.

    Parameters
    ----------
    width, height
        Size in the picture's pixels.
    left, top
        Where the picture's corner is.
    scale
        Points (without a paper: pixels) per pixel of the picture.
    paper
        The page; None where it is as large as the picture.
    marks
        Title and legend.
    ratios
        What stands in the left margin of the picture.
    background
        The ground, as the option says.
    """

    width: float
    height: float
    left: float = 0.0
    top: float = 0.0
    scale: float = 1.0
    paper: Paper | None = None
    marks: tuple[Placed, ...] = ()
    ratios: tuple[Placed, ...] = ()
    background: Background = "theme"

    @property
    def text_size(self) -> float:
        """Size of the smallest text, in points."""
        return _SMALLEST * self.scale


class SheetMaker:
    """Puts a picture, its title and its legend on a sheet.

    Parameters
    ----------
    page
        The name of the page, or ``none``.
    scale
        How large the picture is drawn; on a page at most.
    title
        "" for none.
    entries
        What the legend explains; none for no legend.
    theme
        The colours.
    hues
        What is said in one line where there is no legend.
    """

    def __init__(
        self,
        page: PageName,
        scale: float,
        title: str,
        entries: Sequence[Entry],
        theme: Theme,
        hues: Sequence[str] = (),
    ) -> None:
        self.paper = PAPERS.get(page)
        self.scale = scale
        self.theme = theme
        self._title = clean_label(title.strip())
        self._legend: Legend | Key = Legend(entries) if entries else Key(hues)

    @property
    def most_scale(self) -> float:
        """Points per pixel at most."""
        return self.scale * (self.paper.scale if self.paper is not None else 1.0)

    def _above(self, width: float) -> float:
        """Return the height of the title in a width."""
        return _TITLE_ABOVE + _TITLE_ROW * len(self._break_title(width)) if self._title else 0.0

    def _below(self, width: float) -> float:
        """Return the height of the legend in a width."""
        return self._legend.height(width) + _MARGIN if self._legend.entries else 0.0

    def _break_title(self, width: float) -> list[str]:
        """Return the title in lines of a width, five at most."""
        lines = [""]
        for word in self._title.split():
            longer = f"{lines[-1]} {word}".strip()
            if measure_text(longer, *_TITLE) <= width or not lines[-1]:
                lines[-1] = longer
            elif len(lines) < _MOST_TITLE_ROWS:
                lines.append(word)
            else:
                lines[-1] = longer  # too long, and so shortened
        return [shorten_text(line, max(width, 0.0), *_TITLE, "start") for line in lines if line]

    def find_scale(self, size: tuple[float, float]) -> float:
        """Return the scale at which a picture of a size fits the page, with what is around it."""
        if self.paper is None:
            return self.most_scale
        return self._find_largest(size, self.paper.room, self.most_scale)

    def find_zoom(self, size: tuple[float, float], room: tuple[float, float]) -> float:
        """Return the zoom, at most 1, at which a picture of a size fits a room with all around it.

        Without a page the sheet is as wide as the picture, on one title and legend are as wide
        as the page.
        """
        if self.paper is not None:
            return self._find_largest(size, room, 1.0)
        sheet = self.make(size)
        return min(room[0] / max(sheet.width, 1.0), room[1] / max(sheet.height, 1.0), 1.0)

    def _find_largest(
        self, size: tuple[float, float], room: tuple[float, float], most: float
    ) -> float:
        width, height = room
        low, high = 0.0, most
        if self._fits(size, width / high, height / high):
            return high
        for _ in range(40):
            middle = (low + high) / 2
            if self._fits(size, width / middle, height / middle):
                low = middle
            else:
                high = middle
        return low

    def _fits(self, size: tuple[float, float], width: float, height: float) -> bool:
        inner = width - 2 * _MARGIN
        if size[0] > width or self._least_width() > width:
            return False
        return self._above(inner) + size[1] + self._below(inner) <= height

    def _least_width(self) -> float:
        """Return the width that title and legend need."""
        title = min(measure_text(self._title, *_TITLE), _MOST_TITLE_WIDTH) if self._title else 0.0
        widest = max(title, self._legend.least_width)
        return widest + 2 * _MARGIN if widest else 0.0

    def make(self, size: tuple[float, float]) -> Sheet:
        """Return the sheet for a picture of a size."""
        scale, paper = self.find_scale(size), self.paper
        margin = paper.margin / scale if paper is not None else 0.0
        width = max(size[0], self._least_width()) if paper is None else paper.width / scale
        inner = width - 2 * margin - 2 * _MARGIN
        above, below = self._above(inner), self._below(inner)
        height = 2 * margin + above + size[1] + below
        top = margin + above
        if paper is not None and not paper.is_cut:
            is_slide = paper.width > paper.height
            top += (paper.height / scale - height) / 2 if is_slide else 0.0
            height = paper.height / scale
        left = margin + _MARGIN
        marks: list[Placed] = []
        for row, line in enumerate(self._break_title(inner)):
            y = margin + _TITLE_ABOVE + _TITLE_ROW * row + _TITLE_BASELINE
            marks.append((left, y, TextMark(0, 0, line, *_TITLE, self.theme.ink)))
        foot = height - margin - below
        for x, y, mark in self._legend.place(inner, self.theme):
            marks.append((left + x, foot + y, mark))
        return Sheet(width, height, (width - size[0]) / 2, top, scale, paper, tuple(marks))
