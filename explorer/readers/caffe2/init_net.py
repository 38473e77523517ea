"""The init net of a net, looked for beside it under the usual names."""

from __future__ import annotations

import os
from pathlib import Path

#: endings of the name of a net without its suffix, and those of its init net
_PATTERNS = (
    ("predict_net", "init_net"),
    ("pred_net", "init_net"),
    ("predict", "init"),
    ("_net", "_init_net"),
    ("", "_init_net"),
    ("", "_init"),
)
_SUFFIXES = (".pb", ".pbtxt", ".prototxt", ".txt")


def find_init_net(path: Path) -> Path | None:
    """Return the init net that lies beside a net under one of the usual names, or None.

    ``predict_net.pb`` goes with ``init_net.pb``, ``X_predict_net.pb`` and ``X_pred_net.pb`` with
    ``X_init_net.pb``, ``X_net.pb`` and ``X.pb`` with ``X_init_net.pb`` or ``X_init.pb``. The same
    suffix is preferred to another.
    """
    stem, own = path.stem, path.suffix.lower()
    if own not in _SUFFIXES or stem.endswith(("init_net", "_init")):
        return None
    for ending, init_ending in _PATTERNS:
        if not stem.endswith(ending):
            continue
        found = stem.removesuffix(ending) + init_ending
        for suffix in dict.fromkeys((path.suffix, *_SUFFIXES)):
            candidate = path.with_name(found + suffix)
            if candidate.is_file():
                return candidate
    return None


def leads_out(found: Path, net: Path) -> bool:
    """Return whether a file is a link to outside of the folder of a net, and of its real one."""
    real = Path(os.path.realpath(found))
    folders = (Path(os.path.realpath(net.parent)), Path(os.path.realpath(net)).parent)
    return not any(real.is_relative_to(folder) for folder in folders)
