"""Marks: rectangles, lines and texts that a face, an edge or a port is drawn with.

The SVG writer and the PNG and PDF writer draw the same marks; only they know their formats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from netloupe.explorer.layout import Scene, SceneBox, SceneEdge
from netloupe.explorer.layout.bends import round_corners
from netloupe.explorer.layout.scene import Zoom
from netloupe.explorer.options import Direction
from netloupe.explorer.view import Item

from .face import Anchor, Bar, Face, TextStyle
from .frames import CONTINUED
from .paint import Paint
from .sizes import (
    ARROW,
    BADGE_BASELINE,
    BAR_THICKNESS,
    BOX_BORDER,
    DASHES,
    EDGE_WIDTH,
    FRAME_BORDER,
    HATCH_STEP,
    LABEL_BASELINE,
    LABEL_HEIGHT,
    LABEL_PADDING,
    LABEL_RADIUS,
    LOOP_ARROW,
    LOOP_WIDTH,
    PAINTED_BORDER,
    PORT_RADIUS,
    PREPARATION_DASH,
    RADII,
    RING_DASH,
    RING_OFFSET,
    RING_WIDTH,
    RULE,
    SELECTED_EDGE_WIDTH,
    SHEET_OFFSET,
    STREAM_ARROW,
    STREAM_WIDTH,
    STUB_DASH,
    TERMINAL_BORDER,
    TEXT_STYLES,
)
from .text import clean_label, measure_text, shorten_text
from .theme import CategoryColours, PillColours, Theme
from .tones import blend_hex

#: between such a title and the stream that comes in beside it
_STREAM_GAP = 10.0
#: how much of the colour of edges is in the ground between two zoom lines
_ZOOM_SHARE = 0.09
#: of zoom lines
_ZOOM_WIDTH = 1.1
#: behind a title that is shortened, and so ends in an ellipsis, and what is left of it at least
_CONTINUED = CONTINUED.removeprefix("…")
_LEAST_LETTERS = 4


@dataclass(frozen=True, slots=True)
class RectMark:
    """A rectangle with round corners (only the upper ones where ``top_only``)."""

    x: float
    y: float
    width: float
    height: float
    radius: float
    fill: str = ""
    stroke: str = ""
    stroke_width: float = 1.0
    top_only: bool = False
    dash: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class LineMark:
    """A horizontal line."""

    x: float
    y: float
    width: float
    stroke: str
    stroke_width: float = 1.0


@dataclass(frozen=True, slots=True)
class TextMark:
    """One line of text; ``y`` is the baseline."""

    x: float
    y: float
    text: str
    size: float
    bold: bool
    fill: str
    anchor: Anchor = "start"


@dataclass(frozen=True, slots=True)
class CurveMark:
    """A cubic Bézier curve: start, then three points for each piece."""

    points: tuple[float, ...]
    stroke: str
    stroke_width: float = EDGE_WIDTH
    dash: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class PolygonMark:
    """An arrow head, or the ground between two lines: its corners, x and y in turn."""

    points: tuple[float, ...]
    fill: str


@dataclass(frozen=True, slots=True)
class CircleMark:
    """A ring."""

    x: float
    y: float
    radius: float
    fill: str
    stroke: str
    stroke_width: float = EDGE_WIDTH


@dataclass(frozen=True, slots=True)
class HatchMark:
    """Parallel strokes, each as the x and y of its two ends."""

    lines: tuple[tuple[float, float, float, float], ...]
    stroke: str
    stroke_width: float = 1.0


Mark = RectMark | LineMark | TextMark | CurveMark | PolygonMark | CircleMark | HatchMark


class MarkedPiece(NamedTuple):
    """Marks that belong together in a drawing that is no scene.

    Parameters
    ----------
    marks
        The marks, each with the place of its origin.
    kind
        What it is, in a word.
    title
        What is said of it where it is pointed at, in lines; "" for nothing.
    """

    marks: tuple[tuple[float, float, Mark], ...]
    kind: str = ""
    title: str = ""


def hatch(x: float, y: float, width: float, height: float, stroke: str) -> HatchMark:
    """Return strokes from lower left to upper right that fill a rectangle."""
    lines = []
    reach = HATCH_STEP
    while reach < width + height:
        left, low = max(reach - height, 0.0), min(reach, height)
        right, high = min(reach, width), max(reach - width, 0.0)
        lines.append((x + left, y + low, x + right, y + high))
        reach += HATCH_STEP
    return HatchMark(tuple(lines), stroke, RULE)


def mark_face(face: Face, theme: Theme, paint: Paint | None = None) -> list[Mark]:
    """Return the marks of a box that is not open, from its own top left corner.

    Parameters
    ----------
    face
        What is on it.
    theme
        The colours.
    paint
        How it is painted; None for the colours of its category. Ring, pill and mark are of
        :mod:`netloupe.explorer.render.painted`.
    """
    painted = theme.tones[paint.tone] if paint is not None and paint.tone else None
    if face.outline == "stub":
        return _mark_stub(face, painted or theme.stub)
    colours = theme.category(face.category)
    if face.outline == "caption" and painted is None:
        return [
            _mark_text(run.x, run.y, run.text, run.style, theme.muted, run.anchor)
            for run in face.texts
        ]
    if face.outline == "junction":  # it belongs to the stream
        colours = CategoryColours(
            theme.body if face.texts else theme.stream, theme.stream, theme.ink
        )
    if painted is not None:
        colours = CategoryColours(painted.fill, painted.border, painted.text)
    radius = RADII[face.outline]
    top = face.stack * SHEET_OFFSET
    width, height = face.width - top, face.height - top
    marks: list[Mark] = []
    for sheet in range(face.stack, 0, -1):
        offset = sheet * SHEET_OFFSET
        marks.append(
            RectMark(
                *(offset, top - offset, width, height, radius),
                *(colours.tint, colours.border, BOX_BORDER),
            )
        )
    is_tinted = face.header >= height
    if is_tinted:
        marks.append(RectMark(0, top, width, height, radius, colours.tint))
    else:
        body = theme.body if painted is None else painted.fill
        marks.append(RectMark(0, top, width, height, radius, body))
        if face.header:
            marks.append(RectMark(0, top, width, face.header, radius, colours.tint, top_only=True))
            if face.outline not in ("terminal", "constant"):
                marks.append(LineMark(0, top + face.header, width, colours.border, RULE))
        marks.extend(LineMark(0, y, width, colours.border, RULE) for y in face.rules)
    if paint is not None and paint.hatched:
        marks.append(hatch(0, top, width, height, colours.border))
    line = TERMINAL_BORDER if face.outline in ("terminal", "junction") else BOX_BORDER
    dash = PREPARATION_DASH if face.category == "preparation" else None
    if paint is not None and paint.dashed:
        dash = STUB_DASH
    marks.append(RectMark(0, top, width, height, radius, "", colours.border, line, dash=dash))
    for run in face.texts:
        colour = colours.text
        if painted is None and not is_tinted:
            colour = _text_colour(run.style, colours, theme)
        marks.append(_mark_text(run.x, run.y, run.text, run.style, colour, run.anchor))
    for badge in face.badges:
        pill = theme.stub if badge.is_chip else theme.badge
        marks.append(
            RectMark(
                badge.x,
                badge.y,
                badge.width,
                badge.height,
                badge.height / 2,
                pill.fill,
                pill.border,
            )
        )
        middle, baseline = badge.x + badge.width / 2, badge.y + badge.height / 2 + BADGE_BASELINE
        marks.append(_mark_text(middle, baseline, badge.text, "badge", pill.text, "middle"))
    if face.bar is not None and face.bar.width:
        marks.append(mark_bar(face.bar, colours))
    return marks


def mark_bar(bar: Bar, colours: CategoryColours) -> LineMark:
    """Return the mark of a box's share: its lower border is thick so far."""
    return LineMark(bar.x, bar.y, bar.width, colours.text, BAR_THICKNESS)


