"""Lays a title, rows of text, badges and chips out on a box, and finds its size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from .face import Badge, Face, Outline, TextRun, TextStyle
from .rows import RANGE, FaceRow, drop_scope
from .sizes import HEADER, OPENER, SHEET_OFFSET, TEXT_STYLES
from .text import clean_label, measure_text, shorten_text

#: rooms in pixels
MARGIN = 10.0
TERMINAL_HEADER = 19.0  # no line below it, so less room
BASELINE = 15.6
ROW = 14.0
ROW_BASELINE = 10.6
BLOCK_PADDING = 2.5
GAP = 7.0
LEAST_WIDTH = 90.0
MOST_WIDTH = 260.0
#: and where it is a type or the facts of a node that need it
MOST_FACTS_WIDTH = 320.0
#: and where it is the title, which is to be read whole
MOST_TITLE_WIDTH = 380.0
#: the second part of a title has at least this share of the room of both, or what it needs
_LEAST_QUIET = 0.3
#: where facts stand in the line of the title, and what is between these two
MOST_WIDTH_IN_LINE = 290.0
FACTS_GAP = 10.0
MOST_NAME_WIDTH = 110.0
LEAST_PIECE = 24.0
BADGE_HEIGHT = 15.0
#: before the number of times that a loop runs
LOOP_SIGN = "↻ "
SHEETS = 2  # behind what stands for several
CHIP_HEIGHT = 13.0
CHIP_PADDING = 12.0

#: a value is cut at its end, a name in the middle
_KEEP: dict[TextStyle, Literal["both", "start"]] = {"text": "start"}


def lay_title(title: str, quiet: str, x: float, end: float) -> tuple[list[TextRun], float]:
    """Place a title and its quiet second part between two positions; return where it ends.

    Where room is short the second part loses its end first. Then a title does: a name its
    middle, since names differ at their ends, and a range such as ``layers.0 … 11`` the scope of
    its names, then its end.
    """
    size, bold = TEXT_STYLES["title"]
    quiet_size, quiet_bold = TEXT_STYLES["title-muted"]
    quiet_wanted = measure_text(clean_label(quiet), quiet_size, quiet_bold) if quiet else 0.0
    room = end - x - (min(quiet_wanted + GAP, (end - x) * _LEAST_QUIET) if quiet else 0.0)
    if RANGE in title and measure_text(clean_label(title), size, bold) > room:
        title = drop_scope(title)
    shown = shorten_text(title, room, size, bold, "start" if RANGE in title else "both")
    runs = [TextRun(x, BASELINE, shown, "title")]
    x += measure_text(shown, size, bold)
    if quiet:
        x += GAP
        shown = shorten_text(quiet, end - x, quiet_size, quiet_bold, "start")
        runs.append(TextRun(round_size(x), BASELINE, shown, "title-muted"))
        x += measure_text(shown, quiet_size, quiet_bold)
    return runs, x


def find_whole_title(title: str, quiet: str, runs: Sequence[TextRun]) -> str:
    """Return a title with its second part where runs show it shortened; "" where it is whole."""
    parts = [clean_label(part) for part in (title, quiet) if part]
    return "" if [run.text for run in runs[: len(parts)]] == parts else " · ".join(parts)


def make_box(
    outline: Outline,
    category: str,
    title: str,
    quiet: str,
    blocks: Sequence[Sequence[FaceRow]],
    *,
    badge: str = "",
    openable: bool = False,
    times: int = 0,
    is_loop: bool = False,
    in_line: bool = False,
    most_width: float = MOST_WIDTH,
) -> Face:
    """Return the face of a box with a title and blocks of rows below it.

    Parameters
    ----------
    outline, category
        As the face has them.
    title, quiet
        The title and its quiet second part.
    blocks
        Rows that belong together; empty ones are left out.
    badge
        Text of the pill at the right of the title; "" for none.
    openable
        Whether the box can be opened.
    times
        How many the box stands for, as a stack; 0 for one.
    is_loop
        Whether it runs so often, as a loop, and is no stack.
    in_line
        Whether a single row may stand in the line of the title, where both fit.
    most_width
        The widest that rows make the box.

    Notes
    -----
    Where a title and its second part do not fit in one line, the second part begins the next one.
    """
    blocks = [block for block in blocks if block]
    badge = clean_label(badge, 40)
    badge_width = measure_text(badge, TEXT_STYLES["badge"][0]) + 14 if badge else 0.0
    number = f"{LOOP_SIGN}×{times:,}" if is_loop else f"×{times:,}" if times else ""
    number_width = measure_text(number, *TEXT_STYLES["title"]) + GAP if number else 0.0
    at_right = (badge_width + GAP if badge else 0.0) + (16 if openable else 0.0) + number_width
    stack = SHEETS if times and not is_loop else 0
    sheets = stack * SHEET_OFFSET

    runs, title_end = lay_title(title, quiet, MARGIN, MOST_TITLE_WIDTH - MARGIN - at_right)
    if quiet and find_whole_title(title, quiet, runs):
        below = FaceRow(quiet, "title-muted", ())
        blocks = [[below, *(blocks[0] if blocks else ())], *blocks[1:]]
        _, title_end = lay_title(title, "", MARGIN, MOST_TITLE_WIDTH - MARGIN - at_right)
        title_end = max(title_end, min(_row_end(below, 0.0), MOST_TITLE_WIDTH - MARGIN) - at_right)
        quiet, in_line = "", False
    columns = [_column_width(block) for block in blocks]
    wanted = title_end + MARGIN + at_right
    # a block that has a name, too, keeps the line below for its facts
    is_plain = not (badge or times or (quiet and outline == "group"))
    row = _find_row_in_line(blocks) if in_line and is_plain else None
    after = None if row is None else _end_in_line(row, title_end) + at_right + MARGIN
    if after is not None and after <= MOST_WIDTH_IN_LINE:
        wanted = after
    else:
        row = None
        for block, column in zip(blocks, columns, strict=True):
            ends = [_row_end(row, column) + MARGIN for row in block]
            wanted = max(wanted, min(max(ends), most_width))
    width = round_size(max(wanted, LEAST_WIDTH))

    texts, title_end = lay_title(title, quiet, MARGIN, width - MARGIN - at_right + 0.5)
    whole = find_whole_title(title, quiet, texts)
    badges = []
    right = width - MARGIN
    if openable:
        texts.append(TextRun(right, BASELINE, OPENER, "title-muted", "end"))
        right -= 16
    if times:
        texts.append(TextRun(right, BASELINE, number, "title", "end"))
        right -= number_width
    if badge:
        badges.append(
            Badge(
                round_size(right - badge_width + 3),
                (HEADER - BADGE_HEIGHT) / 2,
                round_size(badge_width),
                BADGE_HEIGHT,
                badge,
            )
        )
    rules, targets = [], []
    if row is not None:
        x = title_end + FACTS_GAP
        texts.extend(_lay_in_line(row, x))
        if row.is_constant:
            targets.append((round_size(x - FACTS_GAP / 2), 0.0, HEADER))
        blocks, columns = [], []
    header = TERMINAL_HEADER if outline in ("terminal", "constant") and blocks else HEADER
    y = header
    for index, (block, column) in enumerate(zip(blocks, columns, strict=True)):
        if index:
            rules.append(y)
        y += BLOCK_PADDING
        for row in block:
            if row.pieces and row.pieces[0][1] == "badge":
                chip = _lay_chip(row, column, y, width - MARGIN)
                badges.append(chip)
                row = row._replace(pieces=(("", "muted"),))
            texts.extend(_lay_row(row, column, y + ROW_BASELINE, width - MARGIN))
            if row.is_constant:
                targets.append((0.0, y, y + ROW))
            y += ROW
        y += BLOCK_PADDING
    return Face(
        outline,
        category,
        width + sheets,
        y + sheets,
        header,
        tuple(run._replace(y=run.y + sheets) for run in texts) if stack else tuple(texts),
        tuple(rule + sheets for rule in rules),
        tuple(pill._replace(y=pill.y + sheets) for pill in badges) if stack else tuple(badges),
        tuple(targets),
        stack,
        title=whole,
    )


def _find_row_in_line(blocks: Sequence[Sequence[FaceRow]]) -> FaceRow | None:
    """Return the only row of a box, where it is nothing but text."""
    if len(blocks) != 1 or len(blocks[0]) != 1:
        return None
    row = blocks[0][0]
    return None if any(style == "badge" for _, style in row.pieces) else row


def _end_in_line(row: FaceRow, title_end: float) -> float:
    """Return where a row ends that begins behind the title."""
    x = title_end + FACTS_GAP
    return x + sum(advance for _, _, advance in _measure_parts(row)) - GAP


def _measure_parts(row: FaceRow) -> Iterator[tuple[str, TextStyle, float]]:
    """Yield the texts of a row with their styles, and how far behind each the next one begins."""
    for text, style in ((row.name, row.name_style), *row.pieces):
        shown = clean_label(text)
        yield shown, style, measure_text(shown, *TEXT_STYLES[style]) + GAP


def _lay_in_line(row: FaceRow, x: float) -> list[TextRun]:
    """Place a row in the line of the title."""
    runs = []
    for text, style, advance in _measure_parts(row):
        runs.append(TextRun(round_size(x), BASELINE, text, style))
        x += advance
    return runs


def _column_width(block: Sequence[FaceRow]) -> float:
    """Return the width of the names of those rows that have something after the name."""
    widths = [
        measure_text(clean_label(row.name), *TEXT_STYLES[row.name_style])
        for row in block
        if row.pieces
    ]
    return min(max(widths, default=0.0), MOST_NAME_WIDTH)


def _row_end(row: FaceRow, column: float) -> float:
    if not row.pieces:
        return MARGIN + measure_text(clean_label(row.name), *TEXT_STYLES[row.name_style])
    if row.pieces[0][1] == "badge":
        return MARGIN + column + GAP + _chip_width(row.pieces[0][0])
    pieces = sum(
        measure_text(clean_label(text), *TEXT_STYLES[style]) + GAP for text, style in row.pieces
    )
    return MARGIN + column + pieces


def _chip_width(text: str) -> float:
    return measure_text(clean_label(text), *TEXT_STYLES["badge"]) + CHIP_PADDING


def _lay_chip(row: FaceRow, column: float, y: float, end: float) -> Badge:
    """Place the pill of hidden shape arithmetic into its row."""
    x = MARGIN + column + GAP
    size, bold = TEXT_STYLES["badge"]
    text = shorten_text(row.pieces[0][0], end - x - CHIP_PADDING + 0.5, size, bold, "start")
    width = round_size(measure_text(text, size, bold) + CHIP_PADDING)
    return Badge(round_size(x), y + (ROW - CHIP_HEIGHT) / 2, width, CHIP_HEIGHT, text, is_chip=True)


def _lay_row(row: FaceRow, column: float, y: float, end: float) -> list[TextRun]:
    room = column if row.pieces else end - MARGIN
    size, bold = TEXT_STYLES[row.name_style]
    name = shorten_text(row.name, room + 0.5, size, bold, "both" if row.pieces else "start")
    runs = [TextRun(MARGIN, y, name, row.name_style)]
    x = MARGIN + column + GAP
    for number, (text, style) in enumerate(row.pieces):
        if number and end - x < LEAST_PIECE:
            break  # not even a few characters of a second piece would fit
        keep = _KEEP.get(style, "both")
        shown = shorten_text(text, max(end - x, 0.0) + 0.5, *TEXT_STYLES[style], keep)
        runs.append(TextRun(round_size(x), y, shown, style))
        x += measure_text(shown, *TEXT_STYLES[style]) + GAP
    return runs


def round_size(number: float) -> float:
    """Return a length in pixels, rounded so that equal faces are equal."""
    return round(number, 1)
