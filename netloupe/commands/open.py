"""``netloupe open``: a model in a browser window of its own."""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from netloupe.explorer.readers.load import load

from . import serve
from .coloring import check_color_by, describe_overlays, read_overlays
from .streams import STANDARD, say, standard_input_as_file


def run_open(parsed: argparse.Namespace) -> int:
    """Serve the explorer of a model until Ctrl+C."""
    check_color_by(parsed)
    with ExitStack() as files:
        model, init = (
            files.enter_context(standard_input_as_file()) if given == STANDARD else given
            for given in (parsed.models[0], parsed.init)
        )
        found = load(model, init)
        overlays = read_overlays(found, parsed)
        for line in describe_overlays(overlays):
            say("note", line)
        return serve.serve_model(
            found, port=parsed.port, browser=not parsed.no_browser, overlays=overlays
        )
