"""The models that a command is given: files, folders, and patterns that no shell has expanded."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path

from netloupe.explorer.errors import OutputError
from netloupe.explorer.files.home import expand_home
from netloupe.explorer.readers.folder import find_models

from .streams import STANDARD

_SIGNS = ("*", "?", "[")


def expand_operands(given: Sequence[str]) -> list[str]:
    """Return the files that some operands stand for, each once, in the order of the operands.

    A folder stands for the models in it and inside its folders; a pattern such as ``*.onnx`` or
    ``models/**/*.onnx`` for what fits it, of which folders are again what is in them. A file that
    is there is taken by its name, whatever signs that has.

    Parameters
    ----------
    given
        The operands.

    Raises
    ------
    OutputError
        Where a folder holds no model, or nothing fits a pattern.
    """
    found: dict[str, None] = {}
    for operand in given:
        path = operand if operand == STANDARD or operand[:1] != "~" else str(expand_home(operand))
        if operand == STANDARD or os.path.lexists(path):
            found.update(dict.fromkeys(_expand(operand, path)))
        elif any(sign in operand for sign in _SIGNS):
            # a pattern may begin at the root, where Path.glob does not
            matches = sorted(glob.glob(path, recursive=True))  # noqa: PTH207
            if not matches:
                raise OutputError(f"{operand}: no file fits this pattern. Check the folder.")
            for match in matches:
                found.update(dict.fromkeys(_expand(match, match)))
        else:
            found[operand] = None  # reading it says what is wrong
    return list(found)


def _expand(operand: str, path: str) -> list[str]:
    """Return the models of a folder; another operand as it was given."""
    if operand == STANDARD or not Path(path).is_dir():
        return [operand]
    models = [str(model) for model in find_models(Path(path))]
    if not models and not glob.has_magic(operand):
        raise OutputError(f"{operand}: no model is in this folder or inside it. Check which it is.")
    return models