def _mark_stub(face: Face, pill: PillColours) -> list[Mark]:
    marks: list[Mark] = [
        RectMark(
            0, 0, face.width, face.height, RADII["stub"], pill.fill, pill.border, dash=STUB_DASH
        )
    ]
    for run in face.texts:
        marks.append(_mark_text(run.x, run.y, run.text, run.style, pill.text, run.anchor))
    return marks


def _text_colour(style: TextStyle, colours: CategoryColours, theme: Theme) -> str:
    if style in ("title", "title-muted"):
        return colours.text
    return theme.muted if style == "muted" else theme.ink


def _mark_text(
    x: float, y: float, text: str, style: TextStyle, colour: str, anchor: Anchor = "start"
) -> TextMark:
    size, bold = TEXT_STYLES[style]
    return TextMark(x, y, text, size, bold, colour, anchor)


def mark_frame(
    face: Face,
    box: SceneBox,
    theme: Theme,
    paint: Paint | None = None,
    direction: Direction = "TB",
) -> list[Mark]:
    """Return the marks of an open group of any size, from its own top left corner.

    The part of a group that goes on in another column has no border there, and where it goes on
    a quiet title.
    """
    colours = theme.category(face.category)
    border, line, dash = colours.border, FRAME_BORDER, None
    if face.category == "preparation":
        dash = PREPARATION_DASH
    if paint is not None and paint.line_tone:
        border, line = colour_of_line(paint, theme), PAINTED_BORDER
        dash = RING_DASH if paint.dashed else None
    width, height, radius = box.width, box.height, RADII["frame"]
    if box.enters is None and box.leaves is None:
        marks: list[Mark] = [
            RectMark(0, 0, width, height, radius, colours.frame, border, line, dash=dash)
        ]
    else:
        marks = _mark_part(box, direction, colours.frame, border, line)
    if box.enters is not None:
        return marks + _mark_continued(face, box, theme, direction)
    for run in face.texts:
        colour = colours.text if run.style == "title" else theme.muted
        x = run.x + (width - face.width if run.anchor == "end" else 0.0)
        marks.append(_mark_text(x, run.y, run.text, run.style, colour, run.anchor))
    return marks


