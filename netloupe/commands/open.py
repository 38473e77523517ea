"""``netloupe open``: a model in a browser window of its own."""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from netloupe.explorer.readers.load import load

from . import serve
from .streams import STANDARD, standard_input_as_file


def run_open(parsed: argparse.Namespace) -> int:
    """Serve the explorer of a model until Ctrl+C."""
    with ExitStack() as files:
        model, init = (
            files.enter_context(standard_input_as_file()) if given == STANDARD else given
            for given in (parsed.models[0], parsed.init)
        )
        return serve.serve_model(load(model, init), port=parsed.port, browser=not parsed.no_browser)
