"""``netloupe inspect``: everything about some elements of a model."""

from __future__ import annotations

import argparse

from netloupe.explorer.describe import add_statistics, describe_path, format_text, to_json
from netloupe.explorer.model.collector import collector_paused

from .running import load_named, most_entries, print_json, run_each
from .streams import write_standard_output
from .terminal import TerminalProgress


def run_inspect(parsed: argparse.Namespace) -> int:
    """Print what is known of each element that is named."""
    several = len(parsed.names) > 1
    with TerminalProgress() as progress:
        progress.step("reading")
        model = load_named(parsed.models[0], parsed.init, infer_shapes=parsed.infer_shapes)

    def run(name: str) -> None:
        with TerminalProgress() as progress, collector_paused():  # a million rows are all kept
            progress.step("reading elements")
            description = describe_path(model, name)
            if parsed.json:
                told = to_json(description, most=most_entries(parsed))
            else:
                description = add_statistics(description)
        if parsed.json:
            print_json(told, several)
        else:
            write_standard_output(format_text(description) + "\n" * several)

    return run_each(parsed.names, run)
