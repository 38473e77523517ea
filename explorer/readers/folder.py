"""The models in a folder: which of its files are some, is asked of the formats."""

from __future__ import annotations

import os
from pathlib import Path

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.progress import step

from .pipeline import FORMATS, identify, unwrap
from .source import open_source

#: text and packed files of more bytes are taken for data: to know better, all has to be read
_MOST_UNWRAPPED = 2**26


def find_models(folder: Path) -> list[Path]:
    """Return the model files in a folder and those inside it, in the order of their names.

    A file is one by its ending, as in ``.onnx``, whether or not it can be read; any other, if a
    format recognises what is in it as a model. Tensors, init nets that are read with a net beside
    them, and folders that are hidden or reached by links do not count.

    Parameters
    ----------
    folder
        Where to look.
    """
    found: list[Path] = []
    companions: set[Path] = set()
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            step("looking for models")
            path = Path(place, name)
            if not name.startswith(".") and path.is_file() and is_model(path):
                found.append(path)
                beside = (format.find_companion(path) for format in FORMATS)
                companions.update(other for other in beside if other is not None)
    return [path for path in found if path not in companions]


def is_model(path: Path) -> bool:
    """Return whether a file is a model, by the ending of its name or by what is in it."""
    name = path.name.lower()
    if any(name.endswith(format.suffixes) for format in FORMATS if format.suffixes):
        return True
    try:
        source = open_source(path)
        if source.size > _MOST_UNWRAPPED and not _is_binary(source.head):
            return False
        content = unwrap(source)
        format, match = identify(content)
    except NetloupeError:
        return False
    # any JSON may have some names that a schema knows beside others
    return match.root in format.models and not content.unknown


def _is_binary(head: bytes) -> bool:
    """Return whether bytes are neither text nor gzip."""
    return head[:2] != b"\x1f\x8b" and b"\0" in head
