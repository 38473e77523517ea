"""A Scene as PNG or PDF, drawn by matplotlib's renderers with the marks that the SVG has."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.image import imsave
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from netloupe.explorer.layout import Scene
from netloupe.explorer.view import Item

from .called import list_open_calls, paint_calls
from .face import Face
from .fonts import font_in_use, silent_about_weights
from .legend import Placed
from .marks import (
    CircleMark,
    CurveMark,
    HatchMark,
    LineMark,
    Mark,
    PolygonMark,
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
from .text import clean_label, measure_text
from .theme import Theme, lay_on_ground, load_theme

LONGEST_SIDE = 16_000  # pixels of a PNG
MOST_PIXELS = 64_000_000  # four bytes each, held twice while the file is written
LEAST_TEXT = 2.0  # pixels of a PNG: smaller text would be a grey line
LONGEST_PAGE = 14_400.0  # points of a PDF page (ISO 32000-1, annex C.2)

_FAMILY = "DejaVu Sans"
_CURVE_TO_CIRCLE = 0.5522847498  # control points of a quarter circle, over its radius
#: tried in this order for characters that DejaVu Sans lacks
_OTHER_FAMILIES = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Source Han Sans",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "Hiragino Sans",
    "PingFang SC",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Arial Unicode MS",
)


def choose_png_scale(drawn: Scene | Sheet, scale: float = 2.0) -> tuple[float, str]:
    """Return the scale at which a PNG is drawn, and a notice where it is smaller."""
    width, height = max(drawn.width, 1.0), max(drawn.height, 1.0)
    largest = min(
        LONGEST_SIDE / width, LONGEST_SIDE / height, math.sqrt(MOST_PIXELS / (width * height))
    )
    if scale <= largest:
        return scale, ""
    return largest, (
        f"The PNG is drawn at {largest:.3g} instead of {scale:.3g} pixels per unit, because it "
        "would be too large. SVG and PDF have no such limit."
    )


def choose_pdf_scale(drawn: Scene | Sheet, scale: float = 1.0) -> tuple[float, str]:
    """Return the points per pixel of a PDF page, and a notice where it had to be reduced."""
    longest = max(drawn.width, drawn.height, 1.0)
    if longest * scale <= LONGEST_PAGE * (1 + 1e-9):
        return scale, ""
    scale = LONGEST_PAGE / longest
    return scale, f"The PDF page is scaled to {scale:.3g} to stay within the format's limit."


def draw_png(
    scene: Scene,
    face_of: Callable[[Item], Face],
    theme: str = "light",
    scale: float = 2.0,
    *,
    selected: frozenset[str] = frozenset(),
    paints: Paints = NO_PAINTS,
    sheet: Sheet | None = None,
) -> bytes:
    """Draw a scene as PNG.

    Parameters
    ----------
    scene
        What is where.
    face_of
        Gives the face of an item.
    theme
        ``light`` or ``dark``.
    scale
        Pixels per unit of the scene; reduced as :func:`choose_png_scale` tells.
    selected
        Paths of the boxes and edges to be marked.
    paints
        How boxes and edges are painted, by path.
    sheet
        What it is drawn on; as large as the scene where None.

    Raises
    ------
    ViewError
        For an unknown theme.
    """
    sheet = sheet or Sheet(scene.width, scene.height)
    marks = place_marks(scene, face_of, load_theme(theme), selected, paints, sheet)
    return paint_png(marks, sheet, scale)


def paint_png(marks: Iterable[Placed], sheet: Sheet, scale: float) -> bytes:
    """Return all that lies on a sheet as PNG; the scale is that of :func:`draw_png`."""
    scale, _ = choose_png_scale(sheet, scale)
    count = round if sheet.paper is not None else math.floor
    width = max(1, count(sheet.width * scale + 1e-6))
    height = max(1, count(sheet.height * scale + 1e-6))
    renderer: Any = RendererAgg(width, height, 72)  # type: ignore[no-untyped-call]
    painter = _Painter(renderer, scale, height, LEAST_TEXT)
    with mpl.rc_context({"text.hinting": "none"}):  # widths as measured
        painter.paint(marks)
    stream = io.BytesIO()
    # no version of the software in the file: the same picture gives the same bytes
    metadata: dict[str, Any] = {"Software": None}
    quick: dict[str, Any] = {"compress_level": 4}
    imsave(stream, renderer.buffer_rgba(), format="png", metadata=metadata, pil_kwargs=quick)
    return stream.getvalue()


def draw_pdf(
    scene: Scene,
    face_of: Callable[[Item], Face],
    theme: str = "light",
    title: str = "",
    *,
    selected: frozenset[str] = frozenset(),
    paints: Paints = NO_PAINTS,
    sheet: Sheet | None = None,
) -> bytes:
    """Draw a scene as a PDF of one page, with text as text; parameters as for draw_png."""
    sheet = sheet or Sheet(scene.width, scene.height)
    marks = place_marks(scene, face_of, load_theme(theme), selected, paints, sheet)
    return paint_pdf(marks, sheet, title)


def paint_pdf(marks: Iterable[Placed], sheet: Sheet, title: str) -> bytes:
    """Return all that lies on a sheet as a PDF of one page, with text as text."""
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    scale, _ = choose_pdf_scale(sheet, sheet.scale)
    width, height = max(sheet.width, 1.0) * scale, max(sheet.height, 1.0) * scale
    figure = Figure(figsize=(width / 72, height / 72), dpi=72, frameon=False)
    figure.add_artist(_SceneArtist(marks, scale, height))
    stream = io.BytesIO()
    metadata = {"CreationDate": None, "Title": clean_label(title) or None}
    with mpl.rc_context({"pdf.fonttype": 42, "pdf.compression": 6}):
        canvas: Any = FigureCanvasPdf(figure)
        canvas.print_pdf(stream, metadata=metadata)
    return stream.getvalue()


def place_marks(
    scene: Scene,
    face_of: Callable[[Item], Face],
    theme: Theme,
    selected: frozenset[str],
    paints: Paints,
    sheet: Sheet,
) -> Iterator[Placed]:
    """Yield every mark of a sheet with the place of its origin, in the order of painting."""
    theme = lay_on_ground(theme, sheet.background)
    if sheet.background != "transparent":
        yield 0.0, 0.0, RectMark(0, 0, sheet.width, sheet.height, 0, theme.page)
    for x, y, mark in _place_scene(scene, face_of, theme, selected, paints):
        yield x + sheet.left, y + sheet.top, mark
    yield from sheet.marks
    yield from sheet.ratios


def _place_scene(
    scene: Scene,
    face_of: Callable[[Item], Face],
    theme: Theme,
    selected: frozenset[str],
    paints: Paints,
) -> Iterator[Placed]:
    boxes = [box for box in scene.boxes if box.item.kind != "root"]
    paints = paint_calls(paints, list_open_calls(box.item for box in boxes))
    for zoom in scene.zooms:
        yield 0.0, 0.0, mark_zoom_ground(zoom, theme)
    for box in boxes:
        if box.item.is_open:
            face, paint = face_of(box.item), paints.get(box.item.path)
            for mark in mark_frame(face, box, theme, paint, scene.direction):
                yield box.x, box.y, mark
    for zoom in scene.zooms:
        for mark in mark_zoom_lines(zoom, theme):
            yield 0.0, 0.0, mark
    for edge in order_edges(scene):
        paint = find_paint(paints, *edge.paths)
        for mark in mark_edge(edge, theme, not selected.isdisjoint(edge.paths), paint):
            yield 0.0, 0.0, mark
        if edge.label:
            behind = ground_of_edge(scene, edge, theme, face_of)
            for mark in mark_edge_label(edge, behind, theme):
                yield 0.0, 0.0, mark
    for port in scene.ports:
        yield 0.0, 0.0, mark_port(port.x, port.y, theme)
    known: dict[tuple[Face, Paint | None], list[Mark]] = {}
    taken = find_taken(scene) if paints else {}
    for box in boxes:
        face, paint = face_of(box.item), paints.get(box.item.path)
        is_open = box.item.is_open
        if not is_open:
            ground = paint.ground if paint is not None else None
            if (face, ground) not in known:
                known[face, ground] = mark_face(face, theme, ground)
            for mark in known[face, ground]:
                yield box.x, box.y, mark
        if box.item.path in selected:
            yield box.x, box.y, mark_ring(box.width, box.height, face.outline, theme)
        if paint is not None:
            size, pill = (box.width, box.height), taken[box.x, box.y]
            for mark in mark_paint(face, *size, paint, theme, is_open=is_open, taken=pill):
                yield box.x, box.y, mark


class _SceneArtist(Artist):
    """All marks of a scene as one artist, which saves an artist for each mark."""

    def __init__(self, marks: Iterable[Placed], scale: float, height: float) -> None:
        super().__init__()
        self._marks = marks
        self._scale = scale
        self._height = height

    def draw(self, renderer: RendererBase) -> None:
        _Painter(renderer, self._scale, self._height).paint(self._marks)


class _Painter:
    """Draws marks with a renderer whose y axis points up."""

    def __init__(
        self, renderer: RendererBase, scale: float, height: float, least_text: float = 0.0
    ) -> None:
        self.renderer = renderer
        self.least_text = least_text
        self.scale = scale
        self.height = height
        self.context: GraphicsContextBase = renderer.new_gc()
        self.paths: dict[Mark, Path] = {}
        self.font = font_in_use()

    def paint(self, marks: Iterable[Placed]) -> None:
        with silent_about_weights():
            for x, y, mark in marks:
                if isinstance(mark, TextMark):
                    self._paint_text(x, y, mark)
                else:
                    self._paint_path(x, y, mark)
        self.context.restore()

    def _paint_path(self, x: float, y: float, mark: Mark) -> None:
        path = self.paths.get(mark)
        if path is None:
            path = self.paths[mark] = make_path(mark)
        fill, stroke = getattr(mark, "fill", ""), getattr(mark, "stroke", "")
        context, scale = self.context, self.scale
        context.set_linewidth(mark.stroke_width * scale if stroke else 0.0)  # type: ignore[union-attr]
        context.set_foreground(to_rgb(stroke) if stroke else (0, 0, 0), isRGBA=False)
        dash = getattr(mark, "dash", None)
        if dash is None:
            context.set_dashes(0, None)
        else:
            context.set_dashes(0, [length * scale for length in dash])
        transform = Affine2D.from_values(scale, 0, 0, -scale, x * scale, self.height - y * scale)
        self.renderer.draw_path(context, path, transform, to_rgb(fill) if fill else None)

    def _paint_text(self, x: float, y: float, mark: TextMark) -> None:
        if not mark.text or mark.size * self.scale < self.least_text:
            return
        left = x + mark.x
        if mark.anchor != "start":
            width = measure_text(mark.text, mark.size, mark.bold)
            left -= width if mark.anchor == "end" else width / 2
        baseline = (y + mark.y) * self.scale
        if not self.renderer.flipy():
            baseline = self.height - baseline
        self.context.set_linewidth(1.0)
        self.context.set_dashes(0, None)
        self.context.set_foreground(to_rgb(mark.fill))
        if self.font is None:
            self._paint_piece(left, baseline, mark.text, mark, "")
            return
        for piece, is_here in self.font.split(mark.text):
            self._paint_piece(left, baseline, piece, mark, self.font.family if is_here else "")
            left += measure_text(piece, mark.size, mark.bold)

    def _paint_piece(
        self, left: float, baseline: float, piece: str, mark: TextMark, family: str
    ) -> None:
        font = choose_font(mark.size * self.scale, mark.bold, family)
        text = replace_missing(piece, family)
        self.renderer.draw_text(self.context, left * self.scale, baseline, text, font, 0)


def make_path(mark: Mark) -> Path:
    """Return a mark's outline in the mark's own coordinates."""
    if isinstance(mark, RectMark):
        return _round_rectangle(mark)
    if isinstance(mark, LineMark):
        return Path([(mark.x, mark.y), (mark.x + mark.width, mark.y)])
    if isinstance(mark, CurveMark):
        points = _pairs(mark.points)
        return Path(points, [Path.MOVETO] + [Path.CURVE4] * (len(points) - 1))
    if isinstance(mark, CircleMark):
        return Path.circle((mark.x, mark.y), mark.radius)
    if isinstance(mark, HatchMark):
        ends = [end for x, y, right, high in mark.lines for end in ((x, y), (right, high))]
        return Path(ends or [(0.0, 0.0)], [Path.MOVETO, Path.LINETO] * len(mark.lines) or None)
    if isinstance(mark, PolygonMark):
        points = _pairs(mark.points)
        return Path([*points, points[0]], closed=True)
    raise TypeError(f"{type(mark).__name__} has no outline")


def _pairs(numbers: tuple[float, ...]) -> list[tuple[float, float]]:
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _round_rectangle(mark: RectMark) -> Path:
    left, top = mark.x, mark.y
    right, bottom = left + mark.width, top + mark.height
    radius = min(mark.radius, mark.width / 2, mark.height / (1 if mark.top_only else 2))
    if radius <= 0:
        corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
        return Path(corners, closed=True)
    control = radius * (1 - _CURVE_TO_CIRCLE)
    lower = 0.0 if mark.top_only else radius
    lower_control = 0.0 if mark.top_only else control
    points = [
        (left + radius, top),
        (right - radius, top),
        (right - control, top),
        (right, top + control),
        (right, top + radius),
        (right, bottom - lower),
        (right, bottom - lower_control),
        (right - lower_control, bottom),
        (right - lower, bottom),
        (left + lower, bottom),
        (left + lower_control, bottom),
        (left, bottom - lower_control),
        (left, bottom - lower),
        (left, top + radius),
        (left, top + control),
        (left + control, top),
        (left + radius, top),
        (left + radius, top),
    ]
    corner = [Path.CURVE4] * 3
    side: list[Any] = [Path.LINETO]
    codes = [Path.MOVETO, *side, *corner, *side, *corner, *side, *corner, *side, *corner]
    return Path(points, [*codes, Path.CLOSEPOLY])


@lru_cache(maxsize=64)
def choose_font(size: float, bold: bool, family: str = "") -> FontProperties:
    """Return the font of labels at a size in pixels, of a family or the usual one."""
    families = _list_families(family)
    return FontProperties(family=families, size=size, weight="bold" if bold else "normal")


@cache
def _find_other_families() -> tuple[str, ...]:
    present = {entry.name for entry in fontManager.ttflist}
    return tuple(family for family in _OTHER_FAMILIES if family in present)[:2]


def _list_families(family: str) -> list[str]:
    return [*([family] if family else []), _FAMILY, *_find_other_families()]


@lru_cache(maxsize=1 << 14)
def replace_missing(text: str, family: str = "") -> str:
    """Return the text with a hollow square for each character that no font at hand has."""
    if text.isascii():
        return text
    return "".join(character if _has_glyph(character, family) else "□" for character in text)


@lru_cache(maxsize=1 << 14)
def _has_glyph(character: str, family: str) -> bool:
    families = _list_families(family)
    fonts = (get_font(findfont(FontProperties(family=name))) for name in families)
    return any(font.get_char_index(ord(character)) for font in fonts)
