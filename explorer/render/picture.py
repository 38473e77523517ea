"""From a model and the options of a view to a finished picture."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from netloupe.explorer.errors import ViewError
from netloupe.explorer.files.output import FORMATS, check_ending, check_place, write_file
from netloupe.explorer.layout import (
    DEADLINE,
    Composer,
    FirstView,
    Scene,
    Window,
)
from netloupe.explorer.layout.column_scene import Columns
from netloupe.explorer.layout.first_view_search import STACK_ZOOMS
from netloupe.explorer.layout.inset_scene import Inset
from netloupe.explorer.model import Model
from netloupe.explorer.model.collector import collector_paused
from netloupe.explorer.options import Direction
from netloupe.explorer.view import View, ViewKeywords, ViewOptions

from .asked_view import make_view
from .colouring import Colouring
from .columns import READABLE_ZOOM, cut_scene, find_closing
from .faces import FaceBook
from .figure import Figure, edit_view, paint_figure, read_figure
from .fonts import writing_in
from .insets import InsetOpener
from .key import list_hues
from .labels import Labels
from .legend import OVERLAY_KINDS, Entry, list_legend, walk_items
from .paint import NO_PAINTS, Paint, Paints, check_paints, lay_paints
from .ratios import RATIO_ROOM, find_ratios, mark_ratios
from .shares import Shares
from .sheet import LEAST_SCALE, LEAST_TEXT, PAPERS, Sheet, SheetMaker
from .text import clean_label
from .theme import load_theme

if TYPE_CHECKING:
    from os import PathLike

    import graphviz

_LOG = logging.getLogger("netloupe")
#: of the groups that would have to be closed so many are named
_MOST_NAMED = 4


@dataclass(slots=True)
class Picture:
    """A view with the scene that was laid out for it."""

    model: Model
    view: View
    options: ViewOptions
    scene: Scene
    labels: Labels
    notices: list[str] = field(default_factory=list)
    paints: Paints = field(default_factory=lambda: NO_PAINTS)
    sheet: Sheet | None = None
    colouring: Colouring | None = None
    #: what a figure tells of that is not drawn, in sentences
    missed: Sequence[str] = ()
    #: what is closed in the view and drawn open beside it
    insets: Sequence[Inset] = ()

    @property
    def title(self) -> str:
        """What the picture shows, in a few words."""
        if self.options.title:
            return self.options.title
        name = Path(self.model.source).name or self.model.source
        graph = self.view.graph
        return name if graph is self.model.graph else f"{name} · {graph.path}"


def make_picture(
    model: Model,
    options: ViewOptions,
    *,
    composer: Composer | None = None,
    deadline: float = DEADLINE,
    paints: Paints = NO_PAINTS,
    colouring: Colouring | None = None,
    figure: Figure | None = None,
) -> Picture:
    """Lay out what options ask for, on its page; the rest as for :meth:`Composer.compose`.

    What ``paints`` say is laid over what ``colouring`` does, and what ``figure`` says over both.
    """
    composer = composer or Composer()
    if options.title == "auto":
        options = replace(options, title=title_of_model(model, options.graph))
    with writing_in(options.font) as found:
        paper = PAPERS.get(options.page)
        labels = Labels(
            options.details,
            options.direction,
            Shares(model, "none" if options.share == "auto" else options.share),
            is_narrow=paper is not None and paper.room[0] < paper.room[1],
            has_controls=options.controls,
        )
        first = FirstView(
            composer,
            labels,
            find_window(options),
            lambda scene, wraps: _find_zoom(scene, options, labels, paints, colouring, wraps),
        )
        opener = InsetOpener(first, options)
        view, notices = make_view(model, options, opener)
        opener.open_asked(view)
        edits = _Edits(figure, composer)
        opener.edit = edits.apply
        scene, notice = opener.compose(view, options.direction, deadline)
        notices += [notice] if notice else []
        if edits.colours:
            own = paint_figure(edits.colours, load_theme(options.theme))
            paints = lay_paints(own, paints)
        if options.font and found is None:
            notices.append(tell_missing_font(options.font))
        notices += [
            f"No group that is shown is {text!r}, or would be called so: there is no name to leave "
            "out. Give the path of a group, or what stands behind its title."
            for text in view.list_unmet()
        ]
        if not view.root.children:
            notices.append(f"{view.graph.path}: {NOTHING_TO_DRAW}.")
            # a blank picture would leave its reader to wonder
            name = Path(model.source).name or model.source
            options = replace(options, title=options.title or f"{name}: {NOTHING_TO_DRAW}")
        scene = replace(scene, notices=(*notices, *scene.notices))
        if colouring is not None:
            paints = lay_paints(paints, colouring.paint(view, walk_items(scene)))
        picture = Picture(
            model,
            view,
            options,
            scene,
            labels,
            paints=paints,
            colouring=colouring,
            insets=opener.insets,
            missed=edits.list_missed(),
        )
        return lay_on_sheet(picture, composer)


class _Edits:
    """What a figure changes in the views of a picture: that of the model and those beside it."""

    def __init__(self, figure: Figure | None, composer: Composer) -> None:
        self._figure, self._composer = figure, composer
        #: by path the colours of what is highlighted
        self.colours: dict[str, str] = {}
        self._missed: list[list[str]] = []

    def apply(self, view: View) -> None:
        """Change a view."""
        if self._figure:
            colours, missed = edit_view(view, self._figure)
            self.colours |= colours
            self._missed.append(missed)
            self._composer.forget(view)

    def list_missed(self) -> list[str]:
        """Return what was found in none of the views."""
        first, *others = self._missed or [[]]
        return [text for text in first if all(_is_told(text, told) for told in others)]


def _is_told(text: str, told: list[str]) -> bool:
    """Return whether of the same entry it is told that it is not found; what is near may differ."""
    return any(other.split(": nothing")[0] == text.split(": nothing")[0] for other in told)


def tell_missing_font(family: str) -> str:
    """Return what is said where a font is not on this machine."""
    return (
        f"The font {family!r} is not on this machine: text is measured in DejaVu "
        "Sans, and so drawn in PNG and PDF. Install the font, or choose another."
    )


#: what is said in place of a picture of nothing; the canvas has a sentence of its own
NOTHING_TO_DRAW = "nothing to draw: no nodes, inputs or outputs"


def title_of_model(model: Model, graph: str) -> str:
    """Return what a model is in one sentence, or where that is not known what is shown.

    It is the title where options ask for ``auto``.
    """
    name = Path(model.source).name or model.source
    if graph and graph != model.graph.path:
        return f"{name} · {graph}"
    # many modules, and few pictures ask for a title
    from netloupe.explorer.architecture import tell_in_words

    return tell_in_words(model) or name


def find_window(options: ViewOptions) -> Window:
    """Return the window in which a first view is to be read: that of a page, where there is one."""
    paper = PAPERS.get(options.page)
    if paper is None:
        return Window(*map(float, options.window))
    width, height = paper.room
    # a picture that fits this window at the least zoom of a first view has text that is as small
    # as it may be on the page
    share = min(STACK_ZOOMS) / LEAST_SCALE
    return Window(width * share, height * share)


def _find_zoom(
    scene: Scene,
    options: ViewOptions,
    labels: Labels,
    paints: Paints,
    colouring: Colouring | None,
    in_columns: bool,
) -> float:
    """Return the zoom at which a picture fits its window or page, as first views want to know it.

    That is with title and legend, and where asked for in the columns that it would be cut into.
    """
    maker = _make_sheet_maker(scene, options, labels, paints, colouring)
    window = find_window(options)
    columns = _cut(scene, options, labels, maker)[0] if in_columns else None
    return maker.find_zoom(_size_of(scene, columns), (window.width, window.height))


def lay_on_sheet(picture: Picture, composer: Composer) -> Picture:
    """Return a picture cut into the columns that its options ask for, on the sheet they ask for.

    Parameters
    ----------
    picture
        In one column.
    composer
        Lays out other views of it, where it has to be said what a page has room for.
    """
    scene, options, labels = picture.scene, picture.options, picture.labels
    maker = _make_sheet_maker(scene, options, labels, picture.paints, picture.colouring)
    columns, notice = _cut(scene, options, labels, maker)
    wrapped = columns.draw() if columns is not None else scene
    notices = [notice] if notice else []
    if wrapped is not scene:
        maker = _make_sheet_maker(wrapped, options, labels, picture.paints, picture.colouring)
    ratios = find_ratios(wrapped, picture.model) if wrapped is scene else []
    room = RATIO_ROOM if ratios else 0.0
    sheet = maker.make((wrapped.width + room, wrapped.height))
    if ratios:
        marks = mark_ratios(ratios, sheet.left, sheet.top, load_theme(options.theme))
        sheet = replace(sheet, left=sheet.left + room, ratios=marks)
    if maker.paper is not None and sheet.scale < LEAST_SCALE * (1 - 1e-6):
        notices.append(_explain_small_text(picture, sheet, composer))
    wrapped = replace(wrapped, notices=(*scene.notices, *notices))
    return replace(picture, scene=wrapped, sheet=sheet, notices=list(wrapped.notices))


def _make_sheet_maker(
    scene: Scene,
    options: ViewOptions,
    labels: Labels,
    paints: Paints,
    colouring: Colouring | None,
) -> SheetMaker:
    overlay = colouring.list_legend() if colouring is not None else ()
    entries: list[Entry] = []
    if options.legend or overlay or paints:
        entries = list_legend(scene, labels.draw, paints, overlay)
    if (
        not options.legend
    ):  # colours of numbers mean nothing without theirs, signs of differences too
        own = ("differences", *OVERLAY_KINDS)
        entries = [entry for entry in entries if entry.kind in own]
    theme = load_theme(options.theme)
    is_keyed = options.key and not entries
    hues = list_hues(scene, labels.faces.face, paints) if is_keyed else []
    return SheetMaker(options.page, options.scale, options.title, entries, theme, hues)


def _cut(
    scene: Scene, options: ViewOptions, labels: Labels, maker: SheetMaker
) -> tuple[Columns | None, str]:
    """Cut a scene into columns as options say; the notice is "" for none."""
    paper = maker.paper
    if scene.zooms:
        return None, ""  # in two parts
    if paper is not None:
        shape = (paper.width, paper.height)
        return cut_scene(
            scene, labels, options.wrap, maker.find_scale, LEAST_SCALE, shape, is_page=True
        )
    room = (float(options.window[0]), float(options.window[1]))
    return cut_scene(
        scene, labels, options.wrap, lambda size: maker.find_zoom(size, room), READABLE_ZOOM, room
    )


def _size_of(scene: Scene, columns: Columns | None) -> tuple[float, float]:
    return columns.size if columns is not None else (scene.width, scene.height)


def _explain_small_text(picture: Picture, sheet: Sheet, composer: Composer) -> str:
    """Return how small the text is, and which groups would have to be closed for a page."""
    options = picture.options

    def is_large_enough(view: View) -> bool:
        scene = composer.compose(view, picture.labels, options.direction)
        maker = _make_sheet_maker(scene, options, picture.labels, picture.paints, picture.colouring)
        columns, _ = _cut(scene, options, picture.labels, maker)
        scale = maker.find_scale(_size_of(scene, columns))
        return scale >= LEAST_SCALE * (1 - 1e-6)

    said = f"The smallest text is {sheet.text_size:.2g} points on this page, below {LEAST_TEXT:g}."
    closed = find_closing(picture.view, is_large_enough)
    if closed is None:
        remedy = "leave out the legend, take" if options.legend else "take"
        return (
            f"{said} Closing groups is not enough: {remedy} a larger page, or draw a part of the "
            "model (focus)."
        )
    names = [repr(clean_label(item.path, 80)) for item in closed]
    shown = ", ".join(names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return f"{said} It is large enough with {shown}{more} closed."


def draw_picture(
    model: Model,
    format: str,
    path: str | PathLike[str] | None = None,
    paint: Mapping[Any, Paint] | None = None,
    colouring: Colouring | None = None,
    figure: Figure | str | PathLike[str] | None = None,
    **view: Unpack[ViewKeywords],
) -> bytes:
    """Draw a model in one of ``FORMATS``; write it to ``path`` where given.

    What ``paint`` tells by path or element is painted, and all else coloured by ``colouring`` (in
    DOT nothing is). What a figure hides, renames and highlights is changed for this picture alone.

    Returns
    -------
    bytes
        The picture; text formats in UTF-8.

    Raises
    ------
    ViewError
        For an unknown option or format.
    OutputError
        Where the file cannot be written, or its name promises another format.
    """
    options = ViewOptions.parse(view)
    paints = check_paints(paint)
    edits = read_figure(figure)
    if path is not None:  # what can be known to be wrong is said before the work begins
        check_ending(path, format)
        check_place(path)
    if format == "dot":
        data, _ = write_dot(model, options, edits)
    else:
        picture = make_picture(model, options, paints=paints, colouring=colouring, figure=edits)
        for missed in picture.missed:
            _LOG.warning("netloupe: warning: %s", missed)
        data = render_picture(picture, format)
    if path is not None:
        write_file(path, data)
    return data


def write_dot(
    model: Model, options: ViewOptions, figure: Figure | None = None
) -> tuple[bytes, list[str]]:
    """Return what options show in the DOT language, and notices.

    Raises
    ------
    ViewError
        Where a figure highlights something: DOT has no colours of boxes.
    """
    if figure is not None and figure.highlight:
        raise ViewError("DOT has no colours of boxes. Write another format, or highlight nothing.")
    view, notices = make_view(model, options)
    if figure:
        notices = [*notices, *edit_view(view, figure)[1]]
    faces = FaceBook(options.details, options.direction, has_controls=options.controls)
    return _encode_dot(view, faces, options.direction), notices


def _encode_dot(view: View, faces: FaceBook, direction: Direction) -> bytes:
    from .dot import draw_dot

    with collector_paused():
        return str(draw_dot(view, faces, direction).source).encode()


def render_picture(picture: Picture, format: str) -> bytes:
    """Return a picture in one of ``FORMATS``."""
    with writing_in(picture.options.font):
        return _render(picture, format)


def _render(picture: Picture, format: str) -> bytes:
    scene, face_of, theme = picture.scene, picture.labels.draw, picture.options.theme
    paints = picture.paints
    sheet = picture.sheet or Sheet(scene.width, scene.height)
    if format != "html":  # whose page has a ground of its own
        sheet = replace(sheet, background=picture.options.background)
    if format in ("svg", "html"):
        from .svg import draw_svg

        svg = draw_svg(
            scene,
            face_of,
            theme=theme,
            title=picture.title,
            paints=paints,
            sheet=sheet,
            font=picture.options.font,
        )
        if format == "html":
            from .page import draw_html_page

            return draw_html_page(svg, picture.title, picture.model, theme=theme).encode()
        return svg.encode()
    if format == "png":
        from .raster import choose_png_scale, draw_png

        scale = 2.0 * sheet.scale if sheet.paper is None else sheet.scale * sheet.paper.dpi / 72
        _note(picture, choose_png_scale(sheet, scale)[1])
        return draw_png(scene, face_of, theme, scale, paints=paints, sheet=sheet)
    if format == "pdf":
        from .raster import choose_pdf_scale, draw_pdf

        _note(picture, choose_pdf_scale(sheet, sheet.scale)[1])
        return draw_pdf(scene, face_of, theme, picture.title, paints=paints, sheet=sheet)
    if format == "dot":
        return _encode_dot(picture.view, picture.labels.faces, picture.options.direction)
    raise ViewError(f"the format {format!r} is unknown. Choose one of {', '.join(FORMATS)}.")


def _note(picture: Picture, notice: str | None) -> None:
    if notice:
        picture.notices.append(notice)


def build_dot(
    model: Model, path: str | PathLike[str] | None = None, **view: Unpack[ViewKeywords]
) -> graphviz.Digraph:
    """Return what a view shows as a :class:`graphviz.Digraph`; write its text where asked."""
    from .dot import draw_dot

    if path is not None:
        check_ending(path, "dot")
        check_place(path)
    options = ViewOptions.parse(view)
    shown, _ = make_view(model, options)
    faces = FaceBook(options.details, options.direction, has_controls=options.controls)
    dot = draw_dot(shown, faces, options.direction)
    if path is not None:
        write_file(path, str(dot.source).encode())
    return dot
