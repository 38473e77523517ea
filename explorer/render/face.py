"""Faces: what is drawn on a box, laid out in the box's own coordinates.

The SVG writer, the PNG and PDF writer and the canvas in the browser all draw the same faces,
so that a box looks alike everywhere.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from netloupe.explorer.options import Share

Outline = Literal["node", "group", "terminal", "constant", "frame", "stub", "junction", "caption"]
TextStyle = Literal[
    "title",  # bold, in the category's dark hue
    "title-muted",  # the same size, regular, quiet: a second part of the title
    "name",  # small and bold: a weight's formal name
    "text",  # small and dark: a value
    "muted",  # small and grey: an attribute's name, dimensions
    "badge",  # smaller: text in a pill
    "mark",  # bold: a sign or a count in the corner of a painted box
    "label",  # beside edges: how many values, and sizes
]
Anchor = Literal["start", "middle", "end"]


class TextRun(NamedTuple):
    """One piece of text; ``y`` is its baseline, ``x`` its start, middle or end."""

    x: float
    y: float
    text: str
    style: TextStyle
    anchor: Anchor = "start"


class Badge(NamedTuple):
    """A pill with text, such as ``int8 · per channel``; a chip is a quiet one within a row."""

    x: float
    y: float
    width: float
    height: float
    text: str
    is_chip: bool = False


class Bar(NamedTuple):
    """The share that a box has of its model: so much of its lower border is thick.

    Parameters
    ----------
    share
        Of what.
    x, y, width
        Where the thick part begins, and how long it is; half of what the box is wide between
        its margins stands for half of the model. The width is 0 where it would be too short to be
        seen.
    text
        The same in words: ``7.09 M parameters · 6 % of the model``.
    """

    share: Share
    x: float
    y: float
    width: float
    text: str


class Face(NamedTuple):
    """What is drawn on one box.

    Parameters
    ----------
    outline
        ``node``; ``group`` (closed, can be opened); ``terminal`` (input or output of the
        graph); ``constant``; ``stub`` (a pill in place of a value from elsewhere); ``junction``
        (a circle, where streams are added or multiplied); ``caption`` (words on the line of the
        stream, with no border); ``frame`` (an open group: the size is
        that of the title, the box may be larger; what is anchored at its end stands so far from
        the right border of the box as it does from that of the face).
    category
        The family of operators that decides the colours: a key of the theme's palette.
    width, height
        Size in pixels; for frames the smallest that holds the title.
    header
        Height of the tinted band at the top; equal to ``height`` where the whole box is
        tinted, 0 for none. Of frames that of the title.
    rules
        Heights at which a thin line separates rows.
    targets
        Left end, top and bottom of the rows that stand for the item's constants, in their order:
        a click on one, up to the right border, selects that constant.
    stack
        Number of sheets behind the box (a fold of repeats), 0 for none. Each is
        ``sheet_offset`` pixels further up and to the right; all are within ``width`` and
        ``height``, so that the box in front is that much smaller and lower.
    bar
        Its share of the model; None for none.
    aside
        Of frames how far what stands at the right reaches from the right border.
    title
        The whole title where ``texts`` have it shortened, or say nothing; else "".
    """

    outline: Outline
    category: str
    width: float
    height: float
    header: float
    texts: tuple[TextRun, ...]
    rules: tuple[float, ...] = ()
    badges: tuple[Badge, ...] = ()
    targets: tuple[tuple[float, float, float], ...] = ()
    stack: int = 0
    bar: Bar | None = None
    title: str = ""
    aside: float = 0.0
