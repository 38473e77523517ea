"""A ladder as marks: plain arithmetic in rows, each box where its line is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from netloupe.explorer.describe.file_text import write_line
from netloupe.explorer.notation import write_count
from netloupe.explorer.render.legend import Placed
from netloupe.explorer.render.marks import (
    CircleMark,
    CurveMark,
    Mark,
    MarkedPiece,
    RectMark,
    TextMark,
)
from netloupe.explorer.render.rows import RANGE
from netloupe.explorer.render.text import clean_label, measure_text, shorten_text
from netloupe.explorer.render.theme import Theme

from .account import Tone
from .cells import Cell, LadderRow, RungLink
from .content import Ladder
from .listing import FACT_SIZE, SMALL_SIZE, write_tag
from .signs import SIGN_REACH, draw_sign, find_colours

#: left ends and width of both columns
COLUMNS, COLUMN_WIDTH = (556.0, 856.0), 204.0
_HEIGHT, _INNER_HEIGHT = 26.0, 22.0
_GAP, _INNER_GAP = 16.0, 6.0
_CARDS = ((8.0, -8.0), (4.0, -4.0))
_RISE = 8.0
_HEADER, _FOOT = 28.0, 10.0
_INSET, _PADDING = 10.0, 10.0
_RADIUS, _FRAME_RADIUS = 6.0, 10.0
_BORDER, _CARD_BORDER, _FRAME_BORDER = 1.5, 1.2, 1.2
_STREAM, _PORT = 2.2, 3.6
_LINKS: dict[Tone, float] = {"same": 1.0, "unread": 1.0, "removed": 1.6, "added": 1.6}
_STRONG_LINK = 2.4
_DASH, _DOTS = (5.0, 3.5), (1.5, 3.0)
_DROP = 4.4
_SIGN_SCALE = 0.72
#: from the middle of a sign to what is beside it
_AROUND_SIGN = SIGN_REACH * _SIGN_SCALE + 4.0
#: so many numbers of entries stand on a box
_MOST_TAGS = 2
#: between a label and what stands at the other end of its box
_BETWEEN = 8.0
_LEAST_LABEL = 44.0
_LONGEST = 300
_MOST_NAMED, _MOST_LISTED = 8, 100


class CellPlace(NamedTuple):
    """Where a box is."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """The height of its middle line."""
        return self.y + self.height / 2

    @property
    def bottom(self) -> float:
        """Its lower border."""
        return self.y + self.height


class LadderDrawing:
    """Draws the boxes and links of a ladder.

    Parameters
    ----------
    ladder
        Its rows and links.
    theme
        The colours.
    """

    def __init__(self, ladder: Ladder, theme: Theme) -> None:
        self._ladder, self._theme = ladder, theme
        #: where each box is
        self.places: dict[Cell, CellPlace] = {}
        self._frames: list[tuple[Cell, CellPlace, int]] = []
        #: along each column, from above, where the stream runs
        self._streams: list[tuple[float, float, float]] = []

    def draw(self, top: float) -> tuple[list[MarkedPiece], float]:
        """Return what is drawn below a height, and how far down it reaches."""
        bottom = self._place_rows(self._ladder.rows, top, 0)
        frames = sorted(self._frames, key=lambda frame: frame[2])  # the outer ones first
        pieces = [
            MarkedPiece(_lay(self._draw_frame(*frame)), "frame", _tell(frame[0]))
            for frame in frames
        ]
        pieces += [MarkedPiece(_lay(self._draw_streams()))]
        pieces += [
            MarkedPiece(_lay([self._draw_link(link)]), "link")
            for link in sorted(self._ladder.links, key=lambda link: link.tone != "same")
        ]
        opened = {cell for cell, _, _ in self._frames}
        pieces += [
            MarkedPiece(tuple(self._draw_cell(cell, place)), "block", _tell(cell))
            for cell, place in self.places.items()
            if cell not in opened
        ]
        pieces += [MarkedPiece(_lay(self._draw_port(place) for _, place, _ in self._frames))]
        return pieces, bottom

    # places

    def _place_rows(self, rows: Sequence[LadderRow], top: float, depth: int) -> float:
        """Place rows below a height, and return where the last one ends."""
        height = _INNER_HEIGHT if depth else _HEIGHT
        gap = _INNER_GAP if depth else _GAP
        ends: list[float | None] = [None, None]
        y = top
        for number, row in enumerate(rows):
            cells = (row.left, row.right)
            if number:
                y += gap
            if not row.inner and any(cell and cell.kind in ("stack", "more") for cell in cells):
                y += _RISE
            bottom = y + height
            if row.inner:
                bottom = self._place_rows(row.inner, y + _HEADER, depth + 1) + _FOOT
            for side, cell in enumerate(cells):
                if cell is None:
                    continue
                x = COLUMNS[side] + depth * _INSET
                place = CellPlace(x, y, COLUMN_WIDTH - 2 * depth * _INSET, bottom - y)
                self.places[cell] = place
                if row.inner:
                    self._frames.append((cell, place, depth))
                if cell.kind == "missing" and _is_short(cell, place):
                    continue  # the stream runs on through it
                last = ends[side]
                if last is not None:
                    self._streams.append((x + place.width / 2, last, y))
                ends[side] = bottom
            y = bottom
        return y

    # marks

    def _draw_streams(self) -> Iterator[Mark]:
        for x, top, bottom in self._streams:
            yield _draw_line(x, top, x, bottom, self._theme.stream, _STREAM)

    def _draw_link(self, link: RungLink) -> Mark:
        one, other = self.places[link.left], self.places[link.right]
        rise = _RISE if _is_stacked(link.left) else 0.0
        return _draw_line(
            one.x + one.width + rise,
            one.middle,
            other.x,
            other.middle,
            find_colours(link.tone, self._theme).border,
            _LINKS.get(link.tone, _STRONG_LINK),
            _DASH if link.tone in ("removed", "added") else None,
        )

    def _draw_port(self, place: CellPlace) -> Mark:
        theme = self._theme
        middle = place.x + place.width / 2
        return CircleMark(middle, place.y, _PORT, theme.page, theme.stream, _BORDER)

    def _draw_frame(self, cell: Cell, place: CellPlace, depth: int) -> Iterator[Mark]:
        theme = self._theme
        colours = theme.category("plain")
        yield RectMark(*place, _FRAME_RADIUS, colours.frame, theme.rule, _FRAME_BORDER)
        left, right = place.x + _PADDING, place.x + place.width - _PADDING
        baseline = place.y + _HEADER / 2 + _DROP
        # the stream's port is in the middle of the border
        fact = _write_fact(cell, right - left, bold=True)
        room = right - left - _measure_end(fact)
        keep: Literal["both", "start"] = "start" if RANGE in cell.label else "both"
        label = shorten_text(cell.label, room, FACT_SIZE, bold=True, keep=keep)
        yield TextMark(left, baseline, label, FACT_SIZE, True, colours.text)
        if fact:
            yield TextMark(right, baseline, fact, SMALL_SIZE, False, theme.muted, "end")

    def _draw_cell(self, cell: Cell, place: CellPlace) -> Iterator[Placed]:
        colours = find_colours(cell.tone, self._theme)
        radius = place.height / 2 if cell.kind == "end" else _RADIUS
        if cell.kind == "missing":
            yield 0.0, 0.0, RectMark(*place, radius, "", colours.border, _BORDER, dash=_DASH)
        else:
            for right, up in _CARDS if _is_stacked(cell) else ():
                card = place.x + right, place.y + up, place.width, place.height
                mark = RectMark(*card, radius, colours.fill, colours.border, _CARD_BORDER)
                yield 0.0, 0.0, mark
            dash = _DOTS if cell.tone == "unread" else None
            yield (
                0.0,
                0.0,
                RectMark(*place, radius, colours.fill, colours.border, _BORDER, dash=dash),
            )
        left, right = place.x + _PADDING, place.x + place.width - _PADDING
        baseline = place.middle + _DROP
        if cell.kind != "missing" and cell.tone != "same":
            tag = _choose_tag(cell, right - left)
            yield 0.0, 0.0, TextMark(right, baseline, tag, SMALL_SIZE, False, colours.text, "end")
            right -= measure_text(tag, SMALL_SIZE) + _AROUND_SIGN
            yield from draw_sign(cell.tone, right, place.middle, colours.text, _SIGN_SCALE)
            right -= _AROUND_SIGN + _BETWEEN
        fact = _write_fact(cell, right - left)
        if fact:
            yield 0.0, 0.0, TextMark(right, baseline, fact, SMALL_SIZE, False, colours.text, "end")
            right -= _measure_end(fact)
        is_named = cell.kind == "end" or any(rung.group is not None for rung in cell.rungs)
        keep: Literal["both", "start"] = "start" if not is_named or RANGE in cell.label else "both"
        label = shorten_text(cell.label, right - left, FACT_SIZE, keep=keep)
        yield 0.0, 0.0, TextMark(left, baseline, label, FACT_SIZE, False, colours.text)


def _choose_tag(cell: Cell, room: float) -> str:
    """Return the numbers of a box's entries: fewer where its label has no room beside them."""
    used = measure_text(cell.label, FACT_SIZE) + 2 * (_AROUND_SIGN + _BETWEEN)
    used += _measure_end("×00") if cell.kind == "stack" else 0.0
    for most in range(_MOST_TAGS, 0, -1):
        tag = write_tag(cell.entries, most)
        if used + measure_text(tag, SMALL_SIZE) <= room:
            return tag
    return write_tag(cell.entries, 1)


