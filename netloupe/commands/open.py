"""``netloupe open``: models in a browser, served until Ctrl+C."""

from __future__ import annotations

import argparse
import traceback
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from netloupe.live.served import ReadyModel, ServedModel

from . import serve
from .coloring import check_color_by, describe_overlays, read_overlays
from .failures import explain_error
from .streams import STANDARD, say, standard_input_as_file


def run_open(parsed: argparse.Namespace) -> int:
    """Serve the explorer of a model until Ctrl+C."""
    check_color_by(parsed)
    with ExitStack() as files:
        name, init = (
            files.enter_context(standard_input_as_file()) if given == STANDARD else given
            for given in (parsed.models[0], parsed.init)
        )
        if not Path(name).is_file():
            from netloupe.explorer.readers.load import load

            load(name, init)  # says what is wrong with it, before a page is shown for nothing
        served = ServedModel(
            Path(name).name or str(name),
            lambda: _read(name, init, parsed),
            partial(_explain, name=str(name)),
        )
        return serve.serve_models([served], port=parsed.port, browser=not parsed.no_browser)


def _read(name: Any, init: Any, parsed: argparse.Namespace) -> ReadyModel:
    """Read a model, and start what lays it out beside that."""
    from netloupe.explorer.layout import shared_engine

    shared_engine().start()
    from netloupe.explorer.readers.load import load

    model = load(name, init)
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
