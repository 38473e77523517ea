"""The words of ``netloupe audit``."""

from __future__ import annotations

import argparse
from typing import Any

from .shared_arguments import MODELS, add_bind, add_init, add_jobs, add_json, read_file_name

_AUDIT_EXAMPLES = """examples:
  netloupe audit int8.onnx                        how much is quantized, what is wrong with it
  netloupe audit int8.onnx --float float.onnx     and how near each weight is to the float one
  netloupe audit int8.onnx --float float.onnx --json | jq '.tensors[] | [.path, .sqnr_db]'
  netloupe audit models/ --jobs 4 --csv           a table of all models in a folder
  netloupe audit int8.onnx --bind sequence=256    multiplications are counted for this size"""


def add_audit(commands: Any) -> None:
    """Add the command, its options and its help to the commands of a parser."""
    audit: argparse.ArgumentParser = commands.add_parser(
        "audit",
        help="tell how models are quantized, and how near they are to a float twin",
        description="Tell how much of a model is quantized, what is wrong with it, where it still "
        "computes in floats, and how near its weights are to those of the float model that it was "
        "made of: fidelity of numbers, which does not tell the accuracy.",
        epilog=_AUDIT_EXAMPLES,
    )
    audit.add_argument("models", metavar="QUANTIZED", type=read_file_name, nargs="+", help=MODELS)
    audit.add_argument(
        "--float",
        dest="twin",
        metavar="TWIN",
        type=read_file_name,
        help="the float model that it was made of",
    )
    add_init(audit)
    add_bind(audit)
    add_json(audit)
    audit.add_argument(
        "--csv", action="store_true", help="print a table: a row for each model, with its shares"
    )
    add_jobs(audit)
    audit.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    from .audit import run_audit

    return run_audit(parsed)
