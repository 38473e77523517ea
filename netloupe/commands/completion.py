"""Completion in a shell: the script that turns it on, and the names in a model."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from itertools import islice

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.grouping import find_tree
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


def complete_columns(prefix: str) -> list[str]:
    """Return the columns that every model has, and that of its float twin, which begin so."""
    from netloupe.explorer.overlays import BUILT_IN

    return _keep((*BUILT_IN, "sqnr"), prefix)


def complete_rule(prefix: str) -> list[str]:
    """Return the ids and names of rules that begin with a text, and ``all``."""
    from netloupe.explorer.checks.rules import RULES

    return _keep(("all", *(rule.id for rule in RULES), *(rule.name for rule in RULES)), prefix)


def complete_rules(prefix: str) -> list[str]:
    """Return the same, and subjects such as ``NL-Q``, behind the last comma of a list."""
    from netloupe.explorer.checks.rules import RULES

    before, comma, last = prefix.rpartition(",")
    subjects = sorted({rule.id.rstrip("0123456789") for rule in RULES})
    ids = [*subjects, *(rule.id for rule in RULES), *(rule.name for rule in RULES)]
    return [f"{before}{comma}{one}" for one in _keep(ids, last)]


def complete_targets(prefix: str) -> list[str]:
    """Return the runtimes that begin with a text."""
    from netloupe.explorer.checks.runtimes import list_runtimes

    return _keep(list_runtimes(), prefix)


def _keep(words: Iterable[str], prefix: str) -> list[str]:
    return [word for word in words if word.startswith(prefix)]


def _list_names(model: Model) -> Iterator[str]:
    """Give what ``inspect`` may be asked for: short names first where they begin alike."""
    for graph in model.graphs:
        yield graph.path
        yield from (path for path in find_tree(model, graph).groups if path != f"{graph.path}/")
        for node in graph.nodes:
            if node.name:
                yield node.name
            yield node.path
        for value in graph.values.values():
            yield value.name
            yield value.path
