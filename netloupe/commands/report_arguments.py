"""The words of ``netloupe report``."""

from __future__ import annotations

import argparse
from typing import Any

from .shared_arguments import MODEL, add_color_by, add_init, read_file_name

_REPORT_EXAMPLES = """examples:
  netloupe report model.onnx -o report.html              everything, with the interactive picture
  netloupe report new.onnx --against old.onnx -o report.html
  netloupe report int8.onnx --float float.onnx -o report.html
  netloupe report model.onnx --color-by profile.json --color-by macs -o report.html
  netloupe report new.onnx --against old.onnx -o - --format md >> $GITHUB_STEP_SUMMARY"""


def add_report(commands: Any) -> None:
    """Add the command, its options and its help to the commands of a parser."""
    report: argparse.ArgumentParser = commands.add_parser(
        "report",
        help="write everything there is to say of a model into one file",
        description="Write one file to hand over: what the model is in words, what it costs, "
        "findings, differences, audit, notes and what was not checked, in tables that sort, each "
        "place shown in the interactive picture beside them; or Markdown.",
        epilog=_REPORT_EXAMPLES,
    )
    report.add_argument("models", metavar="MODEL", type=read_file_name, nargs=1, help=MODEL)
    report.add_argument(
        *("-o", "--output"),
        required=True,
        metavar="FILE",
        type=read_file_name,
        help="a .html or .md file, or - for the standard output with --format",
    )
    report.add_argument(
        "--format",
        dest="form",
        choices=("html", "md"),
        help="where the file's name says none",
    )
    report.add_argument(
        "--against", metavar="OLD", type=read_file_name, help="an older version to compare with"
    )
    report.add_argument(
        "--float",
        dest="twin",
        metavar="TWIN",
        type=read_file_name,
        help="the float model that a quantized one was made of",
    )
    report.add_argument("--target", metavar="RUNTIME", help="the runtime meant, as in ort-1.17")
    add_init(report)
    add_color_by(report)
    report.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    from .report import run_report

    return run_report(parsed)
