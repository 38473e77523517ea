"""The words of ``netloupe open``."""

from __future__ import annotations

import argparse
from typing import Any

from .shared_arguments import MODEL, add_color_by, add_init, add_twin, read_file_name

_OPEN_EXAMPLES = """examples:
  netloupe open model.onnx
  netloupe model.onnx                             the same
  netloupe open                                   choose a file on the page
  netloupe open a.onnx b.onnx                     a page that lists both
  netloupe open new.onnx --against old.onnx       what differs, in one picture
  netloupe open model.onnx --watch                read it again when it is written again
  netloupe open model.onnx --window               in a window of its own
  netloupe open model.onnx --color-by profile.json
  netloupe open model.onnx --no-browser --port 8899"""


def add_open(commands: Any) -> None:
    """Add the command, its options and its help to the commands of a parser."""
    show: argparse.ArgumentParser = commands.add_parser(
        "open",
        help="explore models in a browser or a window of their own",
        description="Explore models in a browser, until Ctrl+C. Without a model a page is shown "
        "on which one is chosen, dropped or named.",
        epilog=_OPEN_EXAMPLES,
    )
    show.add_argument("models", metavar="MODEL", type=read_file_name, nargs="*", help=MODEL)
    add_init(show)
    show.add_argument(
        "--against",
        metavar="OLD",
        type=read_file_name,
        help="show what differs from this older model, in one picture",
    )
    show.add_argument(
        "--watch",
        action="store_true",
        help="read a model again when its file changes; what is open and selected stays",
    )
    show.add_argument(
        "--window",
        action="store_true",
        help="in a window of its own, whose end is that of the command: of pywebview where that is "
        "installed, else of an installed Chromium, Chrome, Edge or Brave",
    )
    show.add_argument("--no-browser", action="store_true", help="only print the address")
    show.add_argument(
        "--no-recent",
        action="store_true",
        help="neither list nor remember the files that were opened last (NETLOUPE_NO_RECENT=1 "
        "always does so)",
    )
    show.add_argument("--port", type=int, default=0, help="the port (default: a free one)")
    add_color_by(show)
    add_twin(show)
    show.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    from .open import run_open

    return run_open(parsed)
