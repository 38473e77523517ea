"""The words of ``netloupe inspect``."""

from __future__ import annotations

import argparse
from typing import Any

from .shared_arguments import (
    MODEL,
    add_infer_shapes,
    add_init,
    add_json,
    complete_names,
    read_file_name,
)

_INSPECT_EXAMPLES = """examples:
  netloupe inspect model.onnx Conv_12             by name
  netloupe inspect model.onnx main/If_3.then_branch/Conv_1
  netloupe inspect model.onnx %conv1.weight       a value or weight, with statistics
  netloupe inspect model.onnx Conv_12 Relu_13 --json"""


def add_inspect(commands: Any) -> None:
    """Add the command, its options and its help to the commands of a parser."""
    inspect: argparse.ArgumentParser = commands.add_parser(
        "inspect",
        help="print everything about a node, value or tensor",
        description="Print everything that is known of nodes, values, tensors, groups or graphs.",
        epilog=_INSPECT_EXAMPLES,
    )
    inspect.add_argument("models", metavar="MODEL", type=read_file_name, nargs=1, help=MODEL)
    names = inspect.add_argument(
        "names", metavar="NAME", nargs="+", help="a path or name, as in main/Conv_1 or %%w"
    )
    names.completer = complete_names  # type: ignore[attr-defined] # argcomplete's way
    add_init(inspect)
    add_infer_shapes(inspect)
    add_json(inspect)
    inspect.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    from .inspect import run_inspect

    return run_inspect(parsed)
