"""Operators that are registered before a command runs: those of the project, and of a variable."""

from __future__ import annotations

import os
from pathlib import Path

from netloupe.explorer.errors import CheckError, OperatorsError
from netloupe.explorer.files.inputs import note_input

from .settings import find_table, list_operator_files

#: names files of operators, as ``PATH`` does folders
VARIABLE = "NETLOUPE_OPERATORS"


def register_own_operators(folder: Path) -> list[str]:
    """Register operators of a project and of a variable, and return what is wrong with them.

    Parameters
    ----------
    folder
        The settings are those of the nearest pyproject.toml that has any, from there upwards.
    """
    problems: list[str] = []
    files: list[Path] = []
    try:
        table, file = find_table(folder)
        files += [] if file is None else list_operator_files(table, file)
    except CheckError as error:
        problems.append(str(error))
    files += map(Path, filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)))
    for path in files:
        from netloupe.explorer.operators.registering import register_operators

        note_input(path)
        try:
            register_operators(path)
        except OperatorsError as error:
            problems += error.problems
    return problems
