"""The words of ``netloupe info``."""

from __future__ import annotations

import argparse
from typing import Any

from .shared_arguments import (
    MODELS,
    add_bind,
    add_infer_shapes,
    add_init,
    add_jobs,
    add_json,
    read_file_name,
)

_INFO_EXAMPLES = """examples:
  netloupe info model.onnx
  netloupe info model.onnx --bind batch=1 --bind sequence=128
  netloupe info model.onnx --groups --depth 3      what its parts are and cost
  netloupe info *.onnx --json | jq .totals        JSON Lines: one line for each file
  netloupe info models/ --jobs 4 --csv            a table of all models in a folder
  netloupe info predict_net.pb --init init_net.pb"""


def add_info(commands: Any) -> None:
    """Add the command, its options and its help to the commands of a parser."""
    info: argparse.ArgumentParser = commands.add_parser(
        "info",
        help="print a summary of models",
        description="Print what models hold: graphs, operators, parameters, warnings.",
        epilog=_INFO_EXAMPLES,
    )
    info.add_argument("models", metavar="MODEL", type=read_file_name, nargs="+", help=MODELS)
    add_init(info)
    add_infer_shapes(info)
    add_bind(info)
    info.add_argument(
        "--groups", action="store_true", help="print the tree of groups: what each is and costs"
    )
    info.add_argument(
        "--depth", metavar="N", type=_depth, help="with --groups: so many levels (default: 2)"
    )
    add_json(info)
    info.add_argument(
        "--csv", action="store_true", help="print a table: a row for each model, with its counts"
    )
    add_jobs(info)
    info.set_defaults(run=_run)


def _depth(text: str) -> int:
    """Return a number of levels."""
    if text.isdecimal() and len(text) < 4:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no number of levels. Give one from 0 to 999")


def _run(parsed: argparse.Namespace) -> int:
    from .info import run_info

    return run_info(parsed)
