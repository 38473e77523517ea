"""A Scene as SVG: text stays text, no scripts, no fonts from elsewhere, the same bytes each time.

All colours and sizes are presentation attributes rather than CSS, which every viewer knows.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence

from netloupe.explorer.layout import Scene, SceneBox, SceneEdge
from netloupe.explorer.notation import write_count
from netloupe.explorer.view import Item

from .called import list_open_calls, paint_calls
from .face import Face
from .legend import SAMPLE_HEIGHT, SAMPLE_WIDTH, Entry, mark_sample
from .marks import (
    CircleMark,
    CurveMark,
    HatchMark,
    LineMark,
    Mark,
    MarkedPiece,
    RectMark,
    TextMark,
    ground_of_edge,
    mark_edge,
    mark_edge_label,
    mark_face,
    mark_frame,
    mark_port,
    mark_ring,
    mark_zoom_ground,
    mark_zoom_lines,
    order_edges,
)
from .paint import NO_PAINTS, Paint, Paints, find_paint
from .painted import mark_paint
from .pills import find_taken
from .sheet import Sheet
from .sizes import FONT_FAMILY
from .text import clean_label
from .theme import Theme, lay_on_ground, load_theme

LONGEST_TITLE = 4000
#: of the values of one edge so many are listed in its title
_MOST_LISTED = 20
_LONGEST_ID = 80
_PLAIN_PATH = re.compile(r"\w+(?:/\w[\w.]*)*", re.ASCII)
_NOT_IN_ID = re.compile(r"[^A-Za-z0-9_.]+")
_CLASSES = {
    "node": "node",
    "group": "group",
    "branch": "group",
    "input": "terminal",
    "output": "terminal",
    "constant": "constant",
    "stub": "stub",
}
_ID_LETTERS = {
    "node": "n",
    "group": "g",
    "branch": "b",
    "input": "i",
    "output": "o",
    "constant": "c",
    "stub": "s",
}


def draw_svg(
    scene: Scene,
    face_of: Callable[[Item], Face],
    theme: str = "light",
    title: str = "",
    *,
    selected: frozenset[str] = frozenset(),
    paints: Paints = NO_PAINTS,
    id_prefix: str = "",
    sheet: Sheet | None = None,
    font: str = "",
) -> str:
    """Draw a scene.

    Parameters
    ----------
    scene
        What is where.
    face_of
        Gives the face of an item, such as :meth:`FaceBook.face`.
    theme
        ``light`` or ``dark``.
    title
        What the picture shows, for screen readers and tool tips.
    selected
        Paths of the boxes and edges to be marked.
    paints
        How boxes and edges are painted, by path.
    id_prefix
        What every id begins with, where several pictures stand in one page.
    sheet
        What it is drawn on; as large as the scene where None.
    font
        The family of all text; the usual ones where "".

    Returns
    -------
    str
        One ``<svg>`` element; numbers are pixels, on a page the size is in points. Boxes are
        ``<g class="node">``, ``<g class="group">`` (an open call is both), ``terminal`` and
        ``constant``, edges ``<g class="edge">``; the first line of each ``<title>`` is the path.

    Raises
    ------
    ViewError
        For an unknown theme.
    """
    sheet = sheet or Sheet(scene.width, scene.height)
    colours = lay_on_ground(load_theme(theme), sheet.background)
    drawing = _Drawing(scene, face_of, colours, selected, paints, id_prefix)
    return drawing.draw(title, sheet, font)


class _Drawing:
    def __init__(
        self,
        scene: Scene,
        face_of: Callable[[Item], Face],
        theme: Theme,
        selected: frozenset[str],
        paints: Paints,
        id_prefix: str,
    ) -> None:
        self.scene = scene
        self.face_of = face_of
        self.theme = theme
        self.selected = selected
        self.paints = paint_calls(paints, list_open_calls(box.item for box in scene.boxes))
        self.taken = find_taken(scene) if self.paints else {}
        self.id_prefix = id_prefix
        self.ids: dict[str, int] = {}
        self.bodies: dict[tuple[Face, Paint | None], str] = {}

    def draw(self, title: str, sheet: Sheet, font: str) -> str:
        scene, theme = self.scene, self.theme
        frames = [box for box in scene.boxes if box.item.is_open and box.item.kind != "root"]
        boxes = [box for box in scene.boxes if not box.item.is_open and box.item.kind != "root"]
        moved = f' transform="translate({_number(sheet.left)} {_number(sheet.top)})"'
        moved = moved if sheet.left or sheet.top else ""
        parts = [
            *_open_svg(sheet, title, _describe(scene), theme, font, self.id_prefix),
            f'<g class="groups"{moved}>',
            *(_draw_mark(mark_zoom_ground(zoom, theme)) for zoom in scene.zooms),
            *map(self._draw_frame, frames),
            *self._draw_zooms(moved),
            f'</g>\n<g class="edges"{moved}>',
            *self._draw_edges(),
            f'</g>\n<g class="ports"{moved}>',
            *(_draw_mark(mark_port(port.x, port.y, theme)) for port in scene.ports),
            f'</g>\n<g class="boxes"{moved}>',
            *map(self._draw_box, boxes),
            *self._draw_over_frames(frames),
            "</g>",
            *_draw_around(sheet),
            "</svg>\n",
        ]
        return "\n".join(parts)

    def _draw_zooms(self, moved: str) -> Iterable[str]:
        """Yield the lines that join closed boxes with their insides beside the picture."""
        if self.scene.zooms:
            zooms = (mark_zoom_lines(zoom, self.theme) for zoom in self.scene.zooms)
            marks = (mark for lines in zooms for mark in lines)
            yield f'</g>\n<g class="zooms"{moved}>{"".join(map(_draw_mark, marks))}'

    def _draw_frame(self, box: SceneBox) -> str:
        face = self.face_of(box.item)
        paint = self.paints.get(box.item.path)
        marks = mark_frame(face, box, self.theme, paint, self.scene.direction)
        classes = "node group" if box.item.kind == "node" else "group"
        return self._wrap(box, face, classes, "frame", "".join(map(_draw_mark, marks)))

    def _draw_over_frames(self, frames: Sequence[SceneBox]) -> Iterable[str]:
        """Yield what paints lay over open groups, in front of the ports on their borders."""
        for box in frames if self.paints else ():
            paint, face = self.paints.get(box.item.path), self.face_of(box.item)
            if paint is None:
                continue
            laid = self._lay_paint(box, face, paint, is_open=True)
            if laid:
                drawn = "".join(map(_draw_mark, laid))
                title = escape_text(clean_label(box.item.path, LONGEST_TITLE))
                place = f"{_number(box.x)} {_number(box.y)}"
                yield f'<g transform="translate({place})"><title>{title}</title>{drawn}</g>'

    def _lay_paint(self, box: SceneBox, face: Face, paint: Paint, *, is_open: bool) -> list[Mark]:
        taken = self.taken[box.x, box.y]
        size = box.width, box.height
        return mark_paint(face, *size, paint, self.theme, is_open=is_open, taken=taken)

    def _draw_box(self, box: SceneBox) -> str:
        face = self.face_of(box.item)
        paint = self.paints.get(box.item.path)
        ground = paint.ground if paint is not None else None
        body = self.bodies.get((face, ground))
        if body is None:
            body = "".join(map(_draw_mark, mark_face(face, self.theme, ground)))
            self.bodies[face, ground] = body
        return self._wrap(box, face, _CLASSES[box.item.kind], face.outline, body)

    def _wrap(self, box: SceneBox, face: Face, classes: str, shape: str, body: str) -> str:
        item = box.item
        paint = self.paints.get(item.path)
        if item.path in self.selected:
            body += _draw_mark(mark_ring(box.width, box.height, shape, self.theme))
        if paint is not None and shape != "frame":
            laid = self._lay_paint(box, face, paint, is_open=False)
            body += "".join(map(_draw_mark, laid))
        identity = self._identify(_ID_LETTERS[item.kind], item.key)
        title = escape_text(clean_label(item.path, LONGEST_TITLE))
        if face.title:
            title += f"\n{escape_text(face.title)}"
        if face.bar is not None:
            title += f"\n{escape_text(face.bar.text)}"
        return (
            f'<g class="{classes}" id="{identity}" '
            f'transform="translate({_number(box.x)} {_number(box.y)})">'
            f"<title>{title}</title>{body}</g>"
        )

    def _draw_edges(self) -> Iterable[str]:
        for edge in order_edges(self.scene):
            paint = find_paint(self.paints, *edge.paths)
            is_selected = not self.selected.isdisjoint(edge.paths)
            marks = mark_edge(edge, self.theme, is_selected, paint)
            if edge.label:
                ground = ground_of_edge(self.scene, edge, self.theme, self.face_of)
                marks += mark_edge_label(edge, ground, self.theme)
            title = _write_edge_title(edge)
            identity = self._identify("e", edge.path.replace("/%", "/", 1))
            drawn = "".join(map(_draw_mark, marks))
            yield (
                f'<g class="edge" id="{identity}"><title>{escape_text(title)}</title>{drawn}</g>'
            )

    def _identify(self, letter: str, path: str) -> str:
        """Return an id that depends on the path alone, but for a count where it repeats."""
        identity = f"{self.id_prefix}{letter}-{make_id(path)}"
        count = self.ids[identity] = self.ids.get(identity, 0) + 1
        return identity if count == 1 else f"{identity}--{count}"


def _open_svg(
    sheet: Sheet, title: str, description: str, theme: Theme, font: str, prefix: str = ""
) -> Iterable[str]:
    """Yield the beginning of a picture: its size, what it is called, and its ground."""
    family = f'"{font}", {FONT_FAMILY}' if font else FONT_FAMILY
    width, height = _number(sheet.width), _number(sheet.height)
    unit = "pt" if sheet.paper is not None else ""
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" '
        f'width="{_number(sheet.width * sheet.scale)}{unit}" '
        f'height="{_number(sheet.height * sheet.scale)}{unit}" '
        f'viewBox="0 0 {width} {height}" role="img" '
        f'aria-labelledby="{prefix}picture-title {prefix}picture-description" '
        f'font-family="{escape_text(family)}">'
    )
    title_text = escape_text(clean_label(title) or "Model graph")
    yield f'<title id="{prefix}picture-title">{title_text}</title>'
    yield f'<desc id="{prefix}picture-description">{escape_text(description)}</desc>'
    yield from _draw_ground(sheet, theme)


def draw_pieces_svg(
    pieces: Iterable[MarkedPiece],
    sheet: Sheet,
    *,
    title: str,
    description: str,
    theme: Theme,
    font: str = "",
) -> str:
    """Draw what is no scene: pieces of marks that lie where they are to be.

    Parameters
    ----------
    pieces
        What is drawn, in the order of painting.
    sheet
        What it is drawn on.
    title, description
        What it shows, for screen readers and tool tips.
    theme
        The colour of the ground.
    font
        The family of all text; the usual ones where "".

    Returns
    -------
    str
        One ``<svg>`` element; each piece that has a title is a ``<g>`` with its class.
    """
    parts = [*_open_svg(sheet, title, description, theme, font)]
    place = f"{_number(sheet.left)} {_number(sheet.top)}"
    parts.append(f'<g transform="translate({place})">' if sheet.left or sheet.top else "<g>")
    for piece in pieces:
        drawn = "".join(_draw_placed(*placed) for placed in piece.marks)
        if piece.title:
            lines = (clean_label(line, LONGEST_TITLE) for line in piece.title.split("\n"))
            text = escape_text("\n".join(lines))
            drawn = f'<g class="{piece.kind}"><title>{text}</title>{drawn}</g>'
        parts.append(drawn)
    return "\n".join([*parts, "</g>", "</svg>\n"])


def _draw_placed(x: float, y: float, mark: Mark) -> str:
    drawn = _draw_mark(mark)
    return f'<g transform="translate({_number(x)} {_number(y)})">{drawn}</g>' if x or y else drawn


def _write_edge_title(edge: SceneEdge) -> str:
    """Return what stands in the title of an edge: its value, or the first of several."""
    lines = [clean_label(path, LONGEST_TITLE) for path in edge.paths[:_MOST_LISTED]]
    hidden = len(edge.paths) - len(lines)
    if hidden:
        lines.append(f"… {hidden:,} more")
    elif edge.value.type is not None and not edge.bundle:
        lines.append(clean_label(str(edge.value.type)))
    return "\n".join(lines)


def _draw_ground(sheet: Sheet, theme: Theme) -> Iterable[str]:
    """Yield what a picture lies on, if it is not what is behind it."""
    if sheet.background != "transparent":
        width, height = _number(sheet.width), _number(sheet.height)
        yield f'<rect class="page" width="{width}" height="{height}" fill="{theme.page}"/>'


def _draw_around(sheet: Sheet) -> Iterable[str]:
    """Yield title and legend of a picture, and ratios beside it."""
    for name, marks in (("around", sheet.marks), ("ratios", sheet.ratios)):
        if not marks:
            continue
        yield f'<g class="{name}">'
        for x, y, mark in marks:
            drawn = _draw_mark(mark)
            yield f'<g transform="translate({_number(x)} {_number(y)})">{drawn}</g>'
        yield "</g>"


def draw_sample(entry: Entry, theme: str) -> str:
    """Return the small picture of an entry of a legend, as an SVG of its own.

    Raises
    ------
    ViewError
        For an unknown theme.
    """
    width, height = _number(SAMPLE_WIDTH), _number(SAMPLE_HEIGHT)
    drawn = "".join(map(_draw_mark, mark_sample(entry, load_theme(theme))))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="{escape_text(FONT_FAMILY)}">{drawn}</svg>'
    )


def make_id(path: str) -> str:
    """Return a path as a part of an XML id; different paths give different ids.

    Slashes become hyphens. Where anything else has to change, a hash of the path follows.
    """
    if len(path) <= _LONGEST_ID and _PLAIN_PATH.fullmatch(path):
        return path.replace("/", "-")
    digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    readable = _NOT_IN_ID.sub("-", path[:_LONGEST_ID]).strip("-")
    return f"{readable}--{digest}"


def _describe(scene: Scene) -> str:
    kinds = [box.item.kind for box in scene.boxes if box.enters is None]
    groups = kinds.count("group") + kinds.count("branch")
    text = (
        f"{write_count(kinds.count('node'), 'node')}, {write_count(groups, 'group')} and "
        f"{write_count(len(scene.edges), 'edge')}."
    )
    return " ".join([text, *(clean_label(notice, 1000) for notice in scene.notices)])


def escape_text(text: str) -> str:
    """Return text that may stand in XML or HTML, within quotes too."""
    return (
        text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
        .replace("'", "&#39;")
    )


def _number(value: float) -> str:
    """Return a number with at most two decimals."""
    text = f"{value:.2f}"
    text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _draw_mark(mark: Mark) -> str:
    if isinstance(mark, TextMark):
        return _draw_text(mark)
    if isinstance(mark, RectMark):
        return _draw_rect(mark)
    if isinstance(mark, LineMark):
        return (
            f'<path d="M{_number(mark.x)} {_number(mark.y)}h{_number(mark.width)}" '
            f'stroke="{mark.stroke}" stroke-width="{_number(mark.stroke_width)}"/>'
        )
    if isinstance(mark, CurveMark):
        return (
            f'<path d="{draw_curve(mark.points)}" fill="none" stroke="{mark.stroke}" '
            f'stroke-width="{_number(mark.stroke_width)}"{_dash(mark.dash)}/>'
        )
    if isinstance(mark, CircleMark):
        return (
            f'<circle cx="{_number(mark.x)}" cy="{_number(mark.y)}" r="{_number(mark.radius)}" '
            f'fill="{mark.fill}" stroke="{mark.stroke}" '
            f'stroke-width="{_number(mark.stroke_width)}"/>'
        )
    if isinstance(mark, HatchMark):
        return (
            f'<path d="{draw_strokes(mark)}" fill="none" stroke="{mark.stroke}" '
            f'stroke-width="{_number(mark.stroke_width)}"/>'
        )
    corners = " ".join(map(_number, mark.points))
    return f'<path d="M{corners}z" fill="{mark.fill}"/>'


def _dash(dash: tuple[float, float] | None) -> str:
    return "" if dash is None else f' stroke-dasharray="{_number(dash[0])} {_number(dash[1])}"'


def _draw_text(mark: TextMark) -> str:
    weight = ' font-weight="bold"' if mark.bold else ""
    anchor = "" if mark.anchor == "start" else f' text-anchor="{mark.anchor}"'
    return (
        f'<text x="{_number(mark.x)}" y="{_number(mark.y)}" font-size="{_number(mark.size)}"'
        f'{weight}{anchor} fill="{mark.fill}">{escape_text(mark.text)}</text>'
    )


def _draw_rect(mark: RectMark) -> str:
    paint = f'fill="{mark.fill or "none"}"'
    if mark.stroke:
        paint += f' stroke="{mark.stroke}"'
        if mark.stroke_width != 1:
            paint += f' stroke-width="{_number(mark.stroke_width)}"'
        paint += _dash(mark.dash)
    x, y, radius = _number(mark.x), _number(mark.y), _number(mark.radius)
    width, height = _number(mark.width), _number(mark.height)
    if mark.top_only:
        straight = _number(mark.width - 2 * mark.radius)
        left = _number(mark.x)
        return (
            f'<path d="M{left} {_number(mark.y + mark.height)}'
            f"V{_number(mark.y + mark.radius)}a{radius} {radius} 0 0 1 {radius} -{radius}"
            f"h{straight}a{radius} {radius} 0 0 1 {radius} {radius}"
            f'V{_number(mark.y + mark.height)}z" {paint}/>'
        )
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}" {paint}/>'


def draw_strokes(mark: HatchMark) -> str:
    """Return the path data of parallel strokes."""
    return "".join(
        f"M{_number(x)} {_number(y)}L{_number(right)} {_number(high)}"
        for x, y, right, high in mark.lines
    )


def draw_curve(points: tuple[float, ...]) -> str:
    """Return the path data of a Bézier curve."""
    numbers = list(map(_number, points))
    start, rest = numbers[:2], numbers[2:]
    return f"M{' '.join(start)}" + (f"C{' '.join(rest)}" if rest else "")
