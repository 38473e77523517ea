"""The command line: what is typed, and the command that it asks for."""

from __future__ import annotations

import argparse
import atexit
import gc
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from netloupe.explorer.files.inputs import (
    NOTES_ENDING,
    note_input,
    start_noting_inputs,
    stop_noting_inputs,
)

from .arguments import ADDERS, add_command, explain_command, make_parser
from .interrupts import heed_interrupts
from .own_operators import register_own_operators
from .plain_signs import PLAIN, asks_for_ascii
from .running import guard
from .streams import STANDARD, say

#: so many objects are made before they are searched for garbage, and so often before older ones
#: are: a command is over soon and drops little that refers to itself, which Python does not expect
_MADE_BEFORE_SEARCH, _YOUNG_SEARCHES = 20_000, 20

#: what arguments that name files to be read are called
INPUT_FILES = (
    "models",
    "init",
    "against",
    "twin",
    "color_by",
    "notes",
    "baseline",
    "other",
    "figure",
    "file",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    atexit.register(gc.freeze)  # at the end nobody needs to search what is left for garbage
    gc.set_threshold(_MADE_BEFORE_SEARCH, _YOUNG_SEARCHES)
    given = list(sys.argv[1:] if arguments is None else arguments)
    if "_ARGCOMPLETE" in os.environ:
        from .completion import answer_shell

        answer_shell(make_parser())
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = "ascii" if asks_for_ascii(stream, os.environ) else None
            # names need not fit the terminal
            stream.reconfigure(encoding=encoding, errors=PLAIN)
    heed_interrupts()
    return guard(lambda: _parse_and_run(given), given)


def _parse_and_run(given: list[str]) -> int:
    given = add_command(given, tuple(ADDERS))
    first = next(iter(given), "")
    parser = make_parser(first if first in ADDERS else "")
    mistake = explain_command(given, tuple(ADDERS))
    if mistake:
        parser.error(mistake)
    parsed = parser.parse_args(given)
    if [*parsed.models, parsed.init].count(STANDARD) > 1:
        parser.error("- stands for the standard input, which can be read only once")
    _note_inputs(parsed)
    try:
        if parsed.registers_operators:
            for problem in register_own_operators(Path.cwd()):
                say("warning", problem)
        status: int = parsed.run(parsed)
    finally:
        stop_noting_inputs()
    return status


def _note_inputs(parsed: argparse.Namespace) -> None:
    """Note the files that a command line names to be read: none of them may be written over."""
    start_noting_inputs()
    for name in INPUT_FILES:
        given = getattr(parsed, name, None)
        for path in given if isinstance(given, list | tuple) else (given,):
            if not isinstance(path, str) or path == STANDARD:
                continue
            note_input(path)
            if name == "models":
                note_input(f"{path}{NOTES_ENDING}")
            elif name == "color_by" and ":" in path:
                note_input(path.rpartition(":")[0])
