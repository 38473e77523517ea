"""What a paint lays over a box: a ring, a pill on its border, a mark in the corner."""

from __future__ import annotations

from .face import Face
from .marks import Mark, RectMark, TextMark
from .paint import Paint
from .pills import Pill, Taken, place_pill
from .sizes import (
    MARK_BASELINE,
    MARK_FURTHEST,
    MARK_HEIGHT,
    MARK_OVERHANG,
    MARK_PADDING,
    MARK_REACH,
    PAINT_DIP,
    PAINT_INSET,
    PAINT_RING,
    PAINT_RISE,
    PAINTED_BORDER,
    PILL_BASELINE,
    PILL_HEIGHT,
    RADII,
    RING_DASH,
    SHEET_OFFSET,
    TEXT_STYLES,
)
from .text import measure_text
from .theme import Theme

#: between the pill and the mark in the corner
_GAP = 4.0
_NOTHING = Taken([], [])


def mark_paint(
    face: Face,
    width: float,
    height: float,
    paint: Paint,
    theme: Theme,
    *,
    is_open: bool,
    taken: Taken = _NOTHING,
) -> list[Mark]:
    """Return what a paint lays over a box, from the box's own top left corner.

    Parameters
    ----------
    face
        The face of the box.
    width, height
        The size of the box, in pixels.
    paint
        How it is painted.
    theme
        The colours.
    is_open
        Whether it is an open group: its border is painted, and no ring drawn around it.
    taken
        Where its borders are taken by what the pill does not cover.
    """
    sheets = 0.0 if is_open else face.stack * SHEET_OFFSET
    marks: list[Mark] = []
    if paint.ring and not is_open:
        marks.append(_mark_around(face, width - sheets, sheets, height - sheets, paint, theme))
    right = width - sheets - PAINT_INSET
    if paint.mark:
        disc = _mark_corner(width - sheets, sheets, paint, theme)
        marks += disc
        right = min(right, disc[0].x - _GAP)
    pill = place_pill(paint.text, right, taken) if paint.text else None
    if pill is not None:
        # what is open may have controls right below its upper edge
        rise = PILL_HEIGHT if is_open else PAINT_RISE
        # and at the lower border are bars, and facts right above it
        top = height - PAINT_DIP if pill.is_below else sheets - rise
        marks += _mark_pill(pill, top, paint, theme)
    return marks


def _mark_around(
    face: Face, width: float, top: float, height: float, paint: Paint, theme: Theme
) -> RectMark:
    """Return the ring."""
    gap = PAINT_RING
    return RectMark(
        -gap,
        top - gap,
        width + 2 * gap,
        height + 2 * gap,
        RADII[face.outline] + gap,
        "",
        theme.tones[paint.ring].strong,
        PAINTED_BORDER,
        dash=RING_DASH if paint.dashed else None,
    )


def _mark_corner(right: float, top: float, paint: Paint, theme: Theme) -> list[RectMark | TextMark]:
    """Return the mark: a sign or a count on a disc."""
    tone = theme.tones[paint.tone_of_mark]
    size, bold = TEXT_STYLES["mark"]
    across = measure_text(paint.mark, size, bold) + 2 * MARK_PADDING
    across = max(across, MARK_HEIGHT)
    reach = max(min(across - MARK_OVERHANG, MARK_REACH), across - MARK_FURTHEST)
    left, top = right - reach, top - MARK_OVERHANG
    return [
        RectMark(
            left, top, across, MARK_HEIGHT, MARK_HEIGHT / 2, tone.strong, theme.page, PAINTED_BORDER
        ),
        TextMark(
            left + across / 2, top + MARK_BASELINE, paint.mark, size, bold, theme.page, "middle"
        ),
    ]


def _mark_pill(pill: Pill, top: float, paint: Paint, theme: Theme) -> list[Mark]:
    """Return the pill with the paint's text."""
    tone = theme.tones[paint.text_tone]
    size, bold = TEXT_STYLES["badge"]
    left, middle = pill.right - pill.width, pill.right - pill.width / 2
    half = PILL_HEIGHT / 2
    return [
        RectMark(left, top, pill.width, PILL_HEIGHT, half, tone.fill, tone.border),
        TextMark(middle, top + PILL_BASELINE, pill.text, size, bold, tone.text, "middle"),
    ]
