"""``netloupe text``: a model as text that is equal for equal models."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

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
        lines = _list_lines(parsed)
        while piece := [*islice(lines, _LINES)]:
            write_standard_output("\n".join(piece))
    return 0


def _list_lines(parsed: argparse.Namespace) -> Iterator[str]:
    name, reads_weights = parsed.models[0], not parsed.no_weights
    if parsed.textconv:
        from .textconv import write_for_git

        return write_for_git(Path(name), reads_weights=reads_weights)
    model = load_named(name, parsed.init)
    return write_canonical(model, reads_weights=reads_weights)
