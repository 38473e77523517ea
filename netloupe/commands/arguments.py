"""The words of the command line; those of a command are in its module ``…_arguments.py``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from netloupe import __version__

from .audit_arguments import add_audit
from .check_arguments import add_check
from .completion_arguments import add_completion
from .desktop_arguments import add_desktop
from .diff_arguments import add_diff
from .info_arguments import add_info
from .inspect_arguments import add_inspect
from .notes_arguments import add_notes
from .open_arguments import add_open
from .render_arguments import add_render
from .report_arguments import add_report
from .streams import STANDARD, say, write_standard_output
from .text_arguments import add_text

_EXAMPLES = """examples:
  netloupe model.onnx                             explore it in the browser
  netloupe info model.onnx                        what is in it
  netloupe inspect model.onnx Conv_12             everything about a node, value or weight
  netloupe check model.onnx                       what is wrong or odd with it
  netloupe diff old.onnx new.onnx                 what changed
  netloupe text model.onnx                        equal lines for equal models, for git diff
  netloupe audit int8.onnx --float float.onnx     how it is quantized, and how well
  netloupe notes model.onnx                       what people wrote of it
  netloupe report model.onnx -o report.html       all of it in one file
  netloupe render model.onnx -o model.svg         draw it
  curl -s https://example.org/m.onnx | netloupe info -

Exit status: 0 fine, 2 with one line on the standard error for anything to be mended,
1 where check or diff finds what --fail-on names, 130 ended with Ctrl+C."""


#: what adds each command, in the order of the help
ADDERS: dict[str, Callable[[Any], None]] = {
    "info": add_info,
    "inspect": add_inspect,
    "check": add_check,
    "diff": add_diff,
    "audit": add_audit,
    "notes": add_notes,
    "text": add_text,
    "report": add_report,
    "render": add_render,
    "open": add_open,
    "desktop": add_desktop,
    "completion": add_completion,
}


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and whose help ends in examples."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message: str) -> NoReturn:
        text = f"{message}. See `{self.prog} --help`."
        say("error", text)
        self.exit(2)

    def _print_message(self, message: str, file: Any = None) -> None:
        write_standard_output(message.rstrip("\n"))


def make_parser(command: str = "") -> argparse.ArgumentParser:
    """Return the parser of all commands.

    What it parses has ``command``, ``models``, ``init``, ``run`` and ``registers_operators``:
    whether operators of the project are registered before it runs.

    Parameters
    ----------
    command
        The one that is given, so that the options of others need not be made; "" where that is
        not known.
    """
    parser = _Parser(
        prog="netloupe",
        usage="netloupe [-h] [--version] MODEL | COMMAND …",
        description="Look into neural-network graph files (ONNX, Caffe2).",
        epilog=_EXAMPLES,
    )
    parser.add_argument("--version", action="version", version=f"netloupe {__version__}")
    parser.set_defaults(registers_operators=True)
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, prog="netloupe"
    )
    for name, add in ADDERS.items():
        if command in ("", name):
            add(commands)
    return parser


def add_command(arguments: Sequence[str], commands: Sequence[str]) -> list[str]:
    """Return the arguments with ``open`` before them where they begin with a model.

    A file that is named as a command is given as ``./info``.
    """
    first = next(iter(arguments), "")
    is_file = first == STANDARD or (not first.startswith("-") and _looks_like_file(first))
    if first and first not in commands and is_file:
        return ["open", *arguments]
    return list(arguments)


def explain_command(arguments: Sequence[str], commands: Sequence[str]) -> str:
    """Return what is wrong with the first argument where it is no command; "" if nothing is."""
    first = next(iter(arguments), "")
    if not first or first.startswith("-") or first in commands:
        return ""
    near = get_close_matches(first, commands, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"{first!r} is neither a command ({', '.join(commands)}) nor a file.{hint}"


def _looks_like_file(text: str) -> bool:
    return os.path.lexists(text) or os.sep in text or Path(text).suffix != ""
