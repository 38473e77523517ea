"""The words of ``netloupe text``."""

from __future__ import annotations

import argparse
from typing import Any

from .shared_arguments import MODEL, add_init, read_file_name

_TEXT_EXAMPLES = """examples:
  netloupe text model.onnx > model.txt
  git config diff.onnx.textconv "netloupe text --textconv"
  git diff HEAD~1 -- model.onnx
then tell what changed in the model, where .gitattributes has the line *.onnx diff=onnx"""


def add_text(commands: Any) -> None:
    """Add the command, its options and its help to the commands of a parser."""
    text: argparse.ArgumentParser = commands.add_parser(
        "text",
        help="print a model as text that is equal for equal models",
        description="Print a model as lines that are equal for equal models, however these are "
        "stored: sorted where order means nothing, one fact a line, weights as digests.",
        epilog=_TEXT_EXAMPLES,
    )
    text.add_argument("models", metavar="MODEL", type=read_file_name, nargs=1, help=MODEL)
    add_init(text)
    text.add_argument(
        "--no-weights",
        action="store_true",
        help="read no weights: of these only types and dimensions are told",
    )
    text.add_argument(
        "--textconv",
        action="store_true",
        help="as git wants it: of what cannot be read say so and end with 0, and take external "
        "data out of the history where the model comes from there",
    )
    text.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    from .text import run_text

    return run_text(parsed)
