"""Operators that a project registers: ``operators`` of ``[tool.netloupe]`` in pyproject.toml."""

from __future__ import annotations

from pathlib import Path

from netloupe.explorer.errors import CheckError, OperatorsError
from netloupe.explorer.files.inputs import note_input

from .settings import find_table, list_operator_files


def register_own_operators(folder: Path) -> list[str]:
    """Register the operators that a project's settings name, and return what is wrong with them.

    Parameters
    ----------
    folder
        The settings are those of the nearest pyproject.toml that has any, from there upwards.
    """
    try:
        table, file = find_table(folder)
        files = [] if file is None else list_operator_files(table, file)
    except CheckError as error:
        return [str(error)]
    problems: list[str] = []
    for path in files:
        from netloupe.explorer.operators.registering import register_operators

        note_input(path)
        try:
            register_operators(path)
        except OperatorsError as error:
            problems += error.problems
    return problems
