"""``netloupe report``: one file with everything there is to say of a model."""

from __future__ import annotations

import argparse

from netloupe.explorer.errors import OutputError
from netloupe.explorer.files.output import check_place, write_file
from netloupe.explorer.layout import shared_engine
from netloupe.explorer.readers.load import load
from netloupe.explorer.report import write_report
from netloupe.explorer.report.report import choose_report_format

from .coloring import read_color_settings
from .running import load_named
from .streams import STANDARD, say, write_standard_output
from .terminal import TerminalProgress


def run_report(parsed: argparse.Namespace) -> int:
    """Write the report, and return the exit status."""
    is_stream = parsed.output == STANDARD
    if is_stream and parsed.form is None:
        raise OutputError("a report on the standard output needs a format. Give --format html|md.")
    kind = choose_report_format(None if is_stream else parsed.output, parsed.form)
    if not is_stream:
        check_place(parsed.output)
    with TerminalProgress() as progress:
        progress.step("reading")
        if kind == "html":
            shared_engine().start()
        model = load_named(parsed.models[0], parsed.init)
        against = None if parsed.against is None else load(parsed.against)
        twin = None if parsed.twin is None else load(parsed.twin)
        data, notices = write_report(
            model,
            kind,
            against=against,
            float_twin=twin,
            color_by=parsed.color_by,
            bind=dict(parsed.bind),
            target=parsed.target,
            **read_color_settings(parsed),
        )
        if not is_stream:
            write_file(parsed.output, data)
    if is_stream:
        write_standard_output(data)
    for notice in notices:
        say("note", notice)
    return 0
