"""``netloupe open``: models in a browser or a window, served until Ctrl+C."""

from __future__ import annotations

import argparse
import gc
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from netloupe.explorer.errors import OutputError
from netloupe.live.intake import Intake
from netloupe.live.recent import RecentFiles, find_recent
from netloupe.live.served import ReadyModel, ServedModel

from . import serve
from .coloring import check_color_by, describe_overlays, read_overlays
from .failures import explain_error
from .streams import STANDARD, say, standard_input_as_file

#: so many objects are made before they are searched for garbage: until the first picture is there
#: that is what stays, modules and the model
_MADE_BEFORE_SEARCH = 100_000


def run_open(parsed: argparse.Namespace) -> int:
    """Serve the explorers of models until Ctrl+C."""
    gc.set_threshold(_MADE_BEFORE_SEARCH, *gc.get_threshold()[1:])
    check_color_by(parsed)
    _check_together(parsed)
    recent = None if parsed.no_recent else find_recent()
    with ExitStack() as files:

        def find(given: str | None) -> Any:
            return files.enter_context(standard_input_as_file()) if given == STANDARD else given

        init = find(parsed.init)
        reads: list[tuple[ServedModel, Callable[[], ReadyModel]]] = []
        for given in parsed.models:
            path = find(given)
            for each in (path, parsed.against):
                if each is not None and not Path(each).is_file():
                    from netloupe.explorer.readers.load import load

                    load(each)  # says what is wrong with it, before a page is shown for nothing
            read = partial(_read, path, init, parsed)
            remembered = None if given == STANDARD else recent
            served = ServedModel(
                _name(path, parsed),
                partial(_read_first, path, read, remembered),
                partial(_explain, name=str(path)),
                [path] if parsed.against is None else [path, parsed.against],
            )
            reads.append((served, read))
        serving = serve.Serving(
            [served for served, _ in reads],
            _make_intake(parsed, recent),
            parsed.port,
            browser=not parsed.no_browser,
            window=parsed.window,
            watched=reads if parsed.watch else (),
        )
        return serve.serve_models(serving)


def _check_together(parsed: argparse.Namespace) -> None:
    """Raise OutputError for options that do not go together."""
    for name in ("init", "against"):
        if getattr(parsed, name) is not None and len(parsed.models) != 1:
            raise OutputError(f"--{name} goes with one model, not with {len(parsed.models)}.")
    if parsed.against is not None and parsed.init is not None:
        raise OutputError("--against and --init do not go together.")
    if parsed.watch and (not parsed.models or STANDARD in parsed.models):
        raise OutputError("--watch needs the name of a file.")
    if parsed.window and parsed.no_browser:
        raise OutputError("--window and --no-browser do not go together.")


def _make_intake(parsed: argparse.Namespace, recent: RecentFiles | None) -> Intake:
    """Return what opens files that a page sends, and paths where no model was given."""

    def make(path: Path, name: str, *, is_sent: bool) -> ServedModel:
        read = partial(_read, path, None, parsed)
        return ServedModel(
            name,
            partial(_read_first, path, read, None if is_sent else recent),
            partial(_explain, name=str(path)),
            [path],
            is_sent=is_sent,
        )

    return Intake(make, takes_paths=not parsed.models, recent=recent)


def _name(path: Any, parsed: argparse.Namespace) -> str:
    name = Path(path).name or str(path)
    return name if parsed.against is None else f"{name} against {Path(parsed.against).name}"


def _read_first(
    path: Any, read: Callable[[], ReadyModel], recent: RecentFiles | None
) -> ReadyModel:
    """Read a model, start what lays it out beside that, and remember its file."""
    from netloupe.explorer.layout.engine import shared_engine

    shared_engine().start()  # of the models given one does it for all
    ready = read()
    if recent is not None:
        recent.add(path)
    return ready


def _read(path: Any, init: Any, parsed: argparse.Namespace) -> ReadyModel:
    from netloupe.explorer.readers.load import load

    model = load(path, init)
    if parsed.against is not None:
        from netloupe.explorer.compare import diff

        model = diff(load(parsed.against), model).merged
    overlays = read_overlays(model, parsed)
    for line in describe_overlays(overlays):
        say("note", line)
    return ReadyModel(model, overlays)


def _explain(error: Exception, name: str) -> str:
    try:
        return explain_error(error, ["open", name])
    except Exception:  # raised again for debugging
        traceback.print_exception(error)
        return f"{name}: internal error: {error}"
