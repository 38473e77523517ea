"""The words of ``netloupe check``."""

from __future__ import annotations

import argparse
from typing import Any

from .shared_arguments import MODELS, add_init, add_jobs, read_file_name

_CHECK_EXAMPLES = """examples:
  netloupe check model.onnx                       errors, warnings, notes, each with a remedy
  netloupe check model.onnx --select NL-N,NL-Q    numbers and quantization
  netloupe check model.onnx --target ort-1.17     and whether ONNX Runtime 1.17 can read it
  netloupe check model.onnx --json > known.json; netloupe check new.onnx --baseline known.json
  netloupe check models/*.onnx --sarif --fail-on error > findings.sarif
  netloupe check models/ --jobs 4 --csv           a table of all findings in a folder
  netloupe check --explain NL-G02                 what a rule is about; all lists them

What options leave out, [tool.netloupe] in the nearest pyproject.toml may say: select, ignore,
target, baseline, fail-on; and operators, as for every command, what your own operators are."""


def add_check(commands: Any) -> None:
    """Add the command, its options and its help to the commands of a parser."""
    check: argparse.ArgumentParser = commands.add_parser(
        "check",
        help="find what is wrong or odd in models",
        description="Apply rules to models: legality, waste, export mistakes, numbers, "
        "quantization, portability, security.",
        epilog=_CHECK_EXAMPLES,
    )
    check.add_argument("models", metavar="MODEL", type=read_file_name, nargs="*", help=MODELS)
    add_init(check)
    form = check.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON, for several a line each")
    form.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0, for all models one")
    form.add_argument("--csv", action="store_true", help="print a table: a row for each finding")
    add_jobs(check)
    select = check.add_argument(
        "--select",
        metavar="IDS",
        action="append",
        help="rules to apply: ids, beginnings of ids or names, with commas",
    )
    ignore = check.add_argument(
        "--ignore", metavar="IDS", action="append", help="rules not to apply"
    )
    target = check.add_argument(
        "--target", metavar="RUNTIME", help="the runtime meant, as in ort-1.17"
    )
    check.add_argument(
        "--baseline",
        metavar="FILE",
        type=read_file_name,
        help="the JSON of an earlier check: what it has is known",
    )
    check.add_argument(
        "--fail-on",
        choices=("error", "warning"),
        help="exit with 1 where a finding is as bad as this, or worse",
    )
    check.add_argument(
        "--no-notes",
        dest="with_notes",
        action="store_false",
        help="pass over what notes beside the model accept",
    )
    explain = check.add_argument(
        "--explain", metavar="ID", help="print what a rule is about; all lists them"
    )
    # argcomplete's way of saying what completes an argument
    for option in (select, ignore):
        option.completer = _complete_rules  # type: ignore[attr-defined]
    explain.completer = _complete_rule  # type: ignore[attr-defined]
    target.completer = _complete_targets  # type: ignore[attr-defined]
    check.set_defaults(run=_run, registers_operators=False)


def _complete_rules(prefix: str, **_: Any) -> list[str]:
    from .completion import complete_rules

    return complete_rules(prefix)


def _complete_rule(prefix: str, **_: Any) -> list[str]:
    from .completion import complete_rule

    return complete_rule(prefix)


def _complete_targets(prefix: str, **_: Any) -> list[str]:
    from .completion import complete_targets

    return complete_targets(prefix)


def _run(parsed: argparse.Namespace) -> int:
    from .check import run_check

    return run_check(parsed)
