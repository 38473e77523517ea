"""``netloupe audit``: what it prints of each model."""

from __future__ import annotations

import argparse

from netloupe.explorer.audit import audit
from netloupe.explorer.describe.audits import encode_audit, format_audit
from netloupe.explorer.errors import OutputError

from .running import load_named, most_entries, print_json, run_each
from .streams import STANDARD, write_standard_output
from .terminal import TerminalProgress


def run_audit(parsed: argparse.Namespace) -> int:
    """Audit each model, alone or beside the float model that it was made of, and print it."""
    if [*parsed.models, parsed.init, parsed.twin].count(STANDARD) > 1:
        raise OutputError(
            "- stands for the standard input, which can be read only once. Give files."
        )
    several = len(parsed.models) > 1
    twin = None
    if parsed.twin is not None:
        with TerminalProgress() as progress:
            progress.step("reading")
            twin = load_named(parsed.twin, None)

    def run(name: str) -> None:
        with TerminalProgress() as progress:
            progress.step("reading")
            found = audit(load_named(name, parsed.init), twin, bind=dict(parsed.bind))
            told = encode_audit(found, most=most_entries(parsed)) if parsed.json else {}
        if parsed.json:
            print_json(told, several)
        else:
            write_standard_output(format_audit(found) + "\n" * several)

    return run_each(parsed.models, run)