def _mark_part(
    box: SceneBox, direction: Direction, fill: str, border: str, line: float
) -> list[Mark]:
    """Return ground and border of a part of an open group, without a border where it is cut."""
    is_down = direction == "TB"
    length, breadth = (box.height, box.width) if is_down else (box.width, box.height)
    radius = min(RADII["frame"], length / 2, breadth / 2)
    marks: list[Mark] = [RectMark(0, 0, box.width, box.height, radius, fill)]
    ends = []
    if box.enters is not None:
        ends.append(0.0)
    if box.leaves is not None:
        ends.append(length - radius)
    for end in ends:  # no round corners there
        corners = (0.0, end, breadth, radius) if is_down else (end, 0.0, radius, breadth)
        marks.append(RectMark(*corners, 0, fill))
    first, last = (0.0, length) if box.leaves is None else (length, 0.0)
    ways = [[(0.0, first), (0.0, last), (breadth, last), (breadth, first)]]
    if len(ends) == 2:
        ways = [ways[0][:2], ways[0][2:]]
    for way in ways:
        points = (*way[0], *round_corners(way, radius))
        turned = tuple(points[number ^ 1] for number in range(len(points)))
        marks.append(CurveMark(points if is_down else turned, border, line))
    return marks


def _mark_continued(face: Face, box: SceneBox, theme: Theme, direction: Direction) -> list[Mark]:
    """Return the title of a group that goes on, at the side of the stream where there is room."""
    run = face.texts[0]
    left, room = run.x, box.width - 2 * run.x
    stream = box.enters if direction == "TB" else None
    if stream is not None and stream < box.width:
        before, after = stream - run.x - _STREAM_GAP, box.width - stream - run.x - _STREAM_GAP
        left, room = (run.x, before) if before >= after else (stream + _STREAM_GAP, after)
    style = TEXT_STYLES["title-muted"]
    shown = f"{run.text} {CONTINUED}"
    if measure_text(shown, *style) > room:
        title = shorten_text(run.text, room - measure_text(_CONTINUED, *style), *style, "start")
        shown = f"{title}{_CONTINUED}" if len(title) > _LEAST_LETTERS else CONTINUED
    if measure_text(shown, *style) > room:
        return []
    return [_mark_text(left, run.y, shown, "title-muted", theme.muted)]


