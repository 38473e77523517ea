"""A ladder as a file: title, list and rows on a sheet, as SVG, HTML, PNG or PDF."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from netloupe.explorer.compare import Diff
from netloupe.explorer.describe.difference_summary import (
    tell_sides_apart,
    write_compatibility,
    write_verdict,
)
from netloupe.explorer.errors import OutputError, ViewError
from netloupe.explorer.files.output import ENDINGS, check_ending, check_place, write_file
from netloupe.explorer.notation import write_count
from netloupe.explorer.progress import step
from netloupe.explorer.render.fonts import writing_in
from netloupe.explorer.render.legend import Placed
from netloupe.explorer.render.marks import MarkedPiece, RectMark, TextMark
from netloupe.explorer.render.picture import tell_missing_font
from netloupe.explorer.render.sheet import LEAST_TEXT, Sheet, SheetMaker
from netloupe.explorer.render.text import shorten_text
from netloupe.explorer.render.theme import Theme, lay_on_ground, load_theme
from netloupe.explorer.view import ViewKeywords, ViewOptions

from .content import Ladder, build_ladder
from .drawing import COLUMN_WIDTH, COLUMNS, LadderDrawing
from .list_drawing import ListDrawing
from .listing import SMALL_SIZE, TITLE_SIZE, wrap_text

if TYPE_CHECKING:
    from os import PathLike

#: what a ladder can be written as
LADDER_FORMATS = ("svg", "html", "pdf", "png")
#: the options of a view that a ladder has; the others are of pictures of nodes
LADDER_OPTIONS = ("theme", "background", "title", "font", "scale", "page")
_WIDTH, _MARGIN = 1100.0, 36.0
_TOP, _TITLE_BASELINE, _LEAD_BASELINE, _LEAD_ROW = 110.0, 42.0, 64.0, 18.0
_TITLE, _LEAD = 20.0, 13.0
_MOST_LEAD_LINES = 3
_NAME_WIDTH = 240.0
#: from the top of the body to the first heading, and to the first row
_TO_LIST, _TO_ROWS = 6.0, 38.0
_DIVIDER = 534.0
#: so many rows are shown, and so high a list is at least allowed to be
_MOST_ROWS, _LEAST_LIST = 64, 760.0

_KEY = "Grey: all that is inside is paired, and equal or equal by calculation."
_GENERAL = "What is told of the whole model may be about any box, grey ones too."
_NUMBERS = "Numbers on boxes are those at the right of this list."
_NOT_RUN = "Both models were read, and not run: how far their outputs are apart is not known."


class _Plate(NamedTuple):
    """A drawn ladder and the sheet that it lies on."""

    pieces: list[MarkedPiece]
    sheet: Sheet
    theme: Theme
    title: str
    description: str
    notices: list[str]


def draw_ladder(
    found: Diff,
    path: str | PathLike[str] | None = None,
    format: str | None = None,
    **view: Unpack[ViewKeywords],
) -> bytes:
    """Draw two models as a ladder of blocks; write it to ``path`` where given.

    Parameters
    ----------
    found
        What differs between them.
    path
        A file to write; ``~`` is the home folder.
    format
        One of ``LADDER_FORMATS``; what the name of the file ends in where None, SVG without one.
    **view
        Of the options of a view ``theme, background, title, font, scale, page``.

    Raises
    ------
    ViewError
        For any other option, or one that does not fit, and for an unknown format.
    OutputError
        Where the file cannot be written, or its name promises another format.
    """
    kind = _choose_format(path, format)
    if path is not None:  # what can be known to be wrong is said before the work begins
        check_place(path)
    data, _ = make_ladder(found, kind, view)
    if path is not None:
        write_file(path, data)
    return data


def _choose_format(path: str | PathLike[str] | None, format: str | None) -> str:
    if format is not None and format not in LADDER_FORMATS:
        raise ViewError(
            f"a ladder cannot be written as {format[:60]!r}. "
            f"Give one of {', '.join(LADDER_FORMATS)}."
        )
    if path is None:
        return format or "svg"
    if format is not None:
        check_ending(path, format)
        return format
    ending = Path(path).suffix.lower()
    for kind in LADDER_FORMATS:
        if ending in ENDINGS[kind]:
            return kind
    raise OutputError(
        f"{path}: the ending does not name a format of a ladder. Use one of "
        f"{', '.join(f'.{kind}' for kind in LADDER_FORMATS)}, or give the format."
    )


def make_ladder(found: Diff, format: str, view: Mapping[str, Any]) -> tuple[bytes, list[str]]:
    """Return a ladder in one of ``LADDER_FORMATS``, and notices about it.

    Parameters
    ----------
    found
        What differs between the models.
    format
        The format.
    view
        Options of a view, as for :func:`draw_ladder`; those that are None are not given.

    Raises
    ------
    ViewError
        As :func:`draw_ladder`.
    """
    for name, value in view.items():
        if value is not None and name not in LADDER_OPTIONS:
            raise ViewError(
                f"{name} is of a picture of nodes, and a ladder shows blocks. Leave it out; a "
                f"ladder has {', '.join(LADDER_OPTIONS)}."
            )
    options = ViewOptions.parse(view)
    with writing_in(options.font) as font:
        plate = _draw(found, build_ladder(found, _MOST_ROWS), options)
        notices = [*plate.notices]
        if options.font and font is None:
            notices.append(tell_missing_font(options.font))
        return _encode(plate, options, format, notices), notices


def _write_svg(plate: _Plate, options: ViewOptions) -> str:
    from netloupe.explorer.render.svg import draw_pieces_svg

    return draw_pieces_svg(
        plate.pieces,
        plate.sheet,
        title=plate.title,
        description=plate.description,
        theme=plate.theme,
        font=options.font,
    )


def _encode(plate: _Plate, options: ViewOptions, format: str, notices: list[str]) -> bytes:
    sheet = plate.sheet
    if format in ("svg", "html"):
        svg = _write_svg(plate, options)
        if format == "svg":
            return svg.encode()
        from netloupe.explorer.render.page import draw_html_page

        return draw_html_page(svg, plate.title, theme=options.theme).encode()
    from netloupe.explorer.render.raster import (
        choose_pdf_scale,
        choose_png_scale,
        paint_pdf,
        paint_png,
    )

    if format == "pdf":
        notices += filter(None, [choose_pdf_scale(sheet, sheet.scale)[1]])
        return paint_pdf(_place(plate), sheet, plate.title)
    dots = 2.0 if sheet.paper is None else sheet.paper.dpi / 72
    notices += filter(None, [choose_png_scale(sheet, dots * sheet.scale)[1]])
    return paint_png(_place(plate), sheet, dots * sheet.scale)


def _place(plate: _Plate) -> Iterator[Placed]:
    sheet = plate.sheet
    if sheet.background != "transparent":
        yield 0.0, 0.0, RectMark(0, 0, sheet.width, sheet.height, 0, plate.theme.page)
    for piece in plate.pieces:
        for x, y, mark in piece.marks:
            yield x + sheet.left, y + sheet.top, mark


def _draw(found: Diff, ladder: Ladder, options: ViewOptions) -> _Plate:
    step("drawing")
    theme = lay_on_ground(load_theme(options.theme), options.background)
    names = tell_sides_apart(found)
    is_named = options.title and options.title != "auto"
    title = options.title if is_named else f"{names[1]} against {names[0]}"
    verdict, fit = write_verdict(found), write_compatibility(found)
    head, top = _draw_head(title, (verdict, fit), theme)
    drawing = LadderDrawing(ladder, theme)
    rows, low = drawing.draw(top + _TO_ROWS)
    marked = frozenset(ladder.tones)
    general = _GENERAL if ladder.has_general else ""
    foot = [" ".join(filter(None, (_KEY, general, _NUMBERS if marked else ""))), _NOT_RUN]
    listed, bottom = ListDrawing(found, marked, theme, foot).draw(
        top + _TO_LIST, max(low - top - _TO_LIST, _LEAST_LIST - top)
    )
    bottom = max(bottom, low)
    head += _draw_names(names, top, bottom, theme)
    maker = SheetMaker(options.page, options.scale, "", (), theme)
    sheet = maker.make((_WIDTH, bottom + _MARGIN))
    sheet = replace(sheet, background=options.background)
    notices = []
    smallest = SMALL_SIZE * sheet.scale
    if sheet.paper is not None and smallest < LEAST_TEXT:
        notices.append(
            f"The smallest text is {smallest:.2g} points on this page, below {LEAST_TEXT:g}. Take "
            "a larger page."
        )
    described = f"{verdict} {fit} {_describe(ladder)}"
    return _Plate([*head, *listed, *rows], sheet, theme, title, described, notices)


def _describe(ladder: Ladder) -> str:
    leaves = [leaf for row in ladder.rows for leaf in row.list_leaves()]
    plain = sum(leaf.is_plain for leaf in leaves)
    return f"{write_count(len(leaves), 'row')} of blocks, of which {plain:,} are the same."


def _draw_head(title: str, lead: tuple[str, ...], theme: Theme) -> tuple[list[MarkedPiece], float]:
    """Return the title and the sentences below it, and where the body begins."""
    room = _WIDTH - 2 * _MARGIN
    shown = shorten_text(title, room, _TITLE, bold=True)
    marks = [TextMark(_MARGIN, _TITLE_BASELINE, shown, _TITLE, True, theme.ink)]
    y = _LEAD_BASELINE
    for sentence in lead:
        for line in wrap_text(sentence, room, _LEAD, _MOST_LEAD_LINES):
            marks.append(TextMark(_MARGIN, y, line, _LEAD, False, theme.muted))
            y += _LEAD_ROW
    placed = tuple((0.0, 0.0, mark) for mark in marks)
    return [MarkedPiece(placed)], max(y + 10.0, _TOP)


def _draw_names(
    names: tuple[str, str], top: float, bottom: float, theme: Theme
) -> Iterator[MarkedPiece]:
    """Yield the names above both columns, and the line between list and ladder."""
    for left, name in zip(COLUMNS, names, strict=True):
        shown = shorten_text(name, _NAME_WIDTH, TITLE_SIZE, bold=True)
        middle = left + COLUMN_WIDTH / 2
        mark = TextMark(middle, top + 20, shown, TITLE_SIZE, True, theme.ink, "middle")
        yield MarkedPiece(((0.0, 0.0, mark),))
    line = RectMark(_DIVIDER, top, 1, bottom - top, 0, theme.rule)
    yield MarkedPiece(((0.0, 0.0, line),))
