"""``netloupe text``: a model as text that is equal for equal models."""

from __future__ import annotations

import argparse
from itertools import islice

from netloupe.explorer.describe.canonical import write_canonical

from .running import load_named
from .streams import write_standard_output
from .terminal import TerminalProgress

#: so many lines are printed at once
_LINES = 5_000


def run_text(parsed: argparse.Namespace) -> int:
    """Print the lines of a model."""
    with TerminalProgress() as progress:
        progress.step("reading")
        model = load_named(parsed.models[0], parsed.init)
        lines = write_canonical(model, reads_weights=not parsed.no_weights)
        while piece := [*islice(lines, _LINES)]:
            write_standard_output("\n".join(piece))
    return 0