def _is_stacked(cell: Cell) -> bool:
    return cell.kind in ("stack", "more")


def _is_short(cell: Cell, place: CellPlace) -> bool:
    """Return whether the text of a box ends before its middle."""
    return measure_text(cell.label, FACT_SIZE) + 2 * _PADDING <= place.width / 2


def _write_fact(cell: Cell, room: float, *, bold: bool = False) -> str:
    """Return what stands at the end of a box: what is known of it, how often, as there is room."""
    if len(cell.rungs) != 1 or cell.kind == "more":
        return ""
    rung = cell.rungs[0]
    label = measure_text(cell.label, FACT_SIZE, bold) + _BETWEEN
    times = f"×{rung.times:,}" if rung.times else ""
    text = f"{clean_label(rung.fact)}  {times}".strip()
    if label + measure_text(text, SMALL_SIZE) <= room:
        return text
    least = min(label, _LEAST_LABEL + _BETWEEN)
    return times if least + measure_text(times, SMALL_SIZE) <= room else ""


def _measure_end(text: str) -> float:
    return measure_text(text, SMALL_SIZE) + _BETWEEN if text else 0.0


def _lay(marks: Iterable[Mark]) -> tuple[Placed, ...]:
    return tuple((0.0, 0.0, mark) for mark in marks)


def _draw_line(
    x: float,
    y: float,
    right: float,
    bottom: float,
    stroke: str,
    width: float,
    dash: tuple[float, float] | None = None,
) -> CurveMark:
    """Return a straight line."""
    points = (x, y, x, y, right, bottom, right, bottom)
    return CurveMark(points, stroke, width, dash)


def _tell(cell: Cell) -> str:
    """Return what is said of a box where it is pointed at: all that has no room on it."""
    told = [cell.label]
    if len(cell.rungs) == 1:
        rung = cell.rungs[0]
        known = rung.group.recognised if rung.group is not None else None
        told = [write_line(rung.path, _LONGEST), *([known.text] if known is not None else [])]
        told.append(write_count(len(rung.nodes), "node"))
    elif cell.rungs:
        told.append(", ".join(write_line(rung.path, _LONGEST) for rung in cell.rungs[:_MOST_NAMED]))
    if cell.entries:
        numbers = ", ".join(f"{number + 1:,}" for number in cell.entries[:_MOST_LISTED])
        more = len(cell.entries) - _MOST_LISTED
        rest = f" and {more:,} more" if more > 0 else ""
        told.append(f"in the list: {numbers}{rest}")
    return "\n".join(told)
