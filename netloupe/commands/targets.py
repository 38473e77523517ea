"""Where pictures of models are written, and in which format."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from netloupe.explorer.errors import OutputError
from netloupe.explorer.files.output import FORMATS, check_place

from .streams import STANDARD

_TEXTS = ("svg", "html", "dot")
#: what a difference can be written as
DIFF_FORMATS = (*FORMATS, "md", "json", "txt", "model-explorer")


def choose_targets(
    models: Sequence[str], output: str, format: str | None
) -> dict[str, tuple[Path | None, str]]:
    """Return for each model the file and the format of its picture; no file for ``-``.

    Parameters
    ----------
    models
        The models' files, ``-`` for the standard input.
    output
        A file, a folder, which is created where it is missing, or ``-`` for the standard output.
    format
        The format; None for what the file's name ends in.

    Raises
    ------
    OutputError
        Where a picture cannot be put there, the format is not said, two pictures would go to
        one file, or what is no text would go to a terminal.
    """
    if output == STANDARD:
        return {models[0]: (None, _check_standard_output(models, format))}
    path = Path(output)
    is_folder = output.endswith(os.sep) or len(models) > 1 or (path.is_dir() and format is not None)
    if not is_folder:
        check_place(path)
        return {models[0]: (path, format or _format_of(path))}
    if format is None:
        raise OutputError(
            f"{output}: the pictures of {'several models' if len(models) > 1 else 'a model'} go to "
            f"a folder, so their format must be said. Give --format {'|'.join(FORMATS)}."
        )
    if path.exists() and not path.is_dir():
        raise OutputError(f"{output}: is a file. Give a folder for the pictures of several models.")
    targets: dict[str, tuple[Path | None, str]] = {}
    owners: dict[Path, str] = {}
    for model in models:
        stem = "standard input" if model == STANDARD else Path(model).stem
        target = path / f"{stem}.{format}"
        if owners.setdefault(target, model) != model:
            raise OutputError(
                f"{target}: both {owners[target]} and {model} would be drawn there. "
                "Draw them one by one."
            )
        targets[model] = (target, format)
    _create_folder(path)
    for target in owners:
        check_place(target)
    return targets


def _create_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a name that no folder can have
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise OutputError(
            f"{path}: the folder cannot be created ({reason}). Choose another place."
        ) from error


def _check_standard_output(models: Sequence[str], format: str | None) -> str:
    if len(models) > 1:
        raise OutputError(
            "the standard output takes one picture. Give a folder with -o for several."
        )
    if format is None:
        raise OutputError(
            f"a picture on the standard output needs a format. Give --format {'|'.join(FORMATS)}."
        )
    if format not in _TEXTS and sys.stdout is not None and sys.stdout.isatty():
        raise OutputError(
            f"a .{format} is no text for a terminal. Redirect the output, or give a file with -o."
        )
    return format


def _format_of(path: Path) -> str:
    kind = path.suffix[1:].lower()
    if kind in ("eps", "ps"):
        raise OutputError(
            f"{path}: PostScript, which knows no transparency, is not written. Write a PDF, and "
            "convert it where one is asked for: pdftops -eps FILE.pdf (of poppler)."
        )
    if kind not in FORMATS:
        raise OutputError(
            f"{path}: the ending does not name a format. Use .svg, .html, .pdf, .png or .dot, "
            "or give --format."
        )
    return kind
