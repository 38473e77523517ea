"""What a paint lays over a box: a ring, a pill on the upper edge, a mark in the corner."""

from __future__ import annotations

from .face import Face
from .marks import Mark, RectMark, TextMark
from .paint import Paint
from .sizes import (
    LABEL_BASELINE,
    LABEL_HEIGHT,
    LABEL_PADDING,
    MARK_BASELINE,
    MARK_HEIGHT,
    MARK_OVERHANG,
    MARK_PADDING,
    PAINT_INSET,
    PAINT_RING,
    PAINT_RISE,
    PAINTED_BORDER,
    RADII,
    RING_DASH,
    SHEET_OFFSET,
    TEXT_STYLES,
)
from .text import measure_text, shorten_text
from .theme import Theme

#: between the pill and the mark in the corner
_GAP = 4.0


def mark_paint(
    face: Face, width: float, height: float, paint: Paint, theme: Theme, *, is_open: bool
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
    # what is open may have controls right below its upper edge
    rise = LABEL_HEIGHT if is_open else PAINT_RISE
    return marks + _mark_pill(right, sheets - rise, paint, theme)


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
    left, top = right + MARK_OVERHANG - across, top - MARK_OVERHANG
    return [
        RectMark(
            left, top, across, MARK_HEIGHT, MARK_HEIGHT / 2, tone.strong, theme.page, PAINTED_BORDER
        ),
        TextMark(
            left + across / 2, top + MARK_BASELINE, paint.mark, size, bold, theme.page, "middle"
        ),
    ]


def _mark_pill(right: float, top: float, paint: Paint, theme: Theme) -> list[Mark]:
    """Return the pill with the paint's text, which ends at the right."""
    if not paint.text:
        return []
    tone = theme.tones[paint.text_tone]
    room = max(right - PAINT_INSET, 0.0) - 2 * LABEL_PADDING
    text = shorten_text(paint.text, room + 0.5, *TEXT_STYLES["badge"], "start")
    if text in ("", "…"):  # a box as small as a junction has no room
        return []
    size, bold = TEXT_STYLES["badge"]
    across = measure_text(text, size, bold) + 2 * LABEL_PADDING
    middle, baseline = right - across / 2, top + LABEL_BASELINE
    return [
        RectMark(
            right - across, top, across, LABEL_HEIGHT, LABEL_HEIGHT / 2, tone.fill, tone.border
        ),
        TextMark(middle, baseline, text, size, bold, tone.text, "middle"),
    ]