def mark_ring(width: float, height: float, shape: str, theme: Theme) -> RectMark:
    """Return the ring around a selected box."""
    gap = RING_OFFSET
    return RectMark(
        -gap,
        -gap,
        width + 2 * gap,
        height + 2 * gap,
        RADII[shape] + gap - 1,
        "",
        theme.accent,
        RING_WIDTH,
    )


#: kinds of edge that one of two models alone has, and their tones
DIFFERING = {"former": "removed", "newer": "added"}


def order_edges(scene: Scene) -> list[SceneEdge]:
    """Return the edges in the order of painting: those of the main stream lie over the others."""
    return sorted(scene.edges, key=lambda edge: edge.is_stream)


def mark_edge(
    edge: SceneEdge, theme: Theme, selected: bool = False, paint: Paint | None = None
) -> list[Mark]:
    """Return the line of an edge and its arrow head."""
    colour = colour_of_edge(edge.kind, theme)
    width = EDGE_WIDTH
    if edge.is_stream:
        colour, width = theme.stream, STREAM_WIDTH
    if edge.kind in DIFFERING:
        width = SELECTED_EDGE_WIDTH
    if paint is not None and paint.line_tone:
        colour, width = colour_of_line(paint, theme), SELECTED_EDGE_WIDTH
    if selected:
        colour, width = theme.accent, SELECTED_EDGE_WIDTH
    is_gone = edge.kind == "former" or (paint is not None and paint.dashed)
    dash = RING_DASH if is_gone else DASHES.get(edge.kind)
    if edge.kind == "loop":
        width = LOOP_WIDTH
    return mark_line(edge.points, dash, colour, width, arrow_of_edge(edge) if edge.arrow else None)


def arrow_of_edge(edge: SceneEdge) -> tuple[float, float]:
    """Return length and half of the width of an edge's arrow head."""
    if edge.kind == "loop":
        return LOOP_ARROW
    return STREAM_ARROW if edge.is_stream else ARROW


def colour_of_line(paint: Paint, theme: Theme) -> str:
    """Return the colour that a paint gives to an edge or to the border of an open group."""
    return theme.tones[paint.ring].strong if paint.ring else theme.tones[paint.tone].border


def colour_of_edge(kind: str, theme: Theme) -> str:
    """Return the colour of the edges of a kind."""
    if kind in DIFFERING:
        return theme.tones[DIFFERING[kind]].strong
    plain = {
        "captured": theme.edge_captured,
        "control": theme.edge_control,
        "loop": theme.edge_loop,
    }
    return plain.get(kind, theme.edge)


def mark_line(
    points: tuple[float, ...],
    dash: tuple[float, float] | None,
    colour: str,
    width: float,
    arrow: tuple[float, float] | None,
) -> list[Mark]:
    """Return a line, dashed or not, and its arrow head of a length and half a width, if any."""
    marks: list[Mark] = []
    head = find_arrow_head(points, arrow) if arrow is not None else None
    if head is not None:
        triangle, points = head
        marks.append(PolygonMark(triangle, colour))
    marks.insert(0, CurveMark(points, colour, width, dash))
    return marks


