"""The words of ``netloupe open``."""

from __future__ import annotations

import argparse
from typing import Any

from .shared_arguments import MODEL, add_color_by, add_init, add_twin, read_file_name

_OPEN_EXAMPLES = """examples:
  netloupe open model.onnx
  netloupe model.onnx                             the same
  netloupe open model.onnx --color-by profile.json
  netloupe open model.onnx --no-browser --port 8899"""


def add_open(commands: Any) -> None:
    """Add the command, its options and its help to the commands of a parser."""
    show: argparse.ArgumentParser = commands.add_parser(
        "open",
        help="explore a model in a browser window of its own",
        description="Explore a model in a browser window of its own, until Ctrl+C.",
        epilog=_OPEN_EXAMPLES,
    )
    show.add_argument("models", metavar="MODEL", type=read_file_name, nargs=1, help=MODEL)
    add_init(show)
    show.add_argument("--no-browser", action="store_true", help="only print the address")
    show.add_argument("--port", type=int, default=0, help="the port (default: a free one)")
    add_color_by(show)
    add_twin(show)
    show.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    from .open import run_open

    return run_open(parsed)
