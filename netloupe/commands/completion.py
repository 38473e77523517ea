"""Completion in a shell: the script that turns it on, and the names in a model."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from itertools import islice

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load

from .streams import write_standard_output

_MOST_PATHS = 200
_MOST_NAMES = 4 * _MOST_PATHS  # names that several elements have are found more than once


def run_completion(parsed: argparse.Namespace) -> int:
    """Print the script of a shell."""
    write_standard_output(script_for(parsed.shell))
    return 0


def script_for(shell: str) -> str:
    """Return the script that a shell runs at its start."""
    from argcomplete.shell_integration import shellcode

    script: str = shellcode(["netloupe"], shell=shell)
    return script


def answer_shell(parser: argparse.ArgumentParser) -> None:
    """End the process with completions where a shell has asked for them."""
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser)


def complete_paths(source: str, prefix: str) -> list[str]:
    """Return paths and names in a model that begin with a text, 200 at most.

    Nothing where the model cannot be read: a shell that completes says no errors.
    """
    try:
        names = (name for name in _list_names(load(source)) if name.startswith(prefix))
        return list(islice(dict.fromkeys(islice(names, _MOST_NAMES)), _MOST_PATHS))
    except NetloupeError:
        return []


def _list_names(model: Model) -> Iterator[str]:
    """Give what ``inspect`` may be asked for: short names first where they begin alike."""
    for graph in model.graphs:
        yield graph.path
        for node in graph.nodes:
            if node.name:
                yield node.name
            yield node.path
        for value in graph.values.values():
            yield value.name
            yield value.path
