"""The words of ``netloupe diff``."""

from __future__ import annotations

import argparse
from typing import Any

from .render_arguments import add_view_options
from .shared_arguments import add_json, read_file_name
from .targets import DIFF_FORMATS

_DIFF_EXAMPLES = """examples:
  netloupe diff old.onnx new.onnx
  netloupe diff old.onnx new.onnx --ignore names,docs --json
  netloupe diff old.onnx new.onnx -o diff.html              both in one picture, to explore
  netloupe diff old.onnx new.onnx -o panes.html --panes     side by side, kept at the same place
  netloupe diff old.onnx new.onnx -o ladder.svg --ladder    block by block, what differs opened
  netloupe diff old.onnx new.onnx -o diff.svg --theme dark
  netloupe diff old.onnx new.onnx -o - --format md          for a pull request
  netloupe diff old.onnx new.onnx --fail-on interface       for a build: 1 if what fitted does not
  netloupe diff old.onnx new.onnx --fail-on weights:1e-3    1 if a weight is off by 0.1 % (L2)"""


def add_diff(commands: Any) -> None:
    """Add the command, its options and its help to the commands of a parser."""
    diff: argparse.ArgumentParser = commands.add_parser(
        "diff",
        help="tell what differs between two models",
        description="Pair the nodes and weights of two models, whatever they are called, and tell "
        "what changed.",
        epilog=_DIFF_EXAMPLES,
    )
    for place in ("the model before", "the model after"):
        diff.add_argument(
            "models", metavar="MODEL", type=read_file_name, action="append", help=place
        )
    diff.set_defaults(init=None)
    diff.add_argument(
        "--ignore",
        metavar="WORDS",
        type=_ignored,
        action="extend",
        default=[],
        help="what is no difference: names, docs, storage, defaults, order, with commas between",
    )
    for flag, dest, told in (
        ("--pin", "pin", "nodes that are a pair, whatever they look like"),
        ("--break", "unpin", "nodes that are no pair, although they look like one"),
    ):
        diff.add_argument(
            flag,
            dest=dest,
            metavar="LEFT=RIGHT",
            action="append",
            default=[],
            help=f"{told}, by path or name; may be given several times",
        )
    diff.add_argument(
        "--fail-on",
        metavar="WHAT",
        type=_fail_on,
        action="extend",
        default=[],
        help="exit with 1 where the structure differs, the interface is not compatible, or "
        "weights differ: structure, interface, weights, weights:1e-3, with commas between",
    )
    diff.add_argument(
        *("-o", "--output"),
        metavar="FILE",
        type=read_file_name,
        help="write both models as one picture (.svg, .html, .pdf, .png, .dot), a report (.md), "
        "all that differs (.json) or the text (.txt); with --format also to -, the standard output",
    )
    diff.add_argument(
        "--format",
        choices=DIFF_FORMATS,
        help="the format (default: what the name of FILE ends in); model-explorer is JSON by which "
        "Model Explorer keeps two panes at the same place",
    )
    diff.add_argument(
        "--panes",
        action="store_true",
        help="of .html: both models side by side, the older one left, in place of one picture",
    )
    diff.add_argument(
        "--ladder",
        action="store_true",
        help="of .svg, .html, .pdf and .png: a still picture of both models as ladders of blocks, "
        "the older one left, beside the list of what differs",
    )
    add_json(diff)
    add_view_options(diff.add_argument_group("options of the picture"))
    diff.set_defaults(run=_run)


def _ignored(text: str) -> tuple[str, ...]:
    from .diff import read_ignored

    return read_ignored(text)


def _fail_on(text: str) -> tuple[object, ...]:
    from .diff import read_fail_on

    return read_fail_on(text)


def _run(parsed: argparse.Namespace) -> int:
    from .diff import run_diff

    return run_diff(parsed)