def find_arrow_head(
    points: Sequence[float], arrow: tuple[float, float] = ARROW
) -> tuple[tuple[float, float, float, float, float, float], tuple[float, ...]] | None:
    """Return the triangle at a curve's end, and the curve drawn back to its base."""
    if len(points) < 4:
        return None
    x, y = points[-2:]
    for index in range(len(points) - 4, -1, -2):
        dx, dy = x - points[index], y - points[index + 1]
        length = math.hypot(dx, dy)
        if length > 0.5:
            break
    else:
        return None
    dx, dy = dx / length, dy / length
    arrow_length, half_width = arrow
    base_x, base_y = x - dx * arrow_length, y - dy * arrow_length
    side_x, side_y = -dy * half_width, dx * half_width
    triangle = (x, y, base_x + side_x, base_y + side_y, base_x - side_x, base_y - side_y)
    back = arrow_length - 1.5
    shorter = [*points[:-2], x - dx * back, y - dy * back]
    if len(points) >= 8:  # the last control point moves along, so that the curve keeps its form
        reach = math.hypot(x - points[-4], y - points[-3])
        if reach < back + 1:
            shorter[-4:-2] = shorter[-2:]
    return triangle, tuple(shorter)


def mark_edge_label(edge: SceneEdge, ground: str, theme: Theme) -> list[Mark]:
    """Return an edge's label on a patch of the ground's colour."""
    text = clean_label(edge.label, 120)
    if edge.kind == "loop":  # it stands where nothing else is
        style: TextStyle = "name" if edge.arrow else "text"
        baseline = edge.label_y + LABEL_BASELINE / 2
        return [_mark_text(edge.label_x, baseline, text, style, theme.edge_loop, "middle")]
    width, height = measure_text(text, *TEXT_STYLES["label"]) + 2 * LABEL_PADDING, LABEL_HEIGHT
    left, top = edge.label_x - width / 2, edge.label_y - height / 2
    return [
        RectMark(left, top, width, height, LABEL_RADIUS, ground),
        _mark_text(edge.label_x, top + LABEL_BASELINE, text, "label", theme.edge_label, "middle"),
    ]


def ground_of_edge(
    scene: Scene, edge: SceneEdge, theme: Theme, face_of: Callable[[Item], Face]
) -> str:
    """Return the colour behind an edge: that of the open box whose inside it crosses."""
    boxes = scene.boxes
    source, target = edge.source, edge.target
    if source >= 0 and target >= 0 and boxes[target].parent == source:
        around = source
    elif source >= 0 and target >= 0 and boxes[source].parent == target:
        around = target
    else:
        inner = source if source >= 0 else target
        around = boxes[inner].parent if inner >= 0 else -1
    if around < 0 or boxes[around].item.kind == "root":
        return theme.page
    return theme.category(face_of(boxes[around].item).category).frame


def mark_zoom_ground(zoom: Zoom, theme: Theme) -> PolygonMark:
    """Return the ground between the lines that join a closed box with what is in it.

    It lies below all open groups, whose borders and titles it would cover.
    """
    upper, lower = zoom.lines
    fill = blend_hex(theme.page, theme.edge, _ZOOM_SHARE)
    back = tuple(at for n in range(len(lower) - 2, -1, -2) for at in lower[n : n + 2])
    return PolygonMark((*upper, *back), fill)


def mark_zoom_lines(zoom: Zoom, theme: Theme) -> list[Mark]:
    """Return the lines that join a closed box with what is in it."""
    return [CurveMark(_run_straight(line), theme.edge, _ZOOM_WIDTH) for line in zoom.lines]


def _run_straight(points: tuple[float, ...]) -> tuple[float, ...]:
    """Return the straight way through some corners as a curve."""
    pieces = zip(points[:-2:2], points[1:-2:2], points[2::2], points[3::2], strict=True)
    return (*points[:2], *(at for x, y, u, v in pieces for at in (x, y, u, v, u, v)))


def mark_port(x: float, y: float, theme: Theme) -> CircleMark:
    """Return the ring where a value passes a border."""
    return CircleMark(x, y, PORT_RADIUS, theme.port, theme.stream)
