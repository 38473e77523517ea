"""``netloupe render``: models drawn into files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloupe.explorer.errors import OutputError, OverlayError
from netloupe.explorer.options import OPTIONS, PAGE_OPTIONS

from .coloring import check_color_by, describe_overlays, read_overlays
from .running import load_named, run_each
from .streams import say, write_standard_output
from .targets import choose_targets
from .terminal import TerminalProgress

if TYPE_CHECKING:
    from netloupe.explorer.model import Model
    from netloupe.explorer.overlays import Overlay
    from netloupe.explorer.render.figure import Figure
    from netloupe.explorer.review import Review
    from netloupe.explorer.standalone.content import PageContent
    from netloupe.explorer.view import ViewOptions


def run_render(parsed: argparse.Namespace) -> int:
    """Draw each model into its file."""
    if parsed.hops is not None and not parsed.focus:
        raise OutputError("--hops says how far around --focus. Give --focus PATH too.")
    # everything that can be known to be wrong is said before the work begins
    targets = choose_targets(parsed.models, parsed.output, parsed.format)
    if parsed.show and any(path is None for path, _ in targets.values()):
        raise OutputError("--show needs a file. Give one with -o.")
    is_page = not parsed.static and all(kind == "html" for _, kind in targets.values())
    if parsed.color_by and any(kind == "dot" for _, kind in targets.values()):
        raise OutputError("DOT has no colours of boxes. Write another format, or no --color-by.")
    if parsed.review and not is_page:
        raise OutputError(
            "--review is of the explorer in a .html file. "
            f"{'Leave --static out' if parsed.static else 'Write one'}, or leave it out."
        )
    check_color_by(parsed)
    figure = read_figure_words(parsed, is_page=is_page, kinds={k for _, k in targets.values()})
    given = read_page_options(parsed, is_page=is_page)
    from netloupe.explorer.standalone.content import PageContent
    from netloupe.explorer.view import ViewOptions

    options = ViewOptions.parse({name: getattr(parsed, name) for name in OPTIONS})
    content = PageContent.parse(**given)

    def run(name: str) -> None:
        path, kind = targets[name]
        _draw(parsed, name, options, path, content if is_page else kind, figure)
        if path is not None and parsed.show:
            _show(path)

    if parsed.save_figure:
        figure.write(parsed.save_figure)
    return run_each(parsed.models, run)


def read_figure_words(parsed: argparse.Namespace, *, is_page: bool, kinds: set[str]) -> Figure:
    """Return what is hidden, renamed and highlighted: by words, over what a file says.

    Raises
    ------
    OutputError
        Where something is asked for that no such picture has.
    ViewError
        Where a word or an entry of the file is none that a figure has.
    """
    from netloupe.explorer.render.figure import Figure, split_pairs

    figure = Figure(
        parsed.hide or (),
        split_pairs(parsed.rename or (), "--rename", at_last=False),
        split_pairs(parsed.highlight or (), "--highlight", at_last=True),
    )
    if parsed.figure:
        figure = figure.over(Figure.read(parsed.figure))
    if figure and is_page:
        raise OutputError(
            "--hide, --rename, --highlight and --figure are of still pictures. Give --static, or "
            "write another format."
        )
    if figure.highlight and "dot" in kinds:
        raise OutputError("DOT has no colours of boxes. Write another format, or no --highlight.")
    return figure


def read_page_options(parsed: argparse.Namespace, *, is_page: bool) -> dict[str, Any]:
    """Return what the explorer in a page is to hold.

    Raises
    ------
    OutputError
        Where something is asked for, and no such page.
    """
    given = {name: getattr(parsed, name) for name in PAGE_OPTIONS}
    for name, value in given.items():
        if value is not None and not is_page:
            raise OutputError(
                f"{PAGE_OPTIONS[name].flag} is of the explorer in a .html file. "
                f"{'Leave --static out' if parsed.static else 'Write one'}, or leave it out."
            )
    return given


def _draw(
    parsed: argparse.Namespace,
    name: str,
    options: ViewOptions,
    path: Path | None,
    kind: str | PageContent,
    figure: Figure,
) -> None:
    """Draw a model into a file, or to the standard output where there is none.

    ``kind`` is a format, or what the explorer as HTML holds.
    """
    from netloupe.explorer.files.output import write_file
    from netloupe.explorer.layout import DEADLINE, PATIENCE, shared_engine
    from netloupe.explorer.render.picture import make_picture, render_picture, write_dot

    missed: Sequence[str] = ()
    with TerminalProgress() as progress:
        progress.step("reading")
        model = load_named(name, parsed.init)
        overlays = read_overlays(model, parsed)
        if kind == "dot":
            progress.step("drawing")
            data, notices = write_dot(model, options, figure)
        elif not isinstance(kind, str):
            from netloupe.explorer.standalone.page import make_page

            shared_engine().start()
            data, notices = make_page(
                model,
                options,
                content=kind,
                review=_review(model, parsed.twin) if parsed.review else None,
                follows_system=parsed.theme is None,
                overlays=overlays,
            )
        else:
            shared_engine().start()
            picture = make_picture(
                model,
                options,
                colouring=_take_one(model, overlays),
                deadline=DEADLINE if options.expand == "auto" else PATIENCE,
                figure=figure,
            )
            missed = picture.missed
            progress.step("drawing")
            data, notices = render_picture(picture, kind), picture.notices
        if path is not None:
            write_file(path, data)
    if path is None:
        write_standard_output(data)
    for text in missed:
        say("warning", text)
    for notice in (*notices, *describe_overlays(overlays)):
        say("note", notice)


def _review(model: Model, twin: str | None) -> Review:
    """Return what there is to look at in a model."""
    from netloupe.explorer.report.report import review_model

    return review_model(model, None if twin is None else load_named(twin, None))


def _take_one(model: Model, overlays: Sequence[Overlay]) -> Overlay | None:
    """Return the overlay that a still picture has, if any.

    Raises
    ------
    OverlayError
        Where there are several.
    """
    if len(overlays) > 1:
        names = ", ".join(repr(one.name) for one in overlays[:10])
        raise OverlayError(
            f"{model.source}: a still picture is coloured by one column, and {names} are given. "
            "Give one of them, of a file as FILE:HEADING, or write the explorer as .html."
        )
    return overlays[0] if overlays else None


def _show(path: Path) -> None:
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        say("note", f"no browser here; the picture is {path}")
